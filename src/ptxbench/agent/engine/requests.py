"""One request to the model, from the conversation to a reply in the journal."""

from __future__ import annotations

import time

from ptxbench.agent.config import RunConfig
from ptxbench.agent.engine.events import Answered, Asking, Incident
from ptxbench.agent.engine.ledger import ReplyStep
from ptxbench.agent.engine.places import Place
from ptxbench.agent.engine.stage import Paused, Stage, Stopped, to_the_end
from ptxbench.agent.models.message import ContextOverflow, GenerateConfig, Message, Reply
from ptxbench.core.errors import ModelError

SMALLER = "a smaller prompt (--pack none, --arm wrappers) or a smaller --max-tokens"
"""What helps when not even the first request fits the model's context window."""


async def ask(stage: Stage, place: Place, rank: int, turn: int, messages: list[Message]) -> tuple[ReplyStep, Reply]:
    """Ask for a turn's reply when a slot is free; return it when it is in the journal.

    Raises ``Paused`` when a cap is reached, ``Stopped`` when the model gives no answer, ``ContextOverflow`` when the conversation
    has grown too long for it. One whose first request is too long says nothing of the model: that is ``Stopped``, a fault of the
    set-up.
    """
    async with stage.slots.one(rank):
        refused = stage.spending.refuses()
        if refused is not None:
            raise Paused(refused)
        stage.spending.begin()
        stage.progress(Asking(place, turn))
        prompt = await stage.ledger.in_thread(stage.ledger.put_prompt, messages)
        config = GenerateConfig(
            sampling=stage.sampling(place, turn),
            trajectory=place.trajectory,
            task=place.task,
            turn=turn,
            notice=lambda text: stage.progress(Incident(place, turn, text, final=False)),
        )
        started = time.monotonic()
        try:
            reply = await stage.model.reply(messages, config)
        except ContextOverflow as error:
            if turn > 0:
                raise
            fault = ContextOverflow(f"{error.message}; the first prompt does not fit: {SMALLER}", next_step=SMALLER)
            await stage.incident(place, turn, fault, final=True)
            raise Stopped(fault.message) from error
        except ModelError as error:
            await stage.incident(place, turn, error, final=True)
            raise Stopped(error.message) from error
        seconds = time.monotonic() - started
        reply = _priced(reply, stage.config)
        stage.spending.add(reply.usage)
    kept = await to_the_end(_keep(stage, place, turn, prompt, reply, seconds))
    stage.progress(Answered(place, turn, seconds, reply.usage.tokens))
    return kept, reply


async def _keep(stage: Stage, place: Place, turn: int, prompt: str, reply: Reply, seconds: float) -> ReplyStep:
    stored = await stage.ledger.in_thread(stage.ledger.put_record, reply)
    step = ReplyStep(place=place, turn=turn, prompt=prompt, reply=stored, seconds=seconds)
    await stage.ledger.record(step)
    return step


def _priced(reply: Reply, config: RunConfig) -> Reply:
    """Return the reply with its cost: the provider's own figure, else by the run's price."""
    if config.price is None or reply.usage.cost_usd is not None:
        return reply
    usage = reply.usage.model_copy(update={"cost_usd": config.price.cost_usd(reply.usage)})
    return reply.model_copy(update={"usage": usage})
