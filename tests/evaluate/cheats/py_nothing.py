"""Defines no function of that name."""


def walk(x, y):
    y[...] = x
