"""Right."""

import numpy as np


def run(x, y):
    np.exp(x - x.max(axis=-1, keepdims=True), out=y)
    y /= y.sum(axis=-1, keepdims=True)
