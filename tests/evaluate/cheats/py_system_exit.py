"""Raises SystemExit, as a script would."""

import sys


def run(x, y):
    sys.exit(0)
