"""Turns of phrase that a native engineer would not write are kept out of what people read.

That is pages, comments, docstrings, messages, help and manual pages; code's own names are free.
"""

import re

import pytest

from tests.support.project import ROOT

pytestmark = pytest.mark.once  # another Python would say the same

# A space in a pattern may be the end of a line, or of a string that goes on.
WORDS = {
    "is no X (is not an X)": r"(?<!\bthere\s)\b(?:is|are|was|were) no "
    r"(?!(?:longer|more|less|fewer|larger|smaller|better|worse|slower|different)\b)[a-z{%]",
    "none of such (not one of these)": r"\bnone of such\b",
    "that are none (invalid)": r"\b(?:that|which) (?:is|are|was|were) none\b",
    "nobody (no other thread, not)": r'(?<![=".])\b(?:no|any)body\b',
    "speaks for (counts towards)": r"\b(?:speaks?|spoke|speaking|spoken)(?: most)? for\b",
    "of before (earlier)": r"\bof before\b",
    "told (got, was given, is informative)": r"\btold\b",
}
SPACE = r'(?:\s|"\s*f?")+'
STRING = r'"(?:\\.|[^"\\\n])*"'
C = re.compile(rf"/\*.*?\*/|//[^\n]*|{STRING}", re.S)
PYTHON = re.compile(rf"#[^\n]*|\"\"\".*?\"\"\"|'''.*?'''|{STRING}|'(?:\\.|[^'\\\n])*'", re.S)
CODE = re.compile(r"`[^`\n]*`")
CODE_OF_PAGES = re.compile(r"^```.*?^```|`[^`]*`", re.S | re.M)
KINDS = {
    **dict.fromkeys((".c", ".h"), C),
    **dict.fromkeys((".py", ".pyi", ".pyx", ".pxd"), PYTHON),
    **dict.fromkeys((".md", ".1", ""), None),
}
FOLDERS = (
    *(".ci", "benchmarks", "docs", "examples", "fuzz", "journeys", "packaging", "program"),
    *("sqlite", "streamptron", "tests", "tools"),
)


def name(path):
    return path.relative_to(ROOT).as_posix()


FILES = sorted(
    path
    for path in [
        *(path for path in ROOT.iterdir() if path.name not in ("LICENSE", "PKG-INFO")),
        *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*")),
    ]
    if path.is_file()
    and path.suffix in KINDS
    and not path.name.startswith(".")
    and "corpus" not in path.parts
    and path.name != "test_english.py"
)


def blank(code):
    """As many lines without a word."""
    return re.sub(r"[^\n]", " ", code)


def prose(text, kind):
    """What people read of a file, on the lines where it stands."""
    if kind is None:
        return CODE_OF_PAGES.sub(lambda found: blank(found[0]), text)
    parts, at = [], 0
    for found in kind.finditer(text):
        read = re.sub(r"(?<=[\s/*])[*#]+(?=\s)|^#", " ", found[0])  # a comment's own marks
        parts += [blank(text[at : found.start()]), CODE.sub(lambda m: blank(m[0]), read)]
        at = found.end()
    return "".join([*parts, blank(text[at:])])


def accents(text, suffix=".md"):
    """Which turns of phrase a file's text has, each with its line."""
    text = prose(text, KINDS[suffix])
    for what, pattern in WORDS.items():
        for found in re.finditer(pattern.replace(" ", SPACE), text, re.I):
            yield text.count("\n", 0, found.start()) + 1, what


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("The key x is no option.", ".md"),
        ("columns that\nare no ints", ".md"),
        ("raise ValueError(f'{name} is no step')", ".py"),
        ('"""What it is told."""', ".pyi"),
        ("# words\n# that is\n# no gap", ".pyx"),
        ("/* steps of before */", ".h"),
        ('char *s = "a row has entries that are none";', ".c"),
        ("Nobody reads it.", ".1"),
        ("It speaks for spam.", ""),
        ('raise ValueError(\n    "x is no "\n    f"{y}"\n)', ".py"),
    ],
)
def test_a_turn_of_phrase_would_be_found(text, suffix):
    assert len([*accents(text, suffix)]) == 1


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("There is no file. It is no longer there. `is no X`", ".md"),
        ("told = nobody", ".py"),
        ('print("there are no lines")', ".py"),
        ("w->told = 1; /* the labels */", ".c"),
    ],
)
def test_plain_english_and_the_names_of_code_pass(text, suffix):
    assert [*accents(text, suffix)] == []


def test_the_files_are_found():
    found = {name(path) for path in FILES}
    assert {"README.md", "CHANGELOG.md", "docs/learning.md", "docs/streamptron.1"} <= found
    assert {
        "streamptron/learners/registry.py",
        "streamptron/engine/machine/machine.h",
        ".ci/run",
    } <= found


def test_what_people_read_is_plain_english():
    found = [
        f"{name(path)}, line {line}: {what}"
        for path in FILES
        for line, what in accents(path.read_text("utf-8"), path.suffix)
    ]
    assert found == []
