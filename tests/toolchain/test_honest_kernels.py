"""The honest kernels of ``tests/gpu/honest`` as far as no GPU is needed: they build, and no rule is held against them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxbench import arch as architectures
from ptxbench.core.settings import Settings
from ptxbench.schema import Profile
from ptxbench.toolchain import Builder, read_candidate
from ptxbench.toolchain.policy import verdict

HONEST = Path(__file__).parents[1] / "gpu" / "honest"
FILES = sorted(HONEST.glob("*.cu"))
EXPECT = re.compile(r"// expect: outcome=correct proof=(qualified|not_executed|absent) work_share=(in|out|null)")


def ids(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_a_file_says_what_it_is_and_what_must_come_out(path):
    first, second = path.read_text(encoding="utf-8").splitlines()[:2]
    assert re.fullmatch(r"// \w.*\.", first) and EXPECT.fullmatch(second)


def test_there_are_many_and_each_is_another_kernel():
    assert len(FILES) >= 24
    assert len({path.read_text(encoding="utf-8") for path in FILES}) == len(FILES)


@pytest.mark.parametrize(
    "path", [path if path.stem == "graph" else pytest.param(path, marks=pytest.mark.slow) for path in FILES], ids=ids
)
def test_an_honest_kernel_builds_within_the_strict_policy_and_holds_what_it_says(path: Path, settings: Settings):
    result = Builder(settings).build(read_candidate(path, arch="sm_90a"))
    assert result.build.ok, result.build.diagnostics
    for profile in Profile:
        judged = verdict(result.violations, profile)
        assert judged.ok and not result.violations, judged.violations
    assert all(kernel.spill_bytes == 0 for kernel in result.build.kernels)
    present = architectures.get("sm_90a").predicates(opcode for kernel in result.build.kernels for opcode in kernel.opcodes)
    match = EXPECT.search(path.read_text(encoding="utf-8"))
    assert match is not None
    assert (match[1] == "absent") is not any(present)
    assert (match[2] == "null") is not present[0]
