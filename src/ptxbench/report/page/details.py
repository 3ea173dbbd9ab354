"""What the page shows of a turn that is opened: source, feedback, the reply, and the evaluation's stages, each bounded in size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import ValidationError

from ptxbench.agent.engine.ledger import TurnStep
from ptxbench.agent.models.message import Reply
from ptxbench.arch import ARCHITECTURES
from ptxbench.core.canonical import spelled
from ptxbench.core.errors import StorageError
from ptxbench.core.store import ContentStore
from ptxbench.schema import Candidate, Evaluation, Turn

T = TypeVar("T")

MOST_CHARACTERS = 200_000
"""Of one text: more than any kernel that a policy admits; a model's reasoning may have more."""

MOST_DIAGNOSTICS, MOST_KERNELS, MOST_OPCODES, MOST_FINDINGS = 40, 12, 48, 12
HASH_DIGITS = 16
"""Of a hash that is shown: enough to find the blob."""


@dataclass(frozen=True)
class Extent:
    """How much is shown of a turn: the model's texts, what was measured, how many latency samples."""

    replies: bool
    measurements: bool
    samples: int

    def without_replies(self) -> Extent:
        """Return the extent without the model's own texts, and with fewer samples."""
        return replace(self, replies=False, samples=64)


EVERYTHING = Extent(replies=True, measurements=True, samples=400)
SHORT = Extent(replies=False, measurements=False, samples=0)
"""Source, feedback, diagnostics and the row's own facts."""


def trajectory_details(steps: Iterable[TurnStep], store: ContentStore, extent: Extent = EVERYTHING) -> dict[str, Any]:
    """Return turns of one trajectory as plain JSON values: ``sources``, each once, and ``turns``, which name theirs by index.

    What the store has lost, or holds damaged, is ``lost`` in its turn: a page shows what there is.
    """
    sources: list[list[dict[str, str]]] = []
    known: dict[str, int] = {}
    turns = []
    for step in steps:
        row = step.row
        lost: list[str] = []
        digest = row.hashes.source
        if digest is not None and digest not in known:
            candidate = _stored(store, digest, Candidate.model_validate_json, lost)
            if candidate is not None:
                known[digest] = len(sources)
                sources.append([{"path": source.path, "text": _cut(source.content)} for source in candidate.sources])
        evaluation = _stored(store, row.hashes.evaluation, Evaluation.model_validate_json, lost)
        reply = _stored(store, row.hashes.reply, Reply.model_validate_json, lost) if extent.replies else None
        turns.append(
            {
                "turn": row.turn,
                "source": known.get(digest or ""),
                "feedback": _text(_stored(store, step.feedback, lambda data: data.decode("utf-8", "replace"), lost)),
                "reply": _text(reply.text if reply else None),
                "reasoning": _text(reply.reasoning if reply else None),
                "evaluation": None if evaluation is None else shown_evaluation(evaluation, extent),
                "lost": lost,
                **_facts(row),
            }
        )
    return {"sources": sources, "turns": turns}


def _facts(row: Turn) -> dict[str, Any]:
    """Return what the row itself says and the summary leaves out."""
    facts = {
        "candidate_us": row.candidate_us,
        "reference_us": row.reference_us,
        "paired_speedup": row.paired_speedup,
        "undecided": row.undecided,
        "blame": row.blame,
        "reasons": list(row.correct.reasons),
        "verdicts": {"paper": row.correct.paper, "strict": row.correct.strict},
        "flags": list(row.flags),
        "proof": None if row.proof is None else row.proof.model_dump(mode="json"),
        "seconds": {stage: value for stage, value in row.seconds.items() if value is not None},
        "served_model": row.served_model,
        "sampling": row.sampling,
        "hashes": {name: _short(digest) for name, digest in row.hashes.model_dump().items() if digest is not None},
    }
    plain: dict[str, Any] = spelled(facts)
    return plain


def _short(digest: str) -> str:
    kind, _, digits = digest.partition(":")
    return f"{kind}:{digits[:HASH_DIGITS]}"


def _stored(store: ContentStore, digest: str | None, read: Callable[[bytes], T], lost: list[str]) -> T | None:
    """Return what the store holds under a hash; None where there is nothing to ask for, or where it is lost, which is noted."""
    if digest is None:
        return None
    try:
        return read(store.get(digest))
    except KeyError:
        lost.append(f"{digest} is not in the run's store")
    except StorageError as error:
        lost.append(error.message if digest in error.message else f"{digest} cannot be read")
    except ValidationError:
        lost.append(f"{digest} was written by another version")
    return None


def _cut(text: str) -> str:
    left_out = len(text) - MOST_CHARACTERS
    return text if left_out <= 0 else f"{text[:MOST_CHARACTERS]}\n… {left_out} more characters"


def _text(text: str | None) -> str | None:
    return None if text is None else _cut(text)


def shown_evaluation(evaluation: Evaluation, extent: Extent = EVERYTHING) -> dict[str, Any]:
    """Return the part of an evaluation that the page shows, as plain JSON values; lists that were cut say how many there are."""
    whole: dict[str, Any] = evaluation.model_dump(mode="json")
    if not extent.measurements:
        whole |= {"correctness": None, "latency": None, "proof": None, "counters": None}
    shown = {
        name: whole[name]
        for name in ("profile", "backend", "simulated", "axes", "device", "outcome", "policy", "correctness", "debug", "flags")
    }
    shown["seed"] = whole["seed"]
    build = whole["build"]
    if build is not None:
        shown["build"] = {
            "ok": build["ok"],
            "cached": build["cached"],
            "seconds": build["seconds"],
            "diagnostics": _first([*build["diagnostics"], *build["warnings"]], MOST_DIAGNOSTICS),
            "kernels": _first(
                [_kernel(kernel, evaluation.arch) for kernel in build["kernels"]], MOST_KERNELS if extent.measurements else 0
            ),
            "toolchain": build["toolchain"],
        }
    checks = [check for check in (whole["sanitizer"], *whole["checks"]) if check is not None]
    shown["checks"] = [{**check, "findings": _first(check["findings"], MOST_FINDINGS)} for check in checks]
    if whole["latency"] is not None:
        shown["latency"] = _latency(whole["latency"], extent.samples)
    if whole["proof"] is not None:
        kernels = [
            {**kernel, "executed": _counts(kernel["executed"], evaluation.arch, lambda count: int(count["warp"]))}
            for kernel in whole["proof"]["kernels"]
        ]
        shown["proof"] = {**whole["proof"], "kernels": _first(kernels, MOST_KERNELS)}
    if whole["counters"] is not None:
        shown["counters"] = {**whole["counters"], "kernels": _first(whole["counters"]["kernels"], MOST_KERNELS)}
    plain: dict[str, Any] = spelled(shown)
    return plain


def _kernel(kernel: dict[str, Any], arch: str) -> dict[str, Any]:
    return {**kernel, "opcodes": _counts(kernel["opcodes"], arch, int)}


def _counts(counted: dict[str, Any], arch: str, size: Callable[[Any], int]) -> list[list[Any]]:
    """Return ``[opcode, count, whether it is a target instruction]``, target instructions first, then the most frequent."""
    target = ARCHITECTURES[arch].qualifying({name: size(count) for name, count in counted.items()}) if arch in ARCHITECTURES else {}
    ordered = sorted(counted, key=lambda name: (name not in target, -size(counted[name]), name))
    return [[name, counted[name], int(name in target)] for name in ordered[:MOST_OPCODES]]


def _latency(latency: dict[str, Any], most: int) -> dict[str, Any]:
    samples = ("trials_us", "samples_us", "reference_samples_us")
    return {
        **{name: value for name, value in latency.items() if name not in samples},
        **{name: _sampled(latency[name], most) for name in samples},
    }


def _sampled(values: Sequence[float], most: int) -> dict[str, Any]:
    """Return samples to four digits, evenly picked where there are too many to draw, and how many there are."""
    step = max(1, -(-len(values) // most))
    return {"all": len(values), "values": [float(f"{value:.4g}") for value in values[::step]]}


def _first(items: Sequence[T], most: int) -> dict[str, Any]:
    return {"all": len(items), "items": list(items[:most])}
