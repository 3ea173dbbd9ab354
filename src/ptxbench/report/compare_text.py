"""A comparison as a terminal shows it."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Sequence

from ptxbench.metrics import LIMITS
from ptxbench.metrics.differences import Difference
from ptxbench.metrics.measures import Metric
from ptxbench.report.cells import ABSENT, shown
from ptxbench.report.compare import ComparedCell, ComparedSide, Comparison
from ptxbench.report.compare_candidates import SameSources
from ptxbench.report.compare_keys import KeyDifference
from ptxbench.schema import CellKey

COLUMNS = ("metric", "first", "second", "difference", "95 % interval", "other side", "by chance", "exceeds noise")
NARROW_COLUMNS = ("metric", "first", "second", "difference", "exceeds noise")
NARROW_WIDTH = 120
"""Below this the interval stands below the difference, and only --json has the shares."""

LABELS = {
    "turn_correctness": "correct turns",
    "target_turn_correctness": "… target executed",
    "best_speedup": "best speedup",
    "target_best_speedup": "… target executed",
    "fast_p": "Fast_p",
    "fast_p_inst": "Fast_p^Inst",
    "tokens": "tokens a trajectory",
}
"""Lines that ask for executed target instructions stand below the ones that do not."""

IN_PERCENT = ("turn_correctness", "target_turn_correctness", "fast_p", "fast_p_inst")
TARGET = ("target_turn_correctness", "target_best_speedup", "fast_p_inst")
UNKNOWN = "unknown"
MOST_CHANGED = 5
MOST_TASKS = 3


def comparison_text(found: Comparison, *, width: int | None = None) -> str:
    """Return the comparison as tables with what there is to know about them. ``width`` in characters; None: the terminal's."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    stream = io.StringIO()
    width = width or shutil.get_terminal_size((140, 24)).columns
    narrow = width < NARROW_WIDTH
    console = Console(file=stream, width=width, color_system=None, highlight=False)

    def show(title: str, differences: Sequence[Difference], cells: Sequence[ComparedCell]) -> None:
        table = Table(title=Text(title), title_justify="left", title_style="bold")
        columns = NARROW_COLUMNS if narrow else COLUMNS
        for number, column in enumerate(columns):
            table.add_column(column, justify="left" if number in (0, len(columns) - 1) else "right", overflow="fold")
        for difference in differences:
            if difference.first is not None or difference.second is not None:
                table.add_row(*map(Text, _narrow(difference, cells) if narrow else _line(difference, cells)))
        console.print(table)

    for line in _opening(found):
        console.print(Text(line))
    for cell in found.tasks:
        console.print()
        show(_title(cell), cell.differences, [cell])
        for line in (*_trajectories(cell.differences), *_unknown(cell), *_sources(cell.same_sources)):
            console.print(Text(line))
    if found.overall:
        console.print()
        title = f"mean over {len(found.tasks)} pairs of cells that know the metric, each counting the same"
        show(title, found.overall, found.tasks)
    console.print()
    for line in _closing(found, narrow=narrow):
        console.print(Text(line))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _opening(found: Comparison) -> list[str]:
    lines = [f"first   {_side(found.first)}", f"second  {_side(found.second)}"]
    unasked = [each for each in found.incomparable if not each.asked]
    if unasked:
        lines.append("NOT COMPARABLE (protocol section 9), compared because of --force. They differ in:")
        lines += [f"  {_told(each, found)}" for each in unasked]
    asked = [each for each in found.incomparable if each.asked]
    if asked:
        lines.append("Compared across:")
        lines += [f"  {_told(each, found)}" for each in asked]
    if found.beside:
        lines.append("They differ as well in:")
        lines += [f"  {_told(each, found)}" for each in found.beside]
    if found.not_recorded:
        lines.append(f"Not known of both, so perhaps not equal: {', '.join(found.not_recorded)}.")
    return lines


def _side(side: ComparedSide) -> str:
    runs = ", ".join(side.runs[:MOST_TASKS]) + (f" and {len(side.runs) - MOST_TASKS} more" if len(side.runs) > MOST_TASKS else "")
    return shown(f"{runs} ({', '.join(side.models)})")


def _told(each: KeyDifference, found: Comparison) -> str:
    """Return both values, and the tasks where it is not all of them."""
    tasks = ", ".join(each.tasks[:MOST_TASKS]) + (" …" if len(each.tasks) > MOST_TASKS else "")
    everywhere = {(cell.first.task, cell.first.workload) for cell in found.tasks}
    where = f" ({tasks})" if len(each.tasks) < len(everywhere) else ""
    return shown(f"{each.key}: {_short(each.first)} and {_short(each.second)}{where}")


def _short(value: str | None) -> str:
    """Return a value in which hashes are cut to what tells them apart."""
    return " ".join(
        word[: len("sha256:") + 12] if "sha256:" in word else word[:12] if _is_hash(word) else word
        for word in (value or "").split()
    )


def _is_hash(word: str) -> bool:
    return len(word) >= 32 and all(c in "0123456789abcdef" for c in word)


def _title(cell: ComparedCell) -> str:
    one, other = cell.first, cell.second
    parts = [f"{one.task}@{one.workload}", one.arch, *_common(one, other)]
    for name, evaluated, planned in zip(("first", "second"), cell.n_evaluated, cell.n_planned, strict=True):
        parts.append(f"{name} {evaluated} of {planned} turns")
    return shown(" · ".join(parts))


def _common(one: CellKey, other: CellKey) -> list[str]:
    """Return what both cells have in common of what tells the cells of a run apart."""
    names = ("model", "language", "pack", "arm", "condition")
    return [f"{name} {value}" for name in names if (value := getattr(one, name)) and value == getattr(other, name)]


def _line(found: Difference, cells: Sequence[ComparedCell]) -> tuple[str, ...]:
    metric = found.metric
    unknown = _unknown_turns(metric, _knowing(found, cells))
    interval = (
        ABSENT if found.low is None or found.high is None else f"{_change(metric, found.low)} … {_change(metric, found.high)}"
    )
    return (
        _label(metric),
        _value(metric, found.first, unknown[0]),
        _value(metric, found.second, unknown[1]),
        ABSENT if found.difference is None else _change(metric, found.difference),
        interval,
        ABSENT if found.other_side is None else f"{100 * found.other_side:.1f} %",
        ABSENT if found.by_chance is None else f"{100 * found.by_chance:.1f} %",
        _verdict(found),
    )


def _narrow(found: Difference, cells: Sequence[ComparedCell]) -> tuple[str, ...]:
    metric, first, second, difference, interval, *_, noise = _line(found, cells)
    return metric, first, second, f"{difference}\n{interval}", noise.replace(" second", "")


def _label(metric: Metric) -> str:
    limit = f" ≤{metric.k}" if metric.k is not None else ""
    threshold = f" at {metric.p:g}" if metric.p is not None else ""
    return f"{LABELS[metric.name]}{limit}{threshold}"


def _verdict(found: Difference) -> str:
    if found.exceeds_noise is None:
        return "cannot tell"
    if not found.exceeds_noise:
        return "no"
    return "YES, second higher" if (found.difference or 0.0) > 0.0 else "YES, second lower"


def _knowing(found: Difference, cells: Sequence[ComparedCell]) -> Sequence[ComparedCell]:
    """Return the cells that a difference is made of: those that know its metric, or all where none does."""
    if found.difference is None:
        return cells
    return [cell for cell in cells for each in cell.differences if each.metric == found.metric and each.difference is not None]


def _unknown_turns(metric: Metric, cells: Sequence[ComparedCell]) -> tuple[int, int]:
    """Return how many turns of each side could raise a metric."""
    if metric.name == "tokens":
        return 0, 0
    counts = [cell.undecided for cell in cells] + [cell.unknown_proofs for cell in cells if metric.name in TARGET]
    return sum(first for first, _ in counts), sum(second for _, second in counts)


def _value(metric: Metric, value: float | None, unknown: int) -> str:
    if value is None:
        return UNKNOWN if unknown else ABSENT
    if metric.name in IN_PERCENT:
        return f"{'≥ ' if unknown else ''}{100 * value:.1f} %"
    return f"{value:.0f}" if metric.name == "tokens" else f"{value:.3f}"


def _change(metric: Metric, value: float) -> str:
    if metric.name in IN_PERCENT:
        return f"{100 * value + 0.0:+.1f}"
    return f"{value + 0.0:+.0f}" if metric.name == "tokens" else f"{value + 0.0:+.3f}"


def _trajectories(differences: Sequence[Difference]) -> list[str]:
    """Return how many trajectories the figures come from, once for all that come from the same."""
    sizes: dict[tuple[int, int, int], list[str]] = {}
    for each in differences:
        if each.difference is not None:
            sizes.setdefault((*each.trajectories, each.pairs), []).append(_label(each.metric))
    return [
        f"{first} and {second} trajectories, {_pairs(pairs)}" + (f" ({', '.join(labels)})" if len(sizes) > 1 else "")
        for (first, second, pairs), labels in sizes.items()
    ]


def _unknown(cell: ComparedCell) -> list[str]:
    """Return what the figures leave out."""
    lines = []
    if any(cell.undecided):
        lines.append("{} and {} turns are undecided; rates count none of them, and may be higher (≥)".format(*cell.undecided))
    if any(cell.unknown_proofs):
        lines.append(
            "{} and {} correct turns have an unknown proof; target figures count none of them (≥)".format(*cell.unknown_proofs)
        )
    return lines


def _pairs(pairs: int) -> str:
    return f"{pairs} of them in pairs" if pairs else "none of them in pairs"


def _sources(same: SameSources) -> list[str]:
    if not same.turns:
        return []
    lines = [f"{same.turns} turns with the same source: {len(same.changed) or 'no'} verdicts differ"]
    for each in same.changed[:MOST_CHANGED]:
        lines.append(shown(f"  {each.trajectory} turn {each.turn}: {each.first} -> {each.second}"))
    if len(same.changed) > MOST_CHANGED:
        lines.append(f"  and {len(same.changed) - MOST_CHANGED} more (--json lists them)")
    if same.speedup_ratio is not None:
        spread = "" if same.speedup_quartiles is None else " (quartiles {:.3f} and {:.3f})".format(*same.speedup_quartiles)
        lines.append(f"  speedup, second over first: median {same.speedup_ratio:.3f}{spread} in {same.timed} turns")
    return lines


def _closing(found: Comparison, *, narrow: bool) -> list[str]:
    lines = []
    for side, cells in (("first", found.only_first), ("second", found.only_second)):
        if cells:
            lines.append(f"Only in the {side}: {_cells(cells)}")
    if any(cell.n_evaluated[side] < cell.n_planned[side] for cell in found.tasks for side in (0, 1)):
        lines.append("Some turns are not evaluated: where runs go on, the figures are of what there is.")
    longest = max((turns for cell in found.tasks for turns in cell.turns), default=0)
    if longest > LIMITS[-1]:
        lines.append(f"Fast_p and tokens are of all turns, up to {longest} of a trajectory; rates of the first {LIMITS[-1]}.")
    if not found.judged:
        lines.append("Nothing can be told from noise: there are too few trajectories, or nothing was decided.")
        return lines
    lines.append(
        f"{found.exceeding} of {found.judged} differences of tasks exceed noise; where nothing differs, "
        f"{found.expected_by_chance:g} would on average, or fewer."
    )
    if not narrow:
        lines.append(
            f"other side: share of {found.resamples} resamples that turn the difference's sign or make it zero. by chance: share "
            "of exchanges of trajectories between the sides that make one as large."
        )
    lines.append(
        f"A difference exceeds noise when its interval leaves out zero and chance makes one as large in at most "
        f"{100 * found.level:g} %."
    )
    return lines


def _cells(cells: Iterable[CellKey]) -> str:
    names = [f"{key.task}@{key.workload} on {key.arch} ({key.run})" for key in cells]
    return shown(", ".join(names[:MOST_TASKS]) + (f" and {len(names) - MOST_TASKS} more" if len(names) > MOST_TASKS else ""))
