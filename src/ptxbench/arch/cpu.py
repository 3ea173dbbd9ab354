"""The host's processor: for development and CI, with C++ and Python candidates."""

from ptxbench.arch.architecture import Architecture

ARCH = Architecture(
    name="cpu", compute=None, mma=None, readback=None, payload=frozenset(), bookkeeping=frozenset(), devices=("cpu",)
)
