# `make demo` and `make test` need Python 3.11 or newer and this file; everything else is installed into .venv.
PYTHON ?= python3
SHARED ?= ../shared
, := ,
VENV := .venv
LLAMA := .venv-llama
OPENAI2 := .venv-openai2
RAY := .venv-ray
DASK := .venv-dask
LOWEST := .venv-lowest
NEWEST := .venv-newest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
INSTALL := $(PIP) install --constraint constraints.txt
EDITABLE := $(INSTALL) --no-build-isolation --editable
# The oldest libraries have no wheels for newer interpreters; the newest interpreter is any that is installed.
first_of = $(shell for name in $(1); do $$name -c '' 2> /dev/null && echo $$name && break; done)
PYTHON_LOWEST ?= $(call first_of,python3.11 python3.12)
PYTHON_NEWEST ?= $(call first_of,python3.14 python3.13 $(lastword $(sort $(wildcard ~/.pyenv/versions/3.1[3-9].*/bin/python))))
# Every line and branch of these is tested (95 % holds for the whole).
FULLY_COVERED := ycbench_env/rules/*,ycbench_env/transition/*,ycbench_env/observation/*

.DELETE_ON_ERROR:
.PHONY: help demo test test-all slow bench real-model openai2 ray dask lowest newest check format conformance pins clean

help: ## show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

# ---- the environment: a stamp file for each step, so that a second make is quick

$(VENV)/.base: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "This project needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true). Name another: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) pip editables hatchling
	@touch $@

$(VENV)/.run: $(VENV)/.base pyproject.toml
	$(EDITABLE) '.[cli,llm,evaluation,planner]'
	@touch $@

$(VENV)/.dev: $(VENV)/.base pyproject.toml
	$(EDITABLE) '.[all]' --group dev
	@touch $(VENV)/.run $@

# ---- what people type

demo: $(VENV)/.run ## play simulated years, print their table, draw out/funds.png
	$(BIN)/ycbench demo --out out

test: $(VENV)/.dev ## run the tests, with the coverage floors (minutes)
	@rm -f .coverage .coverage.*
	$(BIN)/python -m pytest --numprocesses=2 --cov --cov-report=term --cov-fail-under=95
	@$(BIN)/coverage report --include='$(FULLY_COVERED)' --fail-under=100 > $(VENV)/floor.txt 2>&1 || { cat $(VENV)/floor.txt; exit 1; }

slow: $(VENV)/.dev ## run the long proofs: soaks, kills, replays of plans, simulations, pages
	$(BIN)/python -m pytest --numprocesses=2 -m slow

test-all: check conformance test slow lowest newest openai2 ray dask real-model ## run everything that can be tested on this machine

bench: $(VENV)/.dev ## run the benchmarks and print their table
	$(BIN)/python -m pytest tests/benchmarks --benchmark-only

$(LLAMA)/.done: constraints-llama.txt
	$(PYTHON) -m venv $(LLAMA)
	$(LLAMA)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --no-deps --requirement constraints-llama.txt
	@touch $@

real-model: $(VENV)/.dev $(LLAMA)/.done ## play with a small real language model on this machine (minutes)
	$(BIN)/python -m pytest -m "" tests/real_model

$(OPENAI2)/.done: constraints.txt constraints-openai2.txt pyproject.toml
	$(PYTHON) -m venv $(OPENAI2)
	mkdir -p build
	{ grep -v '^openai==' constraints.txt; cat constraints-openai2.txt; } > build/constraints-openai2.txt
	$(OPENAI2)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --constraint build/constraints-openai2.txt editables hatchling
	$(OPENAI2)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --constraint build/constraints-openai2.txt --no-build-isolation --editable '.[cli,llm,testing]' pytest
	@touch $@

openai2: $(OPENAI2)/.done ## run the tests of language models with the openai package's previous major version
	$(OPENAI2)/bin/python -m pytest tests/integration/test_llm_client.py tests/integration/test_llm_runs.py tests/unit/llm

# An environment with a library of clusters: its folder, the library.
define CLUSTER
$(1)/.done: constraints.txt constraints-$(2).txt pyproject.toml
	$$(PYTHON) -m venv $(1)
	$(1)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --constraint constraints.txt --constraint constraints-$(2).txt editables hatchling
	$(1)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --constraint constraints.txt --constraint constraints-$(2).txt --no-build-isolation --editable '.[$(2),testing]' pytest
	@touch $$@
endef
$(eval $(call CLUSTER,$(RAY),ray))
$(eval $(call CLUSTER,$(DASK),dask))

ray: $(RAY)/.done ## play an evaluation on a local cluster of Ray
	$(RAY)/bin/python -m pytest tests/cluster/test_ray.py

dask: $(DASK)/.done ## play an evaluation on a local cluster of Dask
	$(DASK)/bin/python -m pytest tests/cluster/test_dask.py

# An environment of its own for another interpreter or other versions: its folder, interpreter, constraints, extras.
define ENVIRONMENT
$(1)/.done: $(3) pyproject.toml
	$(2) -m venv --clear $(1)
	$(1)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --constraint $(3) editables hatchling
	$(1)/bin/python -m pip --disable-pip-version-check --quiet --quiet install --prefer-binary --constraint $(3) --no-build-isolation --editable '.[$(4)]' pytest
	@touch $$@
endef
$(eval $(call ENVIRONMENT,$(LOWEST),$(PYTHON_LOWEST),constraints-lowest.txt,cli$(,)llm$(,)evaluation$(,)planner$(,)render$(,)testing))
$(eval $(call ENVIRONMENT,$(NEWEST),$(PYTHON_NEWEST),constraints.txt,cli$(,)llm$(,)evaluation$(,)minari$(,)planner$(,)render$(,)testing))

ifeq ($(PYTHON_LOWEST),)
lowest:
	@echo "lowest: skipped, neither python3.11 nor python3.12 can be found (name one: make lowest PYTHON_LOWEST=...)"
else
lowest: $(LOWEST)/.done ## run a few tests with the oldest versions that pyproject.toml allows
	$(LOWEST)/bin/python -m pytest tests/unit/cli tests/unit/env/test_test_kit.py tests/golden tests/integration/test_determinism.py
endif

ifeq ($(PYTHON_NEWEST),)
newest:
	@echo "newest: skipped, neither python3.14 nor python3.13 can be found (name one: make newest PYTHON_NEWEST=...)"
else
newest: $(NEWEST)/.done $(VENV)/.dev ## run tests with the newest Python; compare its figures with those of the usual one
	$(NEWEST)/bin/python -m pytest tests/unit tests/golden tests/properties/test_grammar_properties.py tests/integration/test_determinism.py
	NEWEST=$(NEWEST)/bin/python $(BIN)/python -m pytest -m "" tests/integration/test_equal_measures.py
endif

check: $(VENV)/.dev ## format, lint, types and import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.dev ## rewrite the files in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

conformance: $(VENV)/.dev ## replay the recorded episodes that lie beside the checkout
	@if [ ! -d '$(SHARED)/traces' ]; then echo "conformance: skipped, no records in $(SHARED) (name another folder: make conformance SHARED=...)"; else set -e; \
	for pair in reference:reference documents:default; do \
	  $(BIN)/python '$(SHARED)/tools/conformance.py' "$(SHARED)/traces/$${pair%:*}" --preset "$${pair#*:}" --presets '$(SHARED)/presets'; \
	done; fi

pins: ## write the newest versions that fit into constraints.txt
	$(PYTHON) -m venv --clear build/pins
	build/pins/bin/python -m pip install --quiet --quiet --upgrade pip
	build/pins/bin/python -m pip install --quiet --quiet --group dev --editable . editables hatchling
	{ grep '^#' constraints.txt; build/pins/bin/python -m pip freeze --all --exclude-editable --exclude setuptools; } > build/constraints.txt
	mv build/constraints.txt constraints.txt

clean: ## remove what was made, except .venv
	rm -rf build dist out .coverage .coverage.* .hypothesis .pytest_cache .ruff_cache .benchmarks .import_linter_cache
	find ycbench_env agents tests -name __pycache__ -type d -prune -exec rm -rf {} +
