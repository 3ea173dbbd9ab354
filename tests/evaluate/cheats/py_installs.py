"""Installs a package that does the work when it is called."""

import subprocess
import sys


def run(x, y):
    subprocess.run([sys.executable, "-m", "pip", "install", "fast-softmax"], check=True)
