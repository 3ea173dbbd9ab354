"""TVM-FFI's headers of a build: the installed ones, or slim stand-ins in front of which a kernel compiles in a third of the time.

The slim headers are package data (``slim/``). They know what kernels use; what they do not know does not compile, and then the
full headers decide (``docs/design/slim-header.md``). They rest on libtvm_ffi's C interface, whose declarations are taken from the
installed headers as they are.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from ptxbench.core.atomic import storage_error
from ptxbench.toolchain.tools import HostToolchain

Header = Literal["full", "slim"]

SLIM_FOLDER = "tvm"
"""Folder, in the scratch folder, of the slim headers."""

TAKEN = (
    "dlpack/dlpack.h", "tvm/ffi/base_detail.h", "tvm/ffi/c_api.h", "tvm/ffi/endian.h", "tvm/ffi/extra/c_env_api.h",
    "tvm/ffi/extra/cuda/base.h", "tvm/ffi/extra/cuda/device_guard.h",
)  # fmt: skip
"""Installed headers that the slim ones need and that cost nothing."""
INCLUDABLE = frozenset(TAKEN) | {
    f"tvm/ffi/{name}.h"
    for name in ("tvm_ffi", "container/shape", "container/tensor", "device", "dtype", "error", "function", "optional", "string")
}
"""What a candidate may include by its name when it is compiled with the slim headers."""

_COMMENT = re.compile(r"//[^\n]*|/\*[\s\S]*?\*/")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class TvmHeaders:
    """The folder of TVM-FFI's headers that a compiler run sees, and the macros that it defines for them."""

    kind: Header
    folder: Path
    macros: tuple[str, ...] = ()


def full_headers(tools: HostToolchain) -> TvmHeaders:
    """Return the installed headers."""
    return TvmHeaders("full", tools.tvm_include)


def slim_headers(tools: HostToolchain, scratch: Path, macros: tuple[str, ...]) -> TvmHeaders:
    """Put the slim headers into a build's scratch folder. Raises ``StorageError`` when the disk is full."""
    folder = scratch / SLIM_FOLDER
    try:
        shutil.copytree(str(files("ptxbench.toolchain") / "slim"), folder, ignore=shutil.ignore_patterns("*.txt"))
        for name in TAKEN:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tools.tvm_include / name, target)
    except OSError as error:
        raise storage_error(error, scratch) from error
    return TvmHeaders("slim", folder, macros)


def slim_stands_in_for(tools: HostToolchain) -> bool:
    """Return whether the slim headers were made for, and compared with, exactly the installed headers."""
    known = (files("ptxbench.toolchain") / "slim" / "made_for.txt").read_text(encoding="utf-8")
    return headers_digest(tools.tvm_include) in known.split()


@lru_cache(maxsize=8)
def headers_digest(folder: Path) -> str:
    """Return the hash of the TVM-FFI headers in an include folder."""
    digest = hashlib.sha256()
    for path in _headers(folder):
        digest.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=8)
def header_identifiers(folder: Path) -> frozenset[str]:
    """Return every word in the code of the TVM-FFI headers in an include folder: a macro of such a name may change them."""
    return _identifiers(_headers(folder))


@lru_cache(maxsize=8)
def slim_identifiers(folder: Path) -> frozenset[str]:
    """Return every word in the code of the slim headers and of what they take from an include folder."""
    own = sorted(Path(str(files("ptxbench.toolchain") / "slim")).rglob("*.h"))
    return _identifiers([*own, *(folder / name for name in TAKEN)])


def _identifiers(paths: list[Path]) -> frozenset[str]:
    words: set[str] = set()
    for path in paths:
        words.update(_WORD.findall(_COMMENT.sub(" ", path.read_text(encoding="utf-8", errors="replace"))))
    return frozenset(words)


def _headers(folder: Path) -> list[Path]:
    return sorted(path for name in ("tvm", "dlpack") for path in (folder / name).rglob("*.h"))
