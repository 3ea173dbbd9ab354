"""What candidates and models write is data: nothing of it becomes markup, runs, or leaves the page."""

import json
import random
import re

import pytest

from ptxbench.report.page import write_page
from ptxbench.report.page.document import document, json_block

pytestmark = pytest.mark.xdist_group("chromium")

ATTACK = """</script><script>window.owned = 1</script><!-- <script>
<img src="https://tracker.invalid/x.png" onerror="window.owned = 2"><svg onload="window.owned = 3">
<style>body { display: none }</style><base href="https://tracker.invalid/"><meta http-equiv="refresh" content="0;url=https://tracker.invalid/">
{{program}} {{details}} ${window.owned = 4} \u2028 \u2029 \x00 ]]> &lt;b&gt; \\u003c/script\\u003e
"""


@pytest.fixture(scope="module")
def hostile(made, tmp_path_factory):
    """A run in which every text that others choose holds markup, and its page."""
    root = tmp_path_factory.mktemp("hostile")
    name = '"><img src=x onerror="window.owned=5">'
    shape = made.Shape(
        name=f"run {name}",
        model=f"openai/{name}",
        task=f"task</script>{name}",
        variants=(f"base{name}",),
        trajectories=2,
        turns=4,
        write=lambda chance, before, turn: f'{before}// {ATTACK}asm volatile("wgmma.{name}");\n',
        prose=ATTACK,
    )
    folder = made.make_run(root / "run", shape)
    html = root / "page.html"
    write_page([folder], html)
    return html


def test_markup_in_every_text_stays_text(tab, hostile):
    page = tab.open(hostile)
    cell = page.locator("table[aria-label='Results'] a.row").get_attribute("href")
    page.goto(f"{hostile.as_uri()}{cell}")
    trajectory = page.locator("table[aria-label='Trajectories'] a.row").first.get_attribute("href")
    page.goto(f"{hostile.as_uri()}{trajectory}")
    assert "onerror" in page.locator("h1").inner_text()
    seen = []
    for turn in page.locator("table[aria-label='Turns'] a.row").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    ):
        for view in ("", "?show=diff"):
            page.goto(f"{hostile.as_uri()}{turn}{view}")
            page.locator("#feedback").wait_for()
            page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
            seen.append(page.locator("main").inner_text())
        assert page.evaluate("window.owned") is None
        assert page.locator("main img, main script, main style, main base, main iframe, meta[content*='url=']").count() == 0
    assert any("window.owned = 1" in text and "tracker.invalid" in text for text in seen)
    assert tab.foreign(hostile) == []
    assert page.evaluate("document.body.checkVisibility()")


def test_feedback_is_shown_character_by_character(tab, hostile):
    page = tab.open(hostile)
    for step in ("Results", "Trajectories", "Turns"):
        page.locator(f"table[aria-label='{step}'] a.row").first.click()
    shown = page.locator("#feedback").text_content()
    # A browser takes no null from a document; it comes as an escape of JSON and stays.
    assert ATTACK in shown


def test_the_policy_of_a_file_forbids_all_but_its_own_style_and_program(html):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html.read_text()).group(1)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data:"
    assert all(re.fullmatch(r"'sha256-[\w+/=]{44}'", rules[kind]) for kind in ("script-src", "style-src"))
    assert set(rules) == {"default-src", "base-uri", "form-action", "img-src", "script-src", "style-src"}


def test_the_policy_holds_in_the_browser(chromium, html):
    context = chromium.new_context()
    page = context.new_page()
    failures, answers = [], []
    page.on("requestfailed", lambda request: failures.append(request.failure))
    page.on("response", lambda response: answers.append(response.url))
    page.goto(html.as_uri())
    blocked = page.evaluate(
        """async () => {
          const found = [];
          document.addEventListener("securitypolicyviolation", (event) => found.push(event.effectiveDirective));
          const script = document.createElement("script");
          script.textContent = "window.owned = 1";
          document.body.append(script);
          const image = document.createElement("img");
          image.src = "https://tracker.invalid/x.png";
          document.body.append(image);
          await fetch("https://tracker.invalid/").catch(() => {});
          while (found.length < 3) await new Promise((resolve) => requestAnimationFrame(resolve));
          return [found.sort(), window.owned ?? null];
        }"""
    )
    context.close()
    assert blocked == [["connect-src", "img-src", "script-src-elem"], None]
    assert set(failures) <= {"csp"} and answers == [html.as_uri()]


def test_no_text_ends_the_block_of_data_or_changes_on_its_way():
    chance = random.Random(0)
    alphabet = [
        "<",
        ">",
        "&",
        "/",
        "!",
        "-",
        "script",
        "</script",
        "<!--",
        "]]>",
        "\\",
        '"',
        "\u2028",
        "\x00",
        "{{data}}",
        "é",
        "𝛑",
        "\n",
    ]
    for _ in range(200):
        text = "".join(chance.choices(alphabet, k=30))
        block = json_block({"text": text})
        assert not re.search("[<>&\u2028\u2029]", block)
        assert json.loads(block)["text"] == text
        assert document(text, {"text": text}).count("</script>") == 3


def test_half_a_character_is_replaced():
    assert json.loads(json_block({"text": "a\ud800b"}))["text"] == "a?b"


def test_the_program_makes_no_markup_of_strings():
    from ptxbench.report.page.document import script

    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|setHTML", script()
    )
