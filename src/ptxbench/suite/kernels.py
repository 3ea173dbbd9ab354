"""Where the reference kernels are that come with ptxbench."""

from __future__ import annotations

from pathlib import Path

from ptxbench.core.errors import UsageError, nearest
from ptxbench.schema.solution import check_relative

PACKAGE = Path(__file__).parents[1]

ROOTS = (PACKAGE / "kernels", PACKAGE.parents[1] / "kernels")
"""The folder in an installed package, and the one beside ``src/`` in a source tree."""


def kernel_path(relative: str, roots: tuple[Path, ...] = ROOTS) -> Path:
    """Return the path of a reference kernel, such as ``sm_90a/gemm_bf16/kernel.cu``.

    Raises ``UsageError`` with the nearest ones for a kernel that does not exist, or a path that leaves the folder.
    """
    try:
        check_relative(relative)
    except ValueError as error:
        raise UsageError(str(error), next_step="name a kernel such as sm_90a/gemm_bf16/kernel.cu") from error
    for root in roots:
        if (root / relative).is_file():
            return root / relative
    known = sorted({str(path.relative_to(root)) for root in roots for path in root.rglob("*") if path.is_file()})
    close = nearest(relative, known) or known[:3]
    raise UsageError(f"there is no reference kernel {relative!r}", next_step=f"did you mean {', '.join(close)}?", nearest=close)
