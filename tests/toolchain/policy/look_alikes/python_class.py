# expect: paper=ok strict=ok
# A class with its own private names.
import dataclasses

import numpy as np


@dataclasses.dataclass
class Plan:
    block: int = 64
    _cache: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        self._cache = {}

    def __call__(self, x):
        return np.einsum("ij,kj->ik", x, x)[: self.block]


def run(x, y):
    y[:] = Plan()(x)
