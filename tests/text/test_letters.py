"""The table of letters is its generator's, of one Unicode version, whatever Python runs."""

import random
import subprocess
import sys
import unicodedata

import pytest

from streamptron import Tokenizer
from streamptron.engine.api import UNICODE
from tests.support.marks import seeds
from tests.support.project import ROOT
from tests.support.texts import random_composed, random_text
from tests.support.tokenized import check
from tests.twin import unicode as twin
from tests.twin.text import UNSEEN
from tests.twin.unicode import ASSIGNED, VERSION

FILES = {
    "letters.py": ("streamptron/engine/names/letters.c", "tests/twin/unicode.txt"),
    "composing.py": ("streamptron/engine/names/compose_table.h",),
}


def test_table_and_list_of_assigned_code_points_are_of_one_version():
    assert UNICODE == VERSION
    assert len(ASSIGNED) > 280_000


@pytest.mark.slow
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


def test_the_twin_says_what_this_python_does_of_what_both_know():
    unlike = sum(not twin.is_known_alike(chr(code)) for code in range(0x40000))
    assert unlike < 20_000
    assert unlike == 0 or unicodedata.unidata_version != VERSION
    for c in filter(twin.is_known_alike, map(chr, (*range(0x12000), *range(0x1D000, 0x20000)))):
        assert twin.category(c) == unicodedata.category(c), ascii(c)
        assert twin.combining(c) == unicodedata.combining(c), ascii(c)
        assert twin.is_letter_or_digit(c) == c.isalnum(), ascii(c)


@seeds(8)
def test_the_twin_composes_as_this_python_does_what_both_know(seed):
    rng = random.Random(seed)
    for _ in range(200):
        text = "".join(filter(twin.is_known_alike, random_composed(rng) + random_text(rng)))
        for form in ("NFD", "NFKD"):
            apart = twin.ordered("".join(twin.parts(form, c) for c in text))
            assert apart == unicodedata.normalize(form, text)
            assert twin.joined(apart) == unicodedata.normalize(form.replace("D", "C"), text)


def test_marks_are_in_order_if_the_table_knows_them_and_stay_if_it_does_not():
    # U+1AEB, of Unicode 17.0, and U+0897, of 16.0, are marks; U+1E08F is one since 15.0
    (kept,) = Tokenizer(separators="\n").transform_one("a\u1aeb\u0316\u0897\u0301\u0316")
    assert kept == "a\u1aeb\u0316\u0897\u0316\u0301"
    check("a\u1aeb\u0316\u0897\u0301\u0316", separators="\n")
    check("a\U0001e08f\u0316", separators="\n")


def test_what_the_table_has_not_assigned_is_no_letter_whatever_this_python_says():
    words = Tokenizer()
    characters = Tokenizer(analyzer="char")
    unknown = sorted(map(chr, {*range(0x110000)} - ASSIGNED - UNSEEN))
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
    changing = [c for c in map(chr, range(0x110000)) if twin.lower(c) != c]
    assert len(changing) > 1400
    for c in changing:
        for lowercase in (True, False):
            text = f"x{c}y{twin.lower(c)}z"
            check(text, separators=c, lowercase=lowercase, value="count")
