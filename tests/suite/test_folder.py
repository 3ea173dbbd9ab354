"""FlashInfer-Trace folders: what loads, and what is refused with file and line."""

import json
from pathlib import Path

import pytest

from ptxbench.core.errors import SuiteError
from ptxbench.suite import load, load_folder
from ptxbench.suite.inputs import draw
from ptxbench.suite.references import load_oracle, load_reference


def test_the_sample_folder_loads_with_all_its_workloads(shared_data: Path):
    suite = load([shared_data / "flashinfer-trace-sample"])
    spec = suite.get("flashinfer-trace-sample:gemm_n4096_k4096")
    lines = (shared_data / "flashinfer-trace-sample/workloads/gemm_n4096_k4096.jsonl").read_text().splitlines()
    assert [one.workload.uuid for one in spec.workloads] == [json.loads(line)["workload"]["uuid"] for line in lines]
    assert spec.definition.inputs["A"].dtype == "float16"
    assert (spec.archs, spec.reference.needs, spec.default_workload) == (
        ("sm_90a", "sm_100a"),
        "torch",
        spec.workloads[0].workload.uuid,
    )
    assert {one.source for one in spec.workloads} == {"foreign"}
    assert load_folder(shared_data / "flashinfer-trace-sample").names == ("gemm_n4096_k4096",)


def test_a_foreign_numpy_task_runs_on_the_cpu(write_folder, make_definition, make_line):
    task = load([write_folder([make_definition()], [make_line()])]).task("double_n8")
    assert task.arch == "cpu"
    inputs = draw(task, 0)
    assert (load_reference(task)(inputs)["Y"] == 2 * inputs["X"]).all()
    assert load_oracle(task)(inputs)["Y"].dtype == "float64"


def test_flat_definitions_load_as_well(tmp_path, make_definition, make_line):
    (tmp_path / "definitions").mkdir()
    (tmp_path / "workloads").mkdir()
    (tmp_path / "definitions" / "double_n8.json").write_text(json.dumps(make_definition()))
    (tmp_path / "workloads" / "double_n8.jsonl").write_text(json.dumps(make_line()))
    assert load([tmp_path]).task("double_n8").axes == {"N": 8, "M": 4}


def test_unknown_keys_are_kept_and_reported_with_their_place(write_folder, make_definition, make_line):
    data = make_definition(tolerence=1, axes={"M": {"type": "var", "note": "x"}, "N": {"type": "const", "value": 8}})
    line = make_line(X={"type": "random", "seed": 3})
    suite = load([write_folder([data], [line])])
    assert suite.get("double_n8").definition.model_dump(mode="json") == data
    assert suite.get("double_n8").workloads[0].workload.model_dump(mode="json") == line["workload"]
    text = "\n".join(suite.warnings)
    assert "double_n8.json: unknown keys kept: axes.M.note, tolerence" in text
    assert "all.jsonl:1: unknown keys kept: workload.inputs.X.seed" in text


def test_a_missing_folder_is_an_error_and_is_not_created(tmp_path):
    with pytest.raises(SuiteError, match="does not exist"):
        load([tmp_path / "typo"])
    assert not (tmp_path / "typo").exists()


def test_a_folder_without_definitions_and_a_file_are_refused(tmp_path):
    with pytest.raises(SuiteError, match="no definitions folder"):
        load([tmp_path])
    (tmp_path / "file").write_text("x")
    with pytest.raises(SuiteError, match="is not a folder"):
        load([tmp_path / "file"])


def test_two_folders_that_disagree_on_a_name_are_an_error_that_names_both_files(write_folder, make_definition, make_line):
    first = write_folder([make_definition()], [make_line()], "a")
    second = write_folder([make_definition()], [make_line(axes={"M": 9})], "b")
    with pytest.raises(SuiteError) as caught:
        load([first, second])
    for root in (first, second):
        assert str(root / "definitions" / "elementwise" / "double_n8.json") in caught.value.message


def test_the_same_task_in_two_folders_counts_once(write_folder, make_definition, make_line):
    roots = [write_folder([make_definition()], [make_line()], name) for name in "ab"]
    assert load(roots).names.count("double_n8") == 1


def without(data, key):
    return {name: value for name, value in data.items() if name != key}


BAD_LINES = [
    ('{"definition": "double_n8", "workload":', "is not JSON"),
    ("[1, 2]", "not a JSON object"),
    ("[" * 100_000, "nested too deeply"),
    ('{"definition": ' + "9" * 5000 + "}", "is not a record"),
    (lambda line: without(line, "workload"), "workload: Field required"),
    (lambda line: line | {"definition": "duble_n8"}, "no definition is called 'duble_n8'"),
    (lambda line: line | {"workload": line["workload"] | {"axes": {}}}, "missing ['M']"),
    (lambda line: line | {"workload": line["workload"] | {"axes": {"M": 1, "K": 2}}}, "unknown ['K']"),
    (lambda line: line | {"workload": line["workload"] | {"axes": {"M": "4"}}}, "workload.axes.M: Input should be a valid integer"),
    (lambda line: line | {"workload": line["workload"] | {"axes": {"M": -1}}}, "greater than or equal to 0"),
    (lambda line: line | {"workload": line["workload"] | {"inputs": {"X": {"type": "zeros"}}}}, "workload.inputs.X"),
    (lambda line: line, "was used before"),
    (lambda line: line | {"solution": "mine"}, "is a result, not a workload"),
    (
        lambda line: (
            line | {"workload": line["workload"] | {"inputs": {"X": {"type": "safetensors", "path": "../x", "tensor_key": "X"}}}}
        ),
        "must be relative",
    ),
    (
        lambda line: line | {"workload": line["workload"] | {"uuid": "w1", "ptxbench": {"source": "mine", "flops": 1, "bytes": 1}}},
        "source: Input should be",
    ),
]


@pytest.mark.parametrize(("bad", "message"), BAD_LINES, ids=[message[:24] for _, message in BAD_LINES])
def test_a_bad_workload_line_is_refused_with_file_and_line(write_folder, make_definition, make_line, bad, message):
    line = bad(make_line()) if callable(bad) else bad
    root = write_folder([make_definition()], [make_line(), "", line])
    with pytest.raises(SuiteError) as caught:
        load([root])
    assert message in caught.value.message
    assert caught.value.message.startswith(f"{root / 'workloads' / 'elementwise' / 'all.jsonl'}:3: ")
    assert caught.value.next_step
    assert len(load_folder(root).problems) == 1


BAD_DEFINITIONS = [
    ({"axes": {"M": {"type": "var"}, "N": {"type": "const", "value": "8"}}}, "axes.N.const.value", '"value"'),
    ({"inputs": {"X": {"shape": ["M", "K"], "dtype": "float32"}}}, "undefined axis 'K'", None),
    ({"inputs": {"X": {"shape": ["M", "N"], "dtype": "fp32"}}}, "inputs.X.dtype", '"dtype"'),
    ({"reference": "def run(X:\n"}, "reference does not parse: line 1", None),
    ({"reference": "async def run(X):\n    return X\n"}, "no top-level function run", None),
    ({"reference": "def run(X):\n    return " + "-" * 20_000 + "X\n"}, "nested too deeply", None),
    ({"constraints": ["M ==== 1"]}, "is not an expression", None),
    ({"ptxbench": {"family": "gemm"}}, "archs: Field required", None),
]


@pytest.mark.parametrize(("changes", "message", "key"), BAD_DEFINITIONS, ids=[message for _, message, _ in BAD_DEFINITIONS])
def test_a_bad_definition_is_refused_with_file_and_line(write_folder, make_definition, make_line, changes, message, key):
    root = write_folder([make_definition(**changes)], [])
    path = root / "definitions" / "elementwise" / "double_n8.json"
    with pytest.raises(SuiteError) as caught:
        load([root])
    assert message in caught.value.message
    lines = path.read_text().splitlines()
    line = caught.value.details["line"]
    assert caught.value.message.startswith(f"{path}:{line}: ")
    assert key is None or key in lines[line - 1]


def test_broken_syntax_is_refused_on_its_own_line(write_folder):
    with pytest.raises(SuiteError, match=r"broken0\.json:3: is not JSON"):
        load([write_folder(['{\n  "name": "x",\n  "axes": oops\n}'], [])])


def test_a_name_that_is_defined_twice_in_a_folder_is_refused(write_folder, make_definition):
    root = write_folder([make_definition(), json.dumps(make_definition())], [])
    with pytest.raises(SuiteError, match="defined a second time"):
        load([root])


def test_bytes_that_are_not_utf8_are_refused(write_folder, make_definition, make_line):
    root = write_folder([make_definition()], [make_line()])
    (root / "workloads" / "elementwise" / "all.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(SuiteError, match="is not UTF-8"):
        load([root])


def test_a_definition_without_workloads_is_left_out_with_a_warning(write_folder, make_definition):
    suite = load([write_folder([make_definition()], [])])
    assert "double_n8" not in suite.names
    assert any("has no workloads" in warning for warning in suite.warnings)


@pytest.mark.parametrize(
    ("imports", "needs", "library"),
    [
        ("import torch", "torch", "torch"),
        ("from flashinfer.decode import x\nimport torch", "flashinfer", "FlashInfer"),
        ("import math", "numpy", "NumPy"),
    ],
)
def test_a_foreign_reference_is_measured_as_the_library_that_it_imports(
    write_folder, make_definition, make_line, imports, needs, library
):
    spec = load([write_folder([make_definition(reference=f"{imports}\n\ndef run(X):\n    return X\n")], [make_line()])]).get(
        "double_n8"
    )
    assert (spec.reference.needs, spec.reference.library) == (needs, library)
    assert spec.archs == (("cpu",) if needs == "numpy" else ("sm_90a", "sm_100a"))
    assert not spec.scale_inputs
