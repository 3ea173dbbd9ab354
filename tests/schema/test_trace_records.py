"""FlashInfer-Trace records: what is read is written again, byte for byte, and nothing is lost."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ptxbench.schema import Definition, Solution, Trace, Workload

SAMPLE = "flashinfer-trace-sample"


def definition_bytes(record):
    return (json.dumps(record.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n").encode()


def test_a_definition_made_by_others_is_written_byte_for_byte(shared_data: Path):
    for path in (shared_data / SAMPLE / "definitions").rglob("*.json"):
        data = path.read_bytes()
        assert definition_bytes(Definition.model_validate_json(data)) == data
        assert definition_bytes(Definition.model_validate(json.loads(data))) == data


def test_workload_lines_made_by_others_are_written_byte_for_byte(shared_data: Path):
    lines = [line for path in (shared_data / SAMPLE / "workloads").rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(lines) == 43
    for line in lines:
        trace = Trace.model_validate(json.loads(line))
        assert trace.is_workload
        assert json.dumps(trace.model_dump(mode="json")) == line


SOLUTION = {
    "spec": {
        "entry_point": "kernel.cu::run",
        "language": "cuda",
        "target_hardware": ["NVIDIA H100"],
        "dependencies": [],
        "destination_passing_style": True,
        "binding": "tvm-ffi",
    },
    "sources": [{"content": "// ü\n", "path": "kernel.cu"}],
    "name": "mine",
    "definition": "gemm_n4096_k4096",
    "author": "someone",
}

RESULT = {
    "definition": "gemm_n4096_k4096",
    "workload": {"uuid": "u", "axes": {"M": 7}, "inputs": {"A": {"type": "random"}, "s": {"type": "scalar", "value": 1}}},
    "solution": "mine",
    "evaluation": {
        "status": "PASSED",
        "environment": {"hardware": "NVIDIA H100", "libs": {"torch": "2.8.0"}},
        "timestamp": "2026-01-01T00:00:00",
        "log": "",
        "correctness": {"max_relative_error": 0.001, "max_absolute_error": 0.0, "extra": None},
        "performance": {"latency_ms": 0.1, "reference_latency_ms": 0.2, "speedup_factor": 2.0},
    },
}


@pytest.mark.parametrize(("record", "data"), [(Solution, SOLUTION), (Trace, RESULT)])
def test_solutions_and_results_keep_keys_and_their_order(record, data):
    assert json.dumps(record.model_validate(data).model_dump(mode="json")) == json.dumps(data)


def test_infinities_and_nan_are_written_as_strings():
    data = json.loads(json.dumps(RESULT))
    data["evaluation"]["correctness"]["max_relative_error"] = float("inf")
    written = Trace.model_validate(data).model_dump(mode="json")["evaluation"]["correctness"]
    assert written["max_relative_error"] == "Infinity"
    data["evaluation"]["correctness"]["max_relative_error"] = "NaN"
    assert Trace.model_validate(data).model_dump(mode="json")["evaluation"]["correctness"]["max_relative_error"] == "NaN"


fuzzed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""The machine may be busy: how long an example takes proves nothing."""

NAMES = st.text(alphabet="abcdefgXYZ_0189", min_size=1, max_size=6).filter(str.isidentifier)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
EXTRAS = st.dictionaries(st.text(alphabet="abcxyz", min_size=1, max_size=4).map(lambda text: f"x_{text}"), JSON, max_size=2)


@st.composite
def shuffled(draw, data):
    return {key: data[key] for key in draw(st.permutations(list(data)))}


@st.composite
def definitions(draw):
    axes = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
        const = {"type": "const", "value": draw(st.integers(0, 2**40))}
        axes[name] = draw(shuffled(draw(st.sampled_from([const, {"type": "var"}])) | draw(EXTRAS)))
    arguments = draw(st.lists(NAMES, min_size=2, max_size=5, unique=True))

    def tensor():
        shape = draw(st.none() | st.lists(st.sampled_from(list(axes)), max_size=3))
        dtype = draw(st.sampled_from(["float32", "bfloat16", "float8_e4m3fn", "int64", "bool"]))
        return draw(shuffled({"shape": shape, "dtype": dtype} | draw(EXTRAS)))

    cut = draw(st.integers(1, len(arguments) - 1))
    data = {
        "name": draw(st.text(min_size=1, max_size=10)),
        "op_type": draw(NAMES),
        "axes": axes,
        "inputs": {name: tensor() for name in arguments[:cut]},
        "outputs": {name: tensor() for name in arguments[cut:]},
        "reference": "def run(*arguments):\n    return arguments\n",
    }
    optional = {"description": st.none() | st.text(max_size=9), "tags": st.none() | st.lists(st.text(max_size=5), max_size=2)}
    for key in draw(st.lists(st.sampled_from(list(optional)), unique=True)):
        data[key] = draw(optional[key])
    return draw(shuffled(data | draw(EXTRAS)))


@st.composite
def workload_lines(draw):
    descriptors = [
        {"type": "random"},
        {
            "type": "scalar",
            "value": draw(st.integers(-(2**40), 2**40) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)),
        },
        {"type": "safetensors", "path": draw(st.text(max_size=9)), "tensor_key": draw(st.text(max_size=9))},
    ]
    inputs = {
        name: draw(shuffled(draw(st.sampled_from(descriptors)) | draw(EXTRAS)))
        for name in draw(st.lists(NAMES, unique=True, max_size=3))
    }
    axes = draw(st.dictionaries(NAMES, st.integers(0, 2**40), max_size=3))
    workload = draw(shuffled({"uuid": draw(st.text(max_size=12)), "axes": axes, "inputs": inputs} | draw(EXTRAS)))
    line = {"definition": draw(NAMES), "workload": workload}
    for key in draw(st.lists(st.sampled_from(["solution", "evaluation"]), unique=True)):
        line[key] = None
    return draw(shuffled(line | draw(EXTRAS)))


@fuzzed
@given(definitions())
def test_any_definition_comes_back_byte_for_byte(data):
    assert json.dumps(Definition.model_validate(data).model_dump(mode="json"), indent=2) == json.dumps(data, indent=2)
    assert Definition.model_validate_json(json.dumps(data)).model_dump(mode="json") == data


@fuzzed
@given(workload_lines())
def test_any_workload_line_comes_back_byte_for_byte(line):
    trace = Trace.model_validate(line)
    assert json.dumps(trace.model_dump(mode="json")) == json.dumps(line)
    assert set(trace.unknown_keys) == {key for key in line if key.startswith("x_")}
    assert set(trace.workload.unknown_keys) == {key for key in line["workload"] if key.startswith("x_")}


def test_unknown_keys_are_kept_and_named():
    data = {"uuid": "u", "axes": {}, "inputs": {}, "seed": 3, "Axes": {}}
    workload = Workload.model_validate(data)
    assert workload.unknown_keys == ("seed", "Axes")
    assert workload.model_dump(mode="json") == data


def broken(**changes):
    data = {
        "name": "x",
        "op_type": "x",
        "axes": {"M": {"type": "var"}},
        "inputs": {"A": {"shape": ["M"], "dtype": "float32"}},
        "outputs": {"C": {"shape": ["M"], "dtype": "float32"}},
        "reference": "def run(A):\n    return A\n",
    }
    assert Definition.model_validate(data)
    return data | changes


REFUSED = [
    broken(inputs={}),
    broken(outputs={}),
    broken(outputs={"A": {"shape": ["M"], "dtype": "float32"}}),
    broken(inputs={"A": {"shape": ["K"], "dtype": "float32"}}),
    broken(inputs={"A": {"shape": ["M"], "dtype": "float33"}}),
    broken(axes={"M": {"type": "const"}}),
    broken(axes={"M": {"type": "const", "value": True}}),
    broken(axes={"M": {"type": "const", "value": -1}}),
    broken(axes={"M": {"type": "dynamic"}}),
    broken(constraints=["M >"]),
    broken(constraints=["K > 1"]),
    broken(reference="run = 3\n"),
    broken(reference="class A:\n    def run(self):\n        pass\n"),
    broken(reference="def run(:\n"),
]


@pytest.mark.parametrize("data", REFUSED, ids=range(len(REFUSED)))
def test_definitions_that_cannot_mean_anything_are_refused(data):
    with pytest.raises(ValidationError):
        Definition.model_validate(data)


@pytest.mark.parametrize("axes", [{"M": "4"}, {"M": 4.0}, {"M": True}, {"M": -1}, {"M": None}])
def test_axis_sizes_are_not_coerced(axes):
    with pytest.raises(ValidationError):
        Workload.model_validate({"uuid": "u", "axes": axes, "inputs": {}})


@pytest.mark.parametrize(
    ("status", "part"), [("PASSED", "performance"), ("PASSED", "correctness"), ("INCORRECT_NUMERICAL", "correctness")]
)
def test_results_have_the_parts_that_their_status_asks_for(status, part):
    evaluation = RESULT["evaluation"] | {"status": status, part: None}
    with pytest.raises(ValidationError):
        Trace.model_validate(RESULT | {"evaluation": evaluation})


@pytest.mark.parametrize(
    "changes",
    [
        {"sources": []},
        {"sources": SOLUTION["sources"] * 2},
        {"sources": [{"path": "../kernel.cu", "content": ""}]},
        {"sources": [{"path": "/kernel.cu", "content": ""}]},
        {"spec": SOLUTION["spec"] | {"entry_point": "kernel.cu"}},
        {"spec": SOLUTION["spec"] | {"entry_point": "other.cu::run"}},
        {"spec": SOLUTION["spec"] | {"entry_point": "kernel.cu::a::b"}},
    ],
    ids=range(7),
)
def test_solutions_that_cannot_be_built_are_refused(changes):
    with pytest.raises(ValidationError):
        Solution.model_validate(SOLUTION | changes)
