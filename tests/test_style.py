"""What is asked of every file, and no linter asks."""

import ast
import re
import tokenize

import pytest

from tests.support.project import ROOT
from tools import lines

pytestmark = pytest.mark.once  # another Python would say the same

MOST_LINES = 900  # of a file
GENERATED = {"streamptron/engine/names/letters.c"}  # by tools/letters.py
MOST_COLUMNS = 100

# The folders and files that are written by hand; what builds leave is not.
WRITTEN = (
    ".ci",
    ".github",
    "benchmarks",
    "docs",
    "examples",
    "fuzz",
    "program",
    "sqlite",
    "streamptron",
    "tests",
    "tools",
)
PROSE_AND_CODE = (".c", ".in", ".md", ".py", ".pyi", ".toml", ".yml", "")
CORE = (".h", ".pxd", ".pyx")

FILES = sorted(
    path
    for path in [
        *(path for path in ROOT.iterdir() if path.name != "LICENSE"),
        *(path for folder in WRITTEN for path in (ROOT / folder).rglob("*")),
    ]
    if path.is_file()
    and path.suffix in PROSE_AND_CODE + CORE
    and not path.name.startswith(".")
    and not path.is_relative_to(ROOT / "fuzz" / "corpus")
)
PYTHON = [path for path in FILES if path.suffix == ".py"]


def name(path):
    return path.relative_to(ROOT).as_posix()


def edits_the_path(tree):
    """Lines that change sys.path, by a method or by an assignment."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            places = [node.func.value]
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
            targets = node.targets if hasattr(node, "targets") else [node.target]
            places = [getattr(target, "value", target) for target in targets] + targets
        else:
            continue
        if "sys.path" in map(ast.unparse, places):
            yield node.lineno


def test_the_files_are_found():
    found = {name(path) for path in FILES}
    assert {".ci/run", "Makefile", "README.md", "docs/learning.md", "pyproject.toml"} <= found
    assert {"benchmarks/common.py", "fuzz/operations.py", "tests/test_style.py"} <= found
    assert len(PYTHON) > 100


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_line_is_too_long_but_a_tables(path):
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if path.suffix == ".md" and line.startswith("|"):
            continue
        assert len(line) <= MOST_COLUMNS, f"{name(path)}, line {number}: {len(line)} columns"


@pytest.mark.parametrize("folder", ["program", "streamptron", "tests"])
def test_no_file_is_too_long_to_be_read_at_once(folder):
    sizes = {name(path): path.read_text("utf-8").count("\n") for path in FILES}
    sizes = {path: size for path, size in sizes.items() if path.startswith(f"{folder}/")}
    assert len(sizes) > 50
    assert {
        path: size for path, size in sizes.items() if size > MOST_LINES and path not in GENERATED
    } == {}


@pytest.mark.parametrize(
    "line",
    [
        *("sys.path.insert(0, 'tests')", "sys.path.append('x')", "sys.path[:0] = ['x']"),
        *("sys.path = ['x']", "sys.path += ['x']", "del sys.path[0]"),
    ],
)
def test_an_edit_of_the_path_would_be_found(line):
    assert list(edits_the_path(ast.parse(line))) == [1]


def test_no_code_edits_the_path():
    assert list(edits_the_path(ast.parse("path = os.pathsep.join(sys.path)"))) == []
    for path in PYTHON:
        with tokenize.open(path) as file:
            assert list(edits_the_path(ast.parse(file.read()))) == [], name(path)


def test_no_message_says_an_article_for_a_type_itself():
    """with_article and type_shown know whether it is "a" or "an"."""
    article = re.compile(r"\ban? \{[\w.()\[\]]*__name__\}")
    assert article.search('f"x is a {type(x).__name__}"')
    for path in (ROOT / "streamptron").rglob("*.py*"):
        if path.suffix in (".py", ".pyx"):
            assert article.findall(path.read_text("utf-8")) == [], name(path)


def test_lines_of_code_and_of_comments_are_told_apart():
    in_c = "int a; /* why\n   it is */\n\n// no\nint b; // b\n"
    assert lines.counted(in_c, lines.IN_C) == (2, 2)
    in_python = 'def f():\n    """Words,\n    more."""\n    # why\n    return 1  # one\n'
    assert lines.counted(in_python, lines.IN_PYTHON) == (2, 3)


def test_the_house_is_within_its_budget():
    assert 0 < lines.product(lines.table())["all"] <= lines.BUDGET
