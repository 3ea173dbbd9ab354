"""From source text to a loadable library: find the tools, compile, explain what went wrong, count what was made, remember it."""

from ptxbench.toolchain.build import Builder, BuildResult
from ptxbench.toolchain.mutation import Mutation
from ptxbench.toolchain.sources import read_candidate
from ptxbench.toolchain.tools import HostToolchain, Toolchain, locate, locate_host

__all__ = ["BuildResult", "Builder", "HostToolchain", "Mutation", "Toolchain", "locate", "locate_host", "read_candidate"]
