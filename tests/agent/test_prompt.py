"""What a model is told first. The golden files beside this one hold the whole text: a change must be wanted."""

import json
import os
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from ptxbench.agent.extract import extract
from ptxbench.agent.goal import roofline
from ptxbench.agent.guidance import Guidance
from ptxbench.agent.prompt import check_language, default_language, system_message, user_message
from ptxbench.agent.templating import environment
from ptxbench.core.errors import UsageError
from ptxbench.packs import Arm, Kind, Rendering
from ptxbench.packs.render import Section
from ptxbench.schema import Baseline, Candidate, Language, Profile, Source

GOLDEN = Path(__file__).with_name("golden")


def pack_of(kind, text):
    """A pack's text of one section."""
    return Rendering("small", "b200", Arm.CONTRACTS, None, "base", (Section(kind, None, text),))


CODE = pack_of(Kind.WRAPPERS, "## Wrappers\n\nThe pack's text, with {% braces %} and {{ more }}.\n")

SYSTEMS = {
    "system-cuda-strict": ("sm_90a", Language.CUDA, Profile.STRICT, None),
    "system-cuda-paper-pack": ("sm_100a", Language.CUDA, Profile.PAPER, CODE),
    "system-cpp": ("cpu", Language.CPP, Profile.STRICT, None),
    "system-python": ("cpu", Language.PYTHON, Profile.STRICT, None),
    "system-triton": ("sm_90a", Language.TRITON, Profile.STRICT, None),
}


def check_golden(name, text):
    if os.environ.get("PTXBENCH_WRITE_GOLDEN"):
        (GOLDEN / f"{name}.md").write_text(text, encoding="utf-8")
    assert text == (GOLDEN / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_system_message_is_as_recorded(scripted, name):
    arch, language, profile, pack = SYSTEMS[name]
    task = scripted.make_task(arch=arch)
    check_golden(name, system_message(task, language=language, turns=8, profile=profile, pack=pack).content)


@pytest.mark.parametrize("profile", Profile)
def test_the_user_message_is_as_recorded(scripted, profile):
    check_golden(f"user-{profile.value}", user_message(scripted.make_task(), profile=profile).content)


def test_the_user_message_holds_the_definition_and_the_concrete_sizes(scripted):
    task = scripted.make_task()
    text = user_message(task, profile=Profile.STRICT).content
    definition = json.loads(text.split("```json\n")[1].split("```")[0])
    assert definition == {k: v for k, v in task.definition.model_dump(mode="json").items() if k != "tags"}
    assert "hidden_tag" not in text
    assert "M = 32" in text and "[32, 64]" in text and "0.01 + 0.01 * |expected|" in text


@pytest.mark.parametrize(
    ("arch", "language"), [("sm_90a", Language.CUDA), ("cpu", Language.CPP), ("cpu", Language.PYTHON), ("sm_90a", Language.TRITON)]
)
def test_the_example_is_what_our_own_extraction_would_take(scripted, arch, language):
    text = system_message(scripted.make_task(arch=arch), language=language, turns=1, profile=Profile.STRICT).content
    found = extract(text, language)
    assert found.code is not None and "run" in found.code and not found.unclosed


def test_templates_are_strict_about_names():
    with pytest.raises(UndefinedError):
        environment().get_template("system.md.j2").render(arch="cpu")


@pytest.mark.parametrize(("arch", "language"), [("sm_90a", Language.CUDA), ("sm_100a", Language.CUDA), ("cpu", Language.CPP)])
def test_the_language_follows_from_the_architecture(arch, language):
    assert default_language(arch) is language


def test_triton_is_ready_up_to_its_judge(scripted):
    text = system_message(scripted.make_task(arch="sm_90a"), language=Language.TRITON, turns=1, profile=Profile.STRICT).content
    assert "@triton.jit" in text and "labelled `python`" in text
    found = extract("Here:\n```python\nimport triton\ndef run(X, Y): ...\n```\n", Language.TRITON)
    assert found.code == "import triton\ndef run(X, Y): ...\n"
    candidate = Candidate(
        sources=(Source(path="kernel.py", content=found.code),),
        entry_point="kernel.py::run",
        language=Language.TRITON,
        arch="sm_90a",
    )
    assert Candidate.model_validate_json(candidate.model_dump_json()) == candidate
    with pytest.raises(UsageError, match="triton candidates cannot be evaluated yet") as refused:
        check_language(Language.TRITON, "sm_90a")
    assert refused.value.next_step == "use --language cuda"


@pytest.mark.parametrize(
    ("arch", "language"), [("cpu", Language.CUDA), ("cpu", Language.TRITON), ("sm_90a", Language.CPP), ("sm_90a", Language.PYTHON)]
)
def test_a_language_that_cannot_target_an_architecture_is_refused(arch, language):
    with pytest.raises(UsageError, match="cannot target"):
        check_language(language, arch)


def test_only_a_pack_with_code_says_that_its_code_may_be_copied(scripted):
    task = scripted.make_task(arch="sm_90a")
    arguments = {"language": Language.CUDA, "turns": 1, "profile": Profile.STRICT}
    texts = [system_message(task, pack=pack_of(kind, "## It\n"), **arguments).content for kind in (Kind.WRAPPERS, Kind.CONTRACTS)]
    assert ["copy into your source" in text for text in texts] == [True, False]
    for text in texts:
        assert text.index("## Rules") < text.index("## It") < text.index("## Calling convention") < text.index("## Target")


BASELINE = Baseline(device="h200", library="cuBLAS", version="13.1.0", latency_us=812.5)


def gemm(scripted):
    """A workload whose arithmetic is far more than its memory traffic."""
    return scripted.make_task(arch="sm_90a").model_copy(update={"flops": 601_295_421_440, "bytes": 274_726_912})


def test_the_user_message_of_the_full_profile_is_as_recorded(scripted):
    message = user_message(gemm(scripted), profile=Profile.STRICT, detail="full", device="h200", baseline=BASELINE)
    check_golden("user-full", message.content)


def test_the_full_profile_says_what_to_beat_and_what_the_device_allows(scripted):
    task = gemm(scripted)
    text = user_message(task, profile=Profile.STRICT, detail="full", device="h200", baseline=BASELINE).content
    limit = roofline(task, "h200")
    assert limit.bound_by == "arithmetic" and limit.tflops == pytest.approx(66.9)
    assert limit.least_us == pytest.approx(601_295_421_440 / 66.9e6)
    assert "takes at least 8988 us at these rates; arithmetic sets this limit" in text
    assert "cuBLAS 13.1.0 takes 812.5 us on this device" in text and "NVIDIA H200" in text


@pytest.mark.parametrize(
    ("detail", "device", "baseline", "told"),
    [
        ("paper", "h200", BASELINE, (False, False)),
        ("full", None, None, (False, False)),
        ("full", "h200", None, (False, True)),
        ("full", "b200", BASELINE, (False, True)),
        ("full", "cpu", BASELINE, (False, False)),
    ],
)
def test_what_is_not_known_of_this_device_is_not_told(scripted, detail, device, baseline, told):
    text = user_message(gemm(scripted), profile=Profile.STRICT, detail=detail, device=device, baseline=baseline).content
    assert ("cuBLAS" in text, "How fast it can be" in text) == told


def test_little_arithmetic_is_bound_by_memory(scripted):
    limit = roofline(gemm(scripted).model_copy(update={"flops": 1000}), "h200")
    assert limit.bound_by == "memory" and limit.least_us == pytest.approx(274_726_912 / 4.8e6)


def test_a_workload_without_counts_has_no_roofline(scripted):
    assert roofline(gemm(scripted).model_copy(update={"flops": None}), "h200") is None
    assert roofline(gemm(scripted), "a100") is None


def test_guidance_is_a_fragment_of_the_system_message(scripted):
    guidance = Guidance(id="contract-first", text="1. Write the kernel contract first. {% raw %}")
    task = scripted.make_task(arch="sm_90a")
    arguments = {"language": Language.CUDA, "turns": 8, "profile": Profile.STRICT}
    plain = system_message(task, **arguments).content
    guided = system_message(task, guidance=guidance, **arguments).content
    assert guided.startswith(plain.rstrip())
    assert guided.endswith("## Guidance\n1. Write the kernel contract first. {% raw %}\n")
    assert guidance.id == "contract-first" and guidance.hash.startswith("sha256:")
