# Every target works on a fresh checkout: it needs git, make, Python 3.11 or newer with venv, and a package index.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
# The interpreter is the machine's own: uv must never fetch one.
export UV_PYTHON_DOWNLOADS := never
PYTEST := $(BIN)/pytest
# Tests run side by side; override for one process: make test JOBS=0
JOBS ?= auto
ARGS ?=

.PHONY: help setup run test prove check format migrate openapi bench eval pictures lock clean

help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed ## Create .venv with the locked packages (fast when nothing changed)
	@:

$(VENV)/.uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name one with: make setup PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
		|| { echo "Python's venv module is missing; on Debian: apt-get install -y python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9'
	@touch $@

# Bytecode is compiled here, so that the first start does not have to.
$(VENV)/.packages: requirements.lock $(VENV)/.uv
	@echo "Installing packages into $(VENV) (about 1.3 GB; the first time one to two minutes) …"
	$(UV) pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.packages
	$(UV) pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@

run: setup ## Start everything on this machine (Ctrl-C stops it)
	@exec $(BIN)/ctx up

test: setup ## Run the fast tests
	$(PYTEST) -n $(JOBS) -m "not prove and not bench" $(ARGS)

prove: setup ## Run the slow proofs: real processes, clients, failures, and a short benchmark
	$(PYTEST) -n $(JOBS) -m "prove" $(ARGS)
	$(BIN)/python -m tests.bench --smoke

check: setup ## Check format, lint, types and the layers' imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## Format the code and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

migrate: setup ## Bring the database's schema up to date
	$(BIN)/ctx migrate

openapi: setup ## Write the API descriptions to openapi/
	$(BIN)/python -m app.openapi openapi

bench: setup ## Run the benchmarks
	$(BIN)/python -m tests.bench $(ARGS)
	$(BIN)/python -m tests.bench.logins
	$(BIN)/python -m tests.bench.pages
	$(BIN)/python -m tests.bench.reach

eval: setup ## Measure retrieval on sets of questions: make eval DATA=folder
	@test -n "$(DATA)" || { echo "Name a folder with sets: make eval DATA=folder (format: tests/evaluate/data.py)" >&2; exit 2; }
	$(BIN)/python -m tests.evaluate $(DATA) $(ARGS)

pictures: setup ## Take the pictures of the README again (needs Chromium)
	$(BIN)/python -m tests.edge.web.pictures deploy/pictures

lock: $(VENV)/.uv ## Resolve the dependencies again and write requirements.lock
	$(UV) pip compile pyproject.toml --extra server --extra dev --generate-hashes --no-emit-index-url \
		--no-annotate --no-header --universal --python-version 3.11 --quiet -o requirements.lock $(ARGS)

clean: ## Remove .venv and caches; data in .data stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
