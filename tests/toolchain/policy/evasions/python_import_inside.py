# expect: paper=ok strict=violation rule=python_import line=6
# Not at the top.
import numpy as np

def run(x, y):
    import subprocess
    subprocess.run(["true"])
