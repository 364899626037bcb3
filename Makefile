# Everything runs inside .venv, which is made on demand. `make PYTHON=python3.12 …` picks another Python.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
GROUPS := test lint docs bench demo

# Some machines pin the kernels of an old OpenBLAS here, which slows a current NumPy.
ASV := cd asv_bench && env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE ../$(BIN)/asv

.PHONY: help setup demo test lint types fmt doctest docs bench-quick bench ci clean distclean
# Two pips must not write to one environment, and `ci` keeps its order.
.NOTPARALLEL:

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(VENV)/.group-dev  ## make .venv with all tools (the other targets install just what they need)

demo: $(VENV)/.group-demo  ## run the example with a tied autoencoder; writes demo.png
	$(BIN)/python examples/tied_autoencoder.py

test: $(VENV)/.group-test  ## run the tests
	$(BIN)/pytest

lint: $(VENV)/.group-lint  ## check style and spelling, change nothing (.pre-commit-config.yaml runs the same)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell
	$(BIN)/validate-pyproject pyproject.toml

types: $(VENV)/.group-lint $(VENV)/.group-test  ## check the types of the package
	$(BIN)/mypy

fmt: $(VENV)/.group-lint  ## format, and fix what ruff can fix
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Modules for libraries that are not installed here cannot be imported; they are reported as skipped.
doctest: $(VENV)/.group-test  ## run the examples in docstrings, docs pages and README
	$(BIN)/pytest --doctest-modules --doctest-ignore-import-errors componentvec
	$(BIN)/pytest --doctest-glob='*.md' docs README.md

# -E: a second run must not forget the warnings of the first.
docs: $(VENV)/.group-docs  ## build the docs into docs/_build/html, warnings are errors
	$(BIN)/sphinx-build -E -W --keep-going -b html docs docs/_build/html

bench-quick: ASV_RUN_OPTIONS := --quick
bench-quick bench: $(VENV)/.group-bench
	$(ASV) machine --yes >/dev/null
	$(ASV) check --python=same
	$(ASV) run --python=same --show-stderr $(ASV_RUN_OPTIONS)
bench-quick:  ## run every benchmark once
bench:  ## run the benchmarks in full

ci: lint types test doctest docs bench-quick  ## all checks, in this order

clean:  ## remove what builds, tools and the demo leave behind
	rm -rf build dist docs/_build asv_bench/.asv .coverage htmlcov demo.png
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean  ## clean, and remove .venv too
	rm -rf $(VENV)

# The environment with the package itself, editable. Old pips do not know dependency groups.
$(VENV)/.package: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "componentvec needs Python 3.11 or newer, and '$(PYTHON)' is not; try make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.group-dev: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --group dev
	@touch $(GROUPS:%=$(VENV)/.group-%) $@

$(VENV)/.group-%: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@
