"""The compiled tokenizer equals its plain-Python twin (twin/text.py): names, order and values,
bit for bit. What it gives is a mapping, and a learner learns from it what it learns from the dict.
"""
# ruff: noqa: RUF001  letters that look alike are meant

import math
from collections import ChainMap, Counter, UserDict
from types import MappingProxyType

import pytest

from streamptron import Tokenizer
from tests.support.tokenized import MAIL, as_bytes, check
from tests.twin.text import tokens

RULES = [
    # 1. Text
    ("", {}, []),
    (b"", {}, []),
    (" \t\n", {}, []),
    ("one", {}, ["one"]),
    (b"one two", {}, ["one", "two"]),
    ("é語".encode(), {}, ["é語"]),
    (b"a\xffb", {}, ["a", "b"]),
    (b"caf\xc3", {}, ["caf"]),
    ("a\ud800b", {}, ["a", "b"]),
    ("\ud83d\ude42", {"analyzer": "char"}, ["\ud83d", "\ude42"]),
    ("\ud83d\ude42", {"analyzer": "char", "ngram_range": (2, 2)}, ["\ud83d\ude42"]),
    ("🙂", {"analyzer": "char"}, ["🙂"]),
    ("a\0b", {}, ["a", "b"]),
    # 2. Lower-casing
    ("Free FREE free", {}, ["free", "free", "free"]),
    ("Free FREE", {"lowercase": False}, ["Free", "FREE"]),
    ("İstanbul", {}, ["istanbul"]),
    ("ΟΔΟΣ ΟΔΟΣ. Σ", {}, ["οδοσ", "οδοσ", "σ"]),
    ("ς", {}, ["ς"]),
    ("Straße ẞ", {}, ["straße", "ß"]),
    ("ǅ 𐐀 \u212a \u212b", {}, ["ǆ", "𐐨", "k", "å"]),  # Kelvin, Angstrom
    # 3. Words
    ("it's well-known", {}, ["it", "s", "well", "known"]),
    ("snake_case __init__ _", {}, ["snake_case", "__init__", "_"]),
    ("e\u0301te\u0301 \u0301", {}, ["\u00e9t\u00e9", "\u0301"]),
    ("हिन्दी ไทยที่", {}, ["हिन्दी", "ไทยที่"]),
    ("語漢字。かな", {}, ["語漢字", "かな"]),
    ("٣ ² Ⅷ ½ ⑤", {}, ["٣", "²", "ⅷ", "½", "⑤"]),
    ("a\u200db a\xadb a\xa0b", {}, ["ab", "ab", "a", "b"]),
    ("x,y;z", {"separators": ","}, ["x", "y;z"]),
    (",,x,,y,,", {"separators": ","}, ["x", "y"]),
    ("a b\tc", {"separators": "\t"}, ["a b", "c"]),
    (",,,", {"separators": ","}, []),
    ("axbXc", {"separators": "x"}, ["a", "b", "c"]),
    ("axbXc", {"separators": "x", "lowercase": False}, ["a", "bXc"]),
    ("axbXc", {"separators": "X"}, ["a", "b", "c"]),  # both sides are lower-cased
    ("axbXc", {"separators": "X", "lowercase": False}, ["axb", "c"]),
    ("1語2", {"separators": "語"}, ["1", "2"]),
    ("a]b^c-d\\e", {"separators": "^-]\\"}, ["a", "b", "c", "d", "e"]),
    ("a🙂b\ud83dc", {"separators": "🙂"}, ["a", "b\ud83dc"]),
    # 5. Length
    ("a bb ccc", {"min_length": 2}, ["bb", "ccc"]),
    ("a bb ccc", {"max_length": 2}, ["a", "bb"]),
    ("a bb ccc", {"min_length": 2, "max_length": 2}, ["bb"]),
    ("x" * 100, {}, ["x" * 100]),
    ("x" * 101, {}, []),
    ("é" * 100 + " " + "語" * 101, {}, ["é" * 100]),
    ("𝔘" * 100 + " " + "𝔘" * 101, {}, ["𝔘" * 100]),
    ("x" * 101, {"max_length": None}, ["x" * 101]),
    ("to be or not a bee", {"min_length": 3, "ngram_range": (2, 2)}, ["not bee"]),
    # 6. n-grams
    ("a b c", {"ngram_range": (1, 2)}, ["a", "b", "c", "a b", "b c"]),
    ("a b c", {"ngram_range": (2, 3)}, ["a b", "b c", "a b c"]),
    ("a b", {"ngram_range": (3, 4)}, []),
    ("a -- b", {"ngram_range": (2, 2)}, ["a b"]),
    ("a a a a", {"ngram_range": (1, 2)}, ["a"] * 4 + ["a a"] * 3),
    # a token that two n-grams write alike is one
    ("a b,a,b", {"separators": ",", "ngram_range": (1, 2)}, ["a b", "a", "b", "a b a", "a b"]),
    # 7. Characters
    ("Ab c", {"analyzer": "char"}, ["a", "b", " ", "c"]),
    ("Ab c", {"analyzer": "char", "ngram_range": (2, 3)}, ["ab", "b ", " c", "ab ", "b c"]),
    ("a\n\t\0", {"analyzer": "char", "ngram_range": (4, 4)}, ["a\n\t\0"]),
    ("ab", {"analyzer": "char", "ngram_range": (3, 3)}, []),
    ("É語🙂", {"analyzer": "char", "ngram_range": (1, 2)}, ["é", "語", "🙂", "é語", "語🙂"]),
    (b"\xc3\x89\xff", {"analyzer": "char", "ngram_range": (2, 2)}, ["é\ufffd"]),
]

IP, NUM, HEX = "<ip>", "<num>", "<hex>"
FOLDED = [
    # addresses of version 4
    ("10.0.0.1", [IP]),
    ("0.0.0.0 255.255.255.255", [IP, IP]),
    ("255.255.255.256", [NUM] * 4),
    ("256.1.1.1 1.1.1.999", [NUM] * 8),
    ("001.002.03.4", [IP]),
    ("0001.2.3.4", [NUM] * 4),
    ("1.2.3", [NUM] * 3),
    ("1.2.3.4.5", [NUM] * 5),
    ("256.1.2.3.4", [NUM] * 5),
    ("1.2.3.4.256", [NUM] * 5),
    ("1.2.3.4.5.6.7.8", [NUM] * 8),
    ("1.2.3.4.", [IP]),
    ("1.2.3.4. 5", [IP, NUM]),
    ("1.2.3.4..5", [IP, NUM]),
    ("1.2.3.4...", [IP]),
    (".1.2.3.4", [IP]),
    ("5..1.2.3.4", [NUM, IP]),
    ("...1.2.3.4", [IP]),
    ("5. 1.2.3.4", [NUM, IP]),
    ("5.1.2.3.4", [NUM] * 5),
    ("a.1.2.3.4", ["a"] + [NUM] * 4),
    ("1.2.3.4.a", [NUM] * 4 + ["a"]),
    ("_.1.2.3.4", ["_"] + [NUM] * 4),
    ("1.2.3.4._", [NUM] * 4 + ["_"]),
    ("\u0301.1.2.3.4", ["\u0301"] + [NUM] * 4),
    ("1.2.3.4.\u0301", [NUM] * 4 + ["\u0301"]),
    ("語.1.2.3.4 1.2.3.4.語", ["語"] + [NUM] * 8 + ["語"]),
    ("1.2.3.4.٣", [NUM] * 4 + ["٣"]),
    ("1.2.3..4", [NUM] * 4),
    ("1.2.3. 4", [NUM] * 4),
    ("1,2,3,4", [NUM] * 4),
    ("1.2.3:4", [NUM] * 4),
    ("v1.2.3.4", ["v1"] + [NUM] * 3),
    ("1.2.3.4a", [NUM] * 3 + ["4a"]),
    ("1.2.3.4_", [NUM] * 3 + ["4_"]),
    ("_1.2.3.4", ["_1"] + [NUM] * 3),
    ("1.2.3.4\u0301", [NUM] * 3 + ["4\u0301"]),
    ("é1.2.3.4", ["é1"] + [NUM] * 3),
    ("1.2.3.٤", [NUM] * 3 + ["٤"]),
    ("1.2.3.4² 1.2.3.４", [NUM] * 3 + ["4²"] + [NUM] * 3 + ["４"]),
    ("1.0x2.3.4", [NUM, HEX, NUM, NUM]),
    ("1.2.3.4:80 1.2.3.4/24 (1.2.3.4)", [IP, NUM, IP, NUM, IP]),
    ("1.2.3.4-5.6.7.8,9.9.9.9", [IP, IP, IP]),
    ("1.2.3.4\ud800 1.2.3.4🙂 1.2.3.4…", [IP, IP, IP]),
    ("from 10.0.0.1 to 10.0.0.2.", ["from", IP, "to", IP]),
    # addresses of version 6
    ("::1", [IP]),
    ("1::", [IP]),
    ("::", []),
    (":::", []),
    (":::1 1:::2", [NUM, NUM, NUM]),
    ("fe80::1ff:fe23:4567:890a", [IP]),
    ("FE80::1 fe80::ABCD", [IP, IP]),
    ("2001:0db8:85a3:0000:0000:8a2e:0370:7334", [IP]),
    ("1:2:3:4:5:6:7:8", [IP]),
    ("1:2:3:4:5:6:7", [NUM] * 7),
    ("1:2:3:4:5:6:7:8:9", [NUM] * 9),
    ("1:2:3:4:5:6:7::", [IP]),
    ("::2:3:4:5:6:7:8", [IP]),
    ("1::3:4:5:6:7:8", [IP]),
    ("1::2:3:4:5:6:7:8", [NUM] * 8),
    ("1:2:3:4:5:6:7:8::", [NUM] * 8),
    ("1:2:3:4:5:6:7:", [NUM] * 7),
    (":2:3:4:5:6:7:8", [NUM] * 7),
    (":1::2 1::2:", [NUM] * 4),
    ("1::2::3", [NUM] * 3),
    ("12345::1", [NUM, NUM]),
    ("12ab3::1", [HEX, NUM]),
    ("00000::1", [NUM, NUM]),
    ("a::b dead::beef", [IP, IP]),
    ("1:2", [NUM, NUM]),
    ("note: this", ["note", "this"]),
    ("12:34:56", [NUM] * 3),
    ("12:34:56.789", [NUM] * 4),
    ("at 12:34:56: ok", ["at", NUM, NUM, NUM, "ok"]),
    ("00:1a:2b:3c:4d:5e", [NUM, "1a", "2b", "3c", "4d", "5e"]),
    ("00:1a:2b:3c:4d:5e:6f:70", [IP]),
    ("x::1", ["x", NUM]),
    ("::1x", ["1x"]),
    ("::x", ["x"]),
    ("_::1 ::1_", ["_", NUM, "1_"]),
    ("é::1 ::1é", ["é", NUM, "1é"]),
    ("\u0301::1 ::1\u0301", ["\u0301", NUM, "1\u0301"]),
    ("٣::1 ::٣ 1::٣", ["٣", NUM, "٣", NUM, "٣"]),
    ("🙂::1🙂 \ud800::1\ud800", [IP, IP]),
    ("std::vector", ["std", "vector"]),
    ("std::add", ["std", "add"]),
    ("d::vector abc::xyz", ["d", "vector", "abc", "xyz"]),
    ("[::1]:80", [IP, NUM]),
    ("fe80::1%eth0", [IP, "eth0"]),
    ("::1/128 ::1. (::1), ::1-::2", [IP, NUM, IP, IP, IP, IP]),
    ("::1.5", [IP, NUM]),
    # version 4 comes first: what it has taken is not part of a version 6
    ("::ffff:1.2.3.4", ["ffff", IP]),
    ("1.2.3.4::5 1::2.3.4.5", [IP, NUM, NUM, IP]),
    ("1.2.3.4:1:2:3:4:5:6:7", [IP] + [NUM] * 7),
    ("::1.2.3.4.5", [IP] + [NUM] * 4),
    # numbers
    ("0 7 007 123456789012345678901234567890", [NUM] * 4),
    ("1.5 -3 1,000", [NUM] * 5),
    ("9" * 200, [NUM]),
    ("٣ ４５ ² 1² Ⅷ", ["٣", "４５", "²", "1²", "ⅷ"]),
    ("1_000 _1", ["1_000", "_1"]),
    ("1st 2nd", ["1st", "2nd"]),
    ("1\u0301", ["1\u0301"]),
    # hexadecimal
    ("0x0 0x1F 0XfF 0xdeadbeef", [HEX] * 4),
    ("0x 0X 0xg 0x1g 00x1 x1F", ["0x", "0x", "0xg", "0x1g", "00x1", "x1f"]),
    ("_0x1 0x_1 0x1é", ["_0x1", "0x_1", "0x1é"]),
    ("0x" + "f" * 200, [HEX]),
    ("1a2 1a2b dead beef1 DEAD1 1e10", ["1a2", HEX, "dead", HEX, HEX, HEX]),
    ("1a2g 1a2b_ １a2b 1a2b\u0301", ["1a2g", "1a2b_", "１a2b", "1a2b\u0301"]),
    (
        "550e8400-e29b-41d4-a716-446655440000",
        [HEX, HEX, HEX, HEX, NUM],
    ),
    ("d41d8cd98f00b204e9800998ecf8427e", [HEX]),
    # and together
    (
        "sshd[1234]: Failed password for root from 10.0.0.1 port 22 ssh2",
        ["sshd", NUM, "failed", "password", "for", "root", "from", IP, "port", NUM, "ssh2"],
    ),
    ("/var/log/app-1.2.3.log:99", ["var", "log", "app", NUM, NUM, NUM, "log", NUM]),
    ("<num> 5", ["num", NUM]),
]
TABLE = [
    *RULES,
    *((text, {"fold_numbers": True}, expected) for text, expected in FOLDED),
    # folded words have no length, and are words of n-grams
    ("1 22 x 0x1 ::1", {"fold_numbers": True, "min_length": 6}, [NUM, NUM, HEX, IP]),
    ("1 22 x 0x1 ::1", {"fold_numbers": True, "max_length": 1}, [NUM, NUM, "x", HEX, IP]),
    (
        "port 22 to 10.0.0.1",
        {"fold_numbers": True, "ngram_range": (2, 2)},
        ["port <num>", "<num> to", "to <ip>"],
    ),
    ("0XAB FE80::1 K", {"fold_numbers": True, "lowercase": False}, [HEX, IP, "K"]),
    ("10.0.0.1 0x1f", {}, ["10", "0", "0", "1", "0x1f"]),
]


@pytest.mark.parametrize(("text", "params", "expected"), TABLE)
def test_rule_gives_these_tokens(text, params, expected):
    assert tokens(text, **params) == expected
    event = Tokenizer(**params, value="count").transform_one(text)
    assert list(event.items()) == list(Counter(expected).items())


@pytest.mark.parametrize(("text", "params", "expected"), TABLE)
def test_bytes_are_the_text_that_they_decode_to(text, params, expected):
    raw = text if isinstance(text, bytes) else as_bytes(text)
    check(raw, **params)
    check(raw.decode("utf-8", "replace"), **params)
    if b"\xed" not in raw:  # where surrogates begin, which UTF-8 does not have
        assert tokens(raw, **params) == expected


@pytest.mark.parametrize(("text", "expected"), FOLDED)
def test_folding_is_the_same_among_other_words(text, expected):
    params = {"fold_numbers": True, "value": "count"}
    for beside in (" ", "\n", "🙂", ", ", " é ", " 5 ", f" {'x' * 29} "):
        around = tokens(beside, fold_numbers=True)
        assert tokens(beside + text + beside, fold_numbers=True) == [*around, *expected, *around]
        check(beside + text + beside, **params)
        check(as_bytes(beside + text), **params)
        check(text + beside + text, **params, ngram_range=(1, 2))


def test_values_are_presence_count_or_log():
    text = "a b a c a b"
    assert dict(Tokenizer().transform_one(text)) == {"a": 1.0, "b": 1.0, "c": 1.0}
    assert dict(Tokenizer(value="count").transform_one(text)) == {"a": 3.0, "b": 2.0, "c": 1.0}
    log = Tokenizer(value="log").transform_one(text)
    assert dict(log) == {"a": 1.0 + math.log(3), "b": 1.0 + math.log(2), "c": 1.0}
    unit = Tokenizer(value="count", normalize="l2").transform_one(text)
    assert dict(unit) == {"a": 3 / math.sqrt(14), "b": 2 / math.sqrt(14), "c": 1 / math.sqrt(14)}
    for event in (Tokenizer().transform_one(text), log, unit):
        assert {type(name) for name in event} == {str}
        assert {type(value) for value in event.values()} == {float}


@pytest.mark.parametrize("value", ["presence", "count", "log"])
def test_values_are_those_of_the_twin_to_the_last_bit(value):
    text = " ".join(f"w{i} " * i for i in range(1, 60))
    for n in (1, 2, 3, 10, 59):
        words = " ".join(f"w{i} " * (i * n % 61 + 1) for i in range(n))
        check(words, value=value, normalize="l2", ngram_range=(1, 2))
    check(text, value=value, normalize="l2")
    check(text, value=value)


def test_many_equal_words_are_counted():
    check("ab " * 20_000, value="count")
    check("ab " * 20_000, value="log", normalize="l2", ngram_range=(1, 3))


@pytest.mark.parametrize("count", [1, 2, 9_169, 9_170, 136_837, 277_862])
def test_logarithms_are_the_nearest_ones_where_c_libraries_miss_them(count):
    check("ab " * count, value="log")


def test_fields_are_prefixes():
    assert list(Tokenizer(fields="subject").transform_one(MAIL)) == [
        "subject:free",
        "subject:prize",
    ]
    for fields in (("body", "subject"), ["body", "subject"]):
        assert list(Tokenizer(fields=fields).transform_one(MAIL)) == [
            "body:a",
            "body:free",
            "body:lunch",
            "subject:free",
            "subject:prize",
        ]


def test_ngrams_do_not_cross_fields():
    event = Tokenizer(fields=("subject", "body"), ngram_range=(2, 2)).transform_one(MAIL)
    assert list(event) == ["subject:free prize", "body:a free", "body:free lunch"]


def test_ngrams_of_a_field_come_before_the_next_field():
    tokenizer = Tokenizer(fields=("subject", "body"), ngram_range=(1, 2), max_length=4)
    event = tokenizer.transform_one(MAIL)
    assert list(event) == ["subject:free", "body:a", "body:free", "body:a free"]


@pytest.mark.parametrize("value", ["count", "log"])
def test_tokens_of_two_fields_that_are_written_alike_are_one(value):
    x = {"a": "b:c b:", "a:b": "cc:c", "": "a:b"}
    for n in (1, 2, 3, 4):
        params = {"analyzer": "char", "ngram_range": (1, n), "value": value, "normalize": "l2"}
        check(x, **params, fields=("a", "a:b", ""))
    tokenizer = Tokenizer(separators=" ", fields=("a", "a:b"), value="count")
    assert tokenizer.transform_one({"a": "b:c", "a:b": "c"}) == {"a:b:c": 2.0}


@pytest.mark.parametrize("name", ["", "é", "語🙂", "\ud800", "a\0b", "x" * 300, "A B:", "İ"])
def test_name_of_a_field_is_left_as_it_is(name):
    check({name: "One two É"}, fields=name, ngram_range=(1, 2))
    check({name: b"One two \xff"}, fields=(name,), analyzer="char")


@pytest.mark.parametrize("kind", [dict, UserDict, MappingProxyType, ChainMap])
def test_any_mapping_has_fields(kind):
    check(kind({"a": "x y", "b": "z"}), fields=("b", "a"))


def test_the_values_of_fields_are_summed_up_together():
    check({"a": "x x y", "b": "x z z z"}, fields=("a", "b"), value="log", normalize="l2")


def test_an_event_does_not_change_when_its_mapping_does():
    tokenizer = Tokenizer(fields="a", value="count")
    for touch in (len, lambda event: "a:one" in event, lambda event: None):
        x = {"a": "one two"}
        event = tokenizer.transform_one(x)
        touch(event)
        x["a"] = "three"
        assert dict(event) == {"a:one": 1.0, "a:two": 1.0}
        x.clear()
        assert list(event) == ["a:one", "a:two"]
