# Two commands matter: `make quickstart` runs the main job, `make test` passes the tests. Both set everything up first.
#
#   make setup        .venv with the ptxbench command in it (no torch, no system CUDA needed)
#   make quickstart   the whole loop on a recording of a model's answers
#   make test         the tests that need no GPU
#   make test-full    … and the slow ones
#   make test-torch   … the ones that need torch: installs a CPU build into .venv-torch
#   make test-inspect … the ones that need inspect-ai: installs it into .venv-inspect
#   make test-gpu     the tests that need a GPU, from the source tree with that machine's own torch: PYTHON=python3 make test-gpu
#   make check        format, lint, types and tests
#   make bench        the figures that README quotes

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
PIP_FLAGS := --quiet --disable-pip-version-check
EXTRAS := compile,agent,report,dev
TORCH ?= torch==2.13.0

.DEFAULT_GOAL := help
.PHONY: help setup quickstart test test-full test-torch test-inspect test-gpu check format bench clean tools

help:
	@sed -n 's/^#   //p' Makefile

tools:
	@command -v $(PYTHON) >/dev/null || { echo "error: $(PYTHON) is not installed; next: install Python 3.11 or newer, or say make PYTHON=python3.12 …" >&2; exit 3; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "error: $(PYTHON) is no working Python 3.11 or newer; next: name one that is, such as make PYTHON=python3.12 …" >&2; exit 3; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "error: $(PYTHON) has no venv module; next: install python3-venv" >&2; exit 3; }
	@command -v git >/dev/null || { echo "error: git is not installed; next: install git" >&2; exit 3; }
	@command -v g++ >/dev/null || { echo "error: no C++ compiler (g++); next: install g++ (Debian: apt-get install g++)" >&2; exit 3; }

$(STAMP): pyproject.toml | tools
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (once; about 300 MB to download and 900 MB on disk; silent for some minutes)" >&2
	@$(BIN)/python -m pip install $(PIP_FLAGS) --editable '.[$(EXTRAS)]'
	@touch $(STAMP)

setup: tools $(STAMP)

quickstart: setup
	@$(BIN)/ptxbench quickstart

test: setup
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m "not gpu and not slow and not torch"

test-full: setup
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m "not gpu and not torch"

.venv-torch/.installed: pyproject.toml | tools
	@test -x .venv-torch/bin/python || $(PYTHON) -m venv .venv-torch
	@echo "setting up .venv-torch ($(TORCH))" >&2
	@.venv-torch/bin/python -m pip install $(PIP_FLAGS) '$(TORCH)' pytest pytest-timeout hypothesis
	@.venv-torch/bin/python -m pip install $(PIP_FLAGS) --editable .
	@touch $@

test-torch: tools .venv-torch/.installed
	@.venv-torch/bin/python -m pytest -m "torch and not gpu" tests/suite tests/evaluate/device

.venv-inspect/.installed: pyproject.toml | tools
	@test -x .venv-inspect/bin/python || $(PYTHON) -m venv .venv-inspect
	@echo "setting up .venv-inspect (inspect-ai)" >&2
	@.venv-inspect/bin/python -m pip install $(PIP_FLAGS) --editable '.[inspect]' trio pytest pytest-timeout
	@touch $@

test-inspect: tools .venv-inspect/.installed
	@.venv-inspect/bin/python -m pytest -m inspect tests/agent/test_inspect_model.py tests/agent/test_inspect_hints.py tests/inspect

test-gpu:
	@PYTHONPATH=src:$$PYTHONPATH $(PYTHON) -m pytest -p no:cacheprovider -m gpu tests/gpu tests/cheats

check: setup
	@$(BIN)/ruff format --check src tests benchmarks
	@$(BIN)/ruff check src tests benchmarks
	@$(BIN)/mypy
	@$(MAKE) --no-print-directory test

format: setup
	@$(BIN)/ruff format src tests benchmarks
	@$(BIN)/ruff check --fix src tests benchmarks

bench: setup
	@$(BIN)/python benchmarks/readme_figures.py

clean:
	rm -rf $(VENV) .venv-torch .venv-inspect .pytest_cache .mypy_cache .ruff_cache dist build
