"""``ptxbench packs`` answers with the exit codes and JSON of the contract."""

from __future__ import annotations

import json

import pytest

from ptxbench.core.errors import ToolMissing
from ptxbench.packs.manifest import Arm
from ptxbench.toolchain import locate


def test_check_is_1_without_a_lock_and_0_with_the_one_it_writes(packs, data):
    stale = packs("check", "--data", str(data.root), "--json")
    assert stale.returncode == 1 and [
        one["code"] for one in json.loads(stale.stdout)["findings"] if one["severity"] == "error"
    ] == ["no_lock"]
    written = packs("check", "--data", str(data.root), "--write-lock")
    assert written.returncode == 0 and "0 errors, 2 notes; lock: fits" in written.stdout, written.stdout
    assert "2 documented" in written.stdout


def test_list_render_and_tokens_answer_in_json_and_text(packs, data):
    where = ("--data", str(data.root))
    (row,) = json.loads(packs("list", *where, "--json").stdout)
    assert (row["id"], row["variants"], row["guidance"]) == ("small", {"gemm": ["base", "ring"]}, ["careful"])
    chosen = ("small", *where, "--device", "h200", "--family", "gemm", "--variant", "ring")
    made = json.loads(packs("render", *chosen, "--json").stdout)
    assert made["text"] == packs("render", *chosen).stdout and made["sha256"].startswith("sha256:")
    counted = json.loads(packs("tokens", *chosen, "--json").stdout)
    assert set(counted["by_kind"]) == {"parameters", "wrappers", "contracts", "schedule", "debug"}
    assert "in all by 2.6 characters a token in code, 3 in prose (estimate); budget 4000" in packs("tokens", *chosen).stdout


def test_what_is_rendered_or_amalgamated_can_be_written_to_a_file(packs, data, tmp_path):
    made = packs("render", "small", "--data", str(data.root), "--out", "pack.md")
    assert made.returncode == 0 and made.stdout == "" and "NVIDIA H100" in (tmp_path / "pack.md").read_text()
    (tmp_path / "k.cu").write_text("#include <ptxk/barrier.cuh>\n")
    made = packs("amalgamate", "k.cu", "--include", str(data.root / "include"), "--out", "alone.cu")
    assert made.returncode == 0 and "2 headers" in made.stderr
    assert "mbarrier.init" in (tmp_path / "alone.cu").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ("render", "nosuch"),
        ("render", "hopper", "--arm", "all"),
        ("tokens", "hopper", "--device", "b200"),
        ("amalgamate", "none.cu"),
    ],
)
def test_a_wrong_name_is_2_with_a_next_step_and_no_traceback(packs, arguments):
    done = packs(*arguments)
    assert done.returncode == 2 and "next:" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["render", "tokens"])
def test_the_help_names_every_arm(packs, command):
    said = packs(command, "--help").stdout
    assert [arm.value for arm in Arm if arm.value not in said.partition("--arm")[2].partition("--family")[0]] == []


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (
            "include/ptxk/address.cuh",
            "cast<uint32_t>",
            "cast<uint33_t>",
            'include/ptxk/address.cuh(10): error: identifier "uint33_t"',
        ),
        ("include/ptxk/barrier.cuh", '"address.cuh"', '"address.h"', "fatal error: address.h: No such file"),
        ("include/ptxk/barrier.cuh", '64 [%0], %1;  // counted"', '64 [%0], %1, %1;"', "error"),
    ],
    ids=["a type", "an include", "an instruction"],
)
def test_check_compiles_headers_when_asked_and_only_then(packs, data, settings, file, old, new, says):
    try:
        locate(settings)
    except ToolMissing as missing:
        pytest.skip(missing.message)
    data.replace(file, old, new)
    assert packs("check", "--data", str(data.root), "--write-lock").returncode == 0
    done = packs("check", "--data", str(data.root), "--compile", "--json")
    found = [one for one in json.loads(done.stdout)["findings"] if one["severity"] == "error"]
    assert {one["code"] for one in found} == {"not_compiled"} and done.returncode == 1
    (said,) = [one["text"] for one in found if f"{one['where']}.cuh" == file]
    assert says in said and str(data.root) not in said


def test_check_without_a_compiler_is_an_error_only_where_one_is_asked_for(packs, data, tmp_path):
    where = ("--data", str(data.root), "--write-lock")
    without = {"PTXBENCH_TOOLKIT": str(tmp_path / "none")}
    assert packs("check", *where, **without).returncode == 0
    done = packs("check", *where, "--compile", **without)
    assert done.returncode == ToolMissing.exit_code and "next:" in done.stderr and "Traceback" not in done.stderr
    assert "nvcc" in done.stderr or "TVM-FFI" in done.stderr
