"""Raises what cannot be printed: its message is another exception, and its type has no name."""


class Nameless(type):
    @property
    def __name__(cls):
        raise KeyboardInterrupt


class Unprintable(BaseException, metaclass=Nameless):
    def __str__(self):
        raise SystemExit(0)


def run(x, y):
    raise Unprintable
