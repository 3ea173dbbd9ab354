"""Where the kernels are that come with ptxbench: the references, and plain CUDA for every primary task."""

from __future__ import annotations

from pathlib import Path

from ptxbench.core.errors import UsageError, nearest
from ptxbench.schema import Task, TaskSpec
from ptxbench.schema.solution import check_relative

PACKAGE = Path(__file__).parents[1]

ROOTS = (PACKAGE / "kernels", PACKAGE.parents[1] / "kernels")
"""The folder in an installed package, and the one beside ``src/`` in a source tree."""

PLAIN = {
    "gemm": "plain/gemm/gemm.cu",
    "attention": "plain/attention/forward.cu",
    "attention_causal": "plain/attention/forward_causal.cu",
    "attention_backward": "plain/attention/backward.cu",
    "attention_backward_causal": "plain/attention/backward_causal.cu",
}
"""By a task's oracle, a kernel without target instructions: bfloat16, float32 sums, any of the published sizes."""


def plain_kernel(task: Task | TaskSpec, roots: tuple[Path, ...] = ROOTS) -> Path | None:
    """Return the plain CUDA kernel of a GPU task of the bundled suite, None for a task that has none."""
    relative = PLAIN.get(task.oracle or "")
    archs = task.archs if isinstance(task, TaskSpec) else (task.arch,)
    return None if relative is None or "cpu" in archs else kernel_path(relative, roots)


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
