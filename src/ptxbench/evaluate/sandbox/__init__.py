"""The untrusted child: its staging buffer, its process as the judge sees it, and (``inside/``) the code that runs in it."""

from ptxbench.evaluate.sandbox.protections import protections

__all__ = ["protections"]
