"""Names become tasks, and wrong names become one clear error."""

import subprocess
import sys

import pytest

from ptxbench.core.errors import SuiteError, UnknownArch, UnknownTask, UsageError
from ptxbench.suite import load


def test_loading_the_bundled_suite_imports_neither_numpy_nor_torch():
    code = (
        "import sys; from ptxbench.suite import load; load().hash; "
        "print([name for name in ('numpy', 'torch', 'ml_dtypes') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_answered_with_the_nearest_ones():
    with pytest.raises(UnknownTask) as caught:
        load().task("gemm_n7186_k5120")
    assert "gemm_n7168_k5120" in caught.value.next_step
    assert caught.value.exit_code == 2


def test_an_unknown_uuid_is_answered_with_the_known_ones():
    with pytest.raises(UnknownTask) as caught:
        load().task("gemm_n7168_k5120@94920358")
    assert "94920358-01a8-4c5b-9209-3103fd490e94 (M=8192)" in caught.value.next_step


def test_an_empty_uuid_is_not_the_default_workload():
    with pytest.raises(UnknownTask):
        load().task("gemm_n7168_k5120@")


def test_an_architecture_that_does_not_exist_and_one_that_the_task_lacks_are_told_apart():
    with pytest.raises(UnknownArch):
        load().task("gemm_n7168_k5120", "sm_90")
    with pytest.raises(UsageError, match="sm_90a, sm_100a") as caught:
        load().task("gemm_n7168_k5120", "cpu")
    assert not isinstance(caught.value, UnknownArch)


def test_a_uuid_selects_its_workload_with_its_own_work():
    task = load().task("gemm_n7168_k5120@3817345d-2b16-47dc-ae55-710bf42cfd86", "sm_100a")
    assert task.axes == {"M": 70, "N": 7168, "K": 5120}
    assert task.flops == 2 * 70 * 7168 * 5120


def test_task_hashes_tell_workloads_and_architectures_apart_and_repeat():
    suite = load()
    tasks = [
        suite.task(f"{name}@{one.workload.uuid}", arch)
        for name in suite.names
        for one in suite.get(name).workloads
        for arch in suite.get(name).archs
    ]
    assert len({task.hash for task in tasks}) == len(tasks) == 2 * 120 + 16
    assert load().hash == suite.hash


def test_the_suite_hash_follows_the_tasks(write_folder, make_definition, make_line):
    first = load([write_folder([make_definition()], [make_line()], "a")])
    again = load([write_folder([make_definition()], [make_line()], "b")])
    other = load([write_folder([make_definition()], [make_line(axes={"M": 5})], "c")])
    assert first.hash == again.hash != other.hash != load().hash


def test_a_folder_that_redefines_a_bundled_name_leaves_nothing_to_chance(write_folder, make_definition, make_line):
    name = "gemm_n4096_k4096"
    root = write_folder([make_definition(name)], [make_line(name)], "theirs")
    suite = load([root])
    with pytest.raises(SuiteError) as caught:
        suite.task(name)
    assert str(root / "definitions" / "elementwise" / f"{name}.json") in caught.value.message
    assert f"bundled:{name}" in caught.value.next_step and f"theirs:{name}" in caught.value.next_step
    assert suite.task(f"bundled:{name}").family == "gemm"
    assert suite.task(f"theirs:{name}").family == "elementwise"
    assert suite.task(f"{name}@w0").name == f"theirs:{name}"
    assert suite.task(f"{name}@897b6544-56c2-4d96-98fd-453ae3418e4b").name == name
    assert any(f"loaded as theirs:{name}" in warning for warning in suite.warnings)
    assert all(suite.get(known) for known in suite.names)
