"""Raises with a message of ten megabytes."""


def run(x, y):
    raise ValueError("x" * 10_000_000)
