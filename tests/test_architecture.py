"""ARCHITECTURE.md's table of rooms is true: it names them all, and they import downwards only."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "streamptron"


def rooms():
    """The names of the table's rows from top to bottom, without extensions: [{folder/name}]."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    table = text[text.index("| room |") :].split("\n\n")[0]
    rows = [row.split("|")[1] for row in table.splitlines()[2:]]
    # "`_core.pyx` `.pxd` `.pyi`" is one file's name and two extensions
    return [{file.split(".")[0] for file in re.findall(r"`([\w./]+)`", row)} - {""} for row in rows]


LEVEL = {name: level for level, names in enumerate(rooms()) for name in names}


def room(path):
    """What the table calls a file: its folder and name."""
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def python_imports(path):
    """Our modules that a Python file imports, be it only when a function is called."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and "streamptron" in node.module:
            module = node.module.replace(".", "/").removeprefix("streamptron").strip("/")
            inside = [f"{module}/{alias.name}".strip("/") for alias in node.names]
            yield from (name for name in (module, *inside) if name in LEVEL)


def cython_imports(path):
    """The same of a Cython file: what it cimports, imports and includes."""
    text = path.read_text("utf-8")
    for name in re.findall(r"^ *from streamptron\.([\w.]+) c?import", text, re.M):
        yield name.replace(".", "/")
    for name in re.findall(r'extern from "(\w+)\.h"', text):
        if name in LEVEL:  # else the system's
            yield name


FILES = sorted(path for kind in ("py", "pyx", "pxd", "h") for path in PACKAGE.rglob(f"*.{kind}"))


def imports(path):
    if path.suffix == ".py":
        return list(python_imports(path))
    if path.suffix == ".h":
        return re.findall(r'#include "(\w+)\.h"', path.read_text())
    return list(cython_imports(path))


def test_every_room_is_in_the_table_once():
    listed = [name for names in rooms() for name in names]
    assert len(listed) == len(set(listed))
    found = {room(path) for path in FILES if path.stem != "__init__"}
    assert found == set(listed)


@pytest.mark.parametrize("path", FILES, ids=room)
def test_a_room_imports_only_rooms_below_it(path):
    if path.stem == "__init__":  # hands out what users import
        return
    here = room(path)
    for name in imports(path):
        # what shares a row may know each other
        assert LEVEL[name] >= LEVEL[here], f"{path.name} imports {name}, which is above it"


def code(path):
    """A C or Cython file without comments, docstrings and texts."""
    text = path.read_text("utf-8")
    text = re.sub(r'"""(.|\n)*?"""', "", text)
    text = re.sub(r"/\*(.|\n)*?\*/", "", text)
    return re.sub(r"#(?!include|define|if|el|en|error).*|\"[^\"\n]*\"", "", text)


# Words that a room's code must not have: what ARCHITECTURE.md says it knows nothing of.
FOREIGN = {
    "_calibrate": r"\b(Key|Index|Table|row_t)\b",
    "_serve": r"\b(Key|Index|row_t)\b",
    "_rule": r"\b(Key|Index|Table|row_t|AVERAGE_\w+)\b",
    "_table": r"\b(Rule|RULE_\w+|label)\b",
    "_verdict": r"\b(Table|row_t)\b",
    "_step": r"\b(Rule|RULE_\w+)\b",
    "_index": r"\b(Table|Rule|label|weight)\b",
    "_matrix": r"\b(Learner|Table|label)\b",
    "_lines": r"\b(Word|Text)\b",
    "_event": r"\b(Table|Rule)\b",
    "_places": r"\b(Key|Block|Table)\b",
    "_hash": r"\bTable\b",
}


@pytest.mark.parametrize("room", FOREIGN)
def test_a_room_does_not_name_what_it_knows_nothing_of(room):
    found = re.search(FOREIGN[room], code(PACKAGE / f"{room}.pxd"))
    assert found is None, f"{room}.pxd says {found.group(0)}"


def test_only_the_doors_hold_the_interpreters_lock():
    head = re.compile(r"^cdef (?:inline )?[^\n(]*\([^)]*\)([^:\n]*):$", re.M)
    heads = 0
    for path in sorted(PACKAGE.glob("_*.pxd")):
        if path.stem not in ("_core", "_entry"):
            for found in head.finditer(code(path)):
                assert found.group(1).strip() == "noexcept nogil", f"{path.name}: {found.group(0)}"
                heads += 1
    assert heads > 200
