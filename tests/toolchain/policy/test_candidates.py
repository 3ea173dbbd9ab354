"""Every known way round the policy is refused, every innocent look-alike passes; each is a file of its own.

The first line of a file says what is expected: the verdict of both profiles and, for an evasion, the rule (and line) that strict
must name. The second says what the idea is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Profile, Source
from ptxbench.toolchain import Builder, BuildResult, read_candidate
from ptxbench.toolchain.policy import verdict

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Specimen:
    """A candidate file and what its first line expects."""

    path: Path
    expected: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Specimen:
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        marker, _, words = first.partition("expect:")
        assert marker.strip() in ("//", "#"), f"{path.name} does not begin with what it expects"
        expected = dict(word.split("=", 1) for word in words.split())
        assert expected.keys() <= {"paper", "strict", "rule", "line", "with", "speed"}, path.name
        return cls(path, expected)

    def candidate(self) -> Candidate:
        candidate = read_candidate(self.path, arch="sm_90a" if self.path.suffix == ".cu" else "cpu")
        beside = self.expected.get("with")  # A file that only a computed include or a Python import names.
        if beside is None:
            return candidate
        source = Source(path=beside, content=(self.path.parent / beside).read_text(encoding="utf-8"))
        return candidate.model_copy(update={"sources": (*candidate.sources, source)})


def specimens(folder: str) -> list[Specimen]:
    return [Specimen.read(path) for path in sorted((HERE / folder).iterdir()) if path.is_file()]


EVASIONS = specimens("evasions")
LOOK_ALIKES = specimens("look_alikes")


def parameters(found: list[Specimen]) -> list[object]:
    return [
        pytest.param(one, id=one.path.name, marks=[pytest.mark.slow] if one.expected.get("speed") == "slow" else [])
        for one in found
    ]


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Callable[[Specimen], BuildResult]]:
    """Build the selected specimens, as many at once as there are processors, while the tests look at them in order."""
    builder = Builder(settings)
    selected = [
        item.callspec.params["specimen"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and "specimen" in item.callspec.params
    ]
    with ThreadPoolExecutor() as pool:
        results: dict[Path, Future[BuildResult]] = {
            one.path: pool.submit(lambda specimen: builder.build(specimen.candidate()), one) for one in selected
        }
        yield lambda specimen: results[specimen.path].result()


@pytest.mark.parametrize("specimen", parameters(EVASIONS))
def test_evasion_is_refused_with_its_rule_and_line(specimen: Specimen, built: Callable[[Specimen], BuildResult]) -> None:
    expected = specimen.expected
    violations = built(specimen).violations
    strict, paper = verdict(violations, Profile.STRICT), verdict(violations, Profile.PAPER)
    assert not strict.ok and expected["strict"] == "violation"
    assert paper.ok is (expected["paper"] == "ok"), paper.violations
    named = [one for one in strict.violations if one.rule == expected["rule"]]
    assert named, f"strict names {[one.rule for one in strict.violations]}"
    if "line" in expected:
        assert int(expected["line"]) in [one.line for one in named]
    assert {one.rule for one in paper.violations} <= {"vendor_library"}
    assert set(paper.violations) | set(paper.flags) == set(strict.violations)
    for one in strict.violations:
        assert one.text, "a breach shows what was met"
        assert (one.line is None) is (one.file is None) or one.rule == "unreadable_source"


@pytest.mark.parametrize("specimen", parameters(LOOK_ALIKES))
def test_look_alike_passes_both_profiles_without_a_flag(specimen: Specimen, built: Callable[[Specimen], BuildResult]) -> None:
    result = built(specimen)
    for profile in Profile:
        judged = verdict(result.violations, profile)
        assert judged.ok and not judged.violations and not judged.flags, judged
    broken = {"does_not_compile.cu", "unknown_header.cpp", "python_syntax_error.py"}
    assert result.build.ok is (specimen.path.name not in broken), result.build.diagnostics


def test_collection_is_as_large_as_promised() -> None:
    assert len(EVASIONS) >= 40 and len(LOOK_ALIKES) >= 40
