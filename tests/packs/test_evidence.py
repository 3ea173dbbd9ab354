"""A contract counts as executed only by a bundle that holds for the code as it is, and the check says what a bundle contradicts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ptxbench.core.errors import PackError
from ptxbench.packs import evidence, lock
from ptxbench.packs.check import check
from ptxbench.packs.evidence import Evidence
from ptxbench.packs.loading import load
from ptxbench.packs.page import Page, Status
from ptxbench.packs.render import render
from ptxbench.packs.standing import standings

CHECK = {"program": "barrier", "contract": "barrier-init", "check": "phases", "cases": 12, "wrong": 0, "where": "device"}
WAIT = CHECK | {"contract": "barrier-wait", "check": "parity"}


def bundle(data, checks: list[dict[str, Any]], **changes: Any) -> None:
    """Write a bundle for the headers as they are now."""
    given = {
        "device": "NVIDIA H200",
        "capability": "9.0",
        "driver": "580.95.05",
        "cuda_driver": 13000,
        "cuda_runtime": 13000,
        "nvcc": "13.0.88",
        "commit": None,
        "date": "2026-01-01T00:00:00+00:00",
        "programs": {},
        "faults": {},
        "figures": [],
        "headers": evidence.header_hashes(load(data.root)),
        "checks": checks,
    }
    data.write("evidence/h200.json", json.dumps(given | changes))


def status(data, contract: str) -> Status:
    library = load(data.root)
    page = library.fragment(f"contracts/{contract}").content
    assert isinstance(page, Page)
    return Evidence.of(library).status(page)


def found(data, severity: str) -> list[tuple[str, str]]:
    library = load(data.root)
    lock.write(library, lock.compute(library))
    return [(one.code, one.where) for one in check(load(data.root), None).findings if one.severity == severity]


def test_a_contract_with_right_checks_is_executed_in_the_prompt_and_in_the_counts(data):
    bundle(data, [CHECK, WAIT])
    assert status(data, "barrier-init") is Status.EXECUTED
    assert "Barrier-Init (must, executed)" in render(load(data.root), "small").text
    assert found(data, "error") == []
    assert check(load(data.root), None).contracts["small"][Status.EXECUTED] == 2


def test_without_evidence_a_status_comes_from_wrappers_and_tests(data):
    assert status(data, "barrier-init") is Status.DOCUMENTED
    data.contract("barrier-init", "Once.", 'tests = ["tests/packs/test_headers.py::test_it"]')
    assert status(data, "barrier-init") is Status.COMPILED
    data.contract("barrier-init", "Once.", 'tests = ["tests/packs/test_models.py::test_it"]')
    assert status(data, "barrier-init") is Status.MODELLED
    data.contract("barrier-init", "Once.")
    data.replace("contracts/barrier-init.md", '"documented"', '"inferred"')
    assert status(data, "barrier-init") is Status.INFERRED


@pytest.mark.parametrize("header", ["address", "barrier"])
def test_evidence_for_other_code_of_a_wrapper_or_of_what_it_includes_is_stale(data, header):
    data.contract("barrier-wait", "Wait.", 'tests = ["tests/packs/test_headers.py::test_it"]')
    hashes = evidence.header_hashes(load(data.root)) | {f"include/ptxk/{header}": "sha256:" + "0" * 64}
    bundle(data, [CHECK, WAIT], headers=hashes)
    assert status(data, "barrier-wait") is Status.COMPILED
    assert found(data, "error") == []
    (note,) = [one for one in check(load(data.root), None).findings if one.code == "stale_evidence" and one.where == "barrier-wait"]
    assert note.severity == "note" and f"include/ptxk/{header}" in note.text


def test_changed_code_is_stale_and_changed_comments_are_not(data):
    bundle(data, [CHECK, WAIT])
    data.replace("include/ptxk/barrier.cuh", "/* Waits. */", "/* Waits for a phase. */")
    assert status(data, "barrier-wait") is Status.EXECUTED
    data.replace("include/ptxk/barrier.cuh", "return true;", "return false;")
    assert status(data, "barrier-wait") is not Status.EXECUTED


@pytest.mark.parametrize("fault", [{"wrong": 1, "detail": "row 3: expected 4, got 5"}, {"cases": 0}])
def test_a_wrong_or_empty_check_is_an_error_and_no_execution(data, fault):
    bundle(data, [CHECK, CHECK | {"check": "counts"} | fault, WAIT])
    assert status(data, "barrier-init") is not Status.EXECUTED
    assert found(data, "error") == [("failed_check", "evidence/h200")]
    (text,) = [one.text for one in check(load(data.root), None).findings if one.code == "failed_check"]
    assert "barrier-init: barrier: counts" in text and str(fault.get("detail", "")) in text


def test_a_program_that_did_not_end_is_an_error(data):
    bundle(data, [CHECK, WAIT], faults={"tma": "not ended after 30 s"})
    assert found(data, "error") == [("failed_program", "evidence/h200")]


def test_once_there_is_evidence_a_must_is_executed_or_gives_its_reason(data):
    assert found(data, "error") == []
    bundle(data, [CHECK])
    assert found(data, "error") == [("unexecuted_must", "barrier-wait")]
    bundle(data, [CHECK, WAIT | {"where": "model"}])
    assert found(data, "error") == [("unexecuted_must", "barrier-wait")]
    data.contract("barrier-wait", "Wait.", 'reason = "its breach is a hang"')
    assert found(data, "error") == []


def test_the_lock_holds_the_bundle(data):
    bundle(data, [CHECK, WAIT])
    assert found(data, "error") == []
    assert load(data.root).root.joinpath(lock.NAME).read_text().count('"h200": "sha256:') == 1
    bundle(data, [CHECK, WAIT], driver="580.100")
    stale = [one.where for one in check(load(data.root), None).findings if one.code == "stale_lock"]
    assert stale == ["evidence/h200"]


@pytest.mark.parametrize("text", ["{", "{}", '{"schema_version": 2}'])
def test_a_bundle_that_is_none_is_an_error_that_names_it(data, text):
    data.write("evidence/h200.json", text)
    with pytest.raises(PackError, match=r"evidence/h200\.json"):
        Evidence.of(load(data.root))
    assert ("unreadable", "evidence") in [(one.code, one.where) for one in check(load(data.root), None).findings]


def test_packs_evidence_says_how_each_contract_is_known_and_what_was_tried_of_it(data):
    bundle(data, [CHECK, CHECK | {"check": "counts", "cases": 7}, WAIT])
    one, other = standings(load(data.root), "small")
    assert (one.contract, one.status, other.contract) == ("barrier-init", Status.EXECUTED, "barrier-wait")
    (tried,) = one.tried
    assert (tried.bundle, tried.checks, tried.cases, tried.failed, tried.changed) == ("h200", 2, CHECK["cases"] + 7, 0, ())
    data.replace("include/ptxk/barrier.cuh", "return true;", "return false;")
    (tried,) = standings(load(data.root))[0].tried
    assert tried.changed == ("include/ptxk/barrier",)
    with pytest.raises(PackError, match="unknown pack"):
        standings(load(data.root), "smal")


def test_a_program_that_is_another_one_now_is_noted(data, tmp_path):
    program = tmp_path / "tree" / evidence.PROGRAMS / "barrier.cu"
    program.parent.mkdir(parents=True)
    program.write_text("int main() {}")
    bundle(data, [CHECK, WAIT], programs={"barrier.cu": evidence.code_hash("int main() {}  // empty")})
    lock.write(load(data.root), lock.compute(load(data.root)))
    assert [one.where for one in check(load(data.root), tmp_path / "tree").findings if one.code == "stale_evidence"] == []
    program.write_text("int main() { return 1; }")
    (note,) = [one for one in check(load(data.root), tmp_path / "tree").findings if one.code == "stale_evidence"]
    assert (note.severity, note.where) == ("note", "evidence/h200") and "barrier.cu" in note.text
