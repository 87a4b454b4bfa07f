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
    for name, what in re.findall(r"^ *from streamptron\.([\w.]+) c?import (\w*)", text, re.M):
        name = name.replace(".", "/")
        yield f"{name}/{what}" if (PACKAGE / name).is_dir() else name
    yield from headers(path, r'extern from "(\w+)\.h"')


def headers(path, pattern):
    """Our headers that a file includes: they lie beside it, or in the engine."""
    for header in re.findall(pattern, path.read_text("utf-8")):
        for name in (f"{path.parent.name}/{header}", f"engine/{header}"):
            if name in LEVEL:  # else the system's
                yield name
                break


# What only hands on what another room has, to code that was written for an older layout.
ALIASES = {"_event", "_key", "_learner", "_pipeline"}

FILES = sorted(path for kind in ("py", "pyx", "pxd", "h") for path in PACKAGE.rglob(f"*.{kind}"))


def imports(path):
    if path.suffix == ".py":
        return list(python_imports(path))
    if path.suffix == ".h":
        return list(headers(path, r'#include "(\w+)\.h"'))
    return list(cython_imports(path))


def test_every_room_is_in_the_table_once():
    listed = [name for names in rooms() for name in names]
    assert len(listed) == len(set(listed))
    found = {room(path) for path in FILES if path.stem != "__init__"}
    assert found - ALIASES == set(listed)


@pytest.mark.parametrize("path", FILES, ids=room)
def test_a_room_imports_only_rooms_below_it(path):
    here = room(path)
    if path.stem == "__init__" or here in ALIASES:  # hands out what users import
        return
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
    "engine/calibrate": r"\b(Key|Index|Table|slot_t)\b",
    "engine/serve": r"\b(Key|Index|slot_t)\b",
    "engine/rule": r"\b(Key|Index|Table|slot_t|AVERAGE_\w+)\b",
    "engine/table": r"\b(Rule|RULE_\w+|label)\b",
    "engine/tables": r"\b(Rule|RULE_\w+|label)\b",
    "engine/verdict": r"\b(Table|slot_t)\b",
    "engine/step": r"\b(Rule|RULE_\w+)\b",
    "engine/index": r"\b(Table|Rule|label|weight)\b",
    "engine/segments": r"\b(Key|Index)\b",
    "engine/lookup": r"\b(Index|Table)\b",
    "engine/scan": r"\b(Key|Event|Index)\b",
    "engine/matrix": r"\b(Learner|Table|label)\b",
    "engine/lines": r"\b(Word|Text)\b",
    "engine/event": r"\b(Table|Rule)\b",
    "engine/places": r"\b(Key|Block|Table)\b",
    "engine/hash": r"\bTable\b",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_room_does_not_name_what_it_knows_nothing_of(name):
    found = re.search(FOREIGN[name], code(PACKAGE / f"{name}.pxd"))
    assert found is None, f"{name}.pxd says {found.group(0)}"


def test_c_is_in_headers_which_an_editor_and_a_compilers_warnings_know():
    for wing in ("engine", "doors"):
        for path in (PACKAGE / wing).rglob("*.p*"):
            if path.suffix in (".pxd", ".pyx"):
                assert "extern from *" not in path.read_text("utf-8"), path.name


def test_all_memory_of_ours_in_c_comes_from_one_room():
    calls = re.compile(r"\b((m|c|re|aligned_)alloc|mmap|posix_memalign|new)\s*\(")
    seen = 0
    for path in FILES:
        if path.stem == "heap":
            continue
        if path.suffix == ".h":
            assert not calls.search(code(path)), path.name
        elif path.suffix in (".pxd", ".pyx"):
            # so malloc and its kind can only be those of engine/heap.pxd
            assert not re.search(r"libc\.stdlib|stdlib\.h|cpython\.mem", code(path)), path.name
            seen += "engine.heap cimport" in code(path)
    assert seen > 5


def test_only_the_doors_hold_the_interpreters_lock():
    head = re.compile(r"^cdef (?:inline )?[^\n(]*\([^)]*\)([^:\n]*):$", re.M)
    heads = 0
    for path in sorted((PACKAGE / "engine").glob("*.pxd")):
        for found in head.finditer(code(path)):
            assert found.group(1).strip() == "noexcept nogil", f"{path.name}: {found.group(0)}"
            heads += 1
    assert heads > 200


ENGINE = sorted((PACKAGE / "engine").glob("*.pxd"))


@pytest.mark.parametrize("path", ENGINE, ids=room)
def test_a_room_opens_with_its_functions(path):
    opening, body = re.match(r"((?:#.*\n)+)((?:.|\n)*)", path.read_text("utf-8")).groups()
    listed = opening.partition("Functions in this file:")[2].partition("\n#\n")[0]
    names = set(re.findall(r"\w+", listed))
    functions = re.findall(r"^cdef inline [^\n(]*?(\w+)\(", body, re.M)
    missing = [name for name in functions if name not in names and not name.startswith("_")]
    assert not missing, f"the opening of {path.name} does not list {missing}"
    # C functions have their C name behind their own
    found = set(re.findall(r'\b(\w+)(?: "\w+")? ?\(', body))
    gone = [name for name in names if "_" in name and name not in found]
    assert not gone, f"{path.name} lists {gone}, which are not there"


def functions_taken(path):
    """(room, function) of all functions that a Cython file takes from rooms of the engine."""
    taken = re.findall(
        r"^from streamptron\.(engine\.\w+) cimport (\([^)]*\)|[^\n(]*)", code(path), re.M
    )
    for name, what in taken:
        for function in re.findall(r"\b[a-z]\w*", what):
            yield name.replace(".", "/"), function


def test_what_remembers_characters_is_compiled_once():
    # engine/scan.pxd keeps the characters it met in its module, so a door that compiled it again
    # would wait for ever for a page that is given to the other copy
    remembers = {"engine/scan"}
    for _ in range(5):
        for path in (PACKAGE / "engine").glob("*.pxd"):
            if room(path) != "engine/api" and any(
                name in remembers for name, function in functions_taken(path)
            ):
                remembers.add(room(path))
    assert {"engine/text", "engine/batch"} <= remembers
    for path in PACKAGE.rglob("*.pyx"):
        if room(path) != "engine/api":
            taken = [found for found in functions_taken(path) if found[0] in remembers]
            assert not taken, f"{path.name} compiles again what engine/api has"
