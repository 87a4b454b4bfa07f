"""Two programs that answer alike: streamptron, and spt, which is C without Python.

A test that is marked by `both` runs with each: what tests.support.commands starts is then that one,
for the commands that both have. spt is called by the other one's name, which its messages begin
with.
"""

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.support import library
from tests.support.project import ROOT

COMMANDS = ("predict", "filter", "learn", "explain", "top", "info")  # that both have
PROGRAMS = [
    "streamptron",
    pytest.param("spt", marks=[library.needs_compiler, pytest.mark.once]),
]
SOURCES = sorted((ROOT / "program").glob("*.c"))


def both(test):
    """Run a test with each of the two programs."""
    marked = pytest.mark.parametrize("program", PROGRAMS, indirect=True)(test)
    return pytest.mark.usefixtures("program")(marked)


@functools.cache
def spt(*flags):
    """The program, compiled once; with flags as under these, those of a sanitizer. Or the one that
    the environment's SPT names.
    """
    if "SPT" in os.environ and not flags:
        folder = Path(tempfile.mkdtemp(prefix="spt"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        (folder / "streamptron").symlink_to(Path(os.environ["SPT"]).resolve())
        return folder / "streamptron"
    compiler = tuple(library.sanitizer() if flags else library.COMPILER)
    folder = library.folder()
    made = library.compiled(compiler, flags) if flags else folder / "libstreamptron.a"
    path = folder / library.plain("spt", *flags) / "streamptron"
    path.parent.mkdir(exist_ok=True)
    with library.alone(path.parent.name) as first:
        if first:
            options = [*library.FLAGS, "-O1", "-D_GNU_SOURCE", *flags, f"-I{folder}"]
            files = [*map(str, SOURCES), str(made), "-lm"]
            library.called(*compiler, *options, *files, "-o", str(path))
    return path


def started(words, program):
    """What is started for some words: the program's own words, or None for Python's."""
    if program is None or not words or str(words[0]) not in COMMANDS:
        return None
    return [str(program), *map(str, words)]


def environment():
    """Of the other program: nothing of Python's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def fixture(request):
    return None if request.param == "streamptron" else Path(spt())
