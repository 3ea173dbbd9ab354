"""A run in a process of its own that kills itself at a chosen step: ``killed_run.py SCRIPTED OUT URL LOG STEP NUMBER``.

STEP is an event's name, ``begin`` or ``end`` (of an evaluation), ``fsync`` (in the middle of a journal line's way to disk), or
``never``; the process gets SIGKILL (or what STUB_SIGNAL names) when it meets it for the NUMBERth time.
"""

import asyncio
import importlib.util
import os
import signal
import sys
from pathlib import Path

from ptxbench.agent import RunConfig, run
from ptxbench.agent.models import Sampling
from ptxbench.agent.models.openai_compatible import OpenAICompatibleModel

scripted_path, out, url, log, step, number = sys.argv[1:]
spec = importlib.util.spec_from_file_location("scripted", scripted_path)
scripted = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scripted)

left = int(number)


def meet(what, _=None):
    global left
    if what == step:
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.Signals[os.environ.get("STUB_SIGNAL", "SIGKILL")])


real_fsync = os.fsync


def fsync(descriptor):
    meet("fsync")
    real_fsync(descriptor)


os.fsync = fsync
config = RunConfig(
    tasks=("twice",), model="openai/stub", trajectories=3, turns=3, concurrency=3, sampling=Sampling(seed=0), evaluation_wait_s=0.0
)
evaluator = scripted.ScriptedEvaluator(log=Path(log), on_call=meet)
model = OpenAICompatibleModel("stub", base_url=url, api_key=os.environ["STUB_KEY"])
summary = asyncio.run(
    run(config, scripted.OneSuite(), lambda task: evaluator, Path(out), lambda e: meet(type(e).__name__), model=model)
)
print(summary.model_dump_json())
