# expect: paper=ok strict=ok
# Windows and strides, by every spelling; star imports.
import numpy as np
import numpy.lib.stride_tricks as tricks
from math import *
from numpy.lib import stride_tricks
from numpy.lib.stride_tricks import sliding_window_view


def run(X, Y):
    windows = sliding_window_view(X, 1, axis=-1)[..., 0] + np.lib.stride_tricks.as_strided(X, X.shape, X.strides)
    assert tricks is stride_tricks
    Y[...] = windows * sqrt(4.0)
