"""docs/sqlite.md: what its statements answer is what it shows."""

import re

import pytest

from tests.sqlite.test_table import twin
from tests.support import sqlite
from tests.support.extension import needs_sqlite, opened
from tests.support.library import needs_compiler
from tests.support.project import ROOT

pytestmark = [needs_sqlite, needs_compiler, pytest.mark.once]

PAGE = (ROOT / "docs" / "sqlite.md").read_text("utf-8")


def steps():
    """Statements, each with the lines that it is said to answer."""
    for block in re.findall(r"^```sql\n(.*?)^```", PAGE, re.M | re.S):
        statement, found = "", []
        for line in block.splitlines():
            if line.startswith("."):
                continue
            if line.startswith("-- "):
                found[-1][1].append(line[3:])
                continue
            statement += line + "\n" if line else ""
            if sqlite.is_complete(statement):
                found.append((statement, []))
                statement = ""
        assert not statement
        yield from found


def answered(db, statement):
    try:
        rows = db(statement)
    except sqlite.Error as error:
        return [f"Error: {error}"]
    return ["|".join("" if value is None else str(value) for value in row) for row in rows]


def test_the_statements_of_the_page_answer_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    twin().save("mail.model")
    found = list(steps())
    assert len(found) > 20
    with opened() as db:
        for statement, shown in found:
            assert answered(db, statement) == shown, statement
