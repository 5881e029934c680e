# Each target does its own set-up: Python packages go to .venv, and only when the lists changed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
TESTS  := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist worksteal
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test long lint format docs bench lock chromium clean

help:  ## list what can be made
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

run: $(VENV)/.packages  ## start the app and open it in the browser
	$(BIN)/streamlit run app.py

test: lint chromium  ## check style and types, run every test but the longest
	$(TESTS) -m "not long"

long: $(VENV)/.packages-dev chromium  ## run the longest tests, and properties on more examples
	HIPAD_TEST_EXAMPLES=100 $(TESTS) -m "long or hypothesis"

lint: $(VENV)/.packages-dev  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.packages-dev  ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.packages-docs  ## build the documentation in build/docs, with every example run anew
	rm -rf build/docs docs/examples docs/generated
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/docs
	@echo "open build/docs/index.html"

bench: long $(VENV)/.packages-bench  ## run the longest tests, then measure speed, as ratios in one run
	$(BIN)/python -m benchmarks

# Direct dependencies stand in pyproject.toml. Versions stay as they are unless UPGRADE=--upgrade is given.
lock: $(VENV)/.packages-dev  ## pin what the app runs with, with hashes, and list it as an SBOM
	UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	    --generate-hashes --extra app $(UPGRADE) pyproject.toml -o requirements.txt
	$(PIP) --require-hashes -r requirements.txt
	$(BIN)/python -m benchmarks.sbom > sbom.json

clean:  ## remove what set-up and tests made
	rm -rf $(VENV) dist build docs/examples docs/generated docs/jupyter_execute .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Browser tests find an installed browser or Playwright's own. Only a CI machine gets one unasked.
chromium: $(VENV)/.packages-dev
	@if [ "$$CI" = true ] && ! $(BIN)/python -c 'import sys; from benchmarks.serving import chromium_path; sys.exit(chromium_path() is None)'; then \
	    as_root=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	    $$as_root apt-get update -qq && $$as_root apt-get install -y -qq --no-install-recommends chromium \
	        || { echo "chromium is needed for the browser tests and could not be installed" >&2; exit 1; }; \
	fi

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	    || { echo "Python's venv module is incomplete: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.packages: requirements.txt | $(BIN)/python
	$(PIP) --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.packages-dev: requirements-dev.txt $(VENV)/.packages
	$(PIP) -r requirements-dev.txt
	@touch $@

# Rivals are measured where they can be installed; the tables say which were not.
$(VENV)/.packages-bench: requirements-bench.txt $(VENV)/.packages-dev
	@grep -v '^#' $< | while read -r each; do \
	    $(PIP) --only-binary=:all: "$$each" || echo "not installed, so not measured: $$each" >&2; \
	done
	@touch $@

$(VENV)/.packages-docs: requirements-docs.txt $(VENV)/.packages-dev
	$(PIP) -r requirements-docs.txt
	@touch $@
