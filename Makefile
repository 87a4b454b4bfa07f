# The two commands a new user needs: `make demo` and `make test`. Each makes its own .venv.
# CONTRIBUTING.md says what the others prove, and how long they take.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
STEP = @.ci/step
SILENT = @.ci/step --silent
SOURCES = $(foreach kind,py pyi pyx pxd h c,$(wildcard streamptron/*.$(kind) \
	streamptron/*/*.$(kind) streamptron/*/*/*.$(kind)))
T ?= tests/test_twin.py
# the second process of a run begins at its middle, and who is ready takes over from the other
PYTEST = $(BIN)/python -m pytest -n auto --dist worksteal --one-line
space = $() $()
# which part of the parameters: of all in `version` and `between`, of those that say again what
# others have said in `pytest` and `sanitize`
TURN ?= 1/1
# which part of all parameters in `pytest`; .ci/run takes a sixth with each commit
PART ?= 1/1

.PHONY: demo test check build t lint typecheck quick pytest version between without engine \
	switches threads free-threaded coverage sanitize warnings journeys packages oldest bench \
	docs spark dist reproducible recipes clean lib amalgamation platforms program sqlite deb \
	deb-try announced lines serve-proof

demo: $(VENV)/.demo
	$(STEP) "The demo: two real streams, learned event by event" $(BIN)/python examples/demo.py

# What is run every day: three minutes on two cores, once .venv is there.
test: announced lint typecheck quick

announced:
	@echo "make test: lint, types and tests take about three minutes on two free cores."
	@test -e $(VENV)/.dev || \
		echo "The first time the tools are installed and the core is compiled: some minutes more."

# The whole proof on one Python, before a merge.
check: lint typecheck pytest warnings engine switches threads sanitize

# Compile what has changed, in place; and compile, then run these tests: make t T=tests/merge
build: $(VENV)/.tools
	$(SILENT) "Cython and the C compiler build what has changed" \
		$(BIN)/python setup.py -q build_ext --inplace

t: build
	$(BIN)/python -m pytest $(T)

# What tests/service/test_proof.py says of the service, with its full numbers, which take an
# hour or more. Schemathesis has an environment of its own, since it is a plugin of pytest, too.
serve-proof: $(VENV)/.dev $(VENV)/.proof
	PATH="$(abspath $(VENV))/proof/bin:$$PATH" STREAMPTRON_PROOF=1 \
		$(BIN)/python -m pytest -n 0 -o faulthandler_timeout=0 \
		tests/service/test_proof.py

lint: $(VENV)/.dev
	$(STEP) "ruff: style" $(BIN)/python -m ruff check .
	$(STEP) "ruff: format" $(BIN)/python -m ruff format --check .

typecheck: $(VENV)/.dev
	$(SILENT) "mypy: types" $(BIN)/python -m mypy
	$(SILENT) "mypy: the core's stub" $(BIN)/python -m mypy.stubtest streamptron \
		--mypy-config-file pyproject.toml --allowlist tests/stubtest_allowed.txt

quick: $(VENV)/.dev
	$(STEP) "pytest: the quick tests of the package, each with a twelfth of its parameters" \
		$(PYTEST) -m "not slow and not compiled" --turn 1/12

pytest: $(VENV)/.dev
	$(STEP) "pytest: all tests, on every core" $(PYTEST) --turn $(PART) \
		--slow-turn $(TURN)

# What .ci/run asks of a Python that is not the newest: what is marked `slow` or `once` would say
# the same again. With TURN=1/6 each test has a sixth of its parameters. A Python that lies between
# the oldest and the newest could differ from both only where compiled code meets it.
OTHER = $(PYTEST) -m "not slow and not once" --turn $(TURN)
ROOMS = collisions gate hashed multilabel names river state twin voted wide
DOORS = $(addprefix tests/,doors late matrix merge model_file ranking sklearn text \
	$(patsubst %,test_%.py,$(ROOMS)))
version: $(VENV)/.dev
	$(STEP) "pytest: the tests that may differ on this Python, on every core" $(OTHER)

between: $(VENV)/.dev
	$(STEP) "pytest: those of them that pass through compiled doors, on every core" \
		$(OTHER) $(DOORS) streamptron

# The same where River is not installed; what needs it is skipped.
without: $(VENV)/.dev
	$(STEP) "pytest: those of them that need no River, without it" \
		$(OTHER) -p tests.support.without_river $(DOORS) streamptron

# The engine's own tests: programs in C, which need no Python, under the compiler's sanitizers.
engine:
	$(STEP) "The engine's own tests, in C" .ci/engine

# The tests of the kernels without their named instances: the templates alone serve every learner.
# And every call with every allocation of the core failing, one after the other.
switches: $(VENV)/.dev
	.ci/switches $(BIN)/python --turn $(TURN)

# Lines and branches of the core that the tests take, room by room.
coverage: $(VENV)/.dev
	.ci/coverage $(BIN)/python

sanitize: $(VENV)/.dev
	.ci/sanitize $(BIN)/python --turn $(TURN)

# The gate's tests, with every access of ours watched.
threads: $(VENV)/.dev
	.ci/threads $(BIN)/python

# The tests of threads on a Python without a lock, which is compiled the first time.
free-threaded:
	.ci/free_threaded

warnings: $(VENV)/.dev
	.ci/warnings $(BIN)/python

# The source package, installed in an empty environment; journeys/ is walked with it.
journeys: $(VENV)/.dev
	.ci/journeys $(BIN)/python

# What is given away: the source package and each wheel are tried, and journeys/ walked with one.
packages: dist
	.ci/journeys $(BIN)/python dist

# The source package with the oldest versions that pyproject.toml admits, on the oldest Python.
oldest:
	.ci/oldest "$$(.ci/pythons 2>/dev/null | head -n 1 | cut -d ' ' -f 2)"

# The site, in build/site: its code is run for its pictures, and its links within are followed. Then
# it is read in a browser.
docs: $(VENV)/.dev $(VENV)/.docs
	$(STEP) "The examples of the pages" $(BIN)/python -m pytest tests/test_docs.py
	$(SILENT) "Sphinx: the site, from docs/ and the docstrings" .ci/docs $(BIN)/python
	$(STEP) "The site in Chromium, light, dark and narrow" \
		env STREAMPTRON_SITE=build/site $(BIN)/python -m pytest tests/test_site.py

# Needs Java 17. A cluster of two executors on this machine, some of them killed.
spark: $(VENV)/.dev
	$(SILENT) "pyspark is installed, 500 MB" $(PIP) install --group spark
	$(STEP) "pytest: Spark" $(BIN)/python -m pytest tests/spark streamptron/spark

# The C library, in build/library: shared, static, and for pkg-config; or its two source files.
lib:
	$(SILENT) "The C library: libstreamptron, in build/library" .ci/library $(PYTHON) build/library

amalgamation:
	$(SILENT) "streamptron.c and streamptron.h, in build/library" \
		.ci/library $(PYTHON) build/library --sources

# The library on other machines, as far as their compilers and qemu are there: the same bits.
platforms: $(VENV)/.dev
	.ci/platforms $(BIN)/python

# How many lines each wing has, and what the whole may have.
lines: $(VENV)/.made
	$(BIN)/python tools/lines.py

# spt, in build/program: what daemons and mail servers need of the command line, without Python.
program:
	$(SILENT) "The program: spt, in build/program" .ci/program $(PYTHON) build/program

# Debian's packages of the last commit, in build/debian; and tried in an empty Debian, by root.
deb:
	$(STEP) "Debian's packages, in build/debian" packaging/deb build/debian

deb-try: deb
	packaging/chroot build/debian

# A loadable extension of SQLite, in build/sqlite: .load build/sqlite/streamptron
sqlite:
	$(SILENT) "The SQLite extension: streamptron.so, in build/sqlite" .ci/sqlite $(PYTHON) build/sqlite

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.run

# The package with what it needs to run, no more: what a user gets.
# The wheel is built while pip installs what it needs.
$(VENV)/.demo: $(VENV)/.made setup.py pyproject.toml $(SOURCES)
	@rm -rf $(VENV)/wheel
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/wheel $(VENV)/.river
	@$(PIP) uninstall --yes streamptron 2>/dev/null
	$(SILENT) "It is installed" $(PIP) install $(VENV)/wheel/*.whl
	@touch $@

$(VENV)/wheel:
	$(SILENT) "Cython and the C compiler build the core: 1 to 3 minutes of CPU, on all cores" \
		$(PIP) wheel --no-deps --wheel-dir $@ .

$(VENV)/.river:
	$(SILENT) "numpy and river are installed" $(PIP) install numpy river
	@touch $@

# In place, with the tools of CONTRIBUTING.md.
$(VENV)/.dev: $(VENV)/.tools setup.py pyproject.toml $(SOURCES)
	$(SILENT) "Cython and the C compiler build the core: 1 to 3 minutes of CPU, on all cores" \
		$(PIP) install --no-build-isolation --editable .
	@touch $@

$(VENV)/.proof: $(VENV)/.pip pyproject.toml
	$(SILENT) "Schemathesis is installed" sh -c "$(BIN)/python -m venv $(VENV)/proof && \
		$(PIP) --python $(VENV)/proof/bin/python install --group proof"
	@touch $@

$(VENV)/.tools: $(VENV)/.pip pyproject.toml
	$(SILENT) "The tools are installed: pytest, mypy, ruff, scikit-learn, pandas, polars..." \
		$(PIP) install --group dev
	@touch $@

$(VENV)/.docs: $(VENV)/.tools
	$(SILENT) "Sphinx is installed" $(PIP) install --group docs
	@touch $@

$(VENV)/.made:
	$(SILENT) "A Python environment of its own, in $(VENV)" $(PYTHON) -m venv $(VENV)
	@touch $@

# whose groups the tools are
$(VENV)/.pip: $(VENV)/.made
	$(SILENT) "pip is brought up to date" $(PIP) install --upgrade "pip>=25.1"
	@touch $@

# `build`, and on Linux what makes a wheel fit other machines; VERSIONS="3.11 3.13" for these alone.
dist: $(VENV)/.pip
	$(SILENT) "What makes packages is installed" $(PIP) install --group dist
	.ci/dist $(BIN)/python $(if $(VERSIONS),"$(subst $(space),|,$(strip $(VERSIONS)))")

# The recipes in packaging/, read by the distributions' own tools.
recipes: $(VENV)/.pip
	$(SILENT) "What renders conda-forge's recipe is installed" $(PIP) install py-rattler-build
	packaging/lint $(BIN)/python

# The source package and a wheel, made twice, are the same bytes.
reproducible: $(VENV)/.pip
	$(SILENT) "What makes packages is installed" $(PIP) install --group dist
	.ci/reproducible $(BIN)/python

clean:
	rm -rf $(VENV) build dist *.egg-info
	find streamptron -name '*.so' -delete
