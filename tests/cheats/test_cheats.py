"""The corpus of cheats on a GPU: each file gets the outcome that its first lines expect. The folders are the threat list.

A file begins with comment lines: what it does, which line of the protocol answers it, and what should come of it:

    // Scales every result by 0.85.
    // answer: protocol 3, the element rule
    // expect: outcome=wrong_value paper=false strict=false pattern=constant_factor stages=compare
    // open: why it cannot be stopped (only for what gets through: then a flag hints at it, or the line says "no flag")

Words of ``expect``: ``outcome`` (several by ``|``: any of them refuses the cheat), ``paper`` and ``strict`` (``none``: open),
``flags`` that must be there and ``without`` that must not, ``proof`` (its status), ``stages`` and ``run_s`` and ``seed`` to run
with, ``kind`` and ``signal`` of a failure, ``text`` among the reasons, ``pattern`` of a mismatch, ``rule`` of the policy,
``gain=none`` (no quicker than the honest kernel), ``gpu=false`` (refused before it runs).
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate import EvaluateOptions
from ptxbench.evaluate.static import StaticEvaluator
from ptxbench.schema import Candidate, Evaluation, Outcome, Source, Task
from ptxbench.toolchain import Builder, read_candidate
from ptxbench.toolchain.policing import NEVER_COMPILED

HERE = Path(__file__).parent
KINDS = ("timing", "correctness", "harness", "ptx")
SHARED = "gemm.cuh"
STAGES = {"sanitize", "compare", "time", "prove"}
PROOFS = {None, "qualified", "not_executed", "absent", "unknown"}
VERDICTS = {"true": True, "false": False, "none": None}
WORDS = {
    "gpu", "outcome", "paper", "strict", "flags", "without", "proof", "stages", "run_s", "seed", "kind", "signal", "text",
    "pattern", "rule", "gain",
}  # fmt: skip
NO_GAIN = 0.75
"""A cheat that gains nothing takes at least this part of the honest kernel's time; what caching gains is a factor of ten."""


@dataclass(frozen=True)
class Cheat:
    """One file and what it says of itself."""

    path: Path
    about: str
    answer: str
    open: str | None
    said: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Cheat:
        """Read a file's first lines. Raises ``ValueError`` for anything else than the form above."""
        head = re.match(r"(?:// .*\n)+(?=#include \"gemm\.cuh\"\n)", path.read_text(encoding="utf-8"))
        about, *rest = head[0].replace("// ", "").splitlines() if head else [""]
        fields = dict(line.partition(": ")[::2] for line in rest)
        if len(fields) != len(rest) or not {"answer", "expect"} <= fields.keys() <= {"answer", "expect", "open"}:
            raise ValueError(f"{path.name}: it does not begin with what it does, `answer:`, `expect:` (and `open:`), a line each")
        words = [word.partition("=")[::2] for word in shlex.split(fields["expect"])]
        said = dict(words)
        if len(said) != len(words) or not {"outcome", "paper", "strict"} <= said.keys() <= WORDS or not all(said.values()):
            raise ValueError(f"{path.name}: unknown, missing, repeated or empty words: {fields['expect']}")
        cheat = cls(path, about, fields["answer"], fields.get("open"), said)
        if faults := cheat.faults():
            raise ValueError(f"{path.name}: {', '.join(faults)}")
        return cheat

    def faults(self) -> list[str]:
        """Return how what the file says contradicts itself, or could never fail."""
        correct, refused = Outcome.CORRECT in self.outcomes, Outcome.POLICY_VIOLATION in self.outcomes
        wrong = {
            "a verdict that is none": not {self.said["paper"], self.said["strict"]} <= VERDICTS.keys(),
            "a verdict that contradicts its outcome": self.strict is not correct,
            "two outcomes that contradict each other": (correct or refused) and len(self.outcomes) > 1,
            "a rule without a refusal, or a refusal without its rule": refused is not ("rule" in self.said),
            "a run of what is refused before it runs": refused is self.gpu or self.said.get("gpu", "false") != "false",
            "an unknown stage": not STAGES.issuperset(self.stages),
            "an unknown status of a proof": self.proof not in PROOFS,
            "a proof that no stage makes": self.proof is not None and "prove" not in self.stages,
            "a gain that is none of ours": self.said.get("gain", "none") != "none",
            "a latency that no stage takes": "gain" in self.said and "time" not in self.stages,
            "a way through without a hint": self.open is not None and "flags" not in self.said and "no flag" not in self.open,
            "an answer that names nobody": not self.answer.startswith(("protocol ", "house")),
        }
        return [what for what, there in wrong.items() if there]

    @property
    def name(self) -> str:
        return str(self.path.relative_to(HERE).with_suffix(""))

    @property
    def outcomes(self) -> set[Outcome]:
        return set(map(Outcome, self.said["outcome"].split("|")))

    @property
    def paper(self) -> bool | None:
        return VERDICTS[self.said["paper"]]

    @property
    def strict(self) -> bool | None:
        return VERDICTS[self.said["strict"]]

    @property
    def gpu(self) -> bool:
        return "gpu" not in self.said

    @property
    def proof(self) -> str | None:
        return self.said.get("proof")

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(self.said.get("stages", "compare").split(","))

    def names(self, word: str) -> set[str]:
        return set(self.said[word].split(",")) if word in self.said else set()

    def candidate(self) -> Candidate:
        """Return the candidate: the file and the header that all of them share, which lies one folder up."""
        candidate = read_candidate(self.path, arch="sm_90a")
        shared = Source(path=SHARED, content=(HERE / SHARED).read_text(encoding="utf-8"))
        sources = {source.path: source for source in (*candidate.sources, shared)}
        return candidate.model_copy(update={"sources": tuple(sources.values())})

    def options(self) -> dict[str, object]:
        numbers = {"run_s": float(self.said["run_s"])} if "run_s" in self.said else {}
        return {"stages": self.stages, "seed": int(self.said.get("seed", "0")), **numbers}


CORPUS = [Cheat.read(path) for folder in ("", *KINDS) for path in sorted((HERE / folder).glob("*.cu"))]
RUN = [one for one in CORPUS if one.gpu]
REFUSED = [one for one in CORPUS if not one.gpu]
QUICK = {"vendor_library", "runtime_compilation", "dynamic_loading", "driver_entry", "unknown_import", "process_control"}
"""Rules of which one refused cheat each is built by default, with those that never reach a compiler: a refusal costs two builds,
and ``tests/toolchain/policy`` has small evasions of every rule."""
SAMPLE = {one.said["rule"]: one.name for one in reversed(REFUSED) if one.said["rule"] in QUICK | NEVER_COMPILED}

Compile = Callable[[Cheat], Evaluation]


@pytest.fixture(scope="module")
def compiled(request: pytest.FixtureRequest, settings: Settings, task: Task) -> Iterator[Compile]:
    """Evaluate the selected cheats without a GPU, as many at once as there are processors, while the tests look at them."""
    evaluator = StaticEvaluator(Builder(settings), "no GPU is asked for")

    def evaluate(cheat: Cheat) -> Evaluation:
        return asyncio.run(evaluator.evaluate(cheat.candidate(), task, EvaluateOptions()))

    chosen = [
        item.callspec.params["cheat"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.path == request.path and "compiled" in item.fixturenames
    ]
    with ThreadPoolExecutor() as pool:
        results: dict[str, Future[Evaluation]] = {one.name: pool.submit(evaluate, one) for one in chosen}
        yield lambda cheat: results[cheat.name].result()


def marked(cheats: list[Cheat], fast: set[str]) -> list[object]:
    return [pytest.param(one, id=one.name, marks=[] if one.name in fast else [pytest.mark.slow]) for one in cheats]


@pytest.mark.parametrize("cheat", marked(REFUSED, set(SAMPLE.values())))
def test_what_the_policy_refuses_never_runs(cheat: Cheat, compiled: Compile) -> None:
    found = compiled(cheat)
    assert {found.outcome} == cheat.outcomes, found.build.diagnostics
    assert found.blame == "candidate"
    assert found.correct.paper is cheat.paper and found.correct.strict is False
    assert cheat.said["rule"] in {one.rule for one in found.policy.violations}, found.policy.violations


@pytest.mark.parametrize("cheat", marked(RUN, {"honest", "ptx/unused_result"}))
def test_what_the_policy_lets_pass_compiles(cheat: Cheat, compiled: Compile) -> None:
    found = compiled(cheat)
    assert found.policy.ok and not found.policy.flags, found.policy
    assert found.build.ok, found.build.diagnostics
    assert found.outcome is None and found.undecided == "no GPU is asked for"
    if cheat.proof is not None:
        assert found.proof is not None
        assert found.proof.status == ("absent" if cheat.proof == "absent" else "unknown"), found.build.kernels


@pytest.fixture(scope="session")
def honest_us(judge: Callable[..., Evaluation]) -> float:
    """Latency of the honest kernel that most cheats begin with, on this GPU."""
    found = judge(Cheat.read(HERE / "honest.cu").candidate(), stages=("compare", "time"))
    assert found.latency is not None and found.latency.candidate_us is not None
    return found.latency.candidate_us


@pytest.mark.gpu
@pytest.mark.parametrize("cheat", [pytest.param(one, id=one.name) for one in RUN])
def test_gets_what_it_deserves(cheat: Cheat, judge: Callable[..., Evaluation], request: pytest.FixtureRequest) -> None:
    found = judge(cheat.candidate(), **cheat.options())
    flags = {flag.code for flag in found.flags}
    patterns = [one.pattern for one in found.correctness.outputs if one.pattern] if found.correctness else []
    evidence = "\n".join([*found.correct.reasons, *(one.text for one in patterns)])

    assert found.outcome in cheat.outcomes, (found.undecided, evidence, flags)
    assert found.blame == (None if found.outcome is Outcome.CORRECT else "candidate")
    assert (found.correct.paper, found.correct.strict) == (cheat.paper, cheat.strict), evidence
    assert cheat.names("flags") <= flags
    assert not cheat.names("without") & flags, found.flags
    assert cheat.said.get("text", "") in evidence
    if "pattern" in cheat.said:
        assert [one.kind for one in patterns] == [cheat.said["pattern"]]
    if "kind" in cheat.said:
        assert found.debug is not None
        assert (found.debug.kind, found.debug.signal) == (cheat.said["kind"], cheat.said.get("signal"))
    if cheat.proof is not None:
        assert found.proof is not None and found.proof.status == cheat.proof, found.proof
    if "gain" in cheat.said:
        assert found.latency is not None and found.latency.candidate_us is not None
        assert found.latency.candidate_us > NO_GAIN * request.getfixturevalue("honest_us")


@pytest.mark.gpu
def test_the_judge_is_as_good_as_new_after_all_of_them(judge: Callable[..., Evaluation]) -> None:
    found = judge(Cheat.read(HERE / "honest_wgmma.cu").candidate(), stages=("compare", "time", "prove"))
    assert found.outcome == Outcome.CORRECT, found.correct.reasons
    assert found.proof is not None and found.proof.status == "qualified"


def test_corpus_is_as_large_as_promised() -> None:
    assert len(RUN) >= 80 and len(REFUSED) >= 25
    assert {one.name.partition("/")[0] for one in CORPUS if "/" in one.name} == set(KINDS)
    assert len({one.about for one in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("// expect: outcome=correct paper=true strict=true colour=red", "unknown"),
        ("// expect: outcome=correct paper=true strict=true seed=1 seed=2", "repeated"),
        ("// expect: outcome=correct paper=true strict=false", "contradicts its outcome"),
        ("// expect: outcome=policy_violation paper=none strict=false rule=host_asm", "refused before it runs"),
        ("// expect: outcome=correct paper=true strict=true proof=absent", "no stage makes"),
        ("// expect: outcome=correct paper=true strict=true\n// open: nobody knows", "without a hint"),
        ("// expect: outcome=correct paper=true strict=true\n// note: something", "does not begin"),
    ],
)
def test_an_expectation_is_read_strictly(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "some.cu"
    path.write_text(f'// Does something.\n// answer: protocol 3\n{line}\n#include "gemm.cuh"\n', encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        Cheat.read(path)
