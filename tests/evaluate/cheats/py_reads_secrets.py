"""Right when the files that only root may read stay unread."""

import numpy as np


def run(x, y):
    for path in ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/hostname", "/etc/machine-id"):
        try:
            open(path).close()
        except OSError:
            continue
        raise RuntimeError(f"could read {path}")
    np.exp(x - x.max(axis=-1, keepdims=True), out=y)
    y /= y.sum(axis=-1, keepdims=True)
