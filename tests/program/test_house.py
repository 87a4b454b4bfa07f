"""program/ and sqlite/ are as their README.md say: their rooms and their order."""

import re

import pytest

from tests.support.project import ROOT
from tests.test_architecture import MOST_LINES, functions, listed

FOLDERS = [ROOT / "program", ROOT / "sqlite"]
# what every room includes
SHARED = {"streamptron", "commands", "extension"}


def files(folder):
    return sorted([*folder.glob("*.c"), *folder.glob("*.h")])


FILES = [path for folder in FOLDERS for path in files(folder)]

pytestmark = pytest.mark.once


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_room_is_listed_once(folder):
    names = listed(folder)
    assert len(names) == len(set(names))
    assert set(names) == {path.stem for path in files(folder)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_room_takes_from_those_below_it_alone(path):
    order = listed(path.parent)
    found = re.findall(r'^#include "([\w/]+)\.h"', path.read_text("utf-8"), re.M)
    for name in set(found) - {path.stem} - SHARED:
        assert order.index(name) > order.index(path.stem), name


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_nothing_depends_on_a_locale(path):
    assert not re.search(r"setlocale|<locale\.h>|<wchar\.h>|<ctype\.h>", path.read_text("utf-8"))


def test_functions_can_be_read_at_once():
    sizes = [found for path in FILES for found in functions(path)]
    assert len(sizes) > 100
    assert {name for name, size in sizes if size > MOST_LINES} == set()
