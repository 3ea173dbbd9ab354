"""The task suite: the bundled tasks, and any FlashInfer-Trace folder beside them.

``load()`` gives a ``Suite``; ``suite.task("gemm_n7168_k5120")`` one workload on one architecture, ready to evaluate.
"""

from ptxbench.suite.loading import load, load_folder
from ptxbench.suite.suite import Suite

__all__ = ["Suite", "load", "load_folder"]
