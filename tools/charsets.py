"""Write the engine's tables of charsets, from the codecs of the Python that runs this.

    python3.13 tools/charsets.py             # into this checkout
    python3.13 tools/charsets.py FOLDER      # into another folder

It writes `streamptron/engine/mail/charsets.c`: the names by which mails call charsets, the letters
of those that have one byte for each, and which Hangul KS X 1001 has.
"""

from pathlib import Path

from folding import DROP, LOOKALIKES, letter_of, lookalikes_of
from letters import array, belongs
from options import options

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path("streamptron", "engine", "mail", "charsets.c")
BLOCK = 8  # bytes of a charset that stand together
NO_LETTER = 0xFFFD
HANGUL = range(0xAC00, 0xD7A4)
FINALS = 28
RANK = 16  # lists of these that are counted together
FAR = 255

# A codec, and the names that mean it, in lower case and without signs. The first name that fits
# counts. Browsers and mail programs read the Latin-1 of old as windows-1252 too, and likewise
# Turkish and Thai.
# The number of a charset is a character before its names: of none @, of the first of the table A,
# and of the first of those that the engine has a function for a.
UNKNOWN_NUMBER, FIRST, OTHER = ord("@"), ord("A"), ord("a")
UNKNOWN = ["*utf8", "*ascii"]  # of UTF-8 the engine finds out by itself
SINGLE = [
    ("cp1252", ["*88591", "*1252", "*latin1"]),
    ("cp1250", ["*1250"]),
    ("cp1251", ["*1251"]),
    ("cp1253", ["*1253"]),
    ("cp1254", ["*1254", "*88599"]),
    ("cp1255", ["*1255"]),
    ("cp1256", ["*1256"]),
    ("cp1257", ["*1257"]),
    ("cp1258", ["*1258"]),
    ("cp874", ["*874", "*885911", "*tis620*"]),
    ("iso8859-10", ["*885910"]),
    ("iso8859-13", ["*885913"]),
    ("iso8859-14", ["*885914"]),
    ("iso8859-15", ["*885915", "*latin9"]),
    ("iso8859-16", ["*885916"]),
    ("iso8859-2", ["*88592*", "*latin2"]),
    ("iso8859-3", ["*88593*"]),
    ("iso8859-4", ["*88594*"]),
    ("iso8859-5", ["*88595*"]),
    ("iso8859-6", ["*88596*"]),
    ("iso8859-7", ["*88597*"]),
    ("iso8859-8", ["*88598*"]),
    ("koi8-u", ["*koi8*u"]),
    ("koi8-r", ["*koi8*"]),
    ("mac-roman", ["*macroman", "macintosh"]),
]
# What the engine has a function for, as mail/charset.h calls it.
OTHERS = [
    ("UTF7", ["*utf7"]),
    ("UTF16BE", ["*utf16be"]),
    ("UTF16LE", ["*utf16*", "*ucs2", "unicode"]),
    ("ESCAPED", ["*2022*"]),
    ("SJIS", ["*sjis*", "*shiftjis*", "*932", "*31j"]),
    ("EUC_JP", ["*eucjp*"]),
    ("BIG5", ["*big5*", "*950"]),
    ("KOREAN", ["*euckr*", "*ksc*", "*949"]),
    ("GB", ["*gb2312*", "*gbk", "*gb18030*", "*936", "*euccn"]),
]


def counts(character, lookalikes):
    """Whether it is something to words: a part of them, or not seen."""
    folded = letter_of(ord(character), lookalikes)
    return belongs(character) or folded == DROP or (0 < folded < 128 and belongs(chr(folded)))


def single(codec, lookalikes):
    """What the bytes from 128 on are; signs are all alike."""
    found = [bytes([byte]).decode(codec, "replace") for byte in range(128, 256)]
    return [ord(each) if counts(each, lookalikes) else NO_LETTER for each in found]


def names():
    """The names as C, the most usual ones first: each behind the number of its charset."""
    yield "const char sp_charset_names[] ="
    numbers = [(UNKNOWN_NUMBER, UNKNOWN)]
    numbers += [(FIRST + number, patterns) for number, (_, patterns) in enumerate(SINGLE)]
    numbers += [(OTHER + number, patterns) for number, (_, patterns) in enumerate(OTHERS)]
    for number, patterns in numbers:
        text = "".join(f"{chr(number)}{each}\\0" for each in patterns)
        yield f'    "{text}"'
    yield "    ;\n"


def packed_blocks(blocks):
    """Each block as a base, in sixteens, and offsets from it: 0 for no letter; and what is farther.

    What is farther is a list of (place, code point).
    """
    data, far = [], []
    for number, block in enumerate(blocks):
        letters = [letter for letter in block if letter != NO_LETTER]
        bases = sorted({max(letter // 16 - 1, 0) for letter in letters if letter < 0x1000}) or [0]

        def beyond(base, letters=letters):
            return [letter for letter in letters if not 0 < letter - 16 * base < 255]

        base = min(bases, key=lambda each: len(beyond(each)))
        data.append(base)
        for at, letter in enumerate(block):
            offset = 0 if letter == NO_LETTER else letter - 16 * base
            if not 0 <= offset < 255:
                offset = FAR
                far.append((number * BLOCK + at, letter))
            data.append(offset)
    return data, far


def hangul():
    """For each 28 Hangul, which differ in their final alone, which of them KS X 1001 has."""
    masks = [
        sum((chr(code + i) in KOREAN) << i for i in range(FINALS)) for code in HANGUL[::FINALS]
    ]
    found = {}
    rows = [found.setdefault(mask, len(found)) for mask in masks]
    before = [sum(mask.bit_count() for mask in masks[:at]) for at in range(0, len(masks), RANK)]
    return rows, list(found), before


def table():
    lookalikes = lookalikes_of(ROOT / LOOKALIKES)
    found = {}
    rows = []
    for codec, _ in SINGLE:
        letters = single(codec, lookalikes)
        for at in range(0, 128, BLOCK):
            rows.append(found.setdefault(tuple(letters[at : at + BLOCK]), len(found)))
    assert len(found) <= 256, "the number of a block does not fit a byte"
    blocks, far = packed_blocks(found)
    syllables, masks, before = hangul()
    return "\n".join(
        [
            "/* Written by tools/charsets.py: mail/charset.h says what it is. */\n",
            '#include "mail/charsets.h"\n',
            "/* clang-format off */\n",
            *names(),
            array(f"const uint8_t sp_charset_rows[{len(rows)}]", rows),
            array(f"const uint8_t sp_charset_blocks[{len(blocks)}]", blocks),
            array(
                f"const uint16_t sp_charset_far[{2 * len(far)}]",
                [part for each in far for part in each],
            ),
            array(f"const uint8_t sp_hangul_rows[{len(syllables)}]", syllables),
            array(f"const uint32_t sp_hangul_masks[{len(masks)}]", masks),
            array(f"const uint16_t sp_hangul_before[{len(before)}]", before),
        ]
    )


KOREAN = {
    bytes([lead, trail]).decode("euc_kr")
    for lead in range(0xB0, 0xC9)
    for trail in range(0xA1, 0xFF)
}


def main(folder):
    path = Path(folder) / TABLE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table(), encoding="utf-8", newline="\n")
    print(path)


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("folder", nargs="?", default=ROOT, help="this checkout, or another folder")
    main(parser.parse_args().folder)
