# expect: paper=ok strict=ok
# Forbidden words in strings, and names that resemble them.
"""Does not import os, call eval or open('/etc/passwd')."""
import numpy as np

HELP = "import subprocess; __import__('os')"


def run(x, y):
    opened, evaluated = len(HELP), np.linalg.norm(x)
    y[:] = opened + evaluated
