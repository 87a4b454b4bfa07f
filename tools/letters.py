"""Write the engine's table of letters, from the Unicode tables of the Python that runs this.

    python3.13 tools/letters.py             # into this checkout
    python3.13 tools/letters.py FOLDER      # into another folder

It writes `streamptron/engine/names/letters.c`, and `tests/text/assigned.txt`, the code points that
the table's version of Unicode has assigned, by which the tests know what they may compare. Both
are kept in the repository, so that no build asks the Python that builds. A newer Unicode version
changes how texts are split: say so in CHANGELOG.md (docs/format.md, "Letters", has what it means
for models that are there).
"""

import unicodedata
from pathlib import Path

from options import options

ROOT = Path(__file__).resolve().parents[1]
N = 0x110000  # code points
PAGE = 8  # bits of a code point within its page; see names/letters.h
PLANES = 0x34000  # pages are listed up to here, and then that of the tags
TAGS = 0xE0100 >> PAGE  # the one page behind it that may differ from all others
BITS = 3  # and within its block
TABLE = Path("streamptron", "engine", "names", "letters.c")
ASSIGNED = Path("tests", "text", "assigned.txt")


def belongs(character):
    """Whether it belongs to words."""
    return (
        character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
    )


def lower(character):
    """Its lower case as one character, the first where there are several."""
    return character.lower()[0]


def parted(values, bits):
    """Lists of so many bits' values: which of the different ones comes where, and all of those."""
    found = {}
    size = 1 << bits
    numbers = [
        found.setdefault(tuple(values[at : at + size]), len(found))
        for at in range(0, len(values), size)
    ]
    assert len(found) <= 256, "the number of a list does not fit a byte"
    return numbers, [value for each in found for value in each]


def stages(values, bits, planes):
    """Of all code points' values three lists: pages, lists of blocks, and blocks of these bits."""
    numbers, blocks = parted(values, bits)
    pages, lists = parted(numbers, PAGE - bits)
    last = planes >> PAGE
    others = {page for at, page in enumerate(pages[last:], last) if at not in (TAGS - 1, TAGS)}
    assert len(others) == 1, "pages differ that are not listed"
    return [*pages[:last], pages[TAGS - 1], pages[TAGS], *others], lists, blocks


def letters():
    """Two lists: of each code point its letter; the steps.

    A letter is 2 * the number of the step from a code point to its lower case + whether it belongs
    to words.
    """
    numbers = {0: 0}  # of the steps
    found = []
    for code in range(N):
        character = chr(code)
        low = lower(character)
        # so that one look-up tells both
        assert belongs(low) == belongs(character), f"U+{code:04X}"
        step = numbers.setdefault(ord(low) - code, len(numbers))
        found.append(2 * step + belongs(character))
    assert max(found) < 256, "a letter does not fit a byte"
    return found, list(numbers)


def array(declaration, numbers):
    """A constant array of C."""
    lines, line = [f"{declaration} = {{"], "   "
    for number in numbers:
        if len(line) + len(f" {number},") > 100:
            lines.append(line)
            line = "   "
        line += f" {number},"
    return "\n".join([*lines, line, "};\n"])


def arrays(name, values, bits, planes=PLANES):
    """The three stages as C."""
    pages, lists, blocks = stages(values, bits, planes)
    yield array(f"const uint8_t {name}_pages[{len(pages)}]", pages)
    yield array(f"const uint8_t {name}_lists[{len(lists)}]", lists)
    yield array(f"const uint8_t {name}_blocks[{len(blocks)}]", blocks)


def table():
    """The text of letters.c."""
    found, steps = letters()
    return "\n".join(
        [
            "/* Written by tools/letters.py: names/letters.h says what it is. */\n",
            '#include "names/letters.h"\n',
            "/* clang-format off */\n",
            f'const char sp_letters_unicode[] = "{unicodedata.unidata_version}";\n',
            *arrays("sp_letters", found, BITS),
            array(f"const int32_t sp_letters_steps[{len(steps)}]", steps),
        ]
    )


def assigned():
    """The text of assigned.txt."""
    lines = [f"Unicode {unicodedata.unidata_version}: assigned code points, first to last"]
    first = None
    for code in range(N + 1):
        there = code < N and unicodedata.category(chr(code)) != "Cn"
        if there and first is None:
            first = code
        elif not there and first is not None:
            lines.append(f"{first:X} {code - 1:X}")
            first = None
    return "\n".join(lines) + "\n"


def main(folder):
    for path, text in ((TABLE, table()), (ASSIGNED, assigned())):
        path = folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path}: Unicode {unicodedata.unidata_version}")


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT, metavar="FOLDER")
    main(parser.parse_args().folder)
