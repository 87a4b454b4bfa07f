"""What `make sqlite` makes is loaded by whatever loads extensions."""

import shutil
import subprocess
import sys

import pytest

import streamptron.sqlite
from tests.support import library, sqlite
from tests.support.extension import needs_sqlite
from tests.support.library import needs_compiler
from tests.support.project import ROOT

pytestmark = [needs_sqlite, needs_compiler, pytest.mark.once]


@pytest.mark.slow
def test_what_is_built_stands_alone_and_shows_its_start_only(tmp_path):
    library.called(str(ROOT / ".ci" / "sqlite"), sys.executable, str(tmp_path), "-O0")
    path = tmp_path / "streamptron.so"
    with sqlite.Connection(":memory:", path) as db:
        db("CREATE VIRTUAL TABLE spam USING streamptron()")
        db("INSERT INTO spam(text, label) VALUES ('a prize', 'spam')")
        assert db.one("SELECT label FROM spam WHERE text MATCH 'prize'") == "spam"
    if shutil.which("nm"):
        names = library.called("nm", "-D", "--defined-only", str(path)).split()[2::3]
        assert names == ["sqlite3_streamptron_init"]
    if shutil.which("sqlite3"):
        script = f".load {path.with_suffix('')}\nSELECT streamptron_version();\n"
        run = subprocess.run(["sqlite3"], input=script, capture_output=True, text=True)
        assert run.stdout.strip(), run.stderr


def test_the_package_says_where_it_is_or_that_it_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(streamptron.sqlite, "__file__", str(tmp_path / "sqlite.py"))
    with pytest.raises(FileNotFoundError, match="install it with STREAMPTRON_SQLITE=1"):
        streamptron.sqlite.path()
    (tmp_path / "streamptron.so").touch()
    assert streamptron.sqlite.path() == str(tmp_path / "streamptron.so")
