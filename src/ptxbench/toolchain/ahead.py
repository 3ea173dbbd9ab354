"""What can be known of a build before it is done: read while the host compiler still optimises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxbench.schema import Candidate
from ptxbench.toolchain.compile import BuildFiles
from ptxbench.toolchain.disassembly import Disassembly
from ptxbench.toolchain.policing import read_ahead
from ptxbench.toolchain.tools import Toolchain

if TYPE_CHECKING:
    from ptxbench.toolchain.policy import Passes


class Ahead:
    """The disassembled device code and the passes that the policy judges, both of one build.

    Attributes:
        disassembly: of the cubin; begun, or not.
        passes: None until they are read.
    """

    def __init__(self, candidate: Candidate, tools: Toolchain) -> None:
        self._candidate = candidate
        self.disassembly = Disassembly(tools)
        self.passes: Passes | None = None

    def text(self, files: BuildFiles) -> None:
        """Read the passes."""
        self.passes = read_ahead(self._candidate, files)

    def device_code(self, files: BuildFiles) -> None:
        """Disassemble the cubin."""
        cubin = files.kept(".cubin")
        if cubin is not None:
            self.disassembly.begin(cubin)
