"""The SQLite extension, built once, and databases with it."""

import functools
import subprocess

import pytest

from tests.support import library, sqlite
from tests.support.library import COMPILER
from tests.support.project import ROOT

FOLDER = ROOT / "sqlite"


@functools.cache
def missing():
    """What is not on this machine, or an empty text."""
    if not library.HAS_COMPILER:
        return "there is no C compiler to build the extension with"
    words = [*COMPILER, "-E", "-x", "c", "-"]
    tried = subprocess.run(words, input=b"#include <sqlite3ext.h>", capture_output=True)
    try:
        sqlite.sqlite()
        there = tried.returncode == 0
    except OSError:
        there = False
    return "" if there else "SQLite's headers are not here: apt-get install libsqlite3-dev"


needs_sqlite = pytest.mark.skipif(bool(missing()), reason=missing() or "it is there")


@functools.cache
def extension(*flags):
    """The extension, compiled once and linked with the library; with flags as under these, those of
    a sanitizer.
    """
    compiler = library.sanitizer() if flags else COMPILER
    folder = library.folder()
    path = folder / library.plain("sqlite", *flags) / "streamptron.so"
    path.parent.mkdir(exist_ok=True)
    rest = [str(folder / "libstreamptron.so.0"), f"-Wl,-rpath,{folder}"]
    with library.alone(path.parent.name) as first:
        if first:
            options = [*library.FLAGS, "-O1", "-fPIC", "-fvisibility=hidden", "-shared", *flags]
            files = [*map(str, sorted(FOLDER.glob("*.c"))), *rest, "-lm"]
            library.called(*compiler, *options, f"-I{folder}", *files, "-o", str(path))
    return path


def opened(path=":memory:"):
    """A database with the extension."""
    return sqlite.Connection(path, extension())
