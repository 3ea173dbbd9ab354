"""Folders that mean harm, or were written by a broken program: one clear problem, no hang, nothing outside."""

import json
import os
from pathlib import Path

import pytest

from ptxbench.core.errors import SuiteError
from ptxbench.suite import load, load_folder
from ptxbench.suite.exporting import export
from ptxbench.suite.safetensors import read_header
from ptxbench.suite.validating import validate


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("op_type", "/{tmp}/outside"), ("op_type", "../../outside"), ("op_type", ""), ("op_type", ".."), ("op_type", "a\0b"),
        ("name", "a@b"), ("name", "up/../down"), ("name", "red\x1b[31m"), ("name", "turned\u202e"), ("name", "n" * 500),
    ],
)  # fmt: skip
def test_a_name_that_is_no_file_name_is_refused(write_folder, make_definition, tmp_path, key, value):
    text = json.dumps(make_definition(**{key: value.format(tmp=tmp_path)}))
    with pytest.raises(SuiteError, match=f"the {key} .* (holds|is empty)"):
        load([write_folder([text], [])])


@pytest.mark.parametrize("uuid", ["../w", "a/b", "a@b", "", "a\nb", "u" * 500])
def test_a_uuid_that_is_no_file_name_is_refused(write_folder, make_definition, make_line, uuid):
    with pytest.raises(SuiteError, match=r"all\.jsonl:1: the UUID"):
        load([write_folder([make_definition()], [make_line(uuid=uuid)])])


def test_names_in_any_script_are_kept_through_export(write_folder, make_definition, make_line, tmp_path):
    suite = load([write_folder([make_definition("größe_名")], [make_line("größe_名")])], include_bundled=False)
    export(suite, tmp_path / "out")
    assert load([tmp_path / "out"], include_bundled=False).hash == suite.hash


@pytest.mark.parametrize("place", ["definitions/elementwise/x.json", "workloads/elementwise/x.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "device", "link to itself"])
def test_a_record_that_is_no_file_is_a_problem_and_not_a_hang(write_folder, make_definition, make_line, place, kind):
    root = write_folder([make_definition()], [make_line()])
    if kind == "pipe":
        os.mkfifo(root / place)
    else:
        (root / place).symlink_to("/dev/zero" if kind == "device" else Path(place).name)
    with pytest.raises(SuiteError, match=r"is not a regular file|symbolic links"):
        load([root])


def test_a_blob_that_is_a_pipe_is_an_error_and_not_a_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SuiteError, match="not a regular file"):
        read_header(tmp_path / "pipe")


def test_a_key_that_occurs_twice_is_refused(write_folder, make_definition, make_line):
    line = json.dumps(make_line())
    with pytest.raises(SuiteError, match=r"all\.jsonl:1: .*'definition' occurs twice"):
        load([write_folder([make_definition()], [line[:-1] + ', "definition": "other"}'])])


def test_half_a_character_is_refused(write_folder, make_definition):
    with pytest.raises(SuiteError, match="lone surrogate"):
        load([write_folder([json.dumps(make_definition(description="\ud800"))], [])])


def test_characters_that_end_a_line_elsewhere_do_not_end_a_record(write_folder, make_definition, make_line):
    line = make_line()
    line["workload"]["note"] = "a\u2028b\x85c"
    suite = load([write_folder([make_definition()], [json.dumps(line, ensure_ascii=False)])])
    assert suite.get("double_n8").workloads[0].workload.model_dump(mode="json")["note"] == "a\u2028b\x85c"


@pytest.mark.parametrize("size", [2**62, 10**30])
def test_axes_beyond_any_memory_are_refused(write_folder, make_definition, make_line, size):
    with pytest.raises(SuiteError, match="larger than any memory"):
        load([write_folder([make_definition()], [make_line(axes={"M": size})])])


def test_a_task_that_is_too_large_to_try_is_said_so(write_folder, make_definition, make_line):
    found = validate(load_folder(write_folder([make_definition()], [make_line(axes={"M": 2**40})])))
    assert [(one.severity, one.code) for one in found] == [("warning", "too_large")]


@pytest.mark.parametrize(
    "changes", [{"reference": "def run(X):\n    return " + "-" * 200_000 + "1"}, {"constraints": ["-" * 200_000 + "M"]}]
)
def test_nesting_without_end_is_refused(write_folder, make_definition, changes):
    with pytest.raises(SuiteError, match="nested too deeply"):
        load([write_folder([make_definition(**changes)], [])])


def test_a_reference_that_ends_the_process_is_a_finding(write_folder, make_definition, make_line):
    definition = make_definition(reference="def run(X):\n    raise SystemExit(3)\n")
    codes = [one.code for one in validate(load_folder(write_folder([definition], [make_line()])))]
    assert codes == ["reference_failed"]
