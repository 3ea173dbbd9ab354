"""What a GPU's judge holds: input sets, expected outputs and oracles of many workloads, as tensors on the device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ptxbench.core.errors import JudgeError
from ptxbench.evaluate.device import rule
from ptxbench.evaluate.device.driver import no_room
from ptxbench.evaluate.judge.held import Function, Held
from ptxbench.evaluate.sandbox.inside.driver import OUT_OF_MEMORY, CudaError
from ptxbench.schema import Profile, Task
from ptxbench.suite.inputs import Kind
from ptxbench.suite.on_device import draw_fresh_on, draw_many_on, load_oracle_on, load_reference_on


@contextmanager
def blaming_a_full_device() -> Iterator[None]:
    """Turn torch's and the driver's errors for a full GPU into ours, which is the machine's fault and nobody else's.

    Raises ``JudgeError`` for any other failure of the driver in the judge.
    """
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise no_room(str(error).partition(". ")[0]) from error
    except CudaError as error:
        if error.details["cuda"] == OUT_OF_MEMORY:
            raise no_room(str(error)) from error
        raise JudgeError(f"the judge's GPU failed: {error}") from error


class DeviceRules:
    """The rules on tensors."""

    compare = staticmethod(rule.compare)
    root_mean_square = staticmethod(rule.root_mean_square)
    host = staticmethod(rule.host)


def hold_on_device(task: Task, seed: int, profile: Profile, device: str) -> Held:
    """Return a workload whose tensors lie on ``device``; ``paper`` needs no oracle."""

    def draw_many(task: Task, sets: Sequence[tuple[int, Kind]]) -> list[dict[str, Any]]:
        return draw_many_on(task, sets, device)

    def draw_fresh(task: Task, seed: int) -> dict[str, Any]:
        return draw_fresh_on(task, seed, device)

    def draw(task: Task, seed: int, kind: Kind) -> dict[str, Any]:
        return draw_many(task, [(seed, kind)])[0]

    def finished(function: Function) -> Function:
        """Wait for the device, so that a time taken around a call is the call's own, and a failure belongs to it.

        Unless the device is full, in whichever step: that is no failure of the function's.
        """

        def compute(inputs: Mapping[str, Any]) -> dict[str, Any]:
            with blaming_a_full_device():
                outputs = function(inputs)
                if torch.device(device).type == "cuda":
                    torch.cuda.synchronize(device)
            return outputs

        return compute

    oracle = finished(load_oracle_on(task, device)) if profile is Profile.STRICT else None
    return Held(
        task,
        seed,
        finished(load_reference_on(task, device)),
        oracle,
        draw=draw,
        draw_many=draw_many,
        draw_fresh=draw_fresh,
        rules=DeviceRules(),
    )
