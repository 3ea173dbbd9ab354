"""``packs check`` finds each kind of fault, and nothing in a pack that has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxbench.packs import lock
from ptxbench.packs.check import CheckReport, check
from ptxbench.packs.loading import load
from ptxbench.packs.page import Status


def checked(data, tree: Path | None = None) -> CheckReport:
    """Check the pack as it is now; what can be rendered is locked first, so that only other faults are found."""
    library = load(data.root)
    if not any(finding.code == "unreadable" for finding in check(library, tree).findings):
        lock.write(library, lock.compute(library))
    return check(load(data.root), tree)


def errors(report: CheckReport) -> list[tuple[str, str]]:
    return [(finding.code, finding.where) for finding in report.findings if finding.severity == "error"]


def test_a_sound_pack_has_no_error_and_says_what_is_only_documented(data):
    report = checked(data)
    assert report.ok and errors(report) == [] and report.lock == "fits"
    assert report.contracts["small"][Status.DOCUMENTED] == 2 and report.wrappers["small"] == 3
    noted = {(finding.code, finding.where) for finding in report.findings}
    assert noted == {("documented_must", "contracts/barrier-init"), ("documented_must", "contracts/barrier-wait")}


@pytest.mark.parametrize(
    ("body", "more", "code"),
    [
        ("Use `mbarrier_initialise` first.", "", "unknown_name"),
        ("Use `ptxk::start()` first.", "", "unknown_name"),
        ("Use `mbarrier_repeated` first.", "", "hidden_name"),
        ("```cpp\nmbarrier_wait(&full[0], 1);\n```", "", "unknown_name"),
        ("Needs `cp.async.bulk.tensor.2d.cta_group::2`.", "", "rejected_form"),
        ("```\ntcgen05.alloc.cta_group::1;\n```", "", "rejected_form"),
        ("Text.", 'instructions = ["stmatrix.sync.aligned.m16n8.x1.trans.shared.b8"]', "rejected_form"),
        ("Text.", 'needs = ["wgmma.mma_async"]', "missing_capability"),
        ("Text.", 'needs = ["mbarrier.in"]', "missing_capability"),
        ("Text.", 'requires = ["barrier-start"]', "unknown_contract"),
        ("Text.", 'wrappers = ["mbarrier_start"]', "unknown_wrapper"),
        ("Text.", 'arch = ["sm_100a"]', "wrong_arch"),
        ("See [[barrier-start]].", "", "dead_link"),
        ("See [below](#below).", "", "dead_link"),
        ("See [it](../contracts/gone.md).", "", "dead_link"),
        ("See [it](../manifest.toml) and [out](../../../conftest.py).", "", "dead_link"),
        ("<!-- snippet: none.cu -->", "", "unknown_snippet"),
        ("<!-- snippet: ring.cu#none -->", "", "unknown_snippet"),
        ("<!-- snippet: ../../manifest.toml -->", "", "unknown_snippet"),
    ],
)
def test_a_page_that_speaks_of_what_is_not_there_is_an_error(data, body, more, code):
    data.page("debug/hangs", body, more)
    assert (code, "debug/hangs") in errors(check(load(data.root), None))


@pytest.mark.parametrize(
    "body",
    [
        "The target rejects `.cta_group::2`.",
        "Use `mbarrier_init`, `threadIdx.x`, `some_variable` and `mbarrier.init.shared::cta.b64`.",
        "```cpp\nuint64_t* mbarrier_mine = barrier(0);\nauto mbarrier_other(int*);\nmbarrier_init(mbarrier_mine, 1);\n```",
        "See [it](../contracts/barrier-init.md), `[[nodiscard]]` and `[a](b)`.\n\n```cpp\na[b](c); [[nodiscard]]\n```",
    ],
)
def test_what_only_looks_like_a_fault_is_none(data, body):
    data.page("debug/hangs", body)
    assert errors(checked(data)) == []


@pytest.mark.parametrize(
    ("status", "more", "code"),
    [
        ("executed", 'tests = ["tests/test_a.py::test_b"]', "no_evidence"),
        ("compiled", "", "untested_must"),
        ("modelled", "", "untested"),
        ("compiled", 'tests = ["tests/test_a.py::test_none"]', "unknown_test"),
        ("compiled", 'tests = ["tests/test_none.py::test_b"]', "unknown_test"),
        ("compiled", 'tests = ["tests/test_a.py::test_b"]', None),
        ("documented", 'reason = "no hardware here"', None),
    ],
)
def test_a_must_is_tested_or_says_that_it_is_not(data, tmp_path, status, more, code):
    (tmp_path / "tree" / "tests").mkdir(parents=True)
    (tmp_path / "tree" / "tests" / "test_a.py").write_text("def test_b():\n    pass\n")
    data.contract("barrier-init", "Once.", more)
    data.replace("contracts/barrier-init.md", 'status = "documented"', f'status = "{status}"')
    found = errors(checked(data, tmp_path / "tree"))
    assert found == [] if code is None else (code, "contracts/barrier-init") in found


def test_a_contract_without_test_and_source_is_an_error(data):
    data.replace("contracts/barrier-init.md", "sources = ", "# sources = ")
    assert errors(checked(data)) == [("no_source", "contracts/barrier-init")]


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "where"),
    [
        ("include/ptxk/barrier.cuh", "=barrier-wait ", "=barrier-weight ", "unknown_contract", "include/ptxk/barrier:18"),
        ("include/ptxk/barrier.cuh", "64 [%0]", "64.cta_group::1 [%0]", "rejected_form", "include/ptxk/barrier"),
        ("include/ptxk/barrier.cuh", '"address.cuh"', '"ptxk/adress.cuh"', "unknown_header", "include/ptxk/barrier"),
        ("manifest.toml", '"include/ptxk/address", ', "", "missing_header", "include/ptxk/barrier"),
        ("manifest.toml", '["include/ptxk/address", "include/ptxk/barrier"]', '["include/ptxk/barrier", "include/ptxk/address"]',
         "header_order", "include/ptxk/barrier"),
        ("manifest.toml", '"h100", "h200"', '"h100", "b200"', "wrong_device", "pack small"),
        ("manifest.toml", 'arch = "sm_90a"', 'arch = "sm_90"', "unknown_arch", "pack small"),
        ("manifest.toml", "budget_tokens = 4000", "budget_tokens = 400", "over_budget", "pack small"),
        ("manifest.toml", '"debug/hangs"', '"debug/hang"', "unknown_fragment", "pack small"),
        ("manifest.toml", '"debug/hangs"', '"schedules/more/"', "empty_folder", "pack small"),
        ("contracts/barrier-wait.md", 'level = "must"', 'level = "may"', "unreadable", "contracts/barrier-wait"),
    ],
)  # fmt: skip
def test_a_fault_of_a_header_or_of_the_manifest_is_an_error(data, file, old, new, code, where):
    data.replace(file, old, new)
    report = check(load(data.root), None)
    assert (code, where) in errors(report) and not report.ok


def test_a_fragment_in_no_pack_is_noted_but_models_of_the_host_are_not(data):
    data.page("debug/forgotten", "Text.")
    data.write("include/ptxk/model/swizzle.hpp", "#pragma once\n")
    report = checked(data)
    assert report.ok and [finding.where for finding in report.findings if finding.code == "unused"] == ["debug/forgotten"]


def test_two_pages_of_one_id_are_an_error(data):
    data.page("debug/barrier-init", "Text.")
    data.replace("manifest.toml", '"debug/hangs"', '"debug/"')
    assert ("duplicate_id", "barrier-init") in errors(checked(data))


def test_the_lock_fits_until_something_is_edited_and_then_says_what(data):
    missing = check(load(data.root), None)
    assert errors(missing) == [("no_lock", lock.NAME)] and missing.lock == "missing"
    assert checked(data).lock == "fits"
    data.replace("schedules/snippets/ring.cu", "nullptr, 1", "nullptr, 2")
    report = check(load(data.root), None)
    assert report.lock == "stale"
    changed = {finding.where for finding in report.findings if finding.code == "stale_lock"}
    assert changed == {
        f"small {device}/{arm}/gemm/ring" for device in ("h100", "h200") for arm in ("wrappers", "contracts", "representative")
    }
    data.replace("guidance/careful.md", "contract block", "contract")
    assert ("stale_lock", "guidance/careful") in errors(check(load(data.root), None))


def test_a_lock_that_is_none_is_an_error_that_says_how_to_get_one(data):
    checked(data)
    for text in ("{", '{"schema_version": 1}', '{"schema_version": 9, "fragments": {}, "packs": {}}'):
        data.write(lock.NAME, text)
        (finding,) = [finding for finding in check(load(data.root), None).findings if finding.severity == "error"]
        assert finding.code == "unreadable" and "--write-lock" in finding.text


def test_the_lock_is_the_same_bytes_wherever_it_is_written(new_data):
    one, other = new_data(), new_data()
    for data in (one, other):
        library = load(data.root)
        lock.write(library, lock.compute(library))
    assert (one.root / lock.NAME).read_bytes() == (other.root / lock.NAME).read_bytes()


@pytest.mark.parametrize("broken", [False, True])
def test_where_there_is_no_lock_the_check_says_so_whatever_else_is_wrong(data, broken):
    if broken:
        data.replace("debug/hangs.md", 'title = "', 'titel = "')
    found = [finding for finding in check(load(data.root), None).findings if finding.where == lock.NAME]
    assert [(one.code, "there is no lock yet" in one.text, "--write-lock" in one.text) for one in found] == [
        ("no_lock", True, True)
    ]


@pytest.mark.parametrize(
    ("old", "new", "ends"),
    [
        ("include/ptxk/barrier.cuh", "include/ptxk/barrier.h", ".cuh"),
        ("include/ptxk/barrier.cuh", "include/ptxk/barrier.cu", ".cuh"),
        ("debug/hangs.md", "debug/hangs.txt", ".md"),
        ("contracts/barrier-wait.md", "contracts/barrier-wait.markdown", ".md"),
    ],
)
def test_a_file_of_another_suffix_is_one_error_that_says_which_is_read(data, old, new, ends):
    checked(data)
    for name in ("include/ptxk/barrier.cuh", "include/ptxk/address.cuh"):
        data.write(name, "#pragma once\n")
    for name in ("contracts/barrier-init.md", "contracts/barrier-wait.md"):
        data.replace(name, 'wrappers = ["mbarrier_init"]', "")
    for name in ("contracts/barrier-init", "contracts/barrier-wait", "schedules/ring"):
        data.page(name, "Text.")
    (data.root / old).rename(data.root / new)
    found = [one for one in check(load(data.root), None).findings if one.severity == "error" and one.code != "stale_lock"]
    assert [(one.code, one.where) for one in found] == [("unknown_suffix", new)] and ends in found[0].text
