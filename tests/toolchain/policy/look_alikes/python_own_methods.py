# expect: paper=ok strict=ok
# Methods of its own called load and save.
import numpy as np


class Store:
    def load(self, x):
        return np.copy(x)

    def save(self, x, out):
        out[...] = x


def run(x, y):
    store = Store()
    store.save(store.load(x), y)
