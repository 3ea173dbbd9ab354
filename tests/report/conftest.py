"""What the room's tests share."""

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def results():
    """The module ``results.py``: small tables of turns from which every kind of table and figure can be made."""
    spec = importlib.util.spec_from_file_location("report_results", Path(__file__).with_name("results.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
