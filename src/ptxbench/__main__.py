"""``python -m ptxbench``: the command line from a source tree."""

from ptxbench.cli import main

if __name__ == "__main__":
    main()
