"""Write the engine's table of letters, from the Unicode tables of the Python that runs this.

    python3.13 tools/letters.py             # into this checkout
    python3.13 tools/letters.py FOLDER      # into another folder

It writes `streamptron/engine/names/letters.c`, and `tests/twin/unicode.txt`, the code points that
the table's version of Unicode has assigned, by which the twin knows as much as the table under
every Python. Both are kept in the repository, so that no build asks the Python that builds. A newer
Unicode version changes how texts are split: say so in CHANGELOG.md (docs/format.md, "Letters", has
what it means for models that are there).
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
PLANE = 0x10000  # of code points beyond nothing is composed
NEAR = 128  # lists from here on count blocks from FAR on; see sp_stages_at
FAR = 128
SPECIAL = 96  # the number of the first step of special letters
# What is not seen: Unicode's Default_Ignorable_Code_Point, but for the space U+200B, the fillers of
# Hangul, which are blank, and what is not assigned.
UNSEEN = {
    *(0x00AD, 0x034F, 0x061C, 0x17B4, 0x17B5, 0xFEFF),
    *range(0x180B, 0x1810),
    *range(0x200C, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE0200),
}
TABLE = Path("streamptron", "engine", "names", "letters.c")
ASSIGNED = Path("tests", "twin", "unicode.txt")
OLDEST = "14.0.0"  # the version that every supported Python knows


def belongs(character):
    """Whether it belongs to words."""
    return (
        character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
    )


def lower(character):
    """Its lower case as one character, the first where there are several."""
    return character.lower()[0]


def is_rewritten(code):
    """Whether it never stays as it is in a composed text (NFC), as far as we compose."""
    character = chr(code)
    return (
        code < PLANE
        and not 0xF900 <= code < 0xFB00
        and unicodedata.normalize("NFC", character) != character
    )


def seconds():
    """The code points that may become one with the code point before them."""
    found = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}  # of Hangul
    for code in range(PLANE):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and parts[0][0] != "<" and not is_rewritten(code):
            found.add(int(parts[1], 16))
    return found


def parted(values, bits):
    """Lists of so many bits' values: which of the different ones comes where, and all of those."""
    found = {}
    size = 1 << bits
    numbers = [
        found.setdefault(tuple(values[at : at + size]), len(found))
        for at in range(0, len(values), size)
    ]
    return numbers, list(found)


def far(lists, n_blocks):
    """Two orders, of lists and of blocks, by which the number of each block fits a byte.

    Lists from NEAR on take blocks from FAR on, and the others the first 256: those that only far
    lists take are the last ones.
    """

    def own(which):
        there = [set(lists[i]) for i in range(len(lists)) if i not in which]
        return set().union(*(set(lists[i]) for i in which)).difference(*there)

    which = []
    while len(lists) - len(which) > NEAR:
        others = [i for i in range(len(lists)) if i not in which]
        which.append(max(others, key=lambda i: len(own([*which, i]))))
    last = sorted(own(which))[: max(0, n_blocks - 256)]
    assert n_blocks - len(last) <= 256, "the number of a block does not fit a byte"
    assert len(last) <= FAR, "the number of a far block does not fit a byte"
    first = sorted({block for i in which for block in lists[i]}.difference(last))
    nearest = [block for block in range(n_blocks) if block not in {*first, *last}]
    assert len(nearest) >= FAR, "too few blocks are near alone"
    order = [i for i in range(len(lists)) if i not in which] + which
    return order, nearest + first + last


def stages(values, bits, planes):
    """Of all code points' values three lists: pages, lists of blocks, and blocks of these bits."""
    numbers, blocks = parted(values, bits)
    pages, lists = parted(numbers, PAGE - bits)
    if len(blocks) > 256:
        order, sorted_blocks = far(lists, len(blocks))
        number_of = {block: number for number, block in enumerate(sorted_blocks)}
        lists = [
            [number_of[block] - (FAR if number >= NEAR else 0) for block in lists[i]]
            for number, i in enumerate(order)
        ]
        blocks = [blocks[block] for block in sorted_blocks]
        pages = [order.index(page) for page in pages]
    last = planes >> PAGE
    others = {page for at, page in enumerate(pages[last:], last) if at not in (TAGS - 1, TAGS)}
    assert len(others) == 1, "pages differ that are not listed"
    return (
        [*pages[:last], pages[TAGS - 1], pages[TAGS], *others],
        [block for each in lists for block in each],
        [value for each in blocks for value in each],
    )


def letters():
    """Two lists: of each code point its letter; the steps.

    A letter is 2 * the number of the step from a code point to its lower case + whether it belongs
    to words. From SPECIAL on it says more: see names/letters.h.
    """
    numbers = {0: 0}  # of the steps
    kinds = ("unseen", "mark", "second", "joins")
    special = {kind: SPECIAL + at for at, kind in enumerate(kinds)}
    joining = seconds()
    found = []
    for code in range(N):
        character = chr(code)
        low = lower(character)
        # so that one look-up tells both
        assert belongs(low) == belongs(character), f"U+{code:04X}"
        step = ord(low) - code
        kind = None
        if code in UNSEEN:
            kind = "unseen"
        elif is_rewritten(code):
            number = special.setdefault(step, SPECIAL + len(special))
        elif code < PLANE and unicodedata.combining(character):
            kind = "second" if code in joining else "mark"
        elif code in joining:
            kind = "joins"
        else:
            number = numbers.setdefault(step, len(numbers))
        if kind:
            assert step == 0, f"U+{code:04X}"
            number = special[kind]
        found.append(2 * number + (kind != "unseen" and belongs(character)))
    assert len(numbers) <= SPECIAL, "a step's number is that of a special letter"
    assert max(found) < 256, "a letter does not fit a byte"
    steps = [*numbers, *[0] * (SPECIAL - len(numbers))]
    return found, steps + [key if isinstance(key, int) else 0 for key in special]


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


def known_about(code):
    """What a Python that does not know a code point must learn of it."""
    character = chr(code)
    parts = unicodedata.decomposition(character)
    # it would be a pair, and the twin asks the running Python for these
    assert parts[:1] in ("", "<"), f"U+{code:04X}"
    step = ord(lower(character)) - code
    number = unicodedata.combining(character)
    return f"{unicodedata.category(character)} {number} {step} {parts}".rstrip()


def assigned():
    """The text of unicode.txt. The versions of what was assigned before are in the file here."""
    rows = [
        line.split(maxsplit=3)[:3]
        for line in (ROOT / ASSIGNED).read_text(encoding="utf-8").splitlines()[1:]
    ]
    since = {
        code: version
        for first, last, version in rows
        for code in range(int(first, 16), int(last, 16) + 1)
    }
    lines = [f"Unicode {unicodedata.unidata_version}: code points from first to last, assigned in;"]
    lines[0] += " of what came later than the oldest: category, class, step to lower case, parts"
    first, before = None, None
    for code in range(N + 1):
        there = None
        if code < N and unicodedata.category(chr(code)) != "Cn":
            there = since.get(code, unicodedata.unidata_version)
            if there != OLDEST:
                there += " " + known_about(code)
        if there != before:
            if before:
                lines.append(f"{first:X} {code - 1:X} {before}")
            first, before = code, there
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
