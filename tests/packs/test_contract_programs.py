"""The programs that try contracts on a device compile here, know the contracts' ids, and are right where no device is needed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxbench.packs.contracts import by_id
from ptxbench.packs.loading import load
from ptxbench.packs.programs import build, contracts_of, found, run, sources
from ptxbench.toolchain import locate

FOLDER = Path(__file__).parents[1] / "gpu" / "contracts"
PROGRAMS = {path.stem: path for path in found(FOLDER)}
SAMPLED = ["matrix", "shared_memory"]


@pytest.fixture(scope="module")
def known() -> set[str]:
    library = load()
    return {name for pack in library.manifest.packs.values() for name in by_id(library.everything(pack))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_contract_that_a_program_reports_is_one_of_the_pack(known, name):
    reported = contracts_of(PROGRAMS[name])
    assert reported, "it reports nothing"
    if not known:
        pytest.skip("the pack has no contracts yet: nothing to compare with")
    assert sorted(reported - known) == []


def compiled_and_asked(name: str, settings, folder: Path) -> None:
    binary = folder / name
    assert build(locate(settings), PROGRAMS[name], binary) is None
    answers = run(binary, "--model-only")
    assert answers.ok, (answers.fault, [check for check in answers.checks if check.failed])
    assert answers.device is None and all(check.where == "model" for check in answers.checks)


@pytest.mark.parametrize("name", SAMPLED)
def test_a_program_compiles_and_its_models_agree(name, settings, tmp_path):
    compiled_and_asked(name, settings, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - set(SAMPLED)))
def test_every_program_compiles_and_its_models_agree(name, settings, tmp_path):
    compiled_and_asked(name, settings, tmp_path)


def test_a_program_asked_for_what_it_cannot_do_says_so_and_fails(settings, tmp_path):
    binary = tmp_path / "shared_memory"
    assert build(locate(settings), PROGRAMS["shared_memory"], binary) is None
    answers = run(binary, "--model")
    assert not answers.ok and answers.fault == "unknown argument --model" and answers.checks == ()


def test_a_program_that_nvcc_refuses_gives_what_it_said(settings, tmp_path):
    source = tmp_path / "broken.cu"
    source.write_text('#include "check.hpp"\nint main() { return 0; }\n')
    said = build(locate(settings), source, tmp_path / "broken")
    assert said is not None and "check.hpp" in said


def test_what_a_crashed_or_silent_program_said_is_kept(tmp_path):
    line = '{"contract":"wgmma-protocol","check":"one","cases":3,"wrong":%d,"detail":"","where":"device"}'
    for name, script, fault, checks in (
        ("crashes", f"echo '{line % 0}'; kill -SEGV $$", "ended with status -11; last answer: wgmma-protocol: one", 1),
        ("hides", f"echo '{line % 2}'", "ended with status 0; last answer: wgmma-protocol: one", 1),
        ("errs", f"echo '{line % 0}'; echo '{{\"error\":\"no\"}}'; exit 3", "no", 1),
        ("chats", "echo hello; exit 0", "answered 'hello': Expecting value: line 1 column 1 (char 0)", 0),
        ("misspells", 'echo \'{"contract":"a","cases":1}\'; exit 0', "check: Field required", 0),
    ):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        answers = run(program)
        assert answers.fault is not None and fault in answers.fault and len(answers.checks) == checks, answers


def test_programs_share_only_files_that_lie_beside_them():
    """What the evidence hashes is all that a program is made of, but for the pack's headers and CUDA's."""
    for path in PROGRAMS.values():
        for source in sources(path):
            for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', source.read_text(encoding="utf-8"), re.M):
                assert name.startswith("ptxk/") or (FOLDER / name).is_file(), f"{source.name} includes {name}"
