"""Returns its result in place of writing it."""

import numpy as np


def run(x, y):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
