"""Reference kernels are found, in a source tree and in an installed package."""

import pytest

from ptxbench.core.errors import UsageError
from ptxbench.suite.kernels import ROOTS, kernel_path


def test_a_bundled_kernel_is_found():
    path = kernel_path("sm_90a/gemm_bf16/kernel.cu")
    assert path.is_file() and path.parts[-4:] == ("kernels", "sm_90a", "gemm_bf16", "kernel.cu")
    assert any(path.is_relative_to(root) for root in ROOTS)


def test_the_installed_package_comes_before_the_source_tree(tmp_path):
    roots = (tmp_path / "package", tmp_path / "tree")
    (roots[1] / "cpu").mkdir(parents=True)
    (roots[1] / "cpu" / "k.cpp").write_text("tree")
    assert kernel_path("cpu/k.cpp", roots).read_text() == "tree"
    (roots[0] / "cpu").mkdir(parents=True)
    (roots[0] / "cpu" / "k.cpp").write_text("package")
    assert kernel_path("cpu/k.cpp", roots).read_text() == "package"


def test_an_unknown_kernel_is_answered_with_the_nearest_ones():
    with pytest.raises(UsageError) as caught:
        kernel_path("sm_90a/gemm_bf16/kernel.cuh")
    assert "sm_90a/gemm_bf16/kernel.cu" in caught.value.next_step


@pytest.mark.parametrize("path", ["../pyproject.toml", "/etc/passwd", "sm_90a/../../pyproject.toml", "", "sm_90a"])
def test_paths_that_leave_the_folder_or_name_no_file_are_refused(path):
    with pytest.raises(UsageError):
        kernel_path(path)
