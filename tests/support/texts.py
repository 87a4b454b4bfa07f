"""Random texts, as mixed as what comes over a wire, and random parameters of a tokenizer."""
# ruff: noqa: RUF001  letters that look alike are meant

from functools import cache

from streamptron import Tokenizer
from tests.twin.text import UNSEEN, features
from tests.twin.unicode import combining, normalize

SCRIPTS = (
    "abcxyzABCXYZ",
    "éÉßñÀªµ¼",
    "İıſ\u212aǅΣσςŉ",
    "жЖщЩ",
    "語漢字か",
    "\u0301\u0345\u0e31\u20dd\u0bbe",  # combining marks
    "٣४５²Ⅷ⑤",  # digits and numbers that are not ASCII
    "𝔘𐐀𐐨𞤀🙂\U0010ffff",
    "\ud800\udfff\ud83d\ude42",  # surrogates, on their own
    "0123456789",
    "09afAFxX",
    "_'-",
    " \t\n\r\0\x85\xa0\u2028\u200d\ufffd",
    ".:",
    "..::,;/[]%…",
)
PIECES = (
    "10.0.0.1",
    "255.255.255.255",
    "256.1.1.1",
    "001.02.3.04",
    "1.2.3.4.5",
    "::1",
    "fe80::1ff:fe23:4567:890a",
    "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7::",
    "12:34:56",
    "::ffff:1.2.3.4",
    "00:1a:2b:3c:4d:5e",
    "550e8400-e29b-41d4-a716-446655440000",
    "0x1F",
    "0x",
    "0XdeadBEEF",
    "dead",
    "beef1",
    "1e10",
    "std::vector",
    "word",
    "a",
    "Free",
    "ΟΔΟΣ",
    "naïve",
    "e\u0301te\u0301",
    "<num>",
    "xyz" * 35,
)


def random_character(rng):
    return chr(rng.randrange(0x110000))


def random_text(rng, size=40):
    """Up to `size` pieces: characters of one script, whole words and addresses, spaces."""
    parts = []
    for _ in range(rng.randint(0, size)):
        kind = rng.random()
        if kind < 0.4:
            parts.append(rng.choice(PIECES))
        elif kind < 0.75:
            parts.append("".join(rng.choices(rng.choice(SCRIPTS), k=rng.randint(1, 6))))
        elif kind < 0.76:
            parts.append(random_character(rng))
        else:
            parts.append(rng.choice((" ", " ", " ", ".", ":", ". ", "\n", ", ")))
    return "".join(parts)


def random_bytes(rng, size=40):
    """The UTF-8 of a random text, surrogates too, with a few of its bytes changed or cut off."""
    raw = bytearray(random_text(rng, size).encode("utf-8", "surrogatepass"))
    for _ in range(rng.choice((0, 0, 1, 3, 10))):
        if raw:
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw[: len(raw) - rng.choice((0, 0, 1, 2, 3))])


LETTERS = "aeiouAEIOUyıİêÊơƠΩИи"
MARKS = list(map(chr, (*range(0x300, 0x309), 0x313, 0x316, 0x31B, 0x323, 0x327, 0x328, 0x345)))
JOINING = "াৗାாೂೕാාෟာেெೆෙဥ"
OTHERS = " a\0\U0001d165\uf900\U00010400\u212a\u212b\u2126\u200b"


@cache
def _composing():
    """Code points that are composed, marks, and what is not seen."""
    codes = list(map(chr, range(0x10000)))
    whole = [c for c in codes if normalize("NFKD", c) != c]
    marks = [c for c in codes if combining(c)]
    return whole, marks, [chr(code) for code in sorted(UNSEEN)]


def random_composed(rng, most=12, marks=40):
    """Up to `most` letters, marks, of which up to `marks` come in a row, and what is not seen."""
    whole, all_marks, unseen = _composing()
    out = []
    for _ in range(rng.randint(1, most)):
        kind = rng.randrange(20)
        if kind < 4:
            out += rng.choice(LETTERS)
        elif kind < 7:
            out += rng.choice(whole)
        elif kind < 8:
            out += normalize("NFD", rng.choice(whole))
        elif kind < 12:
            out += rng.choices(MARKS, k=rng.choice((1, 1, 2, 3)))
        elif kind < 14:
            out += rng.choice(all_marks)
        elif kind < 15:
            out += rng.choices(MARKS, k=rng.randint(1, marks))
        elif kind < 16:
            out += rng.choice(JOINING)
        elif kind < 17:
            out += normalize("NFD", chr(rng.randrange(0xAC00, 0xD7A4)))
        elif kind < 18:
            out += rng.choice(unseen)
        elif kind < 19:
            out += rng.choice(OTHERS)
        else:
            out += random_character(rng)
    return "".join(out)


def random_x(rng, fields=None, size=40):
    """A text, as str or as bytes, or a mapping of them that has the fields."""
    if fields is not None:
        names = ["not asked for", *([fields] if isinstance(fields, str) else fields)]
        return {name: random_x(rng, size=size) for name in names}
    return rng.choice((random_text, random_bytes))(rng, size)


def random_parameters(rng):
    """Parameters that go together; those that are left out have their defaults."""
    low = rng.choice((1, 1, 1, 2, 3))
    some = {
        "ngram_range": (low, low + rng.choice((0, 0, 1, 2))),
        "lowercase": rng.random() < 0.7,
        "value": rng.choice(("presence", "count", "log")),
        "normalize": rng.choice((None, "l2")),
        "fields": rng.choice((None, None, None, "text", ("text",), ("b", "Élan", "text"))),
    }
    analyzer = rng.choice(("word", "word", "char"))
    if analyzer == "word":
        some["min_length"] = rng.choice((1, 1, 2, 4))
        some["max_length"] = rng.choice((100, 4, 15, 16, None))
        if rng.random() < 0.3:
            some["separators"] = rng.choice((" ", " \t\n", ".:a", "Xé", "語 \ud83d", "𝔘0_"))
        else:
            some["fold_numbers"] = rng.random() < 0.6
    return {"analyzer": analyzer, **some}


def difference(params, x):
    """How the tokenizer's features differ from the twin's; None if they do not."""
    expected = list(features(x, **params).items())
    try:
        got = list(Tokenizer(**params).transform_one(x).items())
    except Exception as error:  # no input may raise: that is a finding too
        return f"{type(error).__name__}: {error}\nexpected {expected}"
    return None if got == expected else f"got      {got}\nexpected {expected}"
