# expect: paper=ok strict=ok
# Pattern matching without attributes.
import numpy as np


def run(x, y):
    match x.ndim:
        case 2 if x.shape[0] > 1:
            y[...] = np.tril(x)
        case _:
            y[...] = x
