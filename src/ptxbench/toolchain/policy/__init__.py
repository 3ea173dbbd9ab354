"""The policy of the protocol's section 1: what a candidate may not use, seen in its tokens and in its binary.

``screen`` reads the sources as written, ``inspect`` what the compiler made of them; ``verdict`` turns what they found into the
judgement of one profile.
"""

from ptxbench.toolchain.policy.driver_entry import DriverEntry, driver_entry
from ptxbench.toolchain.policy.headers import refused_headers
from ptxbench.toolchain.policy.inspection import Evidence, Passes, inspect, read_passes
from ptxbench.toolchain.policy.screen import screen
from ptxbench.toolchain.policy.verdict import verdict

__all__ = ["DriverEntry", "Evidence", "Passes", "driver_entry", "inspect", "read_passes", "refused_headers", "screen", "verdict"]
