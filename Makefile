# The two commands a new user needs: `make demo` and `make test`. Each makes its own .venv.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test sanitize bench lint typecheck dist clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

test: $(VENV)/.dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m mypy.stubtest streamptron --mypy-config-file pyproject.toml \
		--allowlist tests/stubtest_allowed.txt
	$(BIN)/python -m pytest -n auto

sanitize: $(VENV)/.dev
	.ci/sanitize $(BIN)/python

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

# The package with what it needs to run, no more: what a user gets.
$(VENV)/.demo: $(VENV)/.made setup.py pyproject.toml $(wildcard streamptron/*)
	$(BIN)/python -m pip install --quiet .
	touch $@

# In place, with the tools of CONTRIBUTING.md.
$(VENV)/.dev: $(VENV)/.made setup.py pyproject.toml $(wildcard streamptron/*.p*)
	$(BIN)/python -m pip install --quiet --group dev
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	touch $@

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

dist: $(VENV)/.dev
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) build dist *.egg-info streamptron/_core.c streamptron/*.so
