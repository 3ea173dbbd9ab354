"""Feedback texts as they are recorded below ``golden/feedback``. ``PTXBENCH_WRITE_GOLDEN=1`` writes the files anew."""

import os
from pathlib import Path

FOLDER = Path(__file__).with_name("golden") / "feedback"


def checked(name, text):
    path = FOLDER / f"{name}.md"
    if os.environ.get("PTXBENCH_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
