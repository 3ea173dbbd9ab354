"""A toolkit that does not work is never the candidate's fault, and nothing of it is remembered."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ptxbench.core.errors import InfrastructureError
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import Builder, locate

VERSION = '[ "$1" = --version ] && echo "Cuda compilation tools, release 13.0, V13.0.1" && exit 0\n'
NO_FUNCTIONS = '[{"SchemaVersion":{"major":13,"minor":2}},[]]'


def kernel(text: str = "__global__ void k(int *x) { *x = 7; }\n") -> Candidate:
    return Candidate(sources=(Source(path="k.cu", content=text),), entry_point="k.cu::run", language=Language.CUDA, arch="sm_90a")


def script(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
    path.chmod(0o755)


BROKEN: dict[str, Callable[[Path], None]] = {
    "no headers": lambda root: (root / "include").unlink(),
    "no compiler behind nvcc": lambda root: (root / "nvvm").unlink(),
    "nvcc that does nothing": lambda root: script(root / "bin" / "nvcc", VERSION + "exit 0\n"),
    "ptxas that fails": lambda root: script(root / "bin" / "ptxas", VERSION + "echo boom >&2; exit 3\n"),
    "nvdisasm that writes no JSON": lambda root: script(root / "bin" / "nvdisasm", VERSION + "echo boom\n"),
    "nvdisasm that lists nothing": lambda root: script(root / "bin" / "nvdisasm", VERSION + "echo '[]'\n"),
    "nvdisasm that lists no function": lambda root: script(root / "bin" / "nvdisasm", VERSION + f"echo '{NO_FUNCTIONS}'\n"),
}


@pytest.fixture
def toolkit(tmp_path: Path, settings: Settings) -> Path:
    """The machine's toolkit again, as links, with programs of its own that a test may break."""
    tools, root = locate(settings), tmp_path / "toolkit"
    (root / "bin").mkdir(parents=True)
    for path in tools.root.iterdir():
        if path.name != "bin":
            (root / path.name).symlink_to(path)
    for path in (tools.root / "bin").iterdir():
        if path.name in ("nvcc", "ptxas"):
            shutil.copy2(path, root / "bin" / path.name)
        elif path.name != "nvdisasm":
            (root / "bin" / path.name).symlink_to(path)
    shutil.copy2(tools.nvdisasm, root / "bin" / "nvdisasm")
    return root


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN)
def test_broken_toolkit_is_an_infrastructure_error_that_is_not_remembered(
    damage: Callable[[Path], None], toolkit: Path, tmp_path: Path
) -> None:
    damage(toolkit)
    builder = Builder(Settings(cache_dir=tmp_path / "cache", toolkit=toolkit))
    for _ in range(2):
        with pytest.raises(InfrastructureError, match="does not compile") as raised:
            builder.build(kernel())
        assert raised.value.next_step
    assert not list((tmp_path / "cache" / "builds" / "scratch").iterdir())


def test_machine_code_that_nvdisasm_refuses_is_the_candidates_fault(settings: Settings) -> None:
    text = "__device__ char huge[1L << 40];\n__global__ void k(char *x) { *x = huge[5]; }\n"
    build = Builder(settings).build(kernel(text)).build
    assert not build.ok
    assert [one.code for one in build.diagnostics if one.severity == "error"] == ["unreadable_code"]


def test_diagnostics_hold_no_character_that_a_terminal_obeys(settings: Settings) -> None:
    build = Builder(settings).build(kernel("#error \x1b[31mred \u202e\n")).build
    texts = [one.text for one in build.diagnostics]
    assert any("\\x1b[31mred" in text for text in texts)
    assert all(text.replace("\n", "").isprintable() for text in texts)


def test_another_version_of_a_tool_is_another_build(toolkit: Path, settings: Settings) -> None:
    candidate = kernel("__global__ void versions(int *x) { *x = 8; }\n")
    real = locate(settings).nvcc
    first = Builder(settings).build(candidate).build
    script(toolkit / "bin" / "nvcc", VERSION.replace("13.0.1", "13.0.99") + f'exec "{real}" "$@"\n')
    second = Builder(settings.model_copy(update={"toolkit": toolkit})).build(candidate).build
    assert first.ok and second.ok and not second.cached
    assert second.toolchain.nvcc == "13.0.99" and second.key != first.key
