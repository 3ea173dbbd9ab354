"""Caps and prices of ``ptxbench run``: a run stops cleanly, and a higher cap goes on."""

from __future__ import annotations

import json

import pytest

from ptxbench.agent.engine.ledger import ReplyStep, TurnStep, read_steps

TASK = ("--task", "cpu_softmax_n1024", "--language", "python")
SMALL = ("--trajectories", "2", "--turns", "2", "--concurrency", "1")


def replies(folder):
    return [step for step in read_steps(folder) if isinstance(step, ReplyStep)]


def rows(folder):
    return [step.row for step in read_steps(folder) if isinstance(step, TurnStep)]


PRICES = '[[price]]\nmodels = ["openai/m"]\ninput = 1000.0\noutput = 5000.0\nsource = "test"\ndate = 2026-01-01\n'


@pytest.mark.parametrize(
    ("cap", "higher", "asked", "told"),
    [
        (("--max-total-tokens", "200"), ("--max-total-tokens", "9999"), 2, "cap of 200 tokens is reached (240 used)"),
        (("--max-cost", "0.5"), ("--max-cost", "9"), 3, "cap of 0.5 USD is reached (0.6000 spent)"),
        (("--max-turns-now", "3"), (), 3, "cap of 3 turns for this call is reached"),
        (("--max-turns-now", "1"), (), 1, "cap of 1 turn for this call is reached"),
    ],
)
def test_a_cap_stops_cleanly_and_a_higher_one_goes_on(ptxbench, endpoint, tmp_path, cap, higher, asked, told):
    (tmp_path / "prices.toml").write_text(PRICES)
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--out", "r", "--prices", "prices.toml")
    stopped = ptxbench(*command, *cap, code=4)
    assert told in stopped.stdout
    again = "the same command with a higher cap goes on" if higher else "the same command goes on"
    assert f"; all answers are kept, and {again}\n" in stopped.stdout
    assert len(endpoint.bodies) == len(replies(tmp_path / "r")) == len(rows(tmp_path / "r")) == asked
    if higher:
        assert told in ptxbench(*command, *cap, code=4).stdout, "what earlier calls used counts"
        assert len(endpoint.bodies) == asked
    summary = json.loads(ptxbench(*command, *higher, "--json").stdout)
    assert (summary["evaluated_turns"], summary["new_turns"], summary["paused"]) == (4, 4 - asked, 0)
    assert len(endpoint.bodies) == 4
    assert summary["cost_usd"] == pytest.approx(4 * 0.2) and rows(tmp_path / "r")[0].cost_usd == pytest.approx(0.2)


def test_a_run_keeps_the_price_that_it_began_with(ptxbench, endpoint, tmp_path):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--prices", "prices.toml", "--json")
    (tmp_path / "prices.toml").write_text(PRICES)
    ptxbench(*command, "--max-turns-now", "1", code=4)
    (tmp_path / "prices.toml").write_text(PRICES.replace("1000.0", "9.0"))
    assert json.loads(ptxbench(*command).stdout)["cost_usd"] == pytest.approx(4 * 0.2)


def test_a_cost_cap_without_a_known_cost_warns_and_holds_after_the_first_reply(ptxbench, endpoint):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--max-cost", "5")
    done = ptxbench(*command, code=4)
    assert "price is unknown" in done.stderr and "the cost cap cannot be kept" in done.stdout
    assert len(endpoint.bodies) == 1


def test_a_cost_that_the_endpoint_names_needs_no_price(ptxbench, endpoint):
    endpoint.usage |= {"cost": 0.125}
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--json")
    assert json.loads(ptxbench(*command, "--max-cost", "5").stdout)["cost_usd"] == 0.5
