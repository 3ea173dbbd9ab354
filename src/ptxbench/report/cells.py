"""What stands in a table's cells: triplets over the turn limits, honest about what was not decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ptxbench.core.durations import seconds_text
from ptxbench.metrics import LIMITS, AtLimit, Row
from ptxbench.report.conditions import Marks, marks, together

ABSENT = "–"
UNDECIDED = "undecided"
HIDDEN = ("protocol", "suite", "judge", "numpy", "pack text")
"""Settings that keep rows apart and tell a reader little as long as they do not: versions and hashes."""


@dataclass(frozen=True)
class TableLine:
    """A row's texts: first lines ask for the target instruction, second lines (in parentheses) do not."""

    model: str
    task: str
    turns: str
    correctness: tuple[str, str]
    best: tuple[str, str]
    median: tuple[str, str]
    outcomes: str


COLUMNS = ("model", "task", "N", "correct turns, % ≤1 / ≤4 / ≤8", "best speedup ≤1 / ≤4 / ≤8", "median speedup", "outcomes")


def table_lines(rows: Sequence[Row]) -> list[TableLine]:
    """Return the texts of a group's rows. Runs and workloads are named where rows would look alike without them."""
    several_runs = len({row.key.run for row in rows}) > 1
    workloads: dict[str, set[str]] = {}
    for row in rows:
        workloads.setdefault(row.key.task, set()).add(row.key.workload)
    return [
        _line(
            row,
            model=shown(f"{row.key.model} ({row.key.run})" if several_runs else row.key.model),
            task=shown(f"{row.key.task}@{row.key.workload}" if len(workloads[row.key.task]) > 1 else row.key.task),
        )
        for row in rows
    ]


def shown(text: str) -> str:
    """Return a name as one line of printable characters, whatever it was called."""
    return "".join(c if c.isprintable() else " " for c in text)


def _line(row: Row, *, model: str, task: str) -> TableLine:
    last = row.at[str(LIMITS[-1])]
    return TableLine(
        model=model,
        task=task,
        turns=str(row.n_planned) if row.complete else f"{row.n_evaluated} of {row.n_planned}",
        correctness=(
            _triplet(row, [_rate(at, at.target_turn_correctness, at.unknown_proofs) for at in _limits(row)]),
            _in_parentheses(_triplet(row, [_rate(at, at.turn_correctness) for at in _limits(row)])),
        ),
        best=(
            _triplet(row, [_speedup(at.target_best_speedup) for at in _limits(row)]),
            _in_parentheses(_triplet(row, [_speedup(at.best_speedup) for at in _limits(row)])),
        ),
        median=(_speedup(last.target_median_speedup), _in_parentheses(_speedup(last.median_speedup))),
        outcomes=_outcomes(row),
    )


def heading(rows: Sequence[Row]) -> str:
    """Return one line with what the rows have in common beside model and task: what makes them comparable."""
    key = rows[0].key
    device = next((row.device_name for row in rows if row.device_name), key.device)
    parts = [f"profile {key.protocol}", f"arch {key.arch}", f"device {device or 'none'}"]
    parts.append(f"language {key.language}")
    parts += [f"{name} {value}" for name in ("pack", "arm", "condition", "checkpoint") if (value := getattr(key, name))]
    parts.append(f"harness {key.harness}")
    baselines = sorted({row.baseline for row in rows if row.baseline})
    parts += [f"{name} {value}" for name, value in rows[0].settings.items() if name not in HIDDEN]
    parts += sorted({f"proof method {row.proof_method}" for row in rows if row.proof_method})
    parts.append("baseline " + (", ".join(baselines) if baselines else "not measured"))
    return shown(" · ".join(parts))


def comparable_groups(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows in groups that may stand in one table (protocol section 9), in order."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        key = row.key
        same = (
            *(key.protocol, key.arch, key.device, key.language, key.pack, key.arm, key.condition, key.checkpoint, key.harness),
            *row.settings.items(),
        )
        groups.setdefault(same, []).append(row)
    return [found for members in groups.values() for found in together(members, _marks)]


def _marks(row: Row) -> Marks:
    key = row.key
    return marks(
        task=key.task,
        workload=key.workload,
        baseline=row.baseline,
        device_name=row.device_name,
        proof_method=row.proof_method,
    )


def differences(groups: Sequence[Sequence[Row]]) -> str | None:
    """Return one line with what keeps the groups apart and no heading names, None where nothing of the kind does."""
    apart = [name for name in HIDDEN if len({group[0].settings.get(name) for group in groups}) > 1]
    return f"These tables are not comparable: they come from another {' and another '.join(apart)}." if apart else None


def notes(rows: Sequence[Row]) -> list[str]:
    """Return the footnotes that a table of these rows needs."""
    lines = []
    last = str(LIMITS[-1])
    if any(row.at[last].target_turn_correctness is not None or row.at[last].target_best_speedup is not None for row in rows):
        lines.append("First line: correct and target instructions executed; in parentheses: correct.")
    elif rows:
        lines.append(f"In parentheses: correct. The line above asks for executed target instructions ({ABSENT}: none to ask for).")
    undecided = sum(row.at[last].undecided_turns for row in rows)
    if undecided:
        lines.append(
            f"{undecided} turns could not be decided where the run was made; they are in N, and a rate with ≥ counts none of them."
        )
    unknown = sum(row.at[last].unknown_proofs for row in rows)
    if unknown:
        lines.append(
            f"{unknown} correct turns have an unknown proof; they are in N, and not in the first line, which may be higher (≥)."
        )
    paces = [pace for row in rows if (pace := _pace(row))]
    if paces:
        lines.append(f"A turn: {paces[0]}." if len(set(paces)) == 1 else f"A turn, by row: {'; '.join(paces)}.")
    if not all(row.complete for row in rows):
        lines.append("Incomplete rows show evaluated of planned turns; run again to resume.")
    return lines


def _pace(row: Row) -> str:
    """Return how long a row's turns took and how long its answers were; "" where nothing is known of that."""
    pace = row.pace
    judged = [] if pace.judge_s is None else [f"{seconds_text(pace.judge_s)} judged"]
    answered = [] if pace.model_s is None else [f"{seconds_text(pace.model_s)} to answer"]
    tokens = [] if pace.reply_tokens is None else [f"{pace.reply_tokens:.0f} tokens in reply"]
    return ", ".join(judged + answered + tokens)


def _limits(row: Row) -> list[AtLimit]:
    return [row.at[str(k)] for k in LIMITS]


def _triplet(row: Row, texts: Sequence[str]) -> str:
    """Return the three values, or one word when they all are that word."""
    return texts[0] if len(set(texts)) == 1 and texts[0] in (ABSENT, UNDECIDED) else " / ".join(texts)


def _rate(at: AtLimit, rate: float | None, unknown_proofs: int = 0) -> str:
    """Return a rate in percent, marked where undecided turns or unknown proofs could raise it."""
    if rate is None:
        return UNDECIDED if at.undecided_turns and at.turn_correctness is None else ABSENT
    return f"{'≥' if at.undecided_turns or unknown_proofs else ''}{100 * rate:.1f}"


def _speedup(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3f}"


def _in_parentheses(text: str) -> str:
    return f"({text})"


def _outcomes(row: Row) -> str:
    counted: Counter[str] = Counter()
    for outcomes in row.outcomes_by_turn.values():
        counted.update(outcomes)
    return ", ".join(f"{count} {name}" for name, count in sorted(counted.items(), key=lambda item: (-item[1], item[0])))
