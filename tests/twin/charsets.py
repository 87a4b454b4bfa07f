"""The twin of how a mail's bytes become characters: by the charset that is declared, or without.

Python's codecs decode what has one byte a character. The others are said once more here.
"""

import re

UNKNOWN = 0x10FE00  # + a byte whose charset is not known
JIS, JIS_MORE, KOREAN, GB, BIG5, FOUR = 0xF0000, 0xF3000, 0xF6000, 0xF9000, 0x100000, 0x105000
BAD = "\ufffd"

SINGLE = {
    **{f"*125{i}": f"cp125{i}" for i in range(9)},
    **{f"*8859{i}": f"iso8859-{i}" for i in (10, 13, 14, 15, 16)},
    "*885911": "cp874", "*88591": "cp1252", "*88599": "cp1254",
    **{f"*8859{i}*": f"iso8859-{i}" for i in (2, 3, 4, 5, 6, 7, 8)},
    "*latin1": "cp1252", "*latin2": "iso8859-2", "*latin9": "iso8859-15",
    "*koi8*u": "koi8-u", "*koi8*": "koi8-r",
    "*macroman": "mac-roman", "macintosh": "mac-roman",
    "*tis620*": "cp874", "*874": "cp874",
}  # fmt: skip
OTHERS = {
    "*utf7": "utf7", "*utf16be": "be", "*utf16*": "le", "*ucs2": "le", "unicode": "le",
    "*2022*": "2022", "*sjis*": "sjis", "*shiftjis*": "sjis", "*932": "sjis", "*31j": "sjis",
    "*eucjp*": "eucjp", "*big5*": "big5", "*950": "big5", "*euckr*": "korean",
    "*ksc*": "korean", "*949": "korean", "*gb2312*": "gb", "*gbk": "gb", "*gb18030*": "gb",
    "*936": "gb", "*euccn": "gb",
}  # fmt: skip


def charset(name):
    """What reads a charset of this name; None: it says nothing."""
    key = re.sub("[^a-z0-9]", "", re.split("[:*]", name.decode("latin-1").lower())[0])[:24]
    for pattern, found in {**SINGLE, **OTHERS}.items():
        if re.fullmatch(pattern.replace("*", ".*"), key):
            return found
    return None


def characters(data, kind):
    """The text of bytes in a charset, as `charset` gives it."""
    if data.startswith(b"\xef\xbb\xbf"):
        kind = None
    if data.startswith((b"\xfe\xff", b"\xff\xfe")):
        return sixteen(data[2:], "be" if data[0] == 0xFE else "le")
    if kind is None:
        return undeclared(data)
    if kind in SINGLE.values():
        return data.decode(kind, "replace")
    if kind in ("be", "le"):
        return sixteen(data, kind)
    if kind == "utf7":
        return seven(data)
    if kind == "2022":
        return escaped(data)
    return doubled(data, kind)


# --- Not declared

# What windows-125x all have for signs and not for letters; and the space of Latin-1.
SIGNS = (0x82, *range(0x84, 0x88), 0x89, 0x8B, *range(0x91, 0x98), 0x99, 0x9B, 0xA0)


def undeclared(data):
    """UTF-8 if it is that, mostly; else each byte is a letter of its own."""
    good = [*pieces(data)]
    n_good = sum(len(piece) > 1 for piece in good)
    n_bad = sum(len(piece) == 1 and piece >= b"\x80" for piece in good)
    if n_bad > n_good:
        good = [data[i : i + 1] for i in range(len(data))]
    return "".join(
        " " if len(piece) == 1 and piece[0] in SIGNS
        else chr(UNKNOWN + piece[0]) if len(piece) == 1 and piece >= b"\x80"
        else piece.decode()
        for piece in good
    )  # fmt: skip


def pieces(data):
    """The characters of UTF-8 as bytes; what is none, byte by byte."""
    at = 0
    while at < len(data):
        for n in (1, 2, 3, 4):
            try:
                data[at : at + n].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            n = 1
        yield data[at : at + n]
        at += n


# --- UTF-16 and UTF-7


def sixteen(data, kind):
    units = [
        data[i + (kind == "le")] << 8 | data[i + (kind == "be")] for i in range(0, len(data) - 1, 2)
    ]
    return paired(units)


def paired(units):
    """The text of numbers of sixteen bits."""
    out = []
    for i, unit in enumerate(units):
        if 0xDC00 <= unit < 0xE000 and i and 0xD800 <= units[i - 1] < 0xDC00:
            out[-1] = chr(0x10000 + (units[i - 1] - 0xD800) * 0x400 + unit - 0xDC00)
        else:
            out.append(BAD if 0xD800 <= unit < 0xE000 else chr(unit))
    return "".join(out)


SIXES = {c: i for i, c in enumerate(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
)}  # fmt: skip


def seven(data):
    def of(match):
        if match[1] is None:
            return BAD
        if not match[1]:
            return "+" if match[2] else ""
        bits = "".join(f"{SIXES[c]:06b}" for c in match[1].encode())
        return paired([int(bits[i : i + 16], 2) for i in range(0, len(bits) - 15, 16)])

    return re.sub("[\x80-\xff]|\\+([A-Za-z0-9+/]*)(-?)", of, data.decode("latin-1"))


# --- Two bytes a character


def square(kind, row, cell):
    """A character of a table of 94 rows of 94 cells: itself, or a place apart."""
    jis, korean = kind in (JIS, JIS_MORE), kind == KOREAN
    apart = chr(kind + (row - 1) * 94 + cell - 1)
    if kind == JIS_MORE:
        return apart
    if korean and 16 <= row <= 40:
        return bytes([0xA0 + row, 0xA0 + cell]).decode("euc_kr")
    if row >= 16 or (korean and row in (8, 9)):
        return apart
    if jis and row == 1 and cell in JIS_SIGNS:
        return chr(JIS_SIGNS[cell])
    if row == 3:
        return chr(0xFF00 + cell) if chr(cell + 32).isalnum() or (not jis and cell == 63) else " "
    hiragana, katakana, greek, cyrillic = (10, 11, 5, 12) if korean else (4, 5, 6, 7)
    if row == hiragana and cell <= 83:
        return chr(0x3040 + cell)
    if row == katakana and cell <= 86:
        return chr(0x30A0 + cell)
    if korean and row == 4:
        return chr(0x3130 + cell)
    if row == cyrillic:
        return between("абвгдеёжзийклмнопрстуфхцчшщъыьэюя", cell, 1, 49)
    if row == greek:
        start = 65 if korean else 33
        return between("αβγδεζηθικλμνξοπρστυφχψω", cell, start - 32, start)
    return " "


JIS_SIGNS = {
    18: 0xFF3F,
    19: 0x30FD,
    20: 0x30FE,
    21: 0x309D,
    22: 0x309E,
    25: 0x3005,
    27: 0x3007,
    28: 0x30FC,
}


def between(letters, cell, large, small):
    """Capitals from one cell on, and small letters from another one."""
    if large <= cell < large + len(letters):
        return letters[cell - large].upper()
    if small <= cell < small + len(letters):
        return letters[cell - small]
    return " "


def doubled(data, kind):
    out, at = [], 0
    while at < len(data):
        n, found = DOUBLED[kind](*(data[at : at + 4] + bytes(4))[:4])
        left = data[at] < 0x80
        if left or not n or at + n > len(data):
            n, found = 1, chr(data[at]) if left else BAD
        out.append(found)
        at += n
    return "".join(out)


def sjis(a, b, *_):
    if 0xA1 <= a <= 0xDF:
        return 1, chr(0xFF61 + a - 0xA1)
    if not (0x81 <= a <= 0x9F or 0xE0 <= a <= 0xFC) or not (0x40 <= b <= 0xFC and b != 0x7F):
        return 0, ""
    lead, trail = a - (0x81 if a < 0xA0 else 0xC1), b - 0x40 - (b > 0x7F)
    return 2, square(JIS, 2 * lead + 1 + trail // 94, trail % 94 + 1)


def eucjp(a, b, c, _):
    if a == 0x8E and 0xA1 <= b <= 0xDF:
        return 2, chr(0xFF61 + b - 0xA1)
    if a == 0x8F and 0xA1 <= b <= 0xFE and 0xA1 <= c <= 0xFE:
        return 3, square(JIS_MORE, b - 0xA0, c - 0xA0)
    if 0xA1 <= a <= 0xFE and 0xA1 <= b <= 0xFE:
        return 2, square(JIS, a - 0xA0, b - 0xA0)
    return 0, ""


def gb(a, b, c, d):
    if not 0x81 <= a <= 0xFE:
        return 0, ""
    if 0x30 <= b <= 0x39 and 0x81 <= c <= 0xFE and 0x30 <= d <= 0x39:
        number = (((a - 0x81) * 10 + b - 0x30) * 126 + c - 0x81) * 10 + d - 0x30
        if number < 39420:
            return 4, chr(FOUR + number)
        return 4, chr(number - 189000 + 0x10000) if 189000 <= number < 1237576 else BAD
    if not (0x40 <= b <= 0xFE and b != 0x7F):
        return 0, ""
    if 0xA1 <= a < 0xB0 and b >= 0xA1 and a != 0xA8:
        return 2, square(GB, a - 0xA0, b - 0xA0)
    if 0xA8 <= a <= 0xA9 and b < 0xA1:
        return 2, " "
    return 2, chr(GB + (a - 0x81) * 190 + b - 0x40 - (b > 0x7F))


def big5(a, b, *_):
    if not 0x81 <= a <= 0xFE or not (0x40 <= b <= 0x7E or 0xA1 <= b <= 0xFE):
        return 0, ""
    place = b - 0x40 - (34 if b > 0x7E else 0)
    if not 0xA1 <= a <= 0xA3:
        return 2, chr(BIG5 + (a - 0x81) * 157 + place)
    place += (a - 0xA1) * 157
    for first, letters in (
        (268, "".join(map(chr, range(0xFF10, 0xFF1A)))),
        (300, LARGE + LARGE.lower()),
    ):
        if first <= place < first + len(letters):
            return 2, letters[place - first]
    return 2, " "


LARGE = "".join(map(chr, range(0xFF21, 0xFF3B)))


def korean(a, b, *_):
    if 0x81 <= a <= 0xFE and (0x41 <= b <= 0x5A or 0x61 <= b <= 0x7A or 0x81 <= b <= 0xFE):
        if a >= 0xA1 and b >= 0xA1:
            return 2, square(KOREAN, a - 0xA0, b - 0xA0)
        return 2, bytes([a, b]).decode("cp949", "replace")[0]
    return 0, ""


DOUBLED = {"sjis": sjis, "eucjp": eucjp, "gb": gb, "big5": big5, "korean": korean}

# --- Escape sequences (ISO 2022)

SETS = {"B": JIS, "@": JIS, "D": JIS_MORE, "A": GB, "C": KOREAN}


def escaped(data):
    out, at = [], 0
    first, second, shifted = None, KOREAN, False
    while at < len(data):
        c, rest = data[at], data[at + 1 : at + 4].decode("latin-1")
        now = second if shifted else first
        at += 1
        if c == 0x1B and (found := re.match(r"\(([BHJI])|\$([@AB])|\$([()])([@ABCD])", rest)):
            at += found.end()
            if found[1]:
                first = "kana" if found[1] == "I" else None
            elif found[3] == ")":
                second = SETS[found[4]]
            else:
                first = SETS[found[2] or found[4]]
        elif c in (0x0E, 0x0F):
            shifted = c == 0x0E
        elif 0xA1 <= c <= 0xDF:
            out.append(chr(0xFF61 + c - 0xA1))
        elif c >= 0x80 or c == 0x1B:
            out.append(BAD)
        elif now is None or not 0x21 <= c <= 0x7E:
            out.append(chr(c))
        elif now == "kana":
            out.append(chr(0xFF40 + c) if c <= 0x5F else BAD)
        elif rest and "!" <= rest[0] <= "~":
            d = ord(rest[0])
            out.append(gb_square(c, d) if now == GB else square(now, c - 32, d - 32))
            at += 1
        else:
            out.append(BAD)
    return "".join(out)


def gb_square(a, b):
    return gb(a | 0x80, b | 0x80, 0, 0)[1]
