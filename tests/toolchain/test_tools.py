"""The tools are found where the user wants them, in the wheels, or on the machine; what is missing is said with its remedy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from ptxbench.core.errors import ToolMissing
from ptxbench.core.settings import Settings
from ptxbench.toolchain import locate, locate_host

CHILD = Path(__file__).with_name("build_once.py")
SITE = Path(sysconfig.get_path("purelib"))
SRC = Path(__file__).parents[2] / "src"
WHEELS = SITE / "nvidia" / "cu13"

needs_wheels = pytest.mark.skipif(
    not (WHEELS / "bin" / "nvcc").is_file(), reason="the wheels of the compile extra are not installed"
)


def hide_toolkits() -> list[str]:
    """Return a command prefix that hides every toolkit of the machine from what follows, as far as this user may."""
    script = 'for d in /usr/local/cuda*; do [ -d "$d" ] && [ ! -L "$d" ] && mount -t tmpfs none "$d"; done; exec "$@"'
    unshare, mount = shutil.which("unshare"), shutil.which("mount")
    for flag in ("-m", "-Urm") if unshare and mount else ():
        prefix = [str(unshare), flag, "/bin/sh", "-c", script.replace("mount", str(mount)), "sh"]
        if subprocess.run([*prefix, "/bin/true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return []


def bare_path(folder: Path) -> str:
    """Return a PATH with a C++ compiler and what it calls, and nothing else."""
    folder.mkdir()
    for tool in ("g++", "gcc", "as", "ld", "sh"):
        (folder / tool).symlink_to(Path(shutil.which(tool) or f"/usr/bin/{tool}").resolve())
    return str(folder)


@needs_wheels
def test_the_wheels_compile_and_disassemble_with_path_and_every_toolkit_hidden(tmp_path):
    source = tmp_path / "kernel.cu"
    source.write_text("#include <cuda_bf16.h>\n__global__ void kernel(__nv_bfloat16* p) { p[0] = __float2bfloat16(1.0f); }\n")
    command = [*hide_toolkits(), sys.executable, str(CHILD), str(tmp_path / "cache"), str(source), "sm_90a"]
    env = {"PATH": bare_path(tmp_path / "bin"), "PYTHONPATH": str(SRC), "HOME": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["ok"], found["diagnostics"]
    assert found["origin"] == "wheels" and Path(found["root"]) == WHEELS and Path(found["nvdisasm"]).is_relative_to(WHEELS)
    assert found["opcodes"]["kernel"]["EXIT"] >= 1


@needs_wheels
def test_a_toolkit_that_the_user_names_comes_first(tmp_path):
    root = tmp_path / "toolkit"
    (root / "lib64").mkdir(parents=True)
    for name in ("bin", "include", "nvvm"):
        (root / name).symlink_to(WHEELS / name)
    (root / "lib64" / "libcudart.so.13").symlink_to(WHEELS / "lib" / "libcudart.so.13")
    tools = locate(Settings(toolkit=root))
    assert (tools.origin, tools.root, tools.nvcc) == ("setting", root, root / "bin" / "nvcc")
    assert tools.cudart == root / "lib64" / "libcudart.so.13"


@needs_wheels
def test_a_machine_s_own_toolkit_serves_where_there_are_no_wheels(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    for entry in SITE.iterdir():
        if not entry.name.startswith("nvidia"):
            (site / entry.name).symlink_to(entry)
    root = tmp_path / "cuda"
    (root / "targets" / f"{os.uname().machine}-linux").mkdir(parents=True)
    (root / "targets" / f"{os.uname().machine}-linux" / "lib").symlink_to(WHEELS / "lib")
    for name in ("bin", "include", "nvvm"):
        (root / name).symlink_to(WHEELS / name)
    source = tmp_path / "kernel.cu"
    source.write_text("__global__ void kernel(float* p) { p[0] = 1.0f; }\n")
    start = f"import sys, runpy; sys.path[:0] = [{str(SRC)!r}, {str(site)!r}]; sys.argv = sys.argv[1:]\n"
    start += "runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-I", "-S", "-c", start, str(CHILD), str(tmp_path / "cache"), str(source), "sm_90a"]
    done = subprocess.run(
        command, env={"PATH": "/usr/bin:/bin", "CUDA_HOME": str(root)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["ok"] and (found["origin"], found["root"]) == ("system", str(root))


def test_a_named_folder_without_a_compiler_is_refused_and_nothing_else_is_tried(tmp_path):
    with pytest.raises(ToolMissing, match="holds no bin/nvcc") as missing:
        locate(Settings(toolkit=tmp_path))
    assert missing.value.exit_code == 3 and "PTXBENCH_TOOLKIT" in str(missing.value.next_step)


def test_a_missing_host_compiler_is_named_with_its_remedy():
    with pytest.raises(ToolMissing, match="no-such-compiler") as missing:
        locate_host(Settings(host_compiler="no-such-compiler"))
    assert "PTXBENCH_HOST_COMPILER" in str(missing.value.next_step)


def test_a_missing_extra_is_named(tmp_path):
    code = f"import sys; sys.path[:0] = [{str(SRC)!r}, {str(tmp_path)!r}]\n"
    for entry in SITE.iterdir():
        if not entry.name.startswith(("nvidia", "tvm_ffi", "apache_tvm_ffi")):
            (tmp_path / entry.name).symlink_to(entry)
    code += "from ptxbench.toolchain import locate\nfrom ptxbench.core.settings import Settings\nlocate(Settings())\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    assert "ToolMissing" in done.stderr and "TVM-FFI" in done.stderr


@needs_wheels
def test_versions_are_the_tools_own_and_nothing_heavy_is_imported():
    code = (
        "import sys\nfrom ptxbench.core.settings import Settings\nfrom ptxbench.toolchain import locate\n"
        "v = locate(Settings()).versions\nassert v.nvcc == v.ptxas and v.nvcc.startswith('13.0.'), v\n"
        "assert v.nvdisasm[:3] >= '13.' and 'g++' in v.host_compiler and v.tvm_ffi[0].isdigit(), v\n"
        "print([m for m in ('tvm_ffi', 'torch', 'cuda', 'elftools') if m in sys.modules])"
    )
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(SRC)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
