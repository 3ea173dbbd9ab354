"""A played trajectory in mini-swe-agent's format, with the message kinds of the published harness."""

from __future__ import annotations

from typing import Any

from ptxbench.agent.exports.mini_schema import (
    MiniAgentConfig,
    MiniConfig,
    MiniInfo,
    MiniMessage,
    MiniModelConfig,
    MiniModelStats,
    MiniTrajectory,
)
from ptxbench.agent.exports.naming import AGENT_NAME, public_config, public_model, public_row
from ptxbench.agent.exports.played import Ending, PlayedTrajectory, PlayedTurn
from ptxbench.schema import Outcome

EXIT_STATUS: dict[Ending, str] = {
    "turns_made": "LimitsExceeded",
    "target_speedup": "Submitted",
    "context_overflow": "ContextWindowExceededError",
    "incomplete": "",
}
"""The names that mini-swe-agent and the published harness use; a trajectory that still goes on has none."""

EVENTS: dict[str, str] = {
    Outcome.NO_CODE: "no_code",
    Outcome.POLICY_VIOLATION: "policy_violation",
    Outcome.COMPILE_ERROR: "test_failed",
}
"""The published harness's names of observations; every other outcome is an ``evaluation``."""


def to_mini(played: PlayedTrajectory) -> MiniTrajectory:
    """Return the trajectory as mini-swe-agent writes it, without timestamps: a run's journal has no clock.

    A cost that is not known is left out of its message, and counts as nothing in ``instance_cost`` (readers do the same).
    """
    status, submission = EXIT_STATUS[played.ending], played.best_source or ""
    messages = [MiniMessage(role=message.role, content=message.content) for message in played.opening]
    for turn in played.turns:
        messages += [_answer(turn, public_model(played.manifest.model)), _observation(turn, played.manifest.config)]
    if status:
        messages.append(MiniMessage(role="exit", content=status, extra={"exit_status": status, "submission": submission}))
    return MiniTrajectory(info=_info(played, status, submission), messages=messages)


def _answer(turn: PlayedTurn, model: str) -> MiniMessage:
    reply, tokens = turn.reply, turn.row.tokens
    usage = {"prompt_tokens": tokens.input, "completion_tokens": tokens.output}
    if tokens.cached is not None:
        usage |= {"cached_tokens": tokens.cached}
    if tokens.reasoning is not None:
        usage |= {"reasoning_tokens": tokens.reasoning}
    extra: dict[str, Any] = {
        "actions": [],
        "response": {
            "model": public_model(reply.served_model) if reply.served_model else model,
            "finish_reason": reply.raw_finish or reply.finish,
            "usage": usage,
        },
    }
    if turn.row.cost_usd is not None:
        extra["cost"] = turn.row.cost_usd
    return MiniMessage(role="assistant", content=reply.text, reasoning_content=reply.reasoning, extra=extra)


def _observation(turn: PlayedTurn, config: dict[str, Any]) -> MiniMessage:
    row = turn.row
    right = row.outcome is Outcome.CORRECT
    target = config.get("target_speedup")
    extra: dict[str, Any] = {
        "raw_output": "",
        "returncode": None if row.outcome is None else 0 if right else 1,
        "exception_info": None,
        "event": EVENTS.get(row.outcome, "evaluation") if row.outcome else "evaluation",
        "all_passed": None if row.outcome is None else right,
        "min_speedup": row.trusted_speedup,
        "target_met": None if target is None else right and (row.trusted_speedup or 0.0) >= target,
        "turn": public_row(row),
    }
    return MiniMessage(role="user", content=turn.feedback, extra=extra)


def _info(played: PlayedTrajectory, status: str, submission: str) -> MiniInfo:
    manifest = played.manifest
    config = public_config(manifest)
    templates = manifest.code.templates
    sampling = {name: value for name, value in (config.get("sampling") or {}).items() if value is not None}
    costs = [turn.row.cost_usd for turn in played.turns if turn.row.cost_usd is not None]
    return MiniInfo(
        model_stats=MiniModelStats(instance_cost=float(sum(costs)), api_calls=len(played.turns)),
        config=MiniConfig(
            agent=MiniAgentConfig(
                # The rendered texts are the first two messages; here stands which templates they were made from.
                system_template=f"system.md.j2 of {templates}",
                instance_template=f"user.md.j2 of {templates}",
                step_limit=int(config.get("turns") or 0),
                cost_limit=0.0,
                wall_time_limit_seconds=0,
                max_consecutive_format_errors=0,
            ),
            agent_type=AGENT_NAME,
            model=MiniModelConfig(
                model_name=public_model(manifest.model),
                model_kwargs=sampling,
                format_error_template=f"feedback/no_code.md.j2 of {templates}",
                observation_template=f"feedback of {templates}",
            ),
            model_type=f"ptxbench.{manifest.model.partition('/')[0]}",
            environment={
                "task": played.place.task,
                "workload": played.place.workload,
                "arch": played.place.arch,
                "device": played.turns[0].row.key.device,
                "suite": manifest.suite,
                "protocol_version": manifest.protocol_version,
                "run": manifest.run,
                "config": config,
            },
            environment_type="ptxbench.judge",
        ),
        mini_version=f"ptxbench-{manifest.code.version}",
        exit_status=status,
        submission=submission,
    )
