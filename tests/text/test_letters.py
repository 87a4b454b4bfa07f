"""The table of letters is its generator's, of one Unicode version, whatever Python runs."""

import subprocess
import sys
import unicodedata

import pytest

from streamptron import Tokenizer
from streamptron.engine.api import UNICODE
from tests.support.letters import ASSIGNED, VERSION, known_alike
from tests.support.project import ROOT
from tests.support.tokenized import check
from tests.twin.text import UNSEEN

FILES = {
    "letters.py": ("streamptron/engine/names/letters.c", "tests/text/assigned.txt"),
    "composing.py": ("streamptron/engine/names/compose_table.h",),
}


def test_table_and_list_of_assigned_code_points_are_of_one_version():
    assert UNICODE == VERSION
    assert len(ASSIGNED) > 280_000


@pytest.mark.skipif(
    unicodedata.unidata_version != VERSION, reason="this Python knows another Unicode version"
)
@pytest.mark.parametrize("tool", FILES)
def test_generator_writes_the_files_that_are_here(tool, tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / tool, tmp_path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count(f": Unicode {VERSION}\n") == len(FILES[tool])
    for name in FILES[tool]:
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes(), name
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == len(FILES[tool])


def test_most_code_points_are_known_alike_and_all_by_a_python_of_the_same_version():
    unlike = sum(not known_alike(code) for code in range(0x110000))
    assert unlike < 20_000
    assert unlike == 0 or unicodedata.unidata_version != VERSION


def test_what_the_table_has_not_assigned_is_no_letter_whatever_this_python_says():
    words = Tokenizer()
    characters = Tokenizer(analyzer="char")
    unknown = [chr(code) for code in range(0x110000) if code not in ASSIGNED | UNSEEN]
    for first in range(0, len(unknown), 256):
        text = "".join(unknown[first : first + 256])
        assert len(words.transform_one(text)) == 0
        assert list(characters.transform_one(text)) == list(text)


def test_letters_of_the_tables_version_are_known_to_every_python_and_no_later_ones():
    # the nukta of Telugu is of Unicode 14.0; Kawi and Nag Mundari, of 15.0, Python 3.11 lacks
    assert list(Tokenizer().transform_one("a\u0c3cb \U00011f04\U0001e4d0")) == [
        "a\u0c3cb",
        "\U00011f04\U0001e4d0",
    ]
    # Garay is of 16.0, and has capitals
    assert list(Tokenizer().transform_one("a\U00010d50b")) == ["a", "b"]
    (kept,) = Tokenizer(analyzer="char").transform_one("\U00010d50")
    assert kept == "\U00010d50"


def test_separators_are_in_lower_case_as_the_text_is():
    changing = [c for c in map(chr, filter(known_alike, range(0x110000))) if c.lower()[0] != c]
    assert len(changing) > 1400
    for c in changing:
        for lowercase in (True, False):
            text = f"x{c}y{c.lower()[0]}z"
            check(text, separators=c, lowercase=lowercase, value="count")
