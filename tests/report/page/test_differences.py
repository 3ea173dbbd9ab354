"""The page's own line differences, against Python's idea of what they must be: exact, and no longer than needed."""

import difflib
import random

import pytest

from ptxbench.report.page.document import script

pytestmark = pytest.mark.xdist_group("chromium")

CALL = "([a, b]) => globalThis.edits(a, b)"


@pytest.fixture(scope="module")
def line_edits(chromium):
    """The page's function ``lineEdits``, called in a browser."""
    program = script()
    start, end = program.index("const MOST_EDITS"), program.index("/** Returns edits with long stretches")
    context = chromium.new_context()
    page = context.new_page()
    page.add_script_tag(content=f"{program[start:end]}\nglobalThis.edits = lineEdits;")
    yield lambda a, b: page.evaluate(CALL, [a, b])
    context.close()


def check(a, b, edits):
    """Both texts come back from their edits, in order."""
    assert [a[i] for sign, i, _ in edits if sign != "+"] == a
    assert [b[j] for sign, _, j in edits if sign != "-"] == b
    assert all(a[i] == b[j] for sign, i, j in edits if sign == " ")
    return sum(sign != " " for sign, _, _ in edits)


def shortest(a, b):
    """The least number of insertions and deletions, by the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for line in a:
        diagonal = 0
        for place, other in enumerate(b, 1):
            diagonal, row[place] = row[place], diagonal + 1 if line == other else max(row[place], row[place - 1])
    return len(a) + len(b) - 2 * row[-1]


def test_edits_of_small_texts_are_exact_and_shortest(line_edits):
    chance = random.Random(0)
    for _ in range(150):
        a, b = ([chance.choice("abc") for _ in range(chance.randrange(12))] for _ in range(2))
        assert check(a, b, line_edits(a, b)) == shortest(a, b), (a, b)


def test_a_kernel_with_some_lines_changed_has_about_as_many_edits_as_difflib_finds(line_edits):
    chance = random.Random(1)
    a = [f"line {chance.randrange(200)}" for _ in range(900)]
    b = [line if chance.random() > 0.1 else f"{line} changed" for line in a]
    found = check(a, b, line_edits(a, b))
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    assert found <= sum(i2 - i1 + j2 - j1 for kind, i1, i2, j1, j2 in matcher.get_opcodes() if kind != "equal")


def test_texts_without_a_common_line_are_replaced_as_a_whole(line_edits):
    a, b = [f"a{n}" for n in range(4000)], [f"b{n}" for n in range(4000)]
    assert check(a, b, line_edits(a, b)) == 8000
