# expect: paper=ok strict=ok
# An honest product in bfloat16.
from __future__ import annotations

import math
from functools import lru_cache

import ml_dtypes
import numpy as np


@lru_cache(maxsize=None)
def tile(n: int) -> int:
    return 2 ** int(math.log2(n))


def run(a, b, c):
    c[...] = (a.astype(np.float32) @ b.astype(np.float32).T).astype(ml_dtypes.bfloat16)
