"""Raises a message that JSON can spell and UTF-8 cannot."""


def run(x, y):
    raise ValueError("lone \ud800 surrogate")
