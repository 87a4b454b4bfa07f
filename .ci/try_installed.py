"""An installed streamptron does what a user does first, away from the sources.

    python .ci/try_installed.py PATH_OF_THE_SOURCES

Called with a wheel's Python, by `make dist` and by the workflow that builds the wheels.
"""

import doctest
import importlib
import importlib.metadata
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import streamptron
import streamptron.sqlite
from streamptron.common.river import INSTALLED

TAKING = re.compile(r'^(?: *# *include|cdef extern from) "(.+)"', re.MULTILINE)


def declarations(package: Path) -> set[Path]:
    """All declarations, and the headers that they take."""
    left = [file.relative_to(package) for file in package.rglob("*.pxd")]
    found = set(left)
    while left:
        headers = TAKING.findall((package / left.pop()).read_text("utf-8"))
        names = [Path(folder, header) for header in headers for folder in ("engine", "doors")]
        new = {name for name in names if (package / name).is_file()} - found
        found |= new
        left += new
    return found


def is_complete(sources: Path, installed: Path) -> None:
    """Every module and stub is there, what others' Cython needs, and nothing that is compiled."""
    assert installed != sources / "streamptron", "not installed, but the sources themselves"
    kinds = (".py", ".pyi", ".typed", ".css", ".html", ".js", ".svg")
    ours = {
        file.relative_to(sources / "streamptron")
        for file in (sources / "streamptron").rglob("*")
        if file.suffix in kinds
    } | declarations(sources / "streamptron")
    missing = [str(file) for file in sorted(ours) if not (installed / file).is_file()]
    assert not missing, f"not installed: {', '.join(missing)}"
    assert not [*installed.rglob("*.c"), *installed.rglob("*.pyx")]


def learns_and_saves() -> None:
    """A model learns, is saved, and comes back as it was."""
    model = streamptron.MulticlassPerceptron()
    for text, label in [("goal match win", "sport"), ("vote law court", "politics")] * 3:
        model.learn_one(dict.fromkeys(text.split(), 1), label)
    assert model.predict_one({"law": 1}) == "politics"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.model")
        model.save(path)
        again = streamptron.load(path)
        assert streamptron.read_metadata(path) == {}
    assert again.weights == model.weights
    assert again.predict_one({"law": 1}) == "politics"


def command_answers() -> None:
    """The command is there; without click it says what is missing."""
    script = Path(sys.executable).with_name("streamptron")
    run = subprocess.run([script, "--help"], capture_output=True, text=True)
    try:
        import click  # noqa: F401
    except ModuleNotFoundError:
        assert run.returncode == 1, run
        assert 'pip install "streamptron[cli]"' in run.stderr, run
    else:
        assert run.returncode == 0, run
        assert "predict" in run.stdout, run


def sqlite_learns() -> str:
    """The SQLite extension learns and answers, if the wheel was built with it; says which."""
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        return "a Python whose sqlite3 loads no extensions"
    try:
        path = streamptron.sqlite.path()
    except FileNotFoundError:
        return "without the SQLite extension"
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(path)
    db.execute("CREATE VIRTUAL TABLE spam USING streamptron(learner='adaptive')")
    lessons = [("win a prize", "spam"), ("see you", "ham")]
    db.executemany("INSERT INTO spam(text, label) VALUES (?, ?)", lessons)
    found = db.execute("SELECT label FROM spam WHERE text MATCH 'a prize'").fetchall()
    db.close()
    assert found == [("spam",)], found
    return "with the SQLite extension"


def examples_are_true() -> None:
    """The docstrings' examples that need no extra give what they say."""
    rivers = ("learners.perceptron", "learners.mira") if INSTALLED else ()
    ours = ("learners.text", "learners.learn_unsure", "keeping.checkpoint", "keeping.lock")
    for name in (*rivers, *ours):
        failures, tests = doctest.testmod(importlib.import_module(f"streamptron.{name}"))
        assert tests, name
        assert failures == 0, name


def main() -> None:
    sources = Path(sys.argv[1]).resolve()
    installed = Path(streamptron.__file__).resolve().parent
    is_complete(sources, installed)
    assert importlib.metadata.version("streamptron") == streamptron.__version__
    learns_and_saves()
    command_answers()
    examples_are_true()
    extension = sqlite_learns()
    files = [file for file in installed.rglob("*") if file.suffix != ".pyc" and file.is_file()]
    size = sum(file.stat().st_size for file in files)
    python = ".".join(map(str, sys.version_info[:3]))
    version = streamptron.__version__
    print(f"   {version} works on Python {python}; {size / 1e6:.2f} MB installed, {extension}")


if __name__ == "__main__":
    main()
