"""What a child on a GPU may answer, tried on candidates that answer in the runner's place."""

from __future__ import annotations

import pytest

from ptxbench.evaluate.sandbox.child import Answer, Child
from ptxbench.evaluate.sandbox.claims import Counts, Timings
from ptxbench.evaluate.sandbox.launch import DeviceSetup
from ptxbench.schema import Limits, RunFailure


def test_times_that_look_right_are_taken_as_claims(children):
    with children.impostor("reply(token=token, ok=True, ns=[3, 4], method='cupti', launches={'k': 1}, late=0, empty=0)") as child:
        found = child.time([0], 1, 2, "cupti", 5)
        assert isinstance(found, Timings)
        assert (found.ns, found.launches, found.late, found.empty) == ((3, 4), {"k": 1}, 0, 0)
        assert found.wall_ns > 0


@pytest.mark.parametrize(
    "answer",
    [
        "reply(token=token, ok=True, ns=[3], method='cupti', launches={}, late=0, empty=0)",
        "reply(token=token, ok=True, ns=[3, -4], method='cupti', launches={}, late=0, empty=0)",
        "reply(token=token, ok=True, ns=[3, float('nan')], method='cupti', launches={}, late=0, empty=0)",
        "reply(token=token, ok=True, ns=[3, 4], method='events', launches={}, late=0, empty=0)",
        "reply(token=token, ok=True, ns=[3, 4], method='cupti', launches={'k': 'v'}, late=0, empty=0)",
        "reply(token='0', ok=True, ns=[3, 4], method='cupti', launches={}, late=0, empty=0)",
        "os.write(channel._descriptor, b'[' * 60000)",
        "os.write(channel._descriptor, b' ' * 100000)",
    ],
)
def test_forged_times_end_the_child(children, answer):
    with children.impostor(answer) as child:
        found = child.time([0], 1, 2, "cupti", 5)
        assert isinstance(found, RunFailure) and found.kind == "forged_reply"
        assert child.prove(0, 5) is found


@pytest.mark.parametrize(
    ("data", "size"),
    [
        ("b'{}'", 2),
        ("b'[' * 1000000", 1_000_000),
        ('b\'{"kernels": [], "dropped": NaN}\'', 30),
        ("b''", 8 << 20),
        ("b''", (8 << 20) + 1),
        ("b''", -1),
        ("b''", 1.5),
        ("b''", "12"),
        ("b''", None),
        ("b''", True),
    ],
)
def test_garbage_for_counts_ends_the_child(children, data, size):
    with children.impostor(f"os.pwrite(results[0], {data}, 0); reply(token=token, ok=True, bytes={size!r})") as child:
        found = child.prove(0, 5)
        assert isinstance(found, RunFailure) and found.kind == "forged_reply"


def test_counts_come_through_the_results_file(children):
    text = '{"kernels": [{"name": "k", "pcs": [[16, 4, 128]]}], "dropped": 0}'
    with children.impostor(f"os.pwrite(results[0], {text.encode()!r}, 0); reply(token=token, ok=True, bytes={len(text)})") as child:
        found = child.prove(0, 5)
        assert isinstance(found, Counts) and found.functions[0].pcs == ((16, 4, 128),)


def test_the_results_file_cannot_be_cut_short_or_grown(children):
    cut = "try: os.ftruncate(results[0], 0)\n    except OSError as error: reply(token=token, ok=True, bytes=0, why=str(error))"
    with children.impostor(cut) as child:
        found = child.prove(0, 5)
        assert isinstance(found, Counts) and found.why is not None and "not permitted" in found.why


def test_a_first_call_at_an_impossible_time_is_forged(children):
    for launched in ("0", "10**18", "-1", "'now'", "1.5"):
        with children.impostor(f"reply(token=token, ok=True, ns=[1], returned=None, launched={launched})") as child:
            found = child.call([0], 5)
            assert isinstance(found, RunFailure) and found.kind == "forged_reply"
            assert child.first_launch_s is None


def test_the_first_call_of_an_honest_child_is_dated(children):
    empty = DeviceSetup(uuid=None, buffers=(), arguments=[[]], flush_bytes=0, exact=False, cupti=None, libraries=())
    with Child(children.program("def run(): pass\n"), None, Limits(), device=empty) as child:
        child.load()
        assert child.first_launch_s is None
        assert isinstance(child.call([0], 5), Answer)
        first = child.first_launch_s
        assert first is not None and first > 0
        assert isinstance(child.call([0], 5), Answer) and child.first_launch_s == first


def test_a_request_that_a_candidate_cannot_fulfil_is_its_failure_and_no_crash(children):
    with Child(children.program("def run(): pass\n"), None, Limits(), device=children.NO_DEVICE) as child:
        child.load()
        found = child.time([0], 0, 1, "cupti", 5)
        assert isinstance(found, RunFailure) and found.kind == "exception"
