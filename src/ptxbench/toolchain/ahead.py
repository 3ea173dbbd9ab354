"""What can be known of a build before it is done: read while the host compiler, or another of these readers, still works."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ptxbench.schema import Candidate, Violation
from ptxbench.toolchain.compile import BuildFiles
from ptxbench.toolchain.disassembly import Disassembly
from ptxbench.toolchain.policing import inspected, read_ahead
from ptxbench.toolchain.tools import Toolchain

if TYPE_CHECKING:
    from ptxbench.toolchain.policy import Passes


class Ahead:
    """The disassembled device code, the passes that the policy judges and what it says of the whole, all of one build.

    Attributes:
        disassembly: of the cubin; begun, or not.
        passes: None until they are read.
    """

    def __init__(self, candidate: Candidate, tools: Toolchain) -> None:
        self._candidate = candidate
        self.disassembly = Disassembly(tools)
        self.passes: Passes | None = None
        self._reading = threading.Lock()
        self._violations: tuple[Violation, ...] | None = None

    def text(self, files: BuildFiles) -> None:
        """Read the passes."""
        with self._reading:
            self.passes = read_ahead(self._candidate, files)

    def device_code(self, files: BuildFiles) -> None:
        """Disassemble the cubin."""
        cubin = files.kept(".cubin")
        if cubin is not None:
            self.disassembly.begin(cubin)

    def library(self, files: BuildFiles) -> None:
        """Hold the policy against what was made."""
        self.violations(files)

    def violations(self, files: BuildFiles) -> tuple[Violation, ...]:
        """Return what the policy finds in what the compiler made, however far it got."""
        if self._violations is None:
            with self._reading:  # they are read once
                passes = self.passes
            self._violations = inspected(self._candidate, files, passes)
        return self._violations
