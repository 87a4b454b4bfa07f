"""Unicode in the version of the library's table, whatever version the running Python knows.

A code point that came later than the table's version is not assigned here. What an older Python
lacks stands in unicode.txt, which tools/letters.py writes. The running Python is asked for the
rest, which no version changes.
"""

import unicodedata
from functools import lru_cache
from pathlib import Path

_TITLE, *_ROWS = Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()

VERSION = _TITLE.split()[1].rstrip(":")
ASSIGNED = set()
_LATER = {}  # than the oldest version that a supported Python knows
for _row in _ROWS:
    _first, _last, _since, *_about = _row.split(maxsplit=6)
    _codes = range(int(_first, 16), int(_last, 16) + 1)
    ASSIGNED.update(_codes)
    if _about:
        _LATER.update(dict.fromkeys(_codes, (_about[0], int(_about[1]), _about[3:])))

few = lru_cache(10_000)  # texts have few different characters, and some tests have all there are


def is_known(c):
    """Whether the running Python has assigned a character."""
    return unicodedata.category(c) != "Cn"


@few
def is_known_alike(c):
    """Whether it has been assigned here and in the running Python, or in neither."""
    return is_known(c) == (ord(c) in ASSIGNED)


@few
def category(c):
    if ord(c) not in ASSIGNED:
        return "Cn"
    return unicodedata.category(c) if is_known(c) else _LATER[ord(c)][0]


@few
def combining(c):
    """The class by which marks are ordered; 0 of all else."""
    if ord(c) not in ASSIGNED:
        return 0
    return unicodedata.combining(c) if is_known(c) else _LATER[ord(c)][1]


@few
def lower(c):
    """One character, the first where there are several."""
    return c.lower()[0] if ord(c) in ASSIGNED else c


@few
def is_letter_or_digit(c):
    if ord(c) not in ASSIGNED:
        return False
    return c.isalnum() if is_known(c) else category(c)[0] in "LN"


def normalize(form, text):
    """As unicodedata.normalize: NFC, NFD, NFKC or NFKD."""
    if text.isascii():
        return text
    if all(map(is_known_alike, set(text))):
        return unicodedata.normalize(form, text)
    apart = ordered("".join(parts(form.replace("C", "D"), c) for c in text))
    return joined(apart) if form.endswith("C") else apart


@few
def parts(form, c):
    """What a character is taken apart to, by NFD or NFKD."""
    if ord(c) not in ASSIGNED:
        return c
    if is_known(c):
        return unicodedata.normalize(form, c)
    found = _LATER[ord(c)][2]
    if not found or form == "NFD":
        return c
    return "".join(parts(form, chr(int(code, 16))) for code in found[0].split()[1:])


def ordered(text):
    """Each run of marks sorted by class; those of one class stay in their order."""
    out, marks = [], []
    for c in text:
        if combining(c):
            marks.append(c)
        else:
            out += [*sorted(marks, key=combining), c]
            marks = []
    return "".join(out + sorted(marks, key=combining))


def joined(text):
    """Characters with those before them, where two are one and nothing between them forbids it."""
    out, start = [], None  # where the last character is that is not a mark
    for c in text:
        number = combining(c)
        last = combining(out[-1]) if out else 0
        free = start is not None and (start == len(out) - 1 or last < number)
        whole = pair(out[start], c) if free else None
        if whole:
            out[start] = whole
            continue
        if number == 0:
            start = len(out)
        out.append(c)
    return "".join(out)


@few
def pair(first, second):
    """The one character that two are; None if there is none."""
    if not {ord(first), ord(second)} <= ASSIGNED:
        return None
    whole = unicodedata.normalize("NFC", first + second)
    return whole if len(whole) == 1 and ord(whole) in ASSIGNED else None
