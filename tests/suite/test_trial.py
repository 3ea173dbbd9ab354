"""A foreign suite's references cannot hang, crash or fill the memory of the command that checks them."""

from __future__ import annotations

import json

import pytest

from ptxbench.core.process import ProcessLimits
from ptxbench.suite import load_folder
from ptxbench.suite.trial import tried
from ptxbench.suite.validating import validate


def folder(tmp_path, body: str):
    """Write a one-task folder whose reference is ``body``."""
    definition = {
        "name": "copy",
        "op_type": "copy",
        "axes": {"N": {"type": "var"}},
        "inputs": {"X": {"shape": ["N"], "dtype": "float32"}},
        "outputs": {"Y": {"shape": ["N"], "dtype": "float32"}},
        "reference": f"import os\nimport numpy as np\n\ndef run(X):\n    {body}\n",
    }
    workload = {"uuid": "w0", "axes": {"N": 64}, "inputs": {"X": {"type": "random"}}}
    trace = {"definition": "copy", "workload": workload, "solution": None, "evaluation": None}
    (tmp_path / "definitions").mkdir()
    (tmp_path / "workloads").mkdir()
    (tmp_path / "definitions" / "copy.json").write_text(json.dumps(definition))
    (tmp_path / "workloads" / "copy.jsonl").write_text(json.dumps(trace) + "\n")
    return load_folder(tmp_path)


def test_a_sound_foreign_reference_has_no_error(tmp_path):
    findings = validate(folder(tmp_path, "print('hello'); return X * 2"))
    assert [finding for finding in findings if finding.severity == "error"] == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("while True: pass", "longer than"),
        ("os._exit(3)", "status 3"),
        ("os.kill(os.getpid(), 9)", "status -9"),
        ("return np.zeros(10**11)", "copy"),
    ],
    ids=["endless", "exits", "kills itself", "all memory"],
)
def test_a_reference_that_misbehaves_is_a_finding(tmp_path, body, words):
    suite = folder(tmp_path, body)
    findings = tried(suite.get("copy"), ProcessLimits(wall_seconds=5, cpu_seconds=60, memory_bytes=4 << 30))
    assert len(findings) == 1 and findings[0].severity == "error" and words in findings[0].text + findings[0].task


def test_keys_of_providers_do_not_reach_a_reference(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-1")
    monkeypatch.setenv("PTXBENCH_MODEL_KEY", "secret-2")
    findings = tried(folder(tmp_path, "raise ValueError(str(dict(os.environ)))").get("copy"))
    assert findings and "secret" not in findings[0].text and "PYTHONPATH" in findings[0].text
