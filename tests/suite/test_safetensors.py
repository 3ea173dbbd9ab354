"""The safetensors container: what is written is read again, and damaged files are refused."""

import json

import ml_dtypes
import numpy as np
import pytest

from ptxbench.core.errors import StorageError, SuiteError
from ptxbench.suite.dtypes import NUMPY_TYPES
from ptxbench.suite.safetensors import CODES, read_header, read_tensor, write_tensors


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("shape", [(3, 5), (), (0, 4)])
def test_tensors_of_every_type_come_back_bit_for_bit(tmp_path, name, shape):
    value = np.random.default_rng(0).integers(0, 2, size=shape).astype(NUMPY_TYPES[name])
    write_tensors(tmp_path / "x.safetensors", {"before": np.ones(3, np.int8), "x": value, "after": np.zeros(2)})
    back = read_tensor(tmp_path / "x.safetensors", "x")
    assert (back.dtype, back.shape, back.tobytes()) == (value.dtype, value.shape, value.tobytes())


def test_the_bytes_are_those_of_the_format(tmp_path):
    value = np.array([[1.0, -2.0]], ml_dtypes.bfloat16)
    write_tensors(tmp_path / "x", {"w": value})
    data = (tmp_path / "x").read_bytes()
    length = int.from_bytes(data[:8], "little")
    assert json.loads(data[8 : 8 + length]) == {"w": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [0, 4]}}
    assert length % 8 == 0
    assert data[8 + length :] == b"\x80\x3f\x00\xc0"


def test_a_transposed_array_is_written_in_row_major_order(tmp_path):
    value = np.arange(6, dtype=np.int32).reshape(2, 3).T
    write_tensors(tmp_path / "x", {"w": value})
    assert np.array_equal(read_tensor(tmp_path / "x", "w"), value)


def test_metadata_of_other_writers_is_not_a_tensor(tmp_path):
    header = json.dumps({"__metadata__": {"format": "pt"}, "w": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}).encode()
    (tmp_path / "x").write_bytes(len(header).to_bytes(8, "little") + header + b"\x07")
    assert list(read_header(tmp_path / "x")) == ["w"]
    assert read_tensor(tmp_path / "x", "w").tolist() == [7]


def test_types_without_a_code_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(ValueError, match="no code"):
        write_tensors(tmp_path / "x", {"w": np.zeros(2, ml_dtypes.float4_e2m1fn)})
    assert not (tmp_path / "x").exists()


def test_a_file_in_the_way_is_kept(tmp_path):
    (tmp_path / "x").write_bytes(b"theirs")
    with pytest.raises(StorageError):
        write_tensors(tmp_path / "x", {"w": np.zeros(2)})
    assert (tmp_path / "x").read_bytes() == b"theirs"


def packed(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}

DAMAGED = {
    "empty": b"",
    "cut header": packed({"w": ENTRY})[:20],
    "huge header": (1 << 62).to_bytes(8, "little"),
    "no json": packed(b"{nope"),
    "no object": packed([1]),
    "unknown type": packed({"w": ENTRY | {"dtype": "F7"}}, b"\0" * 8),
    "missing key": packed({"w": {"dtype": "F32", "shape": [2]}}, b"\0" * 8),
    "cut data": packed({"w": ENTRY}, b"\0" * 7),
    "range and shape differ": packed({"w": ENTRY | {"shape": [3]}}, b"\0" * 8),
    "negative shape": packed({"w": ENTRY | {"shape": [-1, -2]}}, b"\0" * 8),
    "range before the data": packed({"w": ENTRY | {"data_offsets": [-8, 0]}}, b"\0" * 8),
    "one offset": packed({"w": ENTRY | {"data_offsets": [0]}}, b"\0" * 8),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_is_refused(tmp_path, case):
    (tmp_path / "x").write_bytes(DAMAGED[case])
    with pytest.raises(SuiteError, match="not a safetensors file") as caught:
        read_tensor(tmp_path / "x", "w")
    assert caught.value.next_step


def test_a_git_lfs_pointer_is_named_as_one(tmp_path):
    (tmp_path / "x").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n")
    with pytest.raises(SuiteError, match="Git LFS pointer") as caught:
        read_header(tmp_path / "x")
    assert "git lfs pull" in caught.value.next_step


def test_a_missing_file_or_tensor_is_an_error_that_says_what_there_is(tmp_path):
    with pytest.raises(SuiteError, match="cannot be read"):
        read_header(tmp_path / "x")
    write_tensors(tmp_path / "x", {"w": np.zeros(2)})
    with pytest.raises(SuiteError, match="no tensor 'v'") as caught:
        read_tensor(tmp_path / "x", "v")
    assert "w" in caught.value.next_step
