"""Write the engine's table of letters and the marks with which they are one code point.

    python3.13 tools/composing.py             # into this checkout
    python3.13 tools/composing.py FOLDER      # into another folder

It writes `streamptron/engine/names/compose_table.h`, from the Unicode tables of the Python that
runs this: the canonical decompositions of the first plane, but of Hangul and of compatibility
ideographs, and the classes by which marks are ordered. A capital letter is not listed where it
follows from the small one.
"""

import unicodedata
from pathlib import Path

from letters import PLANE, N, array, is_rewritten, letters, lower
from options import options

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path("streamptron", "engine", "names", "compose_table.h")
DOT = 0x307  # above
CAPITAL_I_WITH_DOT = 0x130  # whose lower case is an i
I_WITHOUT_ABOVE = (0x69, 0x12F, 0x1E2D, 0x1ECB)  # i, and i with a mark that is not above it


def parts_of(code):
    """What a code point is made of canonically: none, one or two code points."""
    found = unicodedata.decomposition(chr(code))
    return [] if found.startswith("<") else [int(part, 16) for part in found.split()]


def follows(first, second, whole, pairs, steps):
    """Whether names/compose.c finds a capital letter by the small one."""
    low = ord(lower(chr(first)))
    if low == first or (low, second) not in pairs:
        return False
    low_whole = pairs[low, second]
    found = [low_whole - step for step in steps if step]
    found = [each for each in found if 0 < each < N and lower(chr(each)) == chr(low_whole)]
    assert found[0] == whole, f"U+{whole:04X} does not follow"
    return True


def pairs():
    """Rows of second, first and whole: of what is composed, and of what is only taken apart."""
    composed, apart = {}, []
    for code in range(PLANE):
        parts = parts_of(code)
        if parts and is_rewritten(code):
            apart.append((parts[1] if len(parts) > 1 else 0, parts[0], code))
        elif len(parts) == 2 and unicodedata.normalize("NFC", chr(code)) == chr(code):
            composed[tuple(parts)] = code
    composed.update({(each, DOT): each for each in I_WITHOUT_ABOVE})
    _, steps = letters()
    rows = [
        (second, first, whole)
        for (first, second), whole in composed.items()
        if whole == CAPITAL_I_WITH_DOT or not follows(first, second, whole, composed, steps)
    ]
    return sorted(rows), sorted(apart)


def classes():
    """(code point, class) of the marks where it is not that of the mark before."""
    found, before = [], 0
    for code in range(PLANE):
        number = unicodedata.combining(chr(code))
        if number and number != before:
            found.append((code, number))
            before = number
    return found


def table():
    """The text of compose_table.h."""
    rows, others = pairs()
    seconds, starts = [], []
    for part in (rows, others):
        offset = 0 if part is rows else len(rows)
        for second in sorted({row[0] for row in part}):
            seconds.append(second)
            starts.append(offset + [row[0] for row in part].index(second))
        if part is rows:
            n_composed = len(seconds)
    rows += others
    starts.append(len(rows))
    marks = classes()
    arrays = {
        "uint16_t sp_compose_seconds": seconds,
        "uint16_t sp_compose_starts": starts,
        "uint16_t sp_compose_firsts": [row[1] for row in rows],
        "uint16_t sp_compose_wholes": [row[2] for row in rows],
        "uint16_t sp_compose_marks": [code for code, _ in marks],
        "uint8_t sp_compose_classes": [number for _, number in marks],
    }
    return "\n".join(
        [
            "/* Written by tools/composing.py: names/compose.h says what it is. */\n",
            "#ifndef STREAMPTRON_NAMES_COMPOSE_TABLE_H",
            "#define STREAMPTRON_NAMES_COMPOSE_TABLE_H\n",
            "#include <stdint.h>\n",
            "/* clang-format off */\n",
            "enum {",
            f"    SP_COMPOSE_SECONDS = {n_composed},",
            f"    SP_COMPOSE_LISTS = {len(seconds)},",
            f"    SP_COMPOSE_PAIRS = {len(rows)},",
            f"    SP_COMPOSE_CLASSES = {len(marks)},",
            "};\n",
            *(array(f"static const {name}[]", numbers) for name, numbers in arrays.items()),
            "#endif\n",
        ]
    )


def main(folder):
    path = folder / TABLE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table(), encoding="utf-8", newline="\n")
    print(f"{path}: Unicode {unicodedata.unidata_version}")


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT, metavar="FOLDER")
    main(parser.parse_args().folder)
