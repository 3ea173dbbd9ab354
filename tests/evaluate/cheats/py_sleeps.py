"""Sleeps past the limit."""

import time


def run(x, y):
    time.sleep(3600)
