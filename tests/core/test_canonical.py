"""The same value has the same bytes and hash; imports stay light."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from ptxbench.core.canonical import canonical_json, content_hash
from ptxbench.core.errors import InfrastructureError, PtxbenchError, UsageError, nearest
from ptxbench.schema import Record

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), values, max_size=6))
def test_key_order_does_not_matter_and_json_reads_it_back(value):
    backwards = dict(reversed(list(value.items())))
    assert canonical_json(value) == canonical_json(backwards)
    assert json.loads(canonical_json(value)) == value
    assert content_hash(value).startswith("sha256:")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_json_cannot_say_are_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"x": value})


def test_importing_the_package_is_light():
    code = (
        "import time, sys\nstart = time.process_time()\nimport ptxbench\nspent = time.process_time() - start\n"
        "heavy = {'torch', 'tvm_ffi', 'inspect_ai', 'pandas', 'numpy', 'pydantic', 'openai'} & set(sys.modules)\n"
        "print(spent, sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1)[1].strip() == "[]"


def test_the_rooms_of_the_loop_import_no_heavy_module():
    code = (
        "import sys\n"
        "import ptxbench.core.settings, ptxbench.schema, ptxbench.arch, ptxbench.suite, ptxbench.toolchain, ptxbench.evaluate\n"
        "import ptxbench.agent, ptxbench.metrics, ptxbench.report, ptxbench.cli.application\n"
        "print(sorted({'torch', 'tvm_ffi', 'inspect_ai', 'pandas', 'openai', 'polars'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def every_error(kind: type[PtxbenchError]) -> list[type[PtxbenchError]]:
    return [kind, *(sub for child in kind.__subclasses__() for sub in every_error(child))]


def test_every_error_has_its_own_code_and_an_exit_code_of_the_contract():
    kinds = every_error(PtxbenchError)
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert UsageError.exit_code == 2 and InfrastructureError.exit_code == 3
    assert {kind.exit_code for kind in kinds} <= {2, 3}


def test_nearest_names_are_found():
    names = ["gemm_n7168_k5120", "mha_with_lse_d128", "mha_bwd_d64"]
    assert nearest("gemm_n7168_k512", names)[0] == "gemm_n7168_k5120"
    assert "mha_bwd_d64" in nearest("mha_bwd", names)


class Measured(Record):
    """A record with what a measurement may give."""

    value: float | None
    many: tuple[float, ...] = ()
    by_name: dict[str, Any] = Field(default_factory=dict)
    text: str = ""


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_record_with_a_number_that_json_cannot_say_is_stored_and_read_back(value):
    record = Measured(value=value, many=(1.0, value), by_name={"x": [value]})
    line = canonical_json(record)
    json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    back = Measured.model_validate_json(line)
    assert [str(v) for v in (back.value, *back.many)] == [str(v) for v in (value, 1.0, value)]
    assert canonical_json(back) == line


def test_half_a_surrogate_pair_does_not_keep_a_record_from_being_stored():
    record = Measured(value=1.0, text="a\ud800b")
    assert Measured.model_validate_json(canonical_json(record)).text == "a?b"
