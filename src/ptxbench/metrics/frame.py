"""The turn frame: the turns of any number of runs as two Polars tables, which all metrics over many runs read.

``turns`` has one row per turn, ``cells`` one row per cell (``CellKey``: what makes turns comparable), joined by ``cell``. Turns
that were planned and not reached are rows as well (outcome ``not_reached``), so that N is a number of rows. Figures come back
as frames with a ``cell`` column; ``TurnFrame.keyed`` names the cells of such a frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from ptxbench.arch import ARCHITECTURES
from ptxbench.core.errors import UsageError
from ptxbench.core.extras import how_to_install
from ptxbench.metrics.duplicates import refuse_duplicates
from ptxbench.metrics.rows import Plan
from ptxbench.metrics.turn_columns import Gates, Resources, settings_text, turn_columns
from ptxbench.schema import CellKey, ImportedOutcome, Outcome, Turn

try:
    import polars as pl
except ImportError as missing:
    raise UsageError("metrics over many runs need polars, which is not installed", next_step=how_to_install("report")) from missing

KEY = tuple(CellKey.model_fields)
"""Columns of ``cells`` that name a cell."""

UNDECIDED, NOT_REACHED = "undecided", "not_reached"
"""What stands in ``outcome`` where a turn has none."""

OUTCOMES = (*(outcome.value for outcome in (*Outcome, *ImportedOutcome)), UNDECIDED, NOT_REACHED)
"""Values of ``outcome``, in the order in which tables and figures show them."""

TURN_COLUMNS: dict[str, pl.DataType] = {
    "trajectory": pl.String(),
    "variant": pl.String(),
    "turn": pl.Int32(),
    "outcome": pl.Enum(OUTCOMES),
    "speedup": pl.Float64(),
    "proof": pl.Enum(["qualified", "not_executed", "absent", "unknown"]),
    "source_target": pl.Boolean(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
    "reasoning_tokens": pl.Int64(),
    "cached_tokens": pl.Int64(),
    "cost_usd": pl.Float64(),
    "gpu_seconds": pl.Float64(),
    "model_seconds": pl.Float64(),
    "gate_passed": pl.Boolean(),
    "registers": pl.Int32(),
    "spill_bytes": pl.Int64(),
    "occupancy_percent": pl.Float64(),
}
"""Columns of a flat table beside ``KEY``; all but ``trajectory``, ``turn`` and ``outcome`` may be missing or null (unknown).

``speedup`` is the trusted one (``Turn.trusted_speedup``): null where a latency is missing or refuted. ``source_target`` is what
an imported table read from source text (``TurnProof.source_target``), and no proof. ``output_tokens`` hold ``reasoning_tokens``,
``input_tokens`` hold ``cached_tokens``. ``registers`` (per thread) is the largest of the candidate's kernels, ``spill_bytes``
their sum, ``occupancy_percent`` the measured one of the kernel that took longest."""

FLAT_COLUMNS: dict[str, pl.DataType] = {name: pl.String() for name in KEY} | TURN_COLUMNS
"""Columns of a flat table and their types."""

REQUIRED = ("model", "arch", "task", "run", "trajectory", "turn", "outcome")
"""Columns that a flat table must have."""

NUMBERS = ("cell", "path", "prompt")
"""Numbers of a turn's cell, of its trajectory and of its cell's prompt variant; the latter two differ between all cells."""

DERIVED = ("correct", "qualified", "unproven", "tagged", "total_tokens")
"""What ``TurnFrame.turns`` has beside ``NUMBERS`` and ``TURN_COLUMNS``.

``correct``, ``qualified`` (correct, and target instructions executed), ``unproven`` (correct, proof unknown) and ``tagged``
(correct, and tagged in source) are never null; ``qualified`` and ``unproven`` are false where an architecture has no target
instructions. ``total_tokens`` = input + output, null when either is unknown. ``speedup`` is null unless ``correct``. What was not
reached cost nothing: its tokens, money and GPU seconds are 0 and its reasoning tokens null, so that no mean counts them."""


@dataclass(frozen=True)
class TurnFrame:
    """Turns and cells, checked: each (cell, trajectory, turn) occurs once, and every turn has its cell.

    ``cells`` is sorted by ``KEY`` and has beside it ``cell`` (its number), ``target`` (whether its architecture has target
    instructions), ``n_planned``, ``baseline``, ``device_name``, ``proof_method`` and ``settings`` (the rest that makes runs
    comparable, as JSON).
    ``turns`` is sorted by cell, trajectory and turn.
    """

    cells: pl.DataFrame
    turns: pl.DataFrame

    @classmethod
    def of(
        cls,
        turns: Iterable[Turn],
        planned: Mapping[CellKey, Plan] | None = None,
        *,
        resources: Mapping[str, Resources] | None = None,
        gates: Gates | None = None,
    ) -> Self:
        """Return the frame of turn records, with every cell of ``planned`` even when it has no turn yet.

        ``resources`` says by evaluation hash what a kernel used (``Resources.of``), ``gates`` by source hash whether it passed
        the equivalence gate. Raises ``UsageError`` when a turn occurs twice, or though it was not reached, with the list.
        """
        columns = turn_columns(turns, planned or {}, resources or {}, gates or {})
        return cls.from_flat(pl.DataFrame(columns, schema={name: FLAT_COLUMNS[name] for name in columns or FLAT_COLUMNS}), planned)

    @classmethod
    def from_flat(cls, flat: pl.DataFrame, planned: Mapping[CellKey, Plan] | None = None) -> Self:
        """Return the frame of a flat table: ``KEY`` and ``TURN_COLUMNS`` side by side (Arrow: ``pl.from_arrow`` first).

        A cell without a plan is taken to be complete as it is; what a plan says was not reached must be rows of the table.
        Raises ``UsageError`` for missing columns, values that are not of their column's type and turns that occur twice, with
        the list.
        """
        flat = _complete(flat)
        keys, key = _numbered(flat, KEY)
        cells = _cells(keys, planned or {})
        of_key = keys.join(cells, on=KEY, how="left", nulls_equal=True, maintain_order="left").get_column("cell")
        turns = flat.drop(KEY).with_columns(of_key.gather(key).alias("cell"))
        turns = _in_order(turns.with_columns(_numbered(turns, ("cell", "trajectory"))[1].alias("path")))
        turns = _derived(turns.with_columns(_numbered(turns, ("cell", "variant"))[1].alias("prompt")), cells)
        _refuse_duplicates(turns, cells)
        return cls(_counted(cells, turns), turns.select(*NUMBERS, *TURN_COLUMNS, *DERIVED))

    def only(self, *predicates: pl.Expr) -> Self:
        """Return the cells that fulfil predicates over the columns of ``cells``, with their turns."""
        cells = self.cells.filter(*predicates)
        return type(self)(cells, self.turns.join(cells.select("cell"), on="cell", how="semi", maintain_order="left"))

    def keyed(self, figures: pl.DataFrame) -> pl.DataFrame:
        """Return a frame of figures with the columns of ``cells`` in place of ``cell``, in the order of ``cells``."""
        return self.cells.join(figures, on="cell", how="inner", maintain_order="left_right").drop("cell")

    def flat(self) -> pl.DataFrame:
        """Return one flat table, which ``from_flat`` reads again."""
        return self.cells.join(self.turns, on="cell", how="inner", maintain_order="left_right").select(*FLAT_COLUMNS)


def _complete(flat: pl.DataFrame) -> pl.DataFrame:
    """Return the table with every column; those of turns with their types, those of ``KEY`` as they are (text of any type)."""
    lacking = [name for name in REQUIRED if name not in flat.columns]
    if lacking:
        raise UsageError(f"the table of turns lacks the columns {', '.join(lacking)}")
    columns = [
        (pl.col(name) if name in KEY else pl.col(name).cast(kind)) if name in flat.columns else pl.lit(None, kind).alias(name)
        for name, kind in FLAT_COLUMNS.items()
    ]
    try:
        complete = flat.select(columns)
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"the table of turns holds a value that its column cannot: {error}") from None
    unnamed = [name for name in REQUIRED if complete.get_column(name).null_count()]
    if unnamed:
        raise UsageError(f"the table of turns has rows without {', '.join(unnamed)}")
    if (complete.get_column("turn") < 0).any():
        raise UsageError("the table of turns has a turn below 0: turns count from 0")
    return complete


def _numbered(table: pl.DataFrame, columns: Sequence[str]) -> tuple[pl.DataFrame, pl.Series]:
    """Return the distinct values of columns, sorted, and for each row of the table the number of its own.

    Equal rows mostly stand together, so values are compared once for each stretch of equal ones.
    """
    stretch = table.select(pl.struct(columns).rle_id().alias("stretch")).get_column("stretch")
    kinds = [pl.col(column).cast(FLAT_COLUMNS.get(column, pl.UInt32())) for column in columns]
    heads = table.select(columns).filter(stretch.ne_missing(stretch.shift(1))).select(kinds)
    distinct = heads.unique().sort(columns)
    numbered = heads.join(distinct.with_row_index("number"), on=columns, how="left", nulls_equal=True, maintain_order="left")
    return distinct, numbered.get_column("number").gather(stretch)


def _in_order(turns: pl.DataFrame) -> pl.DataFrame:
    """Return the turns by cell, trajectory and turn; most tables are in that order already."""
    path, turn = pl.col("path"), pl.col("turn")
    ordered = (path > path.shift(1)) | ((path == path.shift(1)) & (turn >= turn.shift(1)))
    in_order = turns.select(ordered.fill_null(True).all()).item()
    return (turns if in_order else turns.sort("path", "turn")).with_columns(pl.col("path", "cell").set_sorted())


def _cells(keys: pl.DataFrame, planned: Mapping[CellKey, Plan]) -> pl.DataFrame:
    """Return a numbered row for each cell that has turns or a plan."""
    plans = pl.DataFrame(
        [
            {
                **key.model_dump(),
                "n_planned": plan.planned_turns,
                "baseline": plan.baseline,
                "device_name": plan.device_name,
                "proof_method": plan.proof_method,
                "settings": settings_text(plan),
            }
            for key, plan in planned.items()
        ],
        schema={name: pl.String() for name in KEY}
        | {"n_planned": pl.Int64()}
        | dict.fromkeys(("baseline", "device_name", "proof_method", "settings"), pl.String()),
    )
    without = [name for name, arch in ARCHITECTURES.items() if not arch.is_gpu]
    return (
        pl.concat([keys.select(KEY), plans.select(KEY)])
        .unique()
        .join(plans, on=KEY, how="left", nulls_equal=True)
        .with_columns(pl.col("arch").is_in(without).not_().alias("target"), pl.col("settings").fill_null("{}"))
        .sort(KEY)
        .with_row_index("cell")
    )


def _derived(turns: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Return the turns with the columns of ``DERIVED``; numbers that are none are null, and turns not reached cost nothing."""
    correct = pl.col("outcome") == Outcome.CORRECT.value
    target = cells.get_column("target").gather(turns.get_column("cell"))
    free = pl.when(pl.col("outcome") == NOT_REACHED).then(0)
    tokens = [free.otherwise(pl.col(name)).alias(name) for name in ("input_tokens", "output_tokens")]
    spent = [free.otherwise(_finite(name)).alias(name) for name in ("cost_usd", "gpu_seconds")]
    return turns.with_columns(
        correct.alias("correct"),
        (correct & target & (pl.col("proof") == "qualified")).fill_null(False).alias("qualified"),
        (correct & target & (pl.col("proof") == "unknown").fill_null(True)).alias("unproven"),
        (correct & pl.col("source_target")).fill_null(False).alias("tagged"),
        pl.when(correct & (pl.col("speedup") > 0.0)).then(_finite("speedup")).alias("speedup"),
        _finite("occupancy_percent"),
        pl.when(pl.col("outcome") != NOT_REACHED).then("reasoning_tokens").alias("reasoning_tokens"),
        *(*tokens, *spent),
    ).with_columns((pl.col("input_tokens") + pl.col("output_tokens")).alias("total_tokens"))


def _finite(name: str) -> pl.Expr:
    return pl.when(pl.col(name).is_finite()).then(pl.col(name)).alias(name)


def _counted(cells: pl.DataFrame, turns: pl.DataFrame) -> pl.DataFrame:
    """Return the cells with N planned: the plan's, or the turns that are there."""
    held = turns.group_by("cell").agg(pl.len().cast(pl.Int64).alias("held"))
    counted = cells.join(held, on="cell", how="left", maintain_order="left")
    return counted.with_columns(pl.coalesce("n_planned", "held", pl.lit(0)).alias("n_planned")).drop("held")


def _refuse_duplicates(turns: pl.DataFrame, cells: pl.DataFrame) -> None:
    again = (pl.col("path") == pl.col("path").shift(1)) & (pl.col("turn") == pl.col("turn").shift(1))
    twice = turns.filter(again.fill_null(False)).select("cell", "trajectory", "turn").unique().sort("cell", "trajectory", "turn")
    if twice.height:
        named = twice.join(cells.select("cell", "run", "task"), on="cell", how="left", maintain_order="left")
        names = [
            f"{run}/{task}/{name}/{turn}" for run, task, name, turn in named.select("run", "task", "trajectory", "turn").rows()
        ]
        refuse_duplicates(names)
