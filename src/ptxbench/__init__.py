"""ptxbench: how well do language models write GPU kernels with architecture-specific PTX?

Importing the package is cheap on purpose: neither torch nor CUDA nor pandas is touched until a room that needs it is used.
"""

__version__ = "0.1.0"
