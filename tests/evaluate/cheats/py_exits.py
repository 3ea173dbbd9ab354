"""Ends its process with status 0."""

import os


def run(x, y):
    os._exit(0)
