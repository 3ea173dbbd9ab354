"""A plan file becomes one cell per combination, and says what is wrong with it."""

import pytest

from ptxbench.agent.plan import read_plan
from ptxbench.core.errors import UsageError
from ptxbench.schema import Language, Profile

WHOLE = """
[sweep]
models = ["openai/one", { name = "openai/two", base_url = "http://127.0.0.1:1/v1", sampling = { temperature = 0.2 } }]
tasks = ["a", "b"]
archs = ["sm_90a", "sm_100a"]
languages = ["cuda"]
variants = ["all"]
packs = ["none", "hopper"]
arms = ["wrappers", "contracts"]
guidance = ["none", "careful"]

[rules]
trajectories = 2
turns = 3
protocol = "paper"
feedback = "paper"
history = "latest"
seed = 7
target_speedup = 1.2

[sampling]
temperature = 1
top_p = 0.9

[caps]
cost_usd = 5
"""


@pytest.fixture
def read(tmp_path):
    def go(text):
        path = tmp_path / "p.toml"
        path.write_text(text)
        return read_plan(path)

    return go


def test_every_combination_is_a_cell_and_only_a_pack_has_arms_variants_and_guidance(read):
    plan = read(WHOLE)
    cells = [cell.config for cell in plan.cells("p")]
    keys = [(c.model, c.tasks, c.arch, c.pack, c.arm, c.guidance, c.variants) for c in cells]
    assert len(set(keys)) == len(keys) == 2 * 2 * 2 * 5
    here = ("openai/one", ("a",), "sm_90a")
    assert keys[:6] == [
        (*here, None, None, None, None),
        (*here, "hopper", "wrappers", None, ("all",)),
        (*here, "hopper", "contracts", None, ("all",)),
        (*here, "hopper", "wrappers", "careful", ("all",)),
        (*here, "hopper", "contracts", "careful", ("all",)),
        ("openai/one", ("a",), "sm_100a", None, None, None, None),
    ]


def test_a_plan_that_says_nothing_of_packs_leaves_each_task_its_own(read):
    (cell,) = read(SWEEP).cells("p")
    assert (cell.config.pack, cell.config.arm, cell.config.guidance, cell.config.variants) == ("auto", None, None, None)


def test_cells_carry_rules_and_sampling_and_a_model_its_own(read):
    one, *_, two = read(WHOLE).cells("p")
    rules = one.config
    assert (rules.trajectories, rules.turns, rules.profile, rules.feedback) == (2, 3, Profile.PAPER, "paper")
    assert (rules.history, rules.seed, rules.target_speedup, rules.language) == ("latest", 7, 1.2, Language.CUDA)
    assert rules.plan == "p"
    assert (one.config.sampling.temperature, one.config.sampling.top_p) == (1.0, 0.9)
    assert (two.config.sampling.temperature, two.config.sampling.top_p) == (0.2, None)
    assert (one.choice.base_url, two.choice.base_url) == (None, "http://127.0.0.1:1/v1")


SWEEP = '[sweep]\nmodels = ["openai/m"]\ntasks = ["a"]\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "sweep: is missing"),
        ("[sweep]\nmodels = []\ntasks = ['a']\n", "sweep.models: at least one is needed"),
        ("[sweep]\nmodels = ['openai/m']\ntasks = []\n", "sweep.tasks: at least one is needed"),
        ("[sweep]\nmodels = ['openai/m']\n", "sweep.tasks: is missing"),
        ("[sweep]\nmodels = ['openai/m']\ntasks = ['a', 'a']\n", "sweep.tasks: something is named twice"),
        ("[sweep]\nmodels = ['m', {name = 'm'}]\ntasks = ['a']\n", "something is named twice"),
        (SWEEP + "taks = ['b']\n", "sweep.taks: unknown key (did you mean tasks?)"),
        (SWEEP + "[rules]\nturn = 3\n", "rules.turn: unknown key (did you mean turns?)"),
        (SWEEP + "[rules]\nturns = 0\n", "rules.turns: Input should be greater than or equal to 1"),
        (SWEEP + "[rules]\nturns = true\n", "rules.turns: Input should be a valid integer"),
        (SWEEP + "[rules]\nturns = '3'\n", "rules.turns: Input should be a valid integer"),
        (SWEEP + "[rules]\nprotocol = 'loose'\n", "rules.protocol"),
        (SWEEP + "[sampling]\ntemperature = -1\n", "sampling.temperature"),
        (SWEEP + "[sampling]\nreasoning_effort = 'Very High'\n", "sampling.reasoning_effort"),
        (SWEEP + "[caps]\ncost_usd = 0\n", "caps.cost_usd"),
        ("[sweep]\nmodels = [{nam = 'm'}]\ntasks = ['a']\n", "sweep.models.0.nam: unknown key (did you mean name?)"),
        (SWEEP + "[sweeps]\n", "sweeps: unknown key (did you mean sweep?)"),
        ("[sweep\n", "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_plan_is_named(read, text, told):
    with pytest.raises(UsageError) as raised:
        read(text)
    assert told in raised.value.message and raised.value.next_step


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[sweep]\nmodels = [{name = 'm', api_key = 'sk-123'}]\ntasks = ['a']\n",
            "sweep.models.0.api_key: a plan holds no key; key_variable beside a model's name says which environment variable does",
        ),
        (
            "[sweep]\nmodels = [{name = 'm', base_ulr = 'u'}]\ntasks = ['a']\n",
            "sweep.models.0.base_ulr: unknown key (did you mean base_url?)",
        ),
        ("[sweep]\nmodels = [3]\ntasks = ['a']\n", "sweep.models.0: a model is its name or a table with one"),
        (SWEEP + "[rules]\nmax_tokens = 3\n", "rules.max_tokens: unknown key here (max_tokens stands under [sampling])"),
        (SWEEP + "[rules]\nprofile = 'paper'\n", "rules.profile: unknown key (did you mean protocol?)"),
        (SWEEP + "[caps]\nmax_cost = 3\n", "caps.max_cost: unknown key (did you mean cost_usd?)"),
        (SWEEP + "[rules]\nquux = 3\n", "rules.quux: unknown key"),
    ],
)
def test_one_fault_is_told_once_and_nothing_beside_it_is_guessed(read, text, told):
    with pytest.raises(UsageError) as raised:
        read(text)
    assert raised.value.message.partition(".toml: ")[2] == told


def test_every_fault_is_told_at_once(read):
    with pytest.raises(UsageError) as raised:
        read(SWEEP + "x = 1\n[rules]\nturns = 0\n")
    assert "sweep.x: unknown key" in raised.value.message and "rules.turns" in raised.value.message


def test_a_plan_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="cannot read the plan"):
        read_plan(tmp_path / "none.toml")
