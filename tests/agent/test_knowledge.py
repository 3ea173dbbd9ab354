"""Which knowledge the prompts of a task carry, and that a run directory, its rows and its prompts agree about it."""

import asyncio

import pytest

from ptxbench.agent import RunConfig, run
from ptxbench.agent.engine.ledger import Ledger, TurnStep, read_steps
from ptxbench.agent.engine.manifest import read_manifest
from ptxbench.agent.engine.places import plan
from ptxbench.agent.knowledge import installed_packs
from ptxbench.agent.models import Reply, Usage
from ptxbench.core.canonical import sha256
from ptxbench.core.errors import ModelError, RunMismatch, UsageError
from ptxbench.packs import Arm, render
from ptxbench.schema import Device, Language


@pytest.fixture
def data(pack_data, tmp_path):
    return pack_data.PackData(tmp_path / "packs")


@pytest.fixture
def planned(scripted, data):
    def go(task="twice_gpu", **asked):
        config = RunConfig(tasks=(task,), model="openai/m", **asked)
        (item,) = plan(config, scripted.OneSuite(), data.load())
        return item

    return go


def test_a_task_has_the_pack_for_its_architecture_and_language_unless_another_is_asked_for(planned):
    found = planned().knowledge
    assert (found.pack, found.arm, found.family, found.guidance) == ("small", "contracts", "elementwise", None)
    assert planned(arch="sm_100a").knowledge.pack == "other"
    assert planned(pack="small", arm="wrappers").knowledge.arm == "wrappers"
    for item in (planned(pack=None), planned(task="twice")):
        assert item.knowledge is None and item.variants == ("plain",)


@pytest.mark.parametrize(
    ("asked", "variants"),
    [
        ({}, ("base",)),
        ({"variants": ("all",)}, ("base", "ring")),
        ({"variants": ("ring",)}, ("ring",)),
        ({"arch": "sm_100a", "variants": ("all",)}, ("base",)),
        ({"task": "twice", "variants": ("all",)}, ("plain",)),
        ({"pack": None, "variants": ("plain",)}, ("plain",)),
    ],
)
def test_variants_are_those_that_the_pack_has_for_the_task(planned, asked, variants):
    assert planned(**asked).variants == variants


@pytest.mark.parametrize(
    ("asked", "told", "step"),
    [
        ({"pack": "smal"}, "unknown pack 'smal'", "did you mean small?"),
        ({"pack": "other"}, "the pack other is for cuda on sm_100a", "--pack none"),
        ({"task": "twice", "pack": "small"}, "and twice is asked for in cpp on cpu", "--pack none"),
        ({"arm": "all"}, "unknown arm 'all'", "wrappers"),
        ({"variants": ("tiles",)}, "unknown prompt variant 'tiles' for twice_gpu", "known: base, ring"),
        ({"variants": ("all", "base")}, "unknown prompt variant 'all'", "known: base, ring"),
        ({"pack": None, "variants": ("base",)}, "unknown prompt variant 'base'", "prompts without a pack have no other"),
        ({"guidance": "carefull"}, "the pack small has no guidance 'carefull'", "did you mean careful?"),
        ({"guidance": "../once"}, "no guidance '../once'", "careful"),
        ({"pack": None, "guidance": "careful"}, "--guidance careful chooses from a pack", "leave --guidance out"),
        ({"task": "twice", "arm": "wrappers"}, "--arm wrappers chooses from a pack", "leave --arm out"),
    ],
)
def test_what_no_pack_has_is_refused_with_what_there_is(planned, asked, told, step):
    with pytest.raises(UsageError) as refused:
        planned(**asked)
    assert told in refused.value.message and step in refused.value.next_step


def test_the_parameters_are_those_of_the_device_that_judges_or_of_the_packs_first(planned):
    known = planned().knowledge
    assert "NVIDIA H200" in known.rendering("base", "h200").text
    for device in (None, "a100"):
        assert known.use(device).device == "h100" and "NVIDIA H100" in known.rendering("base", device).text


class Model:
    """Answers with a kernel, up to a turn."""

    name = "openai/m"

    def __init__(self, until=99):
        self._until = until

    def facts(self):
        return {}

    async def reply(self, messages, config):
        if config.turn >= self._until:
            raise ModelError("out of order")
        return Reply(text=f"```cuda\n// {config.trajectory} {config.turn}\nvoid run() {{}}\n```", usage=Usage())

    async def close(self):
        pass


@pytest.fixture
def play(scripted, data, tmp_path):
    def go(until=99, accept=False, **asked):
        evaluator = scripted.ScriptedEvaluator()
        evaluator.device = Device(name="NVIDIA H200", id="h200", driver=None)
        config = RunConfig(**({"tasks": ("twice_gpu",), "model": "openai/m", "trajectories": 1, "turns": 2} | asked))
        going = run(
            config,
            scripted.OneSuite(),
            lambda task: evaluator,
            tmp_path / "run",
            model=Model(until),
            accept_changes=accept,
            packs=data.load(),
        )
        return asyncio.run(going)

    return go


def rows(folder):
    return [step.row for step in read_steps(folder / "run") if isinstance(step, TurnStep)]


def test_rows_name_the_text_that_their_prompts_carry(play, data, tmp_path):
    summary = play(variants=("all",), arm="wrappers", guidance="careful")
    assert summary.planned_turns == summary.evaluated_turns == 4
    manifest = read_manifest(tmp_path / "run")
    (cell,) = manifest.cells
    assert (cell.key.pack, cell.key.arm, cell.key.condition) == ("small", "wrappers", "guidance:careful")
    assert cell.variants == ("base", "ring") and (cell.knowledge.device, cell.knowledge.family) == ("h200", "elementwise")
    with Ledger(tmp_path / "run") as ledger:
        for row in rows(tmp_path):
            text = render(data.load(), "small", device="h200", arm=Arm.WRAPPERS, family="elementwise", variant=row.variant).text
            system = ledger.prompt(row.hashes.prompt)[0].content
            assert row.hashes.pack == sha256(text.encode()) == cell.knowledge.texts[row.variant]
            assert text.strip() in system and ("ring of stages" in system) == (row.variant == "ring")
            assert (
                row.hashes.guidance
                == cell.knowledge.guidance_hash
                == sha256(b"Write the contract block first. See \xe2\x80\x9conce\xe2\x80\x9d.")
            )
            assert system.endswith("## Guidance\nWrite the contract block first. See “once”.\n")
            assert "Write every element once" not in system, "the arm leaves contracts out"


def test_rows_of_a_run_without_a_pack_name_none(play, tmp_path):
    play(pack=None)
    assert {(row.key.pack, row.key.arm, row.hashes.pack, row.hashes.guidance) for row in rows(tmp_path)} == {(None,) * 4}


@pytest.mark.parametrize(
    ("file", "old", "new", "field"),
    [
        ("contracts/once.md", "once.\n", "exactly once.\n", "pack_text.base"),
        ("guidance/careful.md", "first", "last", "guidance_text"),
    ],
)
def test_a_directory_refuses_another_text_unless_told_and_then_keeps_what_changed(play, data, tmp_path, file, old, new, field):
    play(until=1, guidance="careful")
    before = read_manifest(tmp_path / "run").cells[0].knowledge
    data.replace(file, old, new)
    with pytest.raises(RunMismatch, match=field) as refused:
        play(guidance="careful")
    assert "--accept-changes" in refused.value.next_step
    assert play(guidance="careful", accept=True).evaluated_turns == 2
    manifest = read_manifest(tmp_path / "run")
    (change,) = manifest.accepted
    after = manifest.cells[0].knowledge
    assert (change.field, change.was, change.now) == ("pack small for twice_gpu@twice_gpu-workload", before.version, after.version)
    assert change.turns_done == 1
    first, second = rows(tmp_path)
    assert (first.hashes.pack, first.hashes.guidance) != (second.hashes.pack, second.hashes.guidance)
    assert (second.hashes.pack, second.hashes.guidance) == (after.texts["base"], after.guidance_hash)
    assert play(guidance="careful").new_turns == 0


def test_what_a_directorys_prompts_do_not_show_may_change(play, data, tmp_path):
    play(until=1)
    data.replace("schedules/tiles.md", "tiles.", "smaller tiles.")
    data.replace("guidance/bold.md", "Begin", "End")
    assert play().evaluated_turns == 2 and read_manifest(tmp_path / "run").accepted == ()


@pytest.mark.parametrize("other", [{"arm": "parameters"}, {"pack": None}, {"guidance": "careful"}, {"variants": ("all",)}])
def test_other_knowledge_is_another_run_and_cannot_be_accepted(play, other):
    play(until=1)
    with pytest.raises(RunMismatch) as refused:
        play(accept=True, **other)
    assert "--accept-changes" not in refused.value.next_step


def test_a_variant_that_a_pack_gained_is_not_slipped_into_a_run_of_all(play, data):
    play(until=1, variants=("all",))
    data.replace("manifest.toml", "base = []\n", 'base = []\ntiles = ["schedules/tiles"]\n')
    with pytest.raises(RunMismatch, match="variants"):
        play(variants=("all",), accept=True)


def test_the_version_of_a_pack_covers_families_and_guidance_that_no_prompt_of_a_run_shows(planned, data):
    versions = {planned().knowledge.use(None).version}
    for name, old, new in (
        ("schedules/tiles.md", "tiles.", "small tiles."),
        ("guidance/bold.md", "Begin", "End"),
        ("manifest.toml", "4000", "5000"),
    ):
        data.replace(name, old, new)
        versions.add(planned().knowledge.use(None).version)
    assert len(versions) == 4


def test_the_installed_packs_know_their_targets():
    """Every pack that comes with ptxbench can be asked for, for each family and variant that its manifest names."""
    library = installed_packs()
    for name, pack in library.manifest.packs.items():
        assert pack.language in (Language.CUDA, Language.TRITON)
        for family, variant in pack.cells():
            assert render(library, name, family=family, variant=variant).text
