"""Recurses without end."""


def deeper(depth):
    return deeper(depth + 1)


def run(x, y):
    deeper(0)
