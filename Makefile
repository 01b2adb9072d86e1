# Every target sets up what it needs: a virtual environment in .venv, installed from this checkout.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
BENCH  := $(VENV)/bench
DOCS   := $(VENV)/docs
PHASE  := $(VENV)/phase
FRESH  := $(VENV)/fresh
SITE   := out/docs
GRID   ?= 1
JOBS   ?= $(shell nproc)

.PHONY: run test lint pages docs ledger notebooks bench bench-all performance pld phase fresh conformance tamper conditions mutants browser clean
.DEFAULT_GOAL := test

$(STAMP): pyproject.toml .ci/constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --constraint .ci/constraints.txt --editable . --group dev
	touch $(STAMP)

run: $(STAMP)   ## verify the ledger, then one worked example
	mkdir -p out
	$(BIN)/symshuffle verify --jobs $(JOBS) --json out/verify.json --report out/site
	$(BIN)/symshuffle example

test: $(STAMP) lint   ## the whole test suite
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

pages: $(STAMP)   ## write the pages that are derived from the code
	SYMPY_CACHE_SIZE=50000 $(BIN)/python docs/derived.py
	$(BIN)/python docs/outputs.py

# An environment of its own: what sets the site is no business of the tests.
$(DOCS)/.installed: pyproject.toml .ci/constraints.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(DOCS)/bin/python -m pip install --quiet --constraint .ci/constraints.txt --editable ".[docs]"
	touch $@

# Pages are gathered where Sphinx runs, which needs the same modules. It runs in one process: of two, each would analyse
# most of them.
docs: pages $(DOCS)/.installed   ## write the derived pages, and build the site from all pages; any warning is an error
	$(DOCS)/bin/python docs/pages.py $(SITE)/source $(SITE)/html

ledger: $(STAMP)   ## run the ledger, and put its site beside the pages of `make docs`
	mkdir -p $(SITE)/html
	$(BIN)/symshuffle report --jobs $(JOBS) --html $(SITE)/html/ledger

notebooks: $(STAMP)   ## build the .ipynb files from their percent scripts
	$(BIN)/jupytext --quiet --to ipynb --update notebooks/*.py
	$(BIN)/jupyter nbconvert --log-level WARN --to notebook --inplace --execute \
		--ExecutePreprocessor.record_timing=False notebooks/*.ipynb

# An environment of its own: dp-accounting asks for older packages than the constraints of the tests.
$(BENCH)/.installed: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BENCH)/bin/python -m pip install --quiet --editable . --group bench
	touch $@

bench: $(STAMP)   ## prices of everyday calls in units of a plain loop; 1 where a goal is missed
	$(BIN)/python -m benchmarks.yardstick

bench-all: $(STAMP)   ## the same, with the commands of the guide, edges, the ledger, the site and the tests
	$(BIN)/python -m benchmarks.yardstick --all

performance: $(BENCH)/.installed   ## measure beside published codes, and write docs/performance.md
	$(BENCH)/bin/python -m benchmarks.run

pld: $(BENCH)/.installed   ## what dp_accounting makes of exported distributions: exact small cases, small delta
	$(BENCH)/bin/python -m tests.pld

# An environment of its own: nothing else here needs Dask.
$(PHASE)/.installed: pyproject.toml
	$(PYTHON) -m venv $(PHASE)
	$(PHASE)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(PHASE)/bin/python -m pip install --quiet --editable . --group phase
	touch $@

phase: $(PHASE)/.installed   ## a sweep of 10^5 points on a local Dask cluster, killed in the middle and resumed
	$(PHASE)/bin/python -m tests.phase out/phase

# An environment of its own, made anew: without constraints, as `pip install .` gives it today.
fresh:   ## what a plain installation of today gives: every command with --json, the pages, the doctor (a report)
	$(PYTHON) -m venv --clear $(FRESH)
	$(FRESH)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(FRESH)/bin/python -m pip install --quiet .
	$(FRESH)/bin/python tests/fresh.py

conformance: $(STAMP)   ## every engine on every law of the full grid, and every kept answer
	$(BIN)/python -m pytest -n $(JOBS) -m conformance tests
	$(BIN)/python -m tests.conformance.grid --slice $(GRID)
	$(BIN)/python -m tests.frozen compare --jobs $(JOBS)

tamper: $(STAMP)   ## 10,000 random tamperings of certificate files, and every field of one: none is accepted
	$(BIN)/python -m pytest -n $(JOBS) -m "conformance or not conformance" tests/claims/test_certificates.py

conditions: $(STAMP)   ## delete every condition of every checker of certificates, alone
	$(BIN)/python -m tests.conditions

mutants: $(STAMP)   ## break a drawn line at a time: how many edits tests notice, and how many change a public answer
	$(BIN)/python -m tests.mutants

browser: $(STAMP)   ## use the site of the ledger in a headless browser: search, filter, a claim, a phone
	mkdir -p out
	$(BIN)/symshuffle report --jobs $(JOBS) --html out/site
	$(BIN)/python -m tests.browser out/site out/shots

clean:
	rm -rf $(VENV) out build dist .mypy_cache .ruff_cache .hypothesis
