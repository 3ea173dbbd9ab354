"""Fixtures of the agent's tests."""

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def scripted():
    """The module ``scripted.py`` beside this file: a task, records, an evaluator that does what a comment says."""
    name = "ptxbench_tests_agent_scripted"
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("scripted.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
