"""Our own records: frozen, strict about keys, and the same after JSON."""

import json

import pytest
from pydantic import ValidationError

import ptxbench.schema as schema
from ptxbench.core.canonical import canonical_json, content_hash
from ptxbench.schema import Candidate, Definition, Limits, Record, Sampler, Task, TaskSpec, Tolerance, TraceRecord
from ptxbench.suite import load

OWN = [
    record
    for record in (getattr(schema, name) for name in schema.__all__)
    if isinstance(record, type) and issubclass(record, Record) and record is not Record
]


@pytest.mark.parametrize("record", OWN, ids=lambda record: record.__name__)
def test_unknown_keys_are_refused_by_every_record_of_ours(record):
    with pytest.raises(ValidationError) as caught:
        record.model_validate({"no_such_key": 1})
    assert any(error["type"] == "extra_forbidden" and error["loc"] == ("no_such_key",) for error in caught.value.errors())


def test_our_records_and_foreign_ones_are_told_apart():
    assert len(OWN) > 20
    assert not any(issubclass(record, TraceRecord) for record in OWN)
    assert issubclass(Definition, TraceRecord) and not issubclass(Definition, Record)


@pytest.mark.parametrize("record", OWN, ids=lambda record: record.__name__)
def test_records_of_ours_cannot_be_changed(record):
    assert record.model_config["frozen"] and record.model_config["extra"] == "forbid"


@pytest.mark.parametrize("name", load().names)
def test_tasks_read_the_same_after_json(name):
    spec = load().get(name)
    assert TaskSpec.model_validate_json(spec.model_dump_json()) == spec
    task = load().task(name)
    again = Task.model_validate(json.loads(task.model_dump_json()))
    assert again == task and again.hash == task.hash
    assert list(again.definition.inputs) == list(task.definition.inputs)


def test_the_order_of_arguments_is_part_of_a_tasks_hash():
    task = load().task("cpu_gemm_n256_k256")
    swapped = task.definition.model_copy(update={"inputs": dict(reversed(task.definition.inputs.items()))})
    assert task.model_copy(update={"definition": swapped}).hash != task.hash


def test_where_a_suite_lies_is_not_part_of_a_tasks_hash_and_everything_else_is():
    task = load().task("cpu_gemm_n256_k256")
    assert task.model_copy(update={"root": "/elsewhere"}).hash == task.hash
    for change in ({"arch": "x"}, {"flops": 1}, {"oracle": None}, {"limits": Limits(run_s=1.0)}, {"work_share": (0.0, 1.0)}):
        assert task.model_copy(update=change).hash != task.hash


def test_equal_content_has_equal_hashes_whatever_the_order_of_keys():
    data = json.loads(load().task("cpu_gemm_n256_k256").model_dump_json())
    backwards = {key: data[key] for key in reversed(data)}
    assert content_hash(data) == content_hash(backwards)
    assert canonical_json(data) == canonical_json(backwards)
    assert Task.model_validate(backwards).hash == Task.model_validate(data).hash


@pytest.mark.parametrize("data", [{"kind": "derived"}, {"kind": "normal", "rule": "attention.O"}, {"kind": "zeros"}])
def test_a_sampler_has_a_rule_exactly_when_it_derives(data):
    with pytest.raises(ValidationError):
        Sampler.model_validate(data)


def test_a_tolerance_must_say_where_it_comes_from():
    with pytest.raises(ValidationError):
        Tolerance.model_validate({"frobenius": {"C": 0.1}})


def test_candidates_differ_by_what_they_do_and_not_by_how_they_are_written_down():
    data = {"sources": [{"path": "k.cu", "content": "x"}], "entry_point": "k.cu::run", "language": "cuda", "arch": "sm_90a"}
    assert Candidate.model_validate(data).hash == Candidate.model_validate_json(json.dumps(data)).hash
    other = [
        data | {"arch": "sm_100a"},
        data | {"entry_point": "k.cu::ran"},
        data | {"sources": [{"path": "k.cu", "content": "y"}]},
    ]
    assert len({Candidate.model_validate(one).hash for one in (data, *other)}) == 4
