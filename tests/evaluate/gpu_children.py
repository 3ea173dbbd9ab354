"""Children as on a GPU that need none, and a candidate that answers in the runner's place."""

from __future__ import annotations

import json

from ptxbench.evaluate.sandbox.child import Answer, Child
from ptxbench.evaluate.sandbox.launch import DeviceSetup, Program, Tool
from ptxbench.schema import Language, Limits

NO_DEVICE = DeviceSetup(uuid=None, buffers=(), arguments=[], flush_bytes=0, exact=False, cupti=None, libraries=())

SHELL = Tool(("/bin/sh", "-c", '"$@"; exit $?', "sh"))
"""A tool that stays between the judge and the child, as a memory checker does, and ends with the child's status."""

TAKES_OVER = """
import json, os, sys

frame = sys._getframe()
while "channel" not in frame.f_locals or "message" not in frame.f_locals:
    frame = frame.f_back
channel = frame.f_locals["channel"]
token = frame.f_locals["message"]["token"]
results = [fd for fd in range(3, 20) if os.path.exists(f"/proc/self/fd/{fd}") and "results" in os.readlink(f"/proc/self/fd/{fd}")]

def reply(**fields):
    os.write(channel._descriptor, json.dumps(fields).encode())

reply(token=token, ok=True, ns=[], returned=None)
while True:
    message = channel.receive()
    if message is None:
        os._exit(0)
    token = message["token"]
    ANSWER
"""
"""A candidate that answers every request in the runner's place once it is loaded."""

EMPTY = DeviceSetup(uuid=None, buffers=(), arguments=[[]], flush_bytes=0, exact=False, cupti=None, libraries=())

FORKS = "import os\ndef run():\n    child = os.fork()\n    if child == 0: os._exit(0)\n    os.waitpid(child, 0)\n"
"""A candidate that starts a process and waits for it."""

HANDLES = "import signal\ndef run():\n    signal.signal(signal.SIGUSR1, print)\n"
"""A candidate that wants to handle a signal."""


def program(text: str) -> Program:
    """A Python candidate of this text."""
    return Program(Language.PYTHON, "run", json.dumps(["probe.py", {"probe.py": text}]).encode())


def impostor(answer: str) -> Child:
    """A child whose candidate gives this answer to everything."""
    child = Child(program(TAKES_OVER.replace("ANSWER", answer)), None, Limits(), device=NO_DEVICE)
    assert isinstance(child.load(), Answer)
    return child
