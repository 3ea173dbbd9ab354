"""A maker of turns."""

import pytest

from ptxbench.schema import CellKey, CorrectVerdict, Outcome, TokenCount, Turn, TurnHashes, TurnProof

KEY = CellKey(model="m", arch="sm_90a", device="h200", task="gemm", workload="w", language="cuda", protocol="strict", run="r")


@pytest.fixture(scope="session")
def make_turn():
    """``make_turn(trajectory, turn, outcome, speedup, proof)``: outcome None is undecided; proof None is unknown."""

    def make(trajectory="a-0", turn=0, outcome="correct", speedup=None, proof=None, *, key=KEY, flags=(), variant="a", **more):
        kind = None if outcome is None else Outcome(outcome)
        correct = None if kind is None else kind is Outcome.CORRECT
        return Turn(
            key=key,
            variant=variant,
            trajectory=trajectory,
            turn=turn,
            outcome=kind,
            undecided="no GPU" if kind is None else None,
            blame=None,
            correct=CorrectVerdict(paper=correct, strict=correct, reasons=()),
            speedup=speedup,
            candidate_us=None,
            reference_us=None,
            proof=proof and TurnProof(status=proof, compute=None, data_movement=None, work_share=None),
            flags=flags,
            hashes=TurnHashes(prompt="p", reply="r", source=None, evaluation=None, task="t"),
            tokens=more.get("tokens", TokenCount()),
            cost_usd=more.get("cost"),
            seconds=more.get("seconds", {}),
        )

    make.key = KEY
    return make
