"""A candidate is read whole, with what it includes, or refused in one clear line."""

from __future__ import annotations

import os

import pytest

from ptxbench.core.errors import SourceError
from ptxbench.schema import Language
from ptxbench.toolchain import read_candidate

KERNEL = "__global__ void kernel(float* p) { p[0] = 1.0f; }\n"


def test_the_language_follows_from_the_suffix(tmp_path):
    for name, arch, language in (
        ("a.cu", "sm_90a", Language.CUDA),
        ("a.cpp", "cpu", Language.CPP),
        ("a.py", "cpu", Language.PYTHON),
    ):
        (tmp_path / name).write_text(KERNEL)
        candidate = read_candidate(tmp_path / name, arch=arch, symbol="go")
        assert (candidate.language, candidate.entry_point, candidate.arch) == (language, f"{name}::go", arch)
        assert candidate.sources[0].content == KERNEL


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"// " + b"x" * (2 << 20), "too large"),
        (b"// caf\xe9\n", "is not UTF-8: byte 0xe9 at offset 6"),
        (b"// \x00\n", "NUL byte at offset 3"),
        (b"\xff\xfe/\x00", "is not UTF-8: byte 0xff at offset 0"),
    ],
    ids=["empty", "blank", "large", "latin-1", "nul", "utf-16"],
)  # fmt: skip
def test_an_unusable_file_is_refused_with_exit_code_2(tmp_path, content, wanted):
    path = tmp_path / "kernel.cu"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=wanted) as refused:
        read_candidate(path, arch="sm_90a")
    assert refused.value.exit_code == 2 and refused.value.next_step and "\n" not in refused.value.message


@pytest.mark.parametrize("name", ["g g.cu", "a::b.cu", "-o.cu", "a$b.cu", "é.cu", f"{'k' * 198}.cu"])
def test_a_file_whose_name_no_build_takes_is_wrong_input_and_not_a_kernel_that_fails(tmp_path, name):
    (tmp_path / name).write_text(KERNEL)
    with pytest.raises(SourceError, match="may hold letters, digits and") as refused:
        read_candidate(tmp_path / name, arch="sm_90a")
    assert refused.value.exit_code == 2 and refused.value.next_step == "rename it, such as kernel.cu"


def test_the_folder_of_a_kernel_may_have_any_name(tmp_path):
    folder = tmp_path / "g :: g"
    folder.mkdir()
    (folder / "k.cu").write_text(KERNEL)
    assert read_candidate(folder / "k.cu", arch="sm_90a").entry_point == "k.cu::run"


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "folder.cu").mkdir()
    os.mkfifo(tmp_path / "pipe.cu")
    for name, wanted in (
        ("absent.cu", "no such file"),
        ("folder.cu", "is a folder"),
        ("pipe.cu", "not a regular file"),
        ("a.txt", "language"),
    ):
        with pytest.raises(SourceError, match=wanted):
            read_candidate(tmp_path / name, arch="sm_90a")


def test_local_includes_travel_with_the_candidate(tmp_path):
    (tmp_path / "parts" / "deep").mkdir(parents=True)
    (tmp_path / "kernel.cu").write_text('#include "parts/a.h"\n  #  include "empty.h"\n#include <cuda.h>\n' + KERNEL)
    (tmp_path / "parts" / "a.h").write_text('#include "deep/b.h"\n#include "../c.h"\n')
    (tmp_path / "parts" / "deep" / "b.h").write_text('#include "../a.h"\n')
    (tmp_path / "c.h").write_text('#include "absent.h"\n')
    (tmp_path / "empty.h").write_text("")
    (tmp_path / "stranger.h").write_text("// nobody includes this\n")
    candidate = read_candidate(tmp_path / "kernel.cu", arch="sm_90a")
    assert {source.path for source in candidate.sources} == {"kernel.cu", "parts/a.h", "parts/deep/b.h", "c.h", "empty.h"}


def test_nothing_outside_the_folder_is_read(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.h").write_text("secret\n")
    (inside / "link.h").symlink_to(tmp_path / "secret.h")
    (inside / "kernel.cu").write_text(f'#include "../secret.h"\n#include "{tmp_path}/secret.h"\n#include "link.h"\n{KERNEL}')
    candidate = read_candidate(inside / "kernel.cu", arch="sm_90a")
    assert [source.path for source in candidate.sources] == ["kernel.cu"]


def test_all_sources_together_are_bounded(tmp_path):
    (tmp_path / "kernel.cu").write_text('#include "a.h"\n#include "b.h"\n' + KERNEL)
    (tmp_path / "a.h").write_text("// a\n" * 250_000)
    (tmp_path / "b.h").write_text("// b\n" * 250_000)
    with pytest.raises(SourceError, match="too large"):
        read_candidate(tmp_path / "kernel.cu", arch="sm_90a")


def test_very_many_files_are_refused(tmp_path):
    (tmp_path / "kernel.cu").write_text("".join(f'#include "{n}.h"\n' for n in range(400)) + KERNEL)
    for n in range(400):
        (tmp_path / f"{n}.h").write_text("\n")
    with pytest.raises(SourceError, match="more than 256 files"):
        read_candidate(tmp_path / "kernel.cu", arch="sm_90a")


def test_a_header_that_is_not_text_is_named(tmp_path):
    (tmp_path / "kernel.cu").write_text('#include "a.h"\n' + KERNEL)
    (tmp_path / "a.h").write_bytes(b"\x80")
    with pytest.raises(SourceError, match=r"a\.h: is not UTF-8: byte 0x80 at offset 0"):
        read_candidate(tmp_path / "kernel.cu", arch="sm_90a")
