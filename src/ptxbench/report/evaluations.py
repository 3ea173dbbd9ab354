"""What the evaluations of a run say about its kernels' resources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from ptxbench.agent.engine.ledger import STORE_NAME
from ptxbench.core.errors import StorageError
from ptxbench.core.store import ContentStore
from ptxbench.metrics.turn_columns import Resources
from ptxbench.schema import Evaluation, Turn


def resources_of(folders: Iterable[Path], turns: Sequence[Turn]) -> dict[str, Resources]:
    """Return by evaluation hash what the kernels of these runs' turns use.

    Raises ``StorageError`` for a stored evaluation that cannot be read. One that no store has any more is left out: unknown.
    """
    wanted = {turn.hashes.evaluation for turn in turns} - {None}
    found: dict[str, Resources] = {}
    for folder in folders:
        store = ContentStore(folder / STORE_NAME, keep_damaged=True)
        for name in sorted(filter(None, wanted - found.keys())):
            try:
                found[name] = Resources.of(Evaluation.model_validate_json(store.get(name)))
            except KeyError:
                continue
            except ValidationError:
                raise StorageError(
                    f"{name} in the run's store is no evaluation of this version",
                    next_step="use the version of ptxbench that wrote it",
                ) from None
    return found
