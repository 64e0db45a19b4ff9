# Everything a developer runs. `make` alone lists the targets.
#
#   PYTHON=python3.12   the interpreter to build the environment with (default: search)
#   VENV=.venv          where the environment lives

.POSIX:
.SILENT:
.SUFFIXES:
.NOTPARALLEL:
.DEFAULT_GOAL := help

PYTHON ?=
VENV ?= .venv
BIN = $(VENV)/bin
SETUP = PYTHON='$(PYTHON)' VENV='$(VENV)' sh scripts/setup.sh

.PHONY: help demo test lint docs bench clean distclean
.PHONY: setup venv check-style check-types check-docs check-tests

help: ## list the targets; demo and test set up what they need
	echo 'Usage: make [PYTHON=python3.12] [VENV=.venv] TARGET'
	echo
	sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-12s%s\n", $$1, $$2 }'

demo: setup ## run a GPU program over real files and check it against NumPy
	$(BIN)/vyre-wgpu demo

test: setup check-style check-types check-docs check-tests ## everything that must hold

lint: venv check-style check-types ## ruff and mypy

docs: venv check-docs ## build the documentation into docs/_build; warnings are errors
	echo 'open docs/_build/html/index.html'

bench: setup ## run the benchmarks
	found=; \
	for script in benchmarks/[!_]*.py; do \
	    [ -e "$$script" ] || continue; \
	    found=1; echo "== $$script"; \
	    $(BIN)/python "$$script" || exit 1; \
	done; \
	[ "$$found" ] || echo 'benchmarks/ holds no script yet'

clean: ## remove build outputs and caches
	rm -rf build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf htmlcov .coverage .coverage.* *.egg-info
	find vyre_wgpu tests benchmarks scripts docs -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## clean, and remove the environment
	[ ! -f '$(VENV)/pyvenv.cfg' ] && [ ! -f '$(VENV)/.vyre-setup' ] || rm -rf '$(VENV)'

# --- Set-up: does nothing, without network, where nothing is to do

setup:
	$(SETUP)

venv:
	$(SETUP) venv

# --- The steps of test, lint and docs

check-style:
	echo '== ruff'
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check . || { echo 'Fix: $(BIN)/ruff format .' >&2; exit 1; }

check-types:
	echo '== mypy'
	$(BIN)/mypy --no-error-summary

check-docs:
	echo '== sphinx'
	$(BIN)/python -m sphinx -q -E -W --keep-going -b html docs docs/_build/html

check-tests:
	echo '== pytest'
	$(BIN)/python -m pytest
	echo '== pytest, with dispatch blocks in uniform buffers'
	VYRE_TEST_DISPATCH_BLOCK=uniform $(BIN)/python -m pytest -q tests/wgsl/test_control_flow.py \
	    tests/wgsl/test_memory.py tests/wgsl/test_atomics.py tests/wgsl/test_barriers.py \
	    tests/wgsl/test_launches.py tests/wgsl/test_long_bodies.py \
	    tests/wgsl/test_loops.py tests/wgsl/test_extents.py tests/programs/test_crc32.py
	echo '== pytest, through the public interface of wgpu-py'
	VYRE_WGPU_NATIVE=0 $(BIN)/python -m pytest -q tests/pipeline/test_contract.py \
	    tests/pipeline/test_submit.py tests/pipeline/test_future.py tests/pipeline/test_record.py \
	    tests/pipeline/test_device_buffers.py tests/pipeline/test_zero_copy.py \
	    tests/programs/test_crc32.py
