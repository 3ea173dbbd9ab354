"""The command line. ``main`` is the entry point of the ``ptxbench`` command."""


def main() -> None:
    """Run the command line."""
    raise SystemExit(2)
