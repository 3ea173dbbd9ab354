"""Whether a toolchain works at all: asked by the doctor, before a run, and when a compilation fails without a word on its source.

A toolkit without headers, or with a part of another release, would otherwise be every candidate's fault, and remembered as such.
"""

from __future__ import annotations

from pathlib import Path

from ptxbench.core.errors import InfrastructureError
from ptxbench.schema import Candidate, Language, Limits, Source
from ptxbench.toolchain.command import PolicyInputs
from ptxbench.toolchain.compile import Compilation, compile_candidate
from ptxbench.toolchain.disassembly import Undisassembled, disassemble
from ptxbench.toolchain.scratch import scratch_folder
from ptxbench.toolchain.tools import HostToolchain, Toolchain

_SOURCES = {
    Language.CUDA: Source(path="probe.cu", content="__global__ void probe(int *value) { *value = 1; }\n"),
    Language.CPP: Source(path="probe.cpp", content="int probe() { return 1; }\n"),
}
"""The least that a working toolchain compiles."""


def ensure_works(language: Language, arch: str, tools: HostToolchain, policy: PolicyInputs, root: Path, limits: Limits) -> None:
    """Compile the least CUDA or C++ kernel for an architecture, in a folder below ``root``.

    Raises ``InfrastructureError`` when that fails: then no candidate is to blame.
    """
    source = _SOURCES[language]
    candidate = Candidate(sources=(source,), entry_point=f"{source.path}::run", language=language, arch=arch)
    with scratch_folder(root) as scratch:
        compilation = compile_candidate(candidate, tools, policy, scratch, limits)
        problem = _problem(compilation, tools)
    if problem is not None:
        compiler = tools.nvcc if isinstance(tools, Toolchain) else tools.host_compiler
        raise InfrastructureError(
            f"{compiler} does not compile the least kernel: {problem}",
            next_step="check the toolkit and the C++ compiler (ptxbench doctor), or unset PTXBENCH_TOOLKIT to use the wheels",
        )


def _problem(compilation: Compilation, tools: HostToolchain) -> str | None:
    done, cubin = compilation.completed, compilation.kept(".cubin")
    if not done.ok or compilation.library is None or (isinstance(tools, Toolchain) and cubin is None):
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip() and not line.startswith("#")]
        return f"status {done.returncode}, {said[-1][:300] if said else 'nothing said'}"
    if isinstance(tools, Toolchain) and cubin is not None:
        try:
            functions = disassemble(cubin, tools)
        except Undisassembled as error:
            return str(error)
        if not any(function.opcodes for function in functions):
            return f"{tools.nvdisasm} finds no instructions"
    return None
