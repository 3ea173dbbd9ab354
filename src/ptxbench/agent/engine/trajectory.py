"""One trajectory: prompt, reply, code, evaluation, row, feedback, and again, a fixed number of times.

Content goes to the store in threads, so that trajectories do not wait for each other's disk; a journal line is written only when
everything that it names is stored, and the next step begins only when the line is on disk.
"""

from __future__ import annotations

from ptxbench.agent.engine.events import TrajectoryEnded, TrajectoryState, TurnFinished
from ptxbench.agent.engine.ledger import EndStep, ReplyStep, TurnStep
from ptxbench.agent.engine.places import Place, PlannedTask
from ptxbench.agent.engine.requests import ask
from ptxbench.agent.engine.rows import Origin, evaluated_turn, no_code_turn
from ptxbench.agent.engine.stage import Paused, Stage, Stopped
from ptxbench.agent.engine.verdicts import judge
from ptxbench.agent.extract import extract
from ptxbench.agent.feedback import Best, evaluation_feedback, no_code_feedback
from ptxbench.agent.feedback.hiding import hide_paths
from ptxbench.agent.history import Exchange, conversation
from ptxbench.agent.knowledge import PLAIN
from ptxbench.agent.models.message import ContextOverflow, Message, Reply
from ptxbench.evaluate import Evaluator
from ptxbench.schema import Candidate, CellKey, Language, Source, Turn

FILE_NAME = {Language.CUDA: "kernel.cu", Language.CPP: "kernel.cpp", Language.PYTHON: "kernel.py", Language.TRITON: "kernel.py"}


class Trajectory:
    """Plays one trajectory from wherever the journal left it."""

    def __init__(
        self, stage: Stage, planned: PlannedTask, key: CellKey, place: Place, evaluator: Evaluator, *, rank: int = 0
    ) -> None:
        """``rank``: the trajectory's place in the plan; of those that wait for the model, the first is served first."""
        self._stage = stage
        self._config = stage.config
        self._ledger = stage.ledger
        self._planned = planned
        self._task_hash = planned.task_hash
        self._key = key
        self._place = place
        self._variant = place.variant or PLAIN  # Only imported trajectories name none, and nobody plays those on.
        self._evaluator = evaluator
        self._rank = rank
        self._past = stage.ledger.past(place)
        self._best: Best | None = None

    async def play(self) -> TrajectoryEnded:
        """Make the turns that are missing. Raises only for faults that stop the whole run (a full disk, wrong usage)."""
        if self._past.end is not None:
            ended: TrajectoryState = "finished" if self._past.end.reason == "target_speedup" else "not_reached"
            return TrajectoryEnded(self._place, ended, self._past.end.reason)
        config = self._config
        opening = self._stage.opening(self._planned, self._variant, self._key.device)
        exchanges: list[Exchange] = []
        for turn in range(config.turns):
            try:
                step = self._past.turns.get(turn) or await self._make(turn, opening, exchanges)
            except ContextOverflow as error:
                said = hide_paths(error.message)
                await self._ledger.record(EndStep(place=self._place, turn=turn, reason="context_overflow", text=said))
                return TrajectoryEnded(self._place, "not_reached", "context_overflow")
            except Stopped as stopped:
                return TrajectoryEnded(self._place, "incomplete", str(stopped))
            except Paused as paused:
                return TrajectoryEnded(self._place, "paused", str(paused))
            self._note_best(step.row)
            if turn + 1 < config.turns:
                if self._reached_target():
                    await self._ledger.record(EndStep(place=self._place, turn=turn + 1, reason="target_speedup"))
                    return TrajectoryEnded(self._place, "finished", "target_speedup")
                reply = self._ledger.reply(step.row.hashes.reply)
                answer = Message(role="assistant", content=reply.text, reasoning=reply.reasoning)
                exchanges.append(Exchange(answer, Message(role="user", content=self._ledger.text(step.feedback))))
        return TrajectoryEnded(self._place, "finished", None)

    async def _make(self, turn: int, opening: list[Message], exchanges: list[Exchange]) -> TurnStep:
        """Do the steps of a turn that the journal does not hold."""
        asked, reply = await self._reply(turn, opening, exchanges)
        self._stage.versions.check_served_model(reply.served_model)
        known = self._planned.knowledge
        origin = Origin(
            key=self._key,
            place=self._place,
            asked=asked,
            reply=reply,
            sampling=self._stage.sampling(self._place, turn),
            suite=self._stage.suite,
            task=self._task_hash,
            pack=known.rendering(self._variant, self._key.device).hash if known is not None else None,
            guidance=known.guidance.hash if known is not None and known.guidance is not None else None,
        )
        found = _find_code(reply, self._planned)
        if isinstance(found, Candidate):
            row, feedback = await self._judged(origin, found)
        else:
            row = no_code_turn(origin, found)
            feedback = no_code_feedback(
                found,
                language=self._planned.language,
                profile=self._config.feedback,
                turn=turn,
                turns=self._config.turns,
                best=self._best,
            )
        stored = await self._ledger.in_thread(self._ledger.put_text, feedback)
        step = TurnStep(place=self._place, row=row, feedback=stored)
        await self._ledger.record(step)
        self._stage.progress(TurnFinished(self._place, row))
        return step

    async def _reply(self, turn: int, opening: list[Message], exchanges: list[Exchange]) -> tuple[ReplyStep, Reply]:
        """Return a turn's reply, from the journal if it is there."""
        asked = self._past.replies.get(turn)
        if asked is not None:
            return asked, self._ledger.reply(asked.reply)
        keep = bool(self._stage.sampling(self._place, turn).send_reasoning)
        messages = conversation(opening, exchanges, self._config.history, keep_reasoning=keep)
        return await ask(self._stage, self._place, self._rank, turn, messages)

    async def _judged(self, origin: Origin, candidate: Candidate) -> tuple[Turn, str]:
        """Return the row of a reply that holds code, and what the model is told about it."""
        turn, task = origin.asked.turn, self._planned.task
        judged, evaluation = await judge(self._stage, self._place, turn, self._evaluator, task, candidate)
        feedback = evaluation_feedback(
            evaluation,
            candidate,
            profile=self._config.feedback,
            turn=turn,
            turns=self._config.turns,
            best=self._best,
            task=task,
        )
        return evaluated_turn(origin, judged, evaluation), feedback

    def _reached_target(self) -> bool:
        target = self._config.target_speedup
        return target is not None and self._best is not None and self._best.speedup >= target

    def _note_best(self, row: Turn) -> None:
        speedup = row.trusted_speedup
        if speedup is not None and (self._best is None or speedup > self._best.speedup):
            self._best = Best(turn=row.turn, speedup=speedup)


def _find_code(reply: Reply, planned: PlannedTask) -> Candidate | str:
    """Return the reply's candidate, or why there is none. A refused or cut-off reply has none, whatever it holds."""
    if reply.finish == "refusal":
        return "refusal"
    if reply.finish == "length":
        return "cut_off"
    found = extract(reply.text, planned.language)
    if found.code is None:
        return found.missing or "no_block"
    name = FILE_NAME[planned.language]
    return Candidate(
        sources=(Source(path=name, content=found.code),),
        entry_point=f"{name}::run",
        language=planned.language,
        arch=planned.task.arch,
    )
