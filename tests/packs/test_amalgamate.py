"""A kernel and the headers that it includes become one source: each once, in order, with nothing left to find."""

from __future__ import annotations

import subprocess

import pytest

from ptxbench.core.errors import PackError
from ptxbench.packs.amalgamate import INCLUDE, amalgamate


@pytest.fixture
def tree(tmp_path):
    def write(**files: str):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_h", ".h")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def test_each_header_stands_once_before_its_first_use_and_the_program_runs(tree):
    once = "#pragma once\n"
    folder = tree(
        ptxk__base_h=f"{once}#include <cstdio>\n//@ptxk ptx=\"\"\ninline int base() {{ return 1; }}\n",
        ptxk__left_h=f'{once}#include "base.h"\ninline int left() {{ return base() + 10; }}\n',
        ptxk__right_h=f'{once}#include <ptxk/base.h>\n#include <cstdio>\ninline int right() {{ return base() + 100; }}\n',
        kernel_h='#include <ptxk/left.h>\n  #  include "ptxk/right.h" // both\n/*\n#include "gone.h"\n*/\n'
        'const char* raw = R"(\n#include "gone.h"\n)";\nint main() { std::printf("%d", left() + right()); }\n',
    )  # fmt: skip
    made = amalgamate(folder / "kernel.h", (folder,))
    assert made.headers == ("ptxk/base.h", "ptxk/left.h", "ptxk/right.h")
    assert made.text.count("int base()") == 1 and made.text.count("#include <cstdio>") == 1 and "@ptxk" not in made.text
    source = folder / "alone.cpp"
    source.write_text(made.text)
    subprocess.run(["g++", "-std=c++17", "-o", str(folder / "alone"), str(source)], check=True, timeout=60)
    assert subprocess.run([str(folder / "alone")], capture_output=True, text=True, check=True).stdout == "112"


DEEP = {f"h{i}_h": f'#include "h{i + 1}.h"\n' for i in range(70)} | {"h70_h": "", "kernel_h": '#include "h0.h"\n'}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"kernel_h": '\n#include "gone.h"\n'}, "kernel.h:2: no header 'gone.h'"),
        ({"kernel_h": '#include "a.h"', "a_h": '#include "b.h"', "b_h": '#include "a.h"'}, "a.h -> b.h -> a.h"),
        ({"kernel_h": '#include "a.h"\n#include "a.h"\n', "a_h": "int x;\n"}, "no #pragma once"),
        ({"kernel_h": '#ifdef FAST\n#include "a.h"\n#endif\n', "a_h": "#pragma once\n"}, "under #if"),
        ({"kernel_h": "#include HEADER\n"}, "cannot read"),
        ({"kernel_h": '#include "/etc/passwd"\n'}, "outside the kernel's folder"),
        ({"in__kernel_h": '#include "../a.h"\n', "a_h": "int x;\n"}, "outside the kernel's folder"),
        ({"kernel_h": '#inc\\\nlude "a.h"\n', "a_h": "int x;\n"}, "cannot follow"),
        ({"kernel_h": '%:include "a.h"\n', "a_h": "int x;\n"}, "cannot follow"),
        ({"kernel_h": '/* first */ #include "a.h"\n', "a_h": "int x;\n"}, "cannot follow"),
        ({"kernel_h": "#include_next <a.h>\n", "a_h": "int x;\n"}, "cannot follow"),
        (DEEP, "inside each other"),
    ],
)  # fmt: skip
def test_what_cannot_be_one_source_is_refused_with_the_line(tree, files, says):
    folder = tree(**files)
    with pytest.raises(PackError) as caught:
        amalgamate(next(folder.rglob("kernel.h")), ())
    assert says in caught.value.message and caught.value.next_step


def test_a_compilers_header_under_a_condition_stands_for_no_other(tree):
    folder = tree(kernel_h="#ifdef NEVER\n#include <cmath>\n#endif\n#include <cmath>\n#include <cmath>\n")
    assert amalgamate(folder / "kernel.h", ()).text == "#ifdef NEVER\n#include <cmath>\n#endif\n#include <cmath>\n"


def test_every_bundled_header_can_be_amalgamated(tmp_path):
    names = [path.relative_to(INCLUDE).as_posix() for path in sorted(INCLUDE.rglob("*.cuh"))]
    assert names
    kernel = tmp_path / "kernel.cu"
    kernel.write_text("".join(f"#include <{name}>\n" for name in names))
    assert sorted(amalgamate(kernel).headers) == names
