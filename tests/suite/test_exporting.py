"""A suite that is exported and loaded again is the same suite."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ptxbench.core.errors import StorageError, SuiteError, UnknownTask, UsageError
from ptxbench.schema import Definition, Trace
from ptxbench.suite import load, load_folder
from ptxbench.suite.exporting import export
from ptxbench.suite.inputs import draw
from ptxbench.suite.safetensors import read_tensor, write_tensors
from ptxbench.suite.validating import validate


def hashes(suite):
    return {name: suite.get(name).hash for name in suite.names}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "suite"
    export(load(), folder)
    return folder


def test_an_exported_suite_loads_with_equal_hashes_and_without_warnings(exported):
    again = load_folder(exported)
    assert hashes(again) == hashes(load())
    assert again.warnings == () and again.problems == ()
    task, ours = again.task("mha_bwd_d128_causal"), load().task("mha_bwd_d128_causal")
    assert task.hash == ours.hash and task.root == str(exported)


def test_an_exported_suite_beside_the_bundled_one_conflicts_with_nothing(exported):
    both = load([exported])
    assert both.names == load().names and both.hash == load().hash


def test_the_layout_is_flashinfer_traces(exported):
    assert {path.name for path in exported.iterdir()} == {"definitions", "workloads"}
    assert (exported / "definitions" / "gemm" / "gemm_n7168_k5120.json").is_file()
    assert (exported / "workloads" / "mha_bwd" / "mha_bwd_d96_causal.jsonl").is_file()
    assert oct(exported.stat().st_mode & 0o777) == "0o755"


def test_a_reader_that_drops_what_it_does_not_know_still_has_valid_records(exported):
    for path in (exported / "definitions").rglob("*.json"):
        data = json.loads(path.read_text())
        known = {
            key: data[key] for key in ("name", "op_type", "axes", "inputs", "outputs", "reference", "description", "constraints")
        }
        assert set(data) - set(known) <= {"ptxbench"}
        definition = Definition.model_validate(known)
        lines = (exported / "workloads" / definition.op_type / f"{definition.name}.jsonl").read_text().splitlines()
        for line in lines:
            trace = json.loads(line)
            assert list(trace) == ["definition", "solution", "workload", "evaluation"]
            trace["workload"].pop("ptxbench")
            assert set(trace["workload"]) == {"uuid", "axes", "inputs"}
            assert Trace.model_validate(trace).is_workload


def test_the_exports_bytes_are_the_same_every_time(exported, tmp_path):
    export(load(), tmp_path / "again")
    files = sorted(path.relative_to(exported) for path in exported.rglob("*") if path.is_file())
    assert len(files) == 2 * len(load().names)
    for path in files:
        assert (exported / path).read_bytes() == (tmp_path / "again" / path).read_bytes()


def test_only_the_named_tasks_are_written(tmp_path):
    written = export(load(), tmp_path / "x", ["cpu_softmax_n1024"])
    assert sorted(written) == sorted(path for path in (tmp_path / "x").rglob("*") if path.is_file())
    assert load_folder(tmp_path / "x").names == ("cpu_softmax_n1024",)
    with pytest.raises(UnknownTask):
        export(load(), tmp_path / "y", ["softmax"])
    assert not (tmp_path / "y").exists()


def test_blobs_hold_what_other_readers_cannot_draw(tmp_path):
    export(load(), tmp_path / "x", ["cpu_mha_bwd_d64", "cpu_softmax_n1024"], blobs=True)
    again = load_folder(tmp_path / "x")
    assert again.problems == ()
    assert again.get("cpu_mha_bwd_d64").hash == load().get("cpu_mha_bwd_d64").hash
    for line in (tmp_path / "x/workloads/mha_bwd/cpu_mha_bwd_d64.jsonl").read_text().splitlines():
        workload = json.loads(line)["workload"]
        drawn = draw(load().task(f"cpu_mha_bwd_d64@{workload['uuid']}"), 0)
        kinds = {name: value["type"] for name, value in workload["inputs"].items()}
        assert kinds == dict.fromkeys(("Q", "K", "V", "O", "L"), "safetensors") | {"dO": "random"}
        for name in ("Q", "K", "V", "O", "L"):
            stored = workload["inputs"][name]
            assert np.array_equal(read_tensor(tmp_path / "x" / stored["path"], stored["tensor_key"]), drawn[name])


def test_a_blob_that_is_damaged_or_gone_is_found_by_validate(tmp_path):
    export(load(), tmp_path / "x", ["cpu_mha_bwd_d64"], blobs=True)
    first, second = sorted((tmp_path / "x" / "blob").rglob("*.safetensors"))
    first.unlink()
    second.write_bytes(second.read_bytes()[:-1])
    texts = [finding.text for finding in validate(load_folder(tmp_path / "x")) if finding.severity == "error"]
    assert any(str(first) in text for text in texts) and any(str(second) in text for text in texts)
    assert load([tmp_path / "x"]).hash == load().hash


def test_a_folder_in_use_is_left_alone(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "theirs").write_text("kept")
    with pytest.raises(UsageError, match="not an empty folder"):
        export(load(), tmp_path / "x")
    assert [path.name for path in tmp_path.rglob("*")] == ["x", "theirs"]
    (tmp_path / "x" / "theirs").unlink()
    assert export(load(), tmp_path / "x", ["cpu_softmax_n1024"])


def test_an_export_that_fails_half_way_leaves_nothing(write_folder, make_definition, make_line, tmp_path):
    lines = [make_line(), make_line(uuid="w1", X={"type": "safetensors", "path": "blob/gone", "tensor_key": "X"})]
    suite = load_folder(write_folder([make_definition()], lines))
    with pytest.raises(SuiteError, match="does not exist"):
        export(suite, tmp_path / "out" / "x")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_place_that_cannot_hold_a_folder_is_a_storage_error(tmp_path):
    (tmp_path / "file").write_text("theirs")
    with pytest.raises(StorageError):
        export(load(), tmp_path / "file" / "x", ["cpu_softmax_n1024"])
    assert (tmp_path / "file").read_text() == "theirs"


def test_a_write_that_fails_half_way_leaves_nothing(tmp_path):
    code = (
        "import resource, sys, pathlib\n"
        "from ptxbench.core.errors import StorageError\n"
        "from ptxbench.suite import load\n"
        "from ptxbench.suite.exporting import export\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    export(load(), pathlib.Path(sys.argv[1]), ['cpu_mha_bwd_d64'], blobs=True)\n"
        "except StorageError as error:\n"
        "    print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "x")], capture_output=True, text=True, check=True)
    assert "cannot write" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_blobs_that_do_not_fit_the_disk_are_refused_before_any_work(tmp_path):
    name = "mha_bwd_d96"
    spec = load().get(name)
    enormous = spec.workloads[0].model_copy(
        update={"workload": spec.workloads[0].workload.model_copy(update={"axes": {"B": 1 << 20, "H": 48, "S": 1 << 20}})}
    )
    suite = type(load())([spec.model_copy(update={"workloads": (enormous,)})])
    with pytest.raises(StorageError, match="GB"):
        export(suite, tmp_path / "x", blobs=True)
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_folder_survives_the_round_trip_with_its_unknown_keys_and_blobs(
    write_folder, make_definition, make_line, tmp_path
):
    line = make_line(X={"type": "safetensors", "path": "blob/x.safetensors", "tensor_key": "X", "note": 1})
    root = write_folder([make_definition(license="MIT")], [line])
    write_tensors(root / "blob" / "x.safetensors", {"X": np.ones((4, 8), np.float32)})
    export(load_folder(root), tmp_path / "x")
    again = load_folder(tmp_path / "x")
    assert again.get("double_n8").hash == load_folder(root).get("double_n8").hash
    assert json.loads((tmp_path / "x/definitions/elementwise/double_n8.json").read_text()) == make_definition(license="MIT")
    assert (tmp_path / "x/blob/x.safetensors").read_bytes() == (root / "blob/x.safetensors").read_bytes()


def test_two_tasks_of_one_name_cannot_share_a_file(write_folder, make_definition, make_line, tmp_path):
    suite = load([write_folder([make_definition("gemm_n4096_k4096")], [make_line("gemm_n4096_k4096")])])
    with pytest.raises(SuiteError, match="both defined as"):
        export(suite, tmp_path / "x")
    assert not (tmp_path / "x").exists()
