# The two commands a new user needs: `make demo` and `make test`. Each makes its own .venv.
# CONTRIBUTING.md says what the others prove, and how long they take.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
STEP = @.ci/step
SOURCES = $(foreach kind,py pyi pyx pxd h,$(wildcard streamptron/*.$(kind) streamptron/*/*.$(kind)))

.PHONY: demo test check lint typecheck quick pytest version switches threads coverage sanitize \
	warnings bench docs spark dist clean

demo: $(VENV)/.demo
	$(STEP) "The demo: two real streams, learned event by event" $(BIN)/python examples/demo.py

# What is run every day: three minutes on two cores, once .venv is there.
test: lint typecheck quick

# The whole proof on one Python, before a merge.
check: lint typecheck pytest warnings switches threads sanitize

lint: $(VENV)/.dev
	$(STEP) "ruff: style" $(BIN)/python -m ruff check .
	$(STEP) "ruff: format" $(BIN)/python -m ruff format --check .

typecheck: $(VENV)/.dev
	$(STEP) "mypy: types" $(BIN)/python -m mypy
	$(STEP) "mypy: the core's stub" $(BIN)/python -m mypy.stubtest streamptron \
		--mypy-config-file pyproject.toml --allowlist tests/stubtest_allowed.txt

quick: $(VENV)/.dev
	$(STEP) "pytest: the tests but the slow ones, on every core" \
		$(BIN)/python -m pytest -n auto -m "not slow"

pytest: $(VENV)/.dev
	$(STEP) "pytest: all tests, on every core" $(BIN)/python -m pytest -n auto

# What .ci/run asks of a Python that is not the newest: what is marked `slow` or `once` would say
# the same again.
version: $(VENV)/.dev
	$(STEP) "pytest: the tests that may differ on this Python, on every core" \
		$(BIN)/python -m pytest -n auto -m "not slow and not once"

# The tests of the kernels without their named instances: the templates alone serve every learner.
# And every call with every allocation of the core failing, one after the other.
switches: $(VENV)/.dev
	.ci/switches $(BIN)/python

# Lines and branches of the core that the tests take, room by room.
coverage: $(VENV)/.dev
	.ci/coverage $(BIN)/python

sanitize: $(VENV)/.dev
	.ci/sanitize $(BIN)/python

# The gate's tests, with every access of ours watched.
threads: $(VENV)/.dev
	.ci/threads $(BIN)/python

warnings: $(VENV)/.dev
	.ci/warnings $(BIN)/python

# The site, in build/site: its code is run for its pictures, and its links within are followed.
docs: $(VENV)/.dev $(VENV)/.docs
	$(STEP) "The examples of the pages" $(BIN)/python -m pytest tests/test_docs.py
	$(STEP) "Sphinx: the site, from docs/ and the docstrings" .ci/docs $(BIN)/python

# Needs Java 17. A cluster of two executors on this machine, some of them killed.
spark: $(VENV)/.dev
	$(STEP) "pyspark is installed, 500 MB" $(PIP) install --group spark
	$(STEP) "pytest: Spark" $(BIN)/python -m pytest tests/spark streamptron/spark

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.run

# The package with what it needs to run, no more: what a user gets.
$(VENV)/.demo: $(VENV)/.made setup.py pyproject.toml $(SOURCES)
	@rm -rf $(VENV)/wheel
	$(STEP) "Cython and the C compiler build the core: half a minute, or a minute" \
		$(PIP) wheel --no-deps --wheel-dir $(VENV)/wheel .
	@$(PIP) uninstall --yes streamptron 2>/dev/null
	$(STEP) "It is installed, with numpy and river" $(PIP) install $(VENV)/wheel/*.whl
	@touch $@

# In place, with the tools of CONTRIBUTING.md.
$(VENV)/.dev: $(VENV)/.tools setup.py pyproject.toml $(SOURCES)
	$(STEP) "Cython and the C compiler build the core: half a minute, or a minute" \
		$(PIP) install --no-build-isolation --editable .
	@touch $@

$(VENV)/.tools: $(VENV)/.made pyproject.toml
	$(STEP) "The tools are installed: pytest, mypy, ruff, scikit-learn, pandas, polars..." \
		$(PIP) install --group dev
	@touch $@

$(VENV)/.docs: $(VENV)/.tools
	$(STEP) "Sphinx is installed" $(PIP) install --group docs
	@touch $@

$(VENV)/.made:
	$(STEP) "A Python environment of its own, in $(VENV)" $(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade "pip>=25.1"
	@touch $@

# `build`, and on Linux what makes a wheel fit other machines.
dist: $(VENV)/.made
	@$(PIP) install --group dist
	.ci/dist $(BIN)/python

clean:
	rm -rf $(VENV) build dist *.egg-info
	find streamptron -name '*.c' -o -name '*.so' | xargs rm -f
