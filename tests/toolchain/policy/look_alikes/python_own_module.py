# expect: paper=ok strict=ok with=parts/tiles.py
# A module of its own.
from parts.tiles import TILE


def run(x, y):
    y[:] = x[:TILE]
