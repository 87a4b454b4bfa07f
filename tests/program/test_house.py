"""program/ is as its README.md says: its rooms and their order."""

import re

import pytest

from tests.support.project import ROOT
from tests.test_architecture import MOST_LINES, functions, listed

FOLDER = ROOT / "program"
FILES = sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.h")])

pytestmark = pytest.mark.once


def test_every_room_is_listed_once():
    names = listed(FOLDER)
    assert len(names) == len(set(names))
    assert set(names) == {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_room_takes_from_those_below_it_alone(path):
    order = listed(FOLDER)
    found = re.findall(r'^#include "([\w/]+)\.h"', path.read_text("utf-8"), re.M)
    for name in set(found) - {"streamptron", path.stem, "commands"}:
        assert order.index(name) > order.index(path.stem), name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_depends_on_a_locale(path):
    assert not re.search(r"setlocale|<locale\.h>|<wchar\.h>|<ctype\.h>", path.read_text("utf-8"))


def test_functions_can_be_read_at_once():
    sizes = [found for path in FILES for found in functions(path)]
    assert len(sizes) > 100
    assert {name for name, size in sizes if size > MOST_LINES} == set()
