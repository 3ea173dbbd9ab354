# expect: paper=ok strict=violation rule=python_import line=3
# The plain case.
import os

def run(x, y):
    y[:] = x if os.getpid() else 0
