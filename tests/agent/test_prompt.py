"""What a model is told first. The golden files beside this one hold the whole text: a change must be wanted."""

import json
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from ptxbench.agent.extract import extract
from ptxbench.agent.prompt import check_language, default_language, system_message, user_message
from ptxbench.agent.templating import environment
from ptxbench.core.errors import UsageError
from ptxbench.schema import Language, Profile

GOLDEN = Path(__file__).with_name("golden")

SYSTEMS = {
    "system-cuda-strict": ("sm_90a", Language.CUDA, Profile.STRICT, None),
    "system-cuda-paper-pack": ("sm_100a", Language.CUDA, Profile.PAPER, "The pack's text, with {% braces %} and {{ more }}."),
    "system-cpp": ("cpu", Language.CPP, Profile.STRICT, None),
    "system-python": ("cpu", Language.PYTHON, Profile.STRICT, None),
}


def check_golden(name, text):
    assert text == (GOLDEN / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_system_message_is_as_recorded(scripted, name):
    arch, language, profile, pack = SYSTEMS[name]
    task = scripted.make_task(arch=arch)
    check_golden(name, system_message(task, language=language, turns=8, profile=profile, pack_text=pack).content)


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


@pytest.mark.parametrize(
    ("arch", "language"), [("cpu", Language.CUDA), ("cpu", Language.TRITON), ("sm_90a", Language.CPP), ("sm_90a", Language.PYTHON)]
)
def test_a_language_that_cannot_target_an_architecture_is_refused(arch, language):
    with pytest.raises(UsageError, match="cannot target"):
        check_language(language, arch)


def test_an_unknown_variant_is_refused(scripted):
    with pytest.raises(UsageError, match="unknown prompt variant"):
        system_message(scripted.make_task(), language=Language.CPP, turns=1, profile=Profile.STRICT, variant="nope")
