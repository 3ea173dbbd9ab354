"""Right when the standard library works and nothing else can be read or written."""

import colorsys  # noqa: F401 (a module that nothing else has loaded)
import os
import socket
import tempfile

import numpy as np


def refused(action):
    try:
        action()
    except OSError:
        return True
    return False


def run(x, y):
    attempts = [
        lambda: socket.create_connection(("127.0.0.1", 9)),
        lambda: os.close(tempfile.mkstemp()[0]),
        lambda: os.listdir("/root"),
        lambda: os.listdir("/home"),
        lambda: os.close(os.open("/proc/1/environ", os.O_RDONLY)),
        lambda: os.close(os.open("/dev/shm/made", os.O_CREAT | os.O_WRONLY)),
        lambda: os.kill(os.getppid(), 9),
        lambda: os.execv("/bin/true", ["true"]),
    ]
    open_doors = [number for number, action in enumerate(attempts) if not refused(action)]
    if open_doors:
        raise RuntimeError(f"open doors: {open_doors}")
    np.exp(x - x.max(axis=-1, keepdims=True), out=y)
    y /= y.sum(axis=-1, keepdims=True)
