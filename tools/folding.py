"""Write the engine's table of folded characters: what is dropped, and what becomes ASCII.

    python3.13 tools/folding.py                       # into this checkout
    python3.13 tools/folding.py --to FOLDER           # into another folder
    python3.13 tools/folding.py --lookalikes FILE     # take look-alikes anew from FILE first

It writes `streamptron/engine/mail/folding.c`. Accents, wide and mathematical letters and the like
are those of the compatibility decomposition in the Unicode tables of the Python that runs this.
Look-alikes of other scripts stand in `tests/mail/lookalikes.txt`. They are the single characters
that Unicode's confusables.txt (Unicode Technical Standard 39) takes for an ASCII letter or digit;
FILE is that list as JSON, as Debian's package python3-confusable-homoglyphs has it.
"""

import json
import unicodedata
from pathlib import Path

from letters import N, arrays, lower
from options import options

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path("streamptron", "engine", "mail", "folding.c")
LOOKALIKES = Path("tests", "mail", "lookalikes.txt")
BITS = 4  # of a code point within its block; see mail/folding.h
PLANES = 0x20000  # up to here pages are listed
SCRIPTS = ("GREEK", "CYRILLIC", "COPTIC", "ARMENIAN", "CHEROKEE")
DROPPED = [  # what is not seen, and marks that combine with the letter before
    (0x00AD, 0x00AD),
    (0x0300, 0x036F),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x2064),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xE0000, 0xE007F),
]
# Latin letters whose stroke or shape Unicode does not take for an accent.
STROKES = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "\u0131": "i", "ŧ": "t"}
DROP = 1
LOOKALIKE = 128  # a bit, beside the ASCII character


def bare(character):
    """One in lower case, without accents, width and style; itself if these are several."""
    if character in STROKES:
        return STROKES[character]
    category = unicodedata.category(character)
    if category in ("Pd", "Pi", "Pf", "Zs"):
        return {"d": "-", "i": "'", "f": "'", "s": " "}[category[1]]
    parts = unicodedata.normalize("NFKD", character)
    letters = [part for part in parts if unicodedata.category(part)[0] != "M"]
    return lower(letters[0]) if len(letters) == 1 else character


def letter_of(code, lookalikes):
    """What the table has for a code point."""
    if code < 0x80:
        return 0
    if 0x1D400 <= code < 0x1D6A4 or 0x1D7CE <= code < 0x1D800:
        return 0  # mathematical letters and digits: mail/folding.h counts them
    if any(first <= code <= last for first, last in DROPPED):
        return DROP
    found = bare(lower(chr(code)))
    if " " <= found <= "~":
        return ord(found)
    return LOOKALIKE | ord(lookalikes[found]) if found in lookalikes else 0


def table(lookalikes):
    """The text of folding.c."""
    letters = [letter_of(code, lookalikes) for code in range(N)]
    return "\n".join(
        [
            "/* Written by tools/folding.py; mail/folding.h says what it is, and its sources. */\n",
            '#include "mail/folding.h"\n',
            "/* clang-format off */\n",
            *arrays("sp_folding", letters, BITS, PLANES),
        ]
    )


def taken(path):
    """The text of lookalikes.txt, from Unicode's list as JSON."""
    with open(path, encoding="utf-8") as file:
        groups = json.load(file)
    direct, by_upper = {}, {}
    for character, others in groups.items():
        if len(character) != 1 or character < "\x80":
            continue
        if not unicodedata.name(character, "").startswith(SCRIPTS):
            continue
        ascii_ = [other["c"] for other in others if len(other["c"]) == 1 and other["c"].isascii()]
        ascii_ = sorted(lower(each) for each in ascii_ if each.isalnum())
        if not ascii_:
            continue
        # of l, i and 1 the letter that it is; a capital counts where the small one has none
        low = lower(character)
        (direct if low == character else by_upper)[low] = next(
            filter(str.isalpha, ascii_), ascii_[0]
        )
    found = {**by_upper, **direct}
    lines = ["Look-alikes of ASCII letters and digits: Unicode's confusables.txt (UTS 39)"]
    lines += [f"{ord(low):04X} {found[low]} {unicodedata.name(low)}" for low in sorted(found)]
    return "\n".join(lines) + "\n"


def lookalikes_of(path):
    """{character in lower case: ASCII} of lookalikes.txt."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return {chr(int(row[0], 16)): row[1] for row in rows}


def main(folder, lookalikes):
    if lookalikes:
        path = ROOT / LOOKALIKES
        path.write_text(taken(lookalikes), encoding="utf-8", newline="\n")
    path = folder / TABLE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table(lookalikes_of(ROOT / LOOKALIKES)), encoding="utf-8", newline="\n")
    print(f"{path}: Unicode {unicodedata.unidata_version}")


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--to", type=Path, default=ROOT, metavar="FOLDER")
    parser.add_argument("--lookalikes", metavar="FILE")
    given = parser.parse_args()
    main(given.to, given.lookalikes)
