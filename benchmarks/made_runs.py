"""Run directories of any size for measuring and testing what reads them: real records, made up from a seed instead of by a model.

Sources are reference kernels of this repository in which lines are dropped, doubled and renamed, so that they compress about as
models' kernels do; verdicts, latencies and counts are drawn.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ptxbench.agent.engine.ledger import JOURNAL_NAME, STORE_NAME, EndStep, EvaluationStep, ReplyStep, Step, TurnStep
from ptxbench.agent.engine.manifest import Code, Environment, Manifest, ManifestCell
from ptxbench.agent.engine.places import Place
from ptxbench.agent.engine.rows import Origin, evaluated_turn, no_code_turn
from ptxbench.agent.models.message import Reply, Sampling, Usage
from ptxbench.core.canonical import canonical_json
from ptxbench.core.journal import Journal
from ptxbench.core.store import ContentStore
from ptxbench.schema import (
    Blame,
    Build,
    Candidate,
    CellKey,
    Correctness,
    CorrectVerdict,
    Device,
    Diagnostic,
    Evaluation,
    ExecutedCount,
    Flag,
    Hashes,
    InputSetCheck,
    KernelBuild,
    KernelProof,
    Language,
    Latency,
    Outcome,
    OutputCheck,
    PolicyVerdict,
    Profile,
    Proof,
    ReferenceVersion,
    RunFailure,
    Source,
    ToolchainVersions,
    WorstElement,
)

KERNELS = Path(__file__).parents[1] / "kernels"
ENDINGS = ("_a", "_b", "_tile", "_stage", "_warp", "_smem", "_next", "_idx", "_in", "_out", "0", "1", "_x", "_ptr")
REMARKS = (
    "two stages",
    "one warpgroup",
    "swizzle",
    "wait for the phase",
    "the consumer releases",
    "unrolled by",
    "tile of",
    "aligned to",
)
OUTCOMES = (
    *(Outcome.CORRECT,) * 10,
    *(Outcome.COMPILE_ERROR,) * 4,
    *(Outcome.WRONG_VALUE,) * 4,
    *(Outcome.TIMEOUT, Outcome.RUNTIME_ERROR, Outcome.NO_CODE),
)
SAMPLES = 100
VERSIONS = ToolchainVersions(nvcc="13.0.88", ptxas="13.0.88", host_compiler="g++ 12.2.0", nvdisasm="13.2.51", tvm_ffi="0.1.12")
Writer = Callable[[random.Random, str, int], str]


@dataclass(frozen=True)
class Shape:
    """What a run has. ``write`` makes a turn's source from (chance, the source before or "", turn)."""

    name: str
    model: str = "openai/a-model"
    task: str = "gemm_n7168_k5120"
    arch: str = "sm_90a"
    device: str | None = "h200"
    language: Language = Language.CUDA
    variants: tuple[str, ...] = ("base", "short", "long")
    trajectories: int = 4
    """Per variant."""
    turns: int = 8
    seed: int = 0
    write: Writer | None = None
    prose: str = "Here is a kernel."


def make_run(folder: Path, shape: Shape) -> Path:
    """Write a run directory and return it."""
    key = CellKey(
        model=shape.model,
        arch=shape.arch,
        device=shape.device,
        task=shape.task,
        workload=f"{shape.task}-w0",
        language=shape.language.value,
        pack="hopper" if shape.arch == "sm_90a" else None,
        arm="contracts" if shape.arch == "sm_90a" else None,
        protocol=Profile.STRICT.value,
        run=shape.name,
    )
    folder.mkdir(parents=True)
    Manifest(
        run=shape.name,
        created="2026-01-01T00:00:00+00:00",
        code=Code(version="0.1.0", templates="sha256:0", judge="0123456789"),
        environment=Environment(python="3.12.3", platform="Linux x86_64", devices=(_device(shape),)),
        model=shape.model,
        model_facts={},
        suite="sha256:0123456789",
        config={"trajectories": shape.trajectories, "turns": shape.turns, "feedback": "full", "history": "full"},
        cells=(ManifestCell(key=key, task_hash="sha256:0", variants=shape.variants),),
    ).write(folder)
    store = ContentStore(folder / STORE_NAME, durable=False)
    steps = [step for place in places(shape, key) for step in _trajectory(shape, key, place, store)]
    with Journal(folder / JOURNAL_NAME) as journal:
        journal.append(*steps)
    return folder


def places(shape: Shape, key: CellKey) -> Iterator[Place]:
    """Yield the run's trajectories."""
    for variant in shape.variants:
        for number in range(shape.trajectories):
            yield Place(task=key.task, workload=key.workload, arch=key.arch, variant=variant, number=number)


def _trajectory(shape: Shape, key: CellKey, place: Place, store: ContentStore) -> Iterator[Step]:
    chance = random.Random(f"{shape.seed}/{shape.name}/{place.trajectory}")
    write = shape.write or edited_kernel
    text = ""
    last = shape.turns - (1 if chance.random() < 0.05 and shape.turns > 2 else 0)
    for turn in range(last):
        text = write(chance, text, turn)
        yield from turn_steps(shape, key, place, turn, text, chance.choice(OUTCOMES), chance, store)
    if last < shape.turns:
        yield EndStep(place=place, turn=last, reason="context_overflow")


def turn_steps(
    shape: Shape,
    key: CellKey,
    place: Place,
    turn: int,
    text: str,
    outcome: Outcome,
    chance: random.Random,
    store: ContentStore,
) -> Sequence[Step]:
    """Store what a turn names and return its three steps (two where the reply holds no code)."""
    fence = "python" if shape.language in (Language.PYTHON, Language.TRITON) else "cpp"
    answer = "I would rather not." if outcome is Outcome.NO_CODE else f"{shape.prose}\n\n```{fence}\n{text}```\n"
    usage = Usage(input=4000 + 3000 * turn, output=2000 + len(text) // 4, reasoning=1500, cost_usd=0.01 * (turn + 1))
    reply = Reply(text=answer, reasoning=f"Turn {turn}: {shape.prose}", usage=usage, served_model=f"{shape.model}-2026-01")
    asked = ReplyStep(place=place, turn=turn, prompt="sha256:" + "0" * 64, reply=_put(store, reply), seconds=12.5)
    origin = Origin(key, place, asked, reply, Sampling(temperature=1.0), suite="sha256:0", task="sha256:0")
    feedback = f"Reply {turn + 1} of {shape.turns}: {outcome.value}.\n\n{shape.prose}\n"
    if outcome is Outcome.NO_CODE:
        return asked, TurnStep(place=place, row=no_code_turn(origin, "no_block"), feedback=store.put(feedback.encode()))
    candidate = candidate_of(shape, text)
    evaluation = made_evaluation(shape, key, candidate, outcome, chance)
    judged = EvaluationStep(place=place, turn=turn, source=_put(store, candidate), evaluation=_put(store, evaluation))
    row = evaluated_turn(origin, judged, evaluation)
    return asked, judged, TurnStep(place=place, row=row, feedback=store.put(feedback.encode()))


def candidate_of(shape: Shape, text: str) -> Candidate:
    """Return a source as the candidate of a run's language."""
    name = "kernel.py" if shape.language in (Language.PYTHON, Language.TRITON) else "kernel.cu"
    return Candidate(
        sources=(Source(path=name, content=text),), entry_point=f"{name}::run", language=shape.language, arch=shape.arch
    )


def edited_kernel(chance: random.Random, before: str, turn: int) -> str:
    """Return a kernel: a reference one with names of its own at first, then the one before with other lines here and there."""
    if not before:
        text = chance.choice(reference_kernels())
        words = sorted(set(re.findall(r"\bk[A-Z]\w+|\b[a-z]+_[a-z_]+\b", text)))
        for word in chance.sample(words, len(words) // 3):
            text = re.sub(rf"\b{word}\b", f"{word}{chance.choice(ENDINGS)}", text)
        return text
    lines = before.splitlines()
    for _ in range(max(3, len(lines) // 12)):
        place = chance.randrange(len(lines))
        lines[place] = f"{lines[place]}  // {chance.choice(REMARKS)} {chance.randrange(8, 513, 8)}"
    return "\n".join(lines) + "\n"


@cache
def reference_kernels() -> tuple[str, ...]:
    """Return the Hopper and Blackwell kernels of this repository, 9 to 49 KB each."""
    return tuple(path.read_text(encoding="utf-8") for path in sorted(KERNELS.glob("sm_*/*/*.cu")))


def made_evaluation(shape: Shape, key: CellKey, candidate: Candidate, outcome: Outcome, chance: random.Random) -> Evaluation:
    """Return an evaluation with the stages that an outcome has."""
    correct = outcome is Outcome.CORRECT
    built = outcome is not Outcome.COMPILE_ERROR
    ran = correct or outcome is Outcome.WRONG_VALUE
    flags = (Flag(code="work_share", text="the work share lies outside of the task's range"),) if chance.random() < 0.05 else ()
    return Evaluation(
        profile=Profile.STRICT,
        backend="gpu" if shape.device not in (None, "cpu") else "cpu",
        task=key.task,
        workload=key.workload,
        axes={"M": 8192, "N": 7168, "K": 5120},
        arch=shape.arch,
        device=_device(shape),
        outcome=outcome,
        blame=None if correct else Blame.CANDIDATE,
        undecided=None,
        correct=CorrectVerdict(paper=correct, strict=correct, reasons=() if correct else (f"{outcome.value}: C is not right",)),
        policy=PolicyVerdict(profile=Profile.STRICT, ok=True, violations=()),
        build=_build(shape, built),
        sanitizer=None,
        correctness=_correctness(correct, chance) if ran else None,
        latency=_latency(chance) if correct else None,
        proof=_proof(chance) if correct and shape.device != "cpu" else None,
        debug=None
        if built and ran
        else RunFailure(kind="timeout" if outcome is Outcome.TIMEOUT else "exit", text="the call did not return", output="…")
        if built
        else None,
        flags=flags,
        hashes=Hashes(source=candidate.hash, task="sha256:0", toolchain="sha256:0", reference=None),
        seed=0,
        seconds={"build": 2.1, "compare": 0.4, "time": 0.5 if correct else None, "prove": 0.07 if correct else None},
    )


def _device(shape: Shape) -> Device:
    if shape.device == "cpu":
        return Device(name="AMD EPYC", id="cpu", driver=None)
    return Device(name="NVIDIA H200", id=shape.device, driver="580.95")


def _build(shape: Shape, ok: bool) -> Build:
    error = Diagnostic(
        severity="error",
        file="kernel.cu",
        line=42,
        column=7,
        code=None,
        text='identifier "barrier_wait" is undefined',
        stage="front",
    )
    opcodes = {"HGMMA.64x256x16.F32.BF16": 64, "UTMALDG.2D": 8, "SYNCS.PHASECHK.TRANS64.TRYWAIT": 6, "IADD3": 120, "MOV": 88}
    kernel = KernelBuild(
        name="gemm_kernel",
        mangled="_Z11gemm_kernel",
        registers=168,
        spill_bytes=0,
        stack_bytes=0,
        shared_bytes=1024,
        opcodes=opcodes,
    )
    return Build(
        ok=ok,
        cached=False,
        seconds=2.1,
        arch=shape.arch,
        header="slim",
        diagnostics=() if ok else (error,),
        warnings=(),
        kernels=(kernel,) if ok else (),
        artifacts={},
        toolchain=VERSIONS,
        key="sha256:0",
    )


def _correctness(correct: bool, chance: random.Random) -> Correctness:
    wrong = 0 if correct else chance.randrange(1, 58_000_000)
    worst = None if correct else WorstElement(index=(17, 4242), expected=-44.5, got=None, got_text="nan")
    return Correctness(
        sets=tuple(
            InputSetCheck(
                name=name,
                seed=seed,
                max_abs=0.25,
                max_rel=0.004,
                mismatches=wrong,
                elements=58_720_256,
                paper=correct,
                strict=correct,
                frobenius=1e-3,
            )
            for seed, name in enumerate(("published", "published", "scaled"))
        ),
        outputs=(OutputCheck(name="C", max_abs=0.25, max_rel=0.004, mismatches=wrong, worst=worst, pattern=None, unwritten=0),),
        inputs_modified=False,
        timed_outputs_checked=3,
    )


def _latency(chance: random.Random) -> Latency:
    reference, candidate = 850.0, 850.0 / chance.uniform(0.2, 1.25)
    samples = tuple(round(candidate * chance.gauss(1.0, 0.01), 3) for _ in range(SAMPLES))
    others = tuple(round(reference * chance.gauss(1.0, 0.01), 3) for _ in range(SAMPLES))
    return Latency(
        candidate_us=candidate,
        reference_us=reference,
        speedup=reference / candidate,
        paired_speedup=reference / candidate,
        method="cupti",
        trials_us=samples[:5],
        samples_us=samples,
        reference_samples_us=others,
        reference=ReferenceVersion(library="cuBLAS", version="13.1.0"),
        clocks=None,
        roofline_us=610.0,
    )


def _proof(chance: random.Random) -> Proof:
    kind = chance.choice(("qualified", "qualified", "qualified", "absent", "unknown"))
    executed = {
        "HGMMA.64x256x16.F32.BF16": ExecutedCount(warp=14_680_064, thread_true=469_762_048),
        "UTMALDG.2D": ExecutedCount(warp=573_440, thread_true=573_440),
        "MOV": ExecutedCount(warp=9_000_000, thread_true=288_000_000),
    }
    if kind != "qualified":
        executed = {"HMMA.16816.F32.BF16": ExecutedCount(warp=234_881_024, thread_true=7_516_192_768)}
    known = kind != "unknown"
    return Proof(
        status=kind,
        compute=kind == "qualified" if known else None,
        data_movement=kind == "qualified" if known else None,
        work_share=1.0 if known else None,
        method="cupti",
        kernels=(KernelProof(name="gemm_kernel", launches=1, executed=executed),) if known else (),
    )


def _put(store: ContentStore, record: Reply | Candidate | Evaluation) -> str:
    return store.put(canonical_json(record))
