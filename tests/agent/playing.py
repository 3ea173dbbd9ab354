"""A model that answers from a function, and what the tests of the engine ask of a run directory."""

from ptxbench.agent.engine.ledger import TurnStep, read_steps
from ptxbench.agent.models import Reply, Usage


def code(*directives):
    """Return a reply whose kernel tells the scripted evaluator what to do."""
    body = "\n".join(f"// {directive}" for directive in directives)
    return f"Here:\n```cpp\n{body}\nvoid run() {{}}\n```\n"


class TableModel:
    """Answers from a function of (trajectory, turn) and keeps what it was asked."""

    name = "openai/table"

    def __init__(self, answer):
        self._answer = answer
        self.asked = []

    def facts(self):
        return {}

    async def reply(self, messages, config):
        self.asked.append((config.trajectory, config.turn, messages, config.sampling.seed))
        answer = self._answer(config.trajectory, config.turn)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return Reply(text=answer, usage=Usage(input=10, output=5, cost_usd=0.25))
        return answer

    async def close(self):
        pass


def rows(folder):
    """Return the rows of a run directory, oldest first."""
    return [step.row for step in read_steps(folder) if isinstance(step, TurnStep)]
