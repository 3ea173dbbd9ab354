"""Fixtures of the toolchain's tests."""

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def both_headers():
    """The module ``both_headers.py`` beside this file: compiles a candidate either way and calls what came out."""
    name = "ptxbench_tests_toolchain_both_headers"
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("both_headers.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
