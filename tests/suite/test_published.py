"""The bundled suite is the published one: names, UUIDs, sizes, argument order."""

import csv
import json
from collections import defaultdict
from pathlib import Path

import pytest

from ptxbench.suite import load

TABLES = [
    ("gemm.csv", "M", "M", "gemm"),
    ("mha_with_lse.csv", "seq_len", "S", "mha_forward"),
    ("mha_bwd.csv", "seq_len", "S", "mha_backward"),
]

PRIMARY = {
    "gemm_n7168_k5120": ("94920358-01a8-4c5b-9209-3103fd490e94", {"M": 8192}),
    "mha_with_lse_d128": ("bc38b351-d595-451b-9153-8e225702e53b", {"B": 4, "H": 48, "S": 4096}),
    "mha_with_lse_d128_causal": ("6d2f67a7-225a-4af5-87d3-cbb99b496325", {"B": 4, "H": 48, "S": 4096}),
    "mha_bwd_d128": ("38c3b07c-f006-5f5e-9860-ba214c805a6b", {"B": 4, "H": 48, "S": 4096}),
    "mha_bwd_d128_causal": ("c119b3f0-c051-5e96-9c2a-2268d992fe1a", {"B": 4, "H": 48, "S": 4096}),
}


@pytest.mark.parametrize(("table", "column", "axis", "family"), TABLES)
def test_names_uuids_and_sizes_are_those_of_the_published_tables(shared_data: Path, table, column, axis, family):
    published = defaultdict(list)
    for row in csv.DictReader((shared_data / "tasks" / table).open()):
        published[row["definition_name"]].append((row["workload_uuid"], int(row[column])))
    suite = load()
    ours = {
        spec.name: [(one.workload.uuid, one.workload.axes[axis]) for one in spec.workloads]
        for spec in map(suite.get, suite.names)
        if spec.family == family and spec.archs != ("cpu",)
    }
    assert ours == dict(published)


def test_the_families_have_the_published_number_of_tasks_and_workloads():
    suite = load()
    counts = defaultdict(lambda: [0, 0])
    for spec in map(suite.get, suite.names):
        if spec.archs != ("cpu",):
            counts[spec.family][0] += 1
            counts[spec.family][1] += len(spec.workloads)
            assert {one.source for one in spec.workloads} == {"published"}
    assert dict(counts) == {"gemm": [17, 82], "mha_forward": [8, 14], "mha_backward": [6, 24]}


@pytest.mark.parametrize("name", PRIMARY)
def test_the_primary_five_are_the_default_workloads_on_both_gpus(name):
    spec = load().get(name)
    uuid, axes = PRIMARY[name]
    assert spec.archs == ("sm_90a", "sm_100a")
    for arch in spec.archs:
        task = load().task(name, arch)
        assert (task.workload.uuid, dict(task.workload.axes), task.arch) == (uuid, axes, arch)


def test_arguments_stand_in_the_published_order_with_the_published_types():
    def signature(arguments):
        return [(name, spec.dtype, spec.shape) for name, spec in arguments.items()]

    suite, whole, rows = load(), ("B", "H", "S", "D"), ("B", "H", "S")
    gemm = suite.get("gemm_n7168_k5120").definition
    assert signature(gemm.inputs) == [("A", "bfloat16", ("M", "K")), ("B", "bfloat16", ("N", "K"))]
    assert signature(gemm.outputs) == [("C", "bfloat16", ("M", "N"))]
    forward = suite.get("mha_with_lse_d96_causal").definition
    assert signature(forward.inputs) == [(name, "bfloat16", whole) for name in "QKV"]
    assert signature(forward.outputs) == [("O", "bfloat16", whole), ("LSE", "float32", rows)]
    backward = suite.get("mha_bwd_d64").definition
    assert signature(backward.inputs) == [(name, "bfloat16", whole) for name in ("Q", "K", "V", "O", "dO")] + [
        ("L", "float32", rows)
    ]
    assert signature(backward.outputs) == [(name, "bfloat16", whole) for name in ("dQ", "dK", "dV")]
    assert forward.sizes({"B": 4, "H": 48, "S": 1})["D"] == 96


def test_the_listing_example_of_the_design_holds_for_the_headline_gemm(shared_data: Path):
    golden = shared_data.parent / "design" / "golden" / "tasks-list.json"
    if not golden.is_file():
        pytest.skip("the folder shared/design is not beside this checkout")
    (row,) = json.loads(golden.read_text())
    spec = load().get(row["name"])
    assert (spec.family, spec.definition.op_type, spec.reference.library) == (row["family"], row["op_type"], row["reference"])
    assert (list(spec.archs), spec.default_workload) == (row["archs"], row["default_workload"])
    ours = {one.workload.uuid: one for one in spec.workloads}
    for workload in row["workloads"]:
        one = ours[workload["uuid"]]
        assert (one.workload.axes, one.source, one.flops, one.bytes) == tuple(
            workload[key] for key in ("axes", "source", "flops", "bytes")
        )


def test_cpu_tasks_have_a_default_and_an_odd_size_and_their_uuids_never_change():
    suite = load()
    names = [name for name in suite.names if name.startswith("cpu_")]
    assert names == [
        "cpu_gemm_n256_k256",
        "cpu_softmax_n1024",
        "cpu_mha_with_lse_d64",
        "cpu_mha_with_lse_d64_causal",
        "cpu_mha_bwd_d64",
        "cpu_mha_bwd_d64_causal",
    ]
    for name in names:
        spec = suite.get(name)
        assert spec.archs == ("cpu",)
        assert any(size % 2 and size > 1 for one in spec.workloads for size in one.workload.axes.values())
    assert suite.get("cpu_mha_bwd_d64").default_workload == "8808bd9f-d9e1-5e99-a1d8-00e4dafa8000"
