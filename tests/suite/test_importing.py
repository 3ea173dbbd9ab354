"""Import copies a foreign folder after checking it whole."""

import numpy as np
import pytest

from ptxbench.core.errors import SuiteError, UsageError
from ptxbench.suite import load, load_folder
from ptxbench.suite.exporting import export
from ptxbench.suite.importing import import_suite
from ptxbench.suite.safetensors import write_tensors


def tree(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_sample_folder_is_copied_byte_for_byte(shared_data, tmp_path):
    source = shared_data / "flashinfer-trace-sample"
    done = import_suite(source, tmp_path / "copy")
    assert done.names == ("gemm_n4096_k4096",) and done.files == 2
    kept = {name: data for name, data in tree(source).items() if name.startswith(("definitions/", "workloads/"))}
    assert tree(tmp_path / "copy") == kept


def test_blobs_come_along_and_results_stay(write_folder, make_definition, make_line, tmp_path):
    line = make_line(X={"type": "safetensors", "path": "blob/x.safetensors", "tensor_key": "X"})
    root = write_folder([make_definition()], [line])
    write_tensors(root / "blob" / "x.safetensors", {"X": np.ones((4, 8), np.float32)})
    (root / "traces").mkdir()
    (root / "traces" / "t.jsonl").write_text("{}")
    done = import_suite(root, tmp_path / "copy")
    assert done.files == 3
    assert set(tree(tmp_path / "copy")) == {
        "definitions/elementwise/double_n8.json",
        "workloads/elementwise/all.jsonl",
        "blob/x.safetensors",
    }


def test_an_exported_folder_is_imported_with_the_blobs_for_other_readers(tmp_path):
    export(load(), tmp_path / "x", ["cpu_mha_bwd_d64"], blobs=True)
    import_suite(tmp_path / "x", tmp_path / "copy")
    assert tree(tmp_path / "copy") == tree(tmp_path / "x")
    assert load_folder(tmp_path / "copy").problems == ()


def test_a_folder_with_a_bad_record_is_not_imported_at_all(write_folder, make_definition, make_line, tmp_path):
    root = write_folder([make_definition()], [make_line(), "{", "{"])
    with pytest.raises(SuiteError, match=r"all\.jsonl:2: .*1 more"):
        import_suite(root, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_missing_blob_and_an_unknown_format_are_refused(write_folder, make_definition, make_line, tmp_path):
    root = write_folder([make_definition()], [make_line(X={"type": "safetensors", "path": "blob/x", "tensor_key": "X"})])
    with pytest.raises(SuiteError, match="blob/x does not exist"):
        import_suite(root, tmp_path / "copy")
    (tmp_path / "problem").mkdir()
    (tmp_path / "problem" / "definition.json").write_text("{}")
    with pytest.raises(UsageError, match="not a known format"):
        import_suite(tmp_path / "problem", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
