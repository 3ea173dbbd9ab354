"""Divides by zero."""

import numpy as np


def run(x: np.ndarray, y: np.ndarray) -> None:
    y[...] = 1 // (x.shape[0] - x.shape[0])
