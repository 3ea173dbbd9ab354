"""Contrast as WCAG 2.2 computes it (4.5 to 1 for text, 3 to 1 for graphics), of every pair of colours that is used."""

import re
from importlib.resources import files

import pytest

STYLE = files("ptxbench.report.page").joinpath("style.css").read_text(encoding="utf-8")
COLOURS = {
    name: (light, dark) for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", STYLE)
}
GROUNDS = ("paper", "raised")
CODE_GROUNDS = ("raised", "added", "removed", "mark")
TEXTS = ("ink", "quiet", "link", "good", "fair", "bad")
CODE = ("ink", "quiet", "comment", "string", "number", "word", "directive", "ptx")
GRAPHICS = ("edge", "focus", *(f"line-{number}" for number in range(1, 9)))


def luminance(colour):
    """Relative luminance of sRGB (WCAG 2.2)."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Contrast ratio of two colours (WCAG 2.2)."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_formula_gives_the_known_extremes():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_texts_and_graphics_are_readable(theme):
    pairs = [(text, ground, 4.5) for text in TEXTS for ground in GROUNDS]
    pairs += [(text, ground, 4.5) for text in CODE for ground in CODE_GROUNDS]
    pairs += [(graphic, ground, 3.0) for graphic in GRAPHICS for ground in GROUNDS]
    pairs += [("paper", "ink", 4.5)]
    low = {
        f"{one} on {other}": round(ratio, 2)
        for one, other, least in pairs
        if (ratio := contrast(COLOURS[one][theme], COLOURS[other][theme])) < least
    }
    assert low == {}


def test_no_colour_is_written_beside_the_table():
    rest = re.sub(r":root \{.*?\n\}", "", STYLE, count=1, flags=re.DOTALL)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)", rest) == []
    used = set(re.findall(r"var\(--([\w-]+)\)", STYLE))
    assert used <= set(COLOURS) | {"mono"}
