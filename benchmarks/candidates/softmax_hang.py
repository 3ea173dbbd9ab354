"""Never returns."""

import numpy as np


def run(x: np.ndarray, y: np.ndarray) -> None:
    while y.shape == x.shape:
        y[0, 0] = x[0, 0]
