# expect: paper=ok strict=violation rule=python_attribute line=6
# Reads files, and unpickles.
import numpy as np

def run(x, y):
    y[:] = np.load("/tmp/answer.npy", allow_pickle=True)
