# expect: paper=ok strict=ok
# An honest softmax.
import numpy as np


def run(x, y):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    y[:] = shifted / shifted.sum(axis=-1, keepdims=True)
