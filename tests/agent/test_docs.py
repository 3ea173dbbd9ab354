"""What docs/agent.md shows runs as it stands."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_python_of_the_agent_page_runs(tmp_path, monkeypatch, capsys, build_cache):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PTXBENCH_CACHE_DIR", str(build_cache))
    (snippet,) = re.findall(r"^```python\n(.*?)^```", (DOCS / "agent.md").read_text(encoding="utf-8"), re.S | re.M)
    exec(compile(snippet, "docs/agent.md", "exec"), {"__name__": "page"})
    printed = capsys.readouterr().out
    assert "(0.0 / 50.0 / 50.0)" in printed and "1 correct, 1 no_code" in printed
