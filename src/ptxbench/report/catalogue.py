"""The kinds of table and figure: adding one is a module and a line here. Builders load when asked for: they need the extra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar

from ptxbench.core.errors import UsageError, nearest
from ptxbench.core.extras import how_to_install
from ptxbench.report.figure import Figure
from ptxbench.report.table import Table

if TYPE_CHECKING:
    from ptxbench.report.sources import Sources

EXTRA = ("polars", "altair")
"""What the extra ``report`` brings for tables and figures."""

Item = TypeVar("Item", Table, Figure)


@dataclass(frozen=True)
class Kind(Generic[Item]):
    """A kind of table or figure."""

    name: str
    about: str
    paper: str
    """Its place in the paper; "" where it has none."""
    module: str
    """Below ``ptxbench.report``; its function has the kind's name."""

    def build(self, sources: Sources) -> list[Item]:
        """Return the kind's tables or figures, one for each group of comparable cells; none where there is nothing to show.

        Raises ``UsageError`` when the extra ``report`` is not installed.
        """
        try:
            module = import_module(f"ptxbench.report.{self.module}")
        except ModuleNotFoundError as missing:
            if missing.name not in EXTRA:
                raise
            raise UsageError(
                f"{self.name} needs {missing.name}, which is not installed", next_step=how_to_install("report")
            ) from missing
        builder: Callable[[Sources], list[Item]] = getattr(module, self.name)
        return builder(sources)


TABLES: tuple[Kind[Table], ...] = (
    Kind("models", "models x workloads: correct turns, best and typical speedup at ≤1/≤4/≤8 turns", "Tables 1, 9", "tables.models"),
    Kind("exposure", "releases and knowledge cutoffs beside the documentation of PTX", "Table 2", "tables.exposure"),
    Kind("harnesses", "median best speedup of a trajectory, tokens, token multiple", "Table 3", "tables.harnesses"),
    Kind("arms", "pack ablation: arms x prompt variants", "Table 4", "tables.arms"),
    Kind("conditions", "guidance and retrieval beside neither", "Tables 5, 10", "tables.side_by_side"),
    Kind("languages", "CUDA-PTX beside Triton and other languages", "Figures 3, 8, 13", "tables.side_by_side"),
    Kind("recipes", "models and checkpoints, a workload at a time", "Figures 4 to 6", "tables.side_by_side"),
    Kind("search", "outcomes, correct kernels and reasoning tokens at each turn", "Figures 7, 9", "tables.search"),
    Kind("budgets", "success and median best speedup within budgets of tokens", "Figure 14", "tables.budgets"),
    Kind("throughput", "rates of evaluations and runs, from evidence files", "Figure 12", "tables.throughput"),
    Kind("fast_p", "Fast_p and Fast_p^Inst at a few thresholds", "", "tables.fast_p"),
    Kind("intervals", "95 % intervals of rates, by bootstrap over trajectories", "", "tables.intervals"),
    Kind("success", "trajectories with a correct, qualified or tagged turn, by turn limit", "", "tables.success"),
    Kind("effort", "tokens, GPU time and cost to the first correct, proven, gate-passing kernel", "", "tables.effort"),
    Kind("resources", "registers, spills and occupancy by outcome, forward beside backward", "", "tables.resources"),
)

FIGURES: tuple[Kind[Figure], ...] = (
    Kind("fast_p", "Fast_p curves by workload and model, bands, best speedups", "Tables 1, 9; Figure 4", "figures.fast_p"),
    Kind("languages", "the same by language: CUDA-PTX beside Triton", "Figures 3, 8, 13", "figures.fast_p"),
    Kind("recipes", "correct turns of checkpoints by workload", "Figures 5, 6", "figures.bars"),
    Kind("arms", "correct turns by arm and prompt variant", "Table 4", "figures.bars"),
    Kind("outcomes", "shares of outcomes at each turn", "Figure 7", "figures.by_turn"),
    Kind("reasoning", "reasoning tokens at each turn", "Figure 7", "figures.by_turn"),
    Kind("kernels", "correct and qualified kernels at each turn", "Figure 9", "figures.by_turn"),
    Kind("throughput", "rates by concurrency, from evidence files", "Figure 12", "figures.throughput"),
    Kind("budgets", "success and median best speedup over tokens", "Figure 14", "figures.budgets"),
)


def chosen(kinds: Sequence[Kind[Item]], names: Sequence[str], word: str) -> list[Kind[Item]]:
    """Return the kinds of these names, in the order asked for; ``all`` is each. Raises ``UsageError`` for an unknown one."""
    known = {kind.name: kind for kind in kinds}
    unknown = [name for name in names if name not in known and name != "all"]
    if unknown:
        close = nearest(unknown[0], list(known), 1)
        raise UsageError(
            f"there is no {word} {unknown[0]!r}",
            next_step=f"{f'did you mean {close[0]}? ' if close else ''}known: {', '.join(known)} (ptxbench report --list)",
        )
    return list(kinds) if "all" in names else [known[name] for name in dict.fromkeys(names)]
