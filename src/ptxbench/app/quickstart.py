"""Quickstart: the whole loop on recordings, as far as this machine goes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from ptxbench.agent import RunConfig
from ptxbench.agent.engine.events import Evaluating, Event, TurnFinished
from ptxbench.agent.engine.ledger import STORE_NAME
from ptxbench.app.finding import finding
from ptxbench.app.recording import load_recording
from ptxbench.app.reporting import report_runs
from ptxbench.app.running import run_benchmark
from ptxbench.core.errors import UsageError
from ptxbench.core.settings import Settings
from ptxbench.core.store import ContentStore
from ptxbench.schema import Evaluation, Record, Turn

PARTS = (("gemm", "gemm_n7168_k5120"), ("cpu", "cpu_gemm_n256_k256"))
"""Folder and recording of each part, in the order in which they are played."""


class Part(Record):
    """One recording's turns and what they were recorded to be."""

    task: str
    arch: str
    backend: str
    turns: tuple[Turn, ...]
    expected: tuple[str, ...]
    found: tuple[str, ...]
    """One line per turn: what its evaluation found."""
    incident: str | None = None
    """A fault of this machine that outlasted its repetitions: the turns behind it were not judged."""

    @staticmethod
    def as_recorded(turn: Turn, expected: str) -> bool:
        """Whether a turn came out as recorded, or could not be decided here for no fault of the candidate."""
        if turn.outcome is None:
            return expected in ("correct", "wrong_value")
        return turn.outcome == expected

    @property
    def ok(self) -> bool:
        """Whether every turn is as recorded."""
        return len(self.turns) == len(self.expected) and all(map(self.as_recorded, self.turns, self.expected))

    @property
    def decided(self) -> bool:
        """Whether every turn has an outcome."""
        return all(turn.outcome is not None for turn in self.turns)


class Quickstart(Record):
    """What the quickstart saw."""

    ok: bool
    folder: str
    parts: tuple[Part, ...]
    report: str
    conclusion: str

    @property
    def exit_code(self) -> int:
        """0 when all that can be decided here is as recorded, 3 when a fault of this machine left turns open, else 1."""
        return 0 if self.ok else 3 if any(part.incident for part in self.parts) else 1


def play(settings: Settings, out: Path | None, progress: Callable[[str], None], *, width: int | None = None) -> Quickstart:
    """Play both recordings into ``out`` and report, in a table of ``width`` characters (None: the terminal's).

    Raises ``UsageError`` when ``out`` exists.
    """
    folder = out or Path("runs") / f"quickstart-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    if folder.exists():
        raise UsageError(f"{folder} exists already", next_step="choose another --out, or remove it")
    parts = []
    for name, recording in PARTS:
        progress(f"playing the recording of {recording}")
        parts.append(_play_part(settings, folder, name, recording, progress))
    gemm, cpu = parts
    ok = all(part.ok for part in parts)
    incident = next((part.incident for part in parts if part.incident), None)
    if incident:
        conclusion = (
            f"A fault of this machine, not of a kernel, kept turns from being judged: {incident}. ptxbench doctor says what is "
            "missing or broken here; once that is mended, quickstart plays them all."
        )
    elif not ok:
        conclusion = "Something did not come out as recorded: see the turns above, and ptxbench doctor."
    elif gemm.decided:
        conclusion = "Everything came out as recorded, the GPU kernels to their verdict."
    else:
        why = next(turn.undecided for turn in gemm.turns if turn.outcome is None)
        conclusion = (
            "Everything that can be decided here came out as recorded. The CUDA kernels were compiled and looked into, "
            f"not run ({why}); the CPU task {cpu.task} went through the same loop to its verdict."
        )
    table = report_runs([folder / name for name, _ in PARTS], "table", width=width)
    return Quickstart(ok=ok, folder=str(folder), parts=tuple(parts), report=table, conclusion=conclusion)


def _play_part(settings: Settings, folder: Path, name: str, recording_name: str, progress: Callable[[str], None]) -> Part:
    recording = load_recording(recording_name)
    replies = folder / f"{name}-replies.jsonl"
    recording.write_replies(replies)
    turns: list[Turn] = []

    def watch(event: Event) -> None:
        if isinstance(event, Evaluating):
            progress(f"  turn {event.turn}: compiling and judging the kernel in the answer")
        elif isinstance(event, TurnFinished):
            turns.append(event.turn)
            outcome = event.turn.outcome or "undecided"
            progress(f"  turn {event.turn.turn}: {outcome}")

    config = RunConfig(
        tasks=(recording.task,),
        model=f"replay/{replies}",
        arch=recording.arch,
        language=recording.language,
        trajectories=1,
        turns=len(recording.turn),
    )
    summary = run_benchmark(config, out=folder / name, suite_paths=(), settings=settings, progress=watch)
    turns.sort(key=lambda turn: turn.turn)
    store = ContentStore(folder / name / STORE_NAME)
    device = next((turn.key.device for turn in turns if turn.key.device), None)
    return Part(
        task=recording.task,
        arch=recording.arch,
        backend=device or "static",
        turns=tuple(turns),
        expected=tuple(turn.expect for turn in recording.turn),
        found=tuple(_found(store, turn) for turn in turns),
        incident=next((stopped.reason for stopped in summary.incomplete), None),
    )


def _found(store: ContentStore, turn: Turn) -> str:
    if turn.hashes.evaluation is None:
        return ""
    return finding(Evaluation.model_validate_json(store.get(turn.hashes.evaluation)))
