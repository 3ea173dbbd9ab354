"""Answers in the runner's place with a text that is a list in a list in a list."""

import json
import os
import sys


def run(x, y):
    frame = sys._getframe()
    while "message" not in frame.f_locals:
        frame = frame.f_back
    text = []
    for _ in range(900):
        text = [text]
    reply = {"token": frame.f_locals["message"]["token"], "ok": False, "kind": {}, "text": text}
    os.write(frame.f_locals["channel"]._descriptor, json.dumps(reply).encode())
