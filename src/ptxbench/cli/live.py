"""The live view of a run on a terminal: one block on stderr, drawn a few times a second from the board."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from ptxbench.agent.engine.events import Event, Incident, TrajectoryEnded
from ptxbench.agent.spending import Caps
from ptxbench.app.board import Board, Snapshot
from ptxbench.app.gpu_load import GpuLoad, Load
from ptxbench.cli.console import GLOBALS, progress
from ptxbench.cli.heartbeat import Heartbeat
from ptxbench.cli.progress import event_line, show_event

if TYPE_CHECKING:
    from rich.table import Table

FRAMES_PER_SECOND = 4
MOST_BEST = 6
"""How many best speedups are listed."""

Watch = Callable[[str, Event], None]
"""Takes an event of a run, which is named only where there are several."""


@contextmanager
def watching(title: str, caps: Caps, *, quiet: bool) -> Iterator[Watch]:
    """Give a function that shows events: the live view on a terminal, lines elsewhere, nothing when ``quiet``.

    Lines say what begins and ends, and about once a minute what is waited for; the function is called in a running event loop.
    """
    if quiet:
        yield lambda _, __: None
    elif GLOBALS.color == "never" or not sys.stderr.isatty():
        yield from _lines()
    else:
        from rich.console import Console
        from rich.live import Live

        board, gpus = Board(), GpuLoad()
        console = Console(stderr=True)

        def show(run: str, event: Event) -> None:
            board.take(run, event)
            # What a person may have to act upon stays on the screen, above the block.
            if (isinstance(event, Incident) and event.final) or (
                isinstance(event, TrajectoryEnded) and event.state == "incomplete"
            ):
                console.print(event_line(run, event), markup=False, highlight=False, style="yellow")

        with Live(
            get_renderable=lambda: block(title, board.snapshot(), caps, gpus.read()),
            console=console,
            refresh_per_second=FRAMES_PER_SECOND,
        ):
            yield show


def _lines() -> Iterator[Watch]:
    heartbeat = Heartbeat(progress)

    def show(run: str, event: Event) -> None:
        heartbeat.take(run, event)
        if show_event(event, run):
            heartbeat.said()

    try:
        yield show
    finally:
        heartbeat.close()


def block(title: str, now: Snapshot, caps: Caps, gpus: Sequence[Load] = ()) -> Table:
    """Return the block that stands for one moment."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()

    def row(name: str, text: str) -> None:
        if text:
            table.add_row(name, Text(text, overflow="ellipsis", no_wrap=True))

    before = f", {now.done_before} of them before" if now.done_before else ""
    row("run", f"{title}  {timedelta(seconds=int(now.seconds))}")
    table.add_row("", ProgressBar(total=max(now.planned, 1), completed=now.done, width=40))
    row("turns", f"{now.done} of {now.planned}{before}: {_counts(now.outcomes)}")
    row("trajectories", _counts(now.states))
    row("in flight", f"{now.asking} requests, {now.evaluating} evaluations (queued or running)")
    row("judged", f"{now.judge_s:.0f} s on {', '.join(now.devices)}" if now.devices else "")
    row("GPU", ", ".join(f"{load.name} {load.percent} %" for load in gpus))
    row("tokens", f"{now.input_tokens:,} in, {now.output_tokens:,} out{_of(caps.total_tokens, ' tokens')}")
    cost = "unknown" if now.cost_usd is None else f"{now.cost_usd:.4f} USD"
    row("cost", f"{cost}{_of(caps.cost_usd, ' USD')}")
    several = len({run for run, _ in now.best}) > 1
    best = sorted(now.best.items(), key=lambda item: -item[1].speedup)
    for number, ((run, task), turn) in enumerate(best[:MOST_BEST]):
        proof = ", qualified" if turn.qualified else ""
        name = run if several else task
        row("" if number else "best speedup", f"{turn.speedup:.3f}{proof}  {name} {turn.trajectory} turn {turn.turn}")
    row("incidents", f"{now.incidents}, the last: {now.last}" if now.incidents else "")
    return table


def _counts(counted: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counted.items())


def _of(cap: float | None, unit: str) -> str:
    return "" if cap is None else f" (cap {int(cap) if cap == int(cap) else cap:,}{unit})"
