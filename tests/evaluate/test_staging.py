"""The staging buffer: sealed, guarded, poisoned, and read by the judge alone."""

from __future__ import annotations

import itertools
import mmap
import os

import ml_dtypes
import numpy as np
import pytest

from ptxbench.evaluate.sandbox.staging import ALIGNMENT, GUARD_BYTES, Layout, Staging, frozen_memory, lay_out

INPUTS = {"A": np.arange(15, dtype=np.float32).reshape(3, 5), "scale": 0.5, "flag": True, "B": np.ones((2, 2), ml_dtypes.bfloat16)}
OUTPUTS = {"C": np.zeros((3, 7), ml_dtypes.bfloat16), "L": np.zeros((), np.float32), "E": np.zeros((0, 4), np.float32)}
DTYPES = {"A": "float32", "B": "bfloat16", "C": "bfloat16", "L": "float32", "E": "float32"}


@pytest.fixture
def layout() -> Layout:
    return lay_out(INPUTS, OUTPUTS, DTYPES, 3)


def candidates_view(staging: Staging) -> np.ndarray:
    """The same memory as the candidate has it: through the descriptor."""
    return np.frombuffer(mmap.mmap(staging.descriptor, staging.layout.size_bytes), np.uint8)


def test_every_tensor_is_aligned_and_far_from_its_neighbours(layout: Layout) -> None:
    cells = [cell for slot in layout.slots for cell in (*slot.inputs, *slot.outputs)]
    assert all(cell.offset % ALIGNMENT == 0 for cell in cells)
    for before, after in itertools.pairwise(cells):
        assert before.offset + before.size_bytes + GUARD_BYTES <= before.end <= after.begin
    assert cells[-1].end <= layout.size_bytes


def test_arguments_are_in_call_order_with_scalars_by_value(layout: Layout) -> None:
    arguments = layout.slots[0].arguments()
    assert [one.get("value") for one in arguments] == [None, 0.5, True, None, None, None, None]
    assert [one.get("shape") for one in arguments] == [[3, 5], None, None, [2, 2], [3, 7], [], [0, 4]]


def test_outputs_are_poisoned_and_come_back_as_copies(layout: Layout) -> None:
    with Staging(layout, 1) as staging:
        staging.write(1, INPUTS)
        outputs = staging.outputs(1)
        assert np.isnan(outputs["C"].astype(np.float32)).all()
        assert outputs["C"].shape == (3, 7) and outputs["L"].shape == () and outputs["E"].shape == (0, 4)
        assert staging.same_outputs(1, outputs)
        shared, cell = candidates_view(staging), layout.slots[1].outputs[0]
        assert (shared[cell.offset : cell.offset + cell.size_bytes] == 0xFF).all()
        shared[cell.offset] = 1
        assert not staging.same_outputs(1, outputs)
        assert np.isnan(outputs["C"].astype(np.float32)).all()


def test_changed_inputs_and_guards_are_counted_where_they_are(layout: Layout) -> None:
    with Staging(layout, 1) as staging:
        for slot in range(3):
            staging.write(slot, INPUTS)
        shared = candidates_view(staging)
        a, c = layout.slots[2].inputs[0], layout.slots[2].outputs[0]
        shared[a.offset] ^= 1
        shared[c.offset + c.size_bytes : c.offset + c.size_bytes + 6] ^= 0xFF
        shared[c.offset - 1] ^= 0xFF
        assert staging.changed_inputs(2, INPUTS) == ("A",)
        assert staging.changed_guard_bytes(2) == {"C": 7}
        assert staging.changed_inputs(0, INPUTS) == ()
        assert staging.changed_guard_bytes(0) == {}
        staging.write(2, INPUTS)
        assert (staging.changed_inputs(2, INPUTS), staging.changed_guard_bytes(2)) == ((), {})


def test_nobody_can_change_the_size_of_the_buffer(layout: Layout) -> None:
    with Staging(layout, 1) as staging:
        for size in (0, layout.size_bytes * 2):
            with pytest.raises(PermissionError):
                os.ftruncate(staging.descriptor, size)


def test_frozen_memory_cannot_be_written() -> None:
    with frozen_memory("test", b"library") as descriptor:
        assert os.pread(descriptor, 100, 0) == b"library"
        with pytest.raises(PermissionError):
            os.pwrite(descriptor, b"x", 0)


def test_descriptors_are_given_back(layout: Layout) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = descriptors()
    for _ in range(5):
        with Staging(layout, 1) as staging, frozen_memory("test", b"x"):
            staging.write(0, INPUTS)
    assert descriptors() == before


def test_a_glimpse_sees_a_late_last_element_and_most_other_changes(layout: Layout) -> None:
    with Staging(layout, 1) as staging:
        staging.write(1, INPUTS)
        before = staging.glimpse(1)
        shared, cell = candidates_view(staging), layout.slots[1].outputs[0]
        shared[cell.offset + cell.size_bytes - 1] = 1
        assert staging.glimpse(1) != before
        staging.write(1, INPUTS)
        assert staging.glimpse(1) == before
        shared[cell.offset : cell.offset + cell.size_bytes // 2] = 1
        assert staging.glimpse(1) != before
        assert staging.glimpse(0) == b"\0" * len(before), "another slot, where nothing was written"


def test_places_of_a_glimpse_differ_by_evaluation() -> None:
    layout = lay_out(INPUTS, {"C": np.zeros(1 << 20, np.float32)}, DTYPES | {"C": "float32"}, 1)
    numbers = np.random.default_rng(0).integers(0, 256, 4 << 20, dtype=np.uint8)
    seen = []
    for _ in range(2):
        with Staging(layout, 1) as staging:
            cell = layout.slots[0].outputs[0]
            candidates_view(staging)[cell.offset : cell.offset + cell.size_bytes] = numbers
            seen.append(staging.glimpse(0))
    assert seen[0] != seen[1]
