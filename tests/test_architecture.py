"""The house is as it is drawn: its rooms are listed, and take only from what is below them.

ARCHITECTURE.md draws it, a README.md in each folder lists the rooms, rooms.toml has the order.
"""

import ast
import re
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.support.project import ROOT

PACKAGE = ROOT / "streamptron"
ENGINE = PACKAGE / "engine"
RULES = tomllib.loads((ROOT / "tests" / "rooms.toml").read_text("utf-8"))

SYSTEM = RULES["engine"]["system"]["rooms"]  # which ask something of the operating system

MOST_ARROWS = 15  # out of a room
MOST_AT_THE_TOP = 20  # files and folders
MOST_LINES = 70  # of a function in C


def room(path, base=PACKAGE):
    """What a file is called here: its folder and name, without the extension."""
    return path.relative_to(base).with_suffix("").as_posix()


C = sorted(path for kind in ("c", "h") for path in ENGINE.rglob(f"*.{kind}"))
MODULES = sorted(
    path
    for kind in ("py", "pyx", "pxd", "h")
    for path in PACKAGE.rglob(f"*.{kind}")
    if path not in C
)
REST = [path for path in MODULES if path.stem != "__init__"]


@cache
def code(path):
    """A file without comments, docstrings and texts."""
    text = path.read_text("utf-8")
    if path.suffix in (".c", ".h"):
        includes = re.sub(r"/\*(.|\n)*?\*/", "", text)
        return re.sub(r'(?<!include )"(\\.|[^"\\\n])*"', '""', includes)
    text = re.sub(r'"""(.|\n)*?"""', "", text)
    return re.sub(r"#.*|\"[^\"\n]*\"", "", text)


# --- Lists


def listed(folder):
    """The rooms that a folder's README.md lists, a line each, in its order."""
    text = (folder / "README.md").read_text("utf-8")
    heads = re.findall(r"^\* ([^:\n]*):", text, re.M)
    return [name.split(".")[0] for name in re.findall(r"`([\w.]+)`", " ".join(heads))]


FOLDERS = sorted({path.parent for path in [*C, *REST]})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: room(path, ROOT))
def test_every_room_is_listed_once_in_its_folder(folder):
    names = listed(folder)
    assert len(names) == len(set(names))
    assert set(names) == {path.stem for path in [*C, *REST] if path.parent == folder}


def test_the_page_names_every_folder():
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    for folder in FOLDERS:
        assert f"`{folder.name}/`" in page, folder


def test_every_wing_has_an_invariant():
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    items = [" ".join(item.split()) for item in re.findall(r"^\* .*\n(?:  .*\n)*", page, re.M)]
    for wing in {path.parent.name for path in C} - {"engine"}:
        (item,) = [each for each in items if f"**`{wing}/`**" in each]
        assert "Architecture invariant: " in item, wing


# --- Arrows


def c_includes(path):
    """Our headers that a C file includes, as rooms of the engine."""
    found = re.findall(r'#include "([\w/]+)\.[ch]"', code(path))
    return {name for name in found if name != room(path, ENGINE)}


def c_arrows():
    """{room of the engine: rooms that its .c and .h include}"""
    arrows = {}
    for path in C:
        arrows.setdefault(room(path, ENGINE), set()).update(c_includes(path))
    return {name: found - {name} for name, found in arrows.items()}


def python_imports(path):
    """Our modules that a Python file imports, be it only for types or when a function is called."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from imported(alias.name)
        elif isinstance(node, ast.ImportFrom):
            yield from imported(node.module, [alias.name for alias in node.names])


def imported(module, names=()):
    """The rooms of an import: a folder's own names are those of its __init__."""
    if module.partition(".")[0] == "streamptron":
        place = module.replace(".", "/").removeprefix("streamptron").strip("/")
        inner = [f"{place}/{name}".strip("/") for name in names]
        found = [name for name in inner if name in ROOMS]
        yield from found
        if len(found) < len(inner) or not inner:
            yield place if place in ROOMS else f"{place}/__init__".strip("/")


def cython_imports(path):
    """The same of a Cython file: what it cimports, imports and includes."""
    text = path.read_text("utf-8")
    pattern = r"^ *from (streamptron[\w.]*) c?import (\([^)]*\)|.*)"
    for module, names in re.findall(pattern, text, re.M):
        found = [name.split()[0] for name in names.strip("()").split(",") if name.strip()]
        yield from imported(module, found)
    yield from headers(path, r'extern from "([\w/]+)\.h"')


def headers(path, pattern):
    """Our headers that a file includes: they lie beside it, or in the engine."""
    for header in re.findall(pattern, path.read_text("utf-8")):
        yield f"{path.parent.name}/{header}" if path.parent != ENGINE else f"engine/{header}"


ROOMS = {room(path) for path in [*C, *MODULES]}


def arrows(path):
    """The rooms above the engine's C that a file takes from, and what it takes of the engine."""
    if path.suffix == ".py":
        found = python_imports(path)
    elif path.suffix == ".h":
        found = headers(path, r'#include "([\w/]+)\.h"')
    else:
        found = cython_imports(path)
    return {name for name in found if name in ROOMS} - {room(path)}


def folder(name):
    """The folder of a room; ".": it has none of its own."""
    return name.rpartition("/")[0] or "."


def test_every_folder_of_the_engine_is_a_floor():
    floors = RULES["engine"]["floors"]
    assert sorted(floors) == sorted({folder(name) for name in c_arrows()})


def rises(arrows, floors, of=folder):
    """The arrows from a room to one of a folder that comes later in the list."""
    floor = {name: number for number, name in enumerate(floors)}
    return {
        f"{name} takes {other}"
        for name, found in arrows.items()
        for other in found
        if floor[of(other)] > floor[of(name)]
    }


def circle(arrows):
    """Rooms each of which takes from the next, and the last from the first; None: there are none.

    The folders' order keeps circles within a folder.
    """
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return error.args[1]


def test_rooms_of_the_engine_include_only_what_is_below_them():
    assert not rises(c_arrows(), RULES["engine"]["floors"])
    assert circle(c_arrows()) is None


def test_a_rise_and_a_circle_are_found():
    assert rises({"a/x": {"b/y"}, "b/y": {"a/z"}}, ["a", "b"]) == {"a/x takes b/y"}
    assert circle({"a/x": {"a/y"}, "a/y": {"a/z"}, "a/z": set()}) is None
    assert set(circle({"a/x": {"a/y"}, "a/y": {"a/z"}, "a/z": {"a/x"}})) == {"a/x", "a/y", "a/z"}


STOREYS = RULES["package"]["floors"]


def storey(name):
    """The folder of a room of the package; a room that stands in none is one itself."""
    return name.partition("/")[0]


@cache
def package_arrows():
    """{room of the package: rooms that it takes from}, the engine's C left out."""
    found = {}
    for path in MODULES:
        found.setdefault(room(path), set()).update(arrows(path))
    return found


def test_every_folder_of_the_package_is_a_floor():
    assert sorted(STOREYS) == sorted({storey(name) for name in package_arrows()})


def test_rooms_of_the_package_take_only_from_what_is_below_them():
    assert not rises(package_arrows(), STOREYS, storey)
    assert circle(package_arrows()) is None


def test_imports_of_every_kind_are_arrows():
    arrows = package_arrows()
    assert "estimator/batches" in arrows["estimator/learner"]  # for types, and within functions
    assert "doors/gate" in arrows["doors/_core"]  # cimported
    assert "engine/exchange/join" in arrows["engine/exchange"]
    assert {"common/names", "common/compiled"} <= arrows["__init__"]
    assert {"files/__init__"} <= arrows["command/mail"]


def test_few_things_stand_at_the_top_of_the_package():
    ours = [path for path in PACKAGE.iterdir() if path.suffix not in (".so", ".pyd")]
    assert len([path for path in ours if path.name != "__pycache__"]) <= MOST_AT_THE_TOP


def test_no_door_includes_the_loops():
    seen, left = set(), []
    for path in ENGINE.glob("*.pxd"):
        left += re.findall(r'extern from "([\w/]+\.h)"', path.read_text("utf-8"))
    while left:
        header = left.pop()
        if header not in seen:
            seen.add(header)
            left += re.findall(r'#include "([\w/]+\.h)"', code(ENGINE / header))
    for name in RULES["engine"]["inner"]["rooms"]:
        inner = {each for each in c_arrows() if f"{each}/".startswith(f"{name}/")}
        assert inner
        assert not seen & {f"{each}.h" for each in inner}


# which include rooms so that they are compiled as one file
WHOLE = {"streamptron", "library/library", *(path.stem for path in ENGINE.glob("part_*.c"))}


def test_few_arrows_leave_a_room():
    out = {f"engine/{name}": found for name, found in c_arrows().items() if name not in WHOLE}
    for path in REST:
        if path.parent != ENGINE:  # whose declarations say again what the headers say
            out.setdefault(room(path), set()).update(arrows(path))
    many = {name: len(found) for name, found in out.items() if len(found) > MOST_ARROWS}
    assert set(many) == set(RULES["arrows"]), many


def test_every_room_of_the_engine_is_in_one_part_which_the_one_file_includes():
    parts = sorted(ENGINE.glob("part_*.c"))
    whole = re.findall(r'include "(.*)\.c"', code(ENGINE / "streamptron.c"))
    assert sorted(whole) == [path.stem for path in parts]
    rooms = [name for path in parts for name in re.findall(r'include "(.*)\.c"', code(path))]
    library = ENGINE / "library"
    assert sorted(rooms) == sorted(
        room(path, ENGINE)
        for path in C
        if path.suffix == ".c" and library not in path.parents and path.stem not in WHOLE
    )


MACHINES = RULES["engine"]["machines"]


def test_the_verbs_of_a_machine_are_called_through_its_table():
    wings = MACHINES["folders"]
    others = {
        each
        for name, found in c_arrows().items()
        if folder(name) not in ("machine", *wings) and name not in WHOLE
        for each in found
    }
    assert {each for each in others if folder(each) in wings} == set(MACHINES["open"])


# --- What a room does not say


FOREIGN = RULES["engine"]["foreign"]


@pytest.mark.parametrize("name", FOREIGN)
def test_a_room_does_not_name_what_it_knows_nothing_of(name):
    paths = [path for path in C if f"{room(path, ENGINE)}/".startswith(f"{name}/")]
    assert paths
    for path in paths:
        found = re.search(FOREIGN[name], re.sub(r"#include.*", "", code(path)))
        assert found is None, f"{room(path, ENGINE)} says {found.group(0)}"


def test_one_folder_asks_which_machine_a_learner_is():
    others = [path for path in C if path.parent.name not in MACHINES["folders"]]
    said = {room(path, ENGINE) for path in others if re.search(MACHINES["names"], code(path))}
    assert {name if name in MACHINES["rooms"] else folder(name) for name in said} == set(
        MACHINES["rooms"]
    )


def test_the_engine_needs_no_interpreter_and_prints_nothing():
    for path in C:
        text = code(path)
        assert not re.search(r"Python\.h|PyObject|\bPy_", text), path
        if room(path, ENGINE) not in SYSTEM:
            assert not re.search(r"<(stdio|assert|signal|setjmp|locale|errno|time)\.h>", text), path
        assert not re.search(r"\b(abort|exit|_Exit|printf|puts|assert)\s*\(", text), path


def test_the_engine_keeps_nothing_of_its_own():
    state = RULES["engine"]["state"]
    # not `extern "C" {`, of which `code` leaves the quotes
    variable = re.compile(r'^ *(?:static|extern)(?! *inline| "")(?![^;={]*\()[^;={]*[;={\[]', re.M)
    found = {}
    for path in C:
        for line in variable.findall(re.sub(r"^ *#.*", "", code(path), flags=re.M)):
            if not re.search(r"\bconst\b[^*]*$", line):
                found.setdefault(room(path, ENGINE), line)
    assert set(found) <= set(state), found


def test_all_memory_of_ours_in_c_comes_from_one_room():
    calls = re.compile(
        r"(?<!->)\b((m|c|re|aligned_)alloc|free|mmap|munmap|posix_memalign|new)\s*\("
    )
    for path in [*C, *(path for path in REST if path.suffix == ".h")]:
        if room(path) != "engine/memory/heap":
            found = {call[0].rstrip("( ") for call in calls.finditer(code(path))}
            if room(path, PACKAGE).removeprefix("engine/") in SYSTEM:
                found -= {"mmap", "munmap"}  # of files
            assert not found, path
    for path in REST:
        if path.suffix in (".pxd", ".pyx"):
            # so malloc and its kind can only be those of engine/memory
            assert not re.search(r"libc\.stdlib|stdlib\.h|cpython\.mem", code(path)), path


def test_what_cython_takes_of_the_engine_needs_no_lock():
    functions = 0
    for path in ENGINE.glob("*.pxd"):
        text = code(path)
        for block in re.findall(r"^cdef extern from.*:$", path.read_text("utf-8"), re.M):
            assert block.endswith(" nogil:"), f"{path.name}: {block}"
        for line in re.findall(
            r"^(?:cdef|   ) (?!ctypedef|enum)[^\n(]*\((?:[^)]*)\)[^\n]*", text, re.M
        ):
            if "extern" not in line:
                assert "noexcept" in line, f"{path.name}: {line}"
                functions += 1
    assert functions > 150


def test_c_is_in_files_which_an_editor_and_a_compilers_warnings_know():
    for path in REST:
        if path.suffix in (".pxd", ".pyx"):
            assert "extern from *" not in path.read_text("utf-8"), path.name


# --- Size


def functions(path):
    """(name, lines of code) of the functions of a C file."""
    text = code(path)
    for found in re.finditer(
        r"^[A-Za-z][^;{}#]*?\b(\w+)\([^;{}]*\)\n\{\n((?:.*\n)*?)\}$", text, re.M
    ):
        yield found[1], sum(bool(line.strip()) for line in found[2].splitlines())


def test_functions_of_the_engine_can_be_read_at_once():
    sizes = [found for path in C for found in functions(path)]
    assert len(sizes) > 400
    assert {name for name, size in sizes if size > MOST_LINES} == set(RULES["engine"]["long"])
