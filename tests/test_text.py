"""The compiled tokenizer equals its plain-Python twin (reference_text.py): names, order and values,
bit for bit. What it gives is a mapping, and a learner learns from it what it learns from the dict.
"""
# ruff: noqa: RUF001  letters that look alike are meant

import copy
import math
import pickle
import random
import threading
from collections import ChainMap, Counter, UserDict
from collections.abc import Mapping, Sequence
from itertools import islice, product
from types import MappingProxyType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reference_text import features, is_word_character, lowered, tokens
from river import (
    base,
    checks,
    compose,
    evaluate,
    linear_model,
    metrics,
    naive_bayes,
)
from streams import labelled_texts, needs_data
from texts import random_bytes, random_parameters, random_text, random_x
from threads import eager
from variants import answers, every_learner, every_variant, labels_for, learned, make

from streamptron import MulticlassPerceptron, Perceptron, Tokenizer
from streamptron.doors.texts import LINES, Lines
from streamptron.command.lines import Block, LineModel


def seeds(n):
    return pytest.mark.parametrize("seed", range(n), ids="seed={}".format)


def check(x, tokenizer=None, **params):
    """A text's features, by the tokenizer and by its twin."""
    event = (tokenizer or Tokenizer(**params)).transform_one(x)
    assert list(event.items()) == list(features(x, **params).items())


def as_bytes(text):
    """UTF-8 as a careless program writes it: surrogates, which it does not have, come along."""
    return text.encode("utf-8", "surrogatepass")


# Every rule, by examples


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
    ("e\u0301te\u0301 \u0301", {}, ["e\u0301te\u0301", "\u0301"]),
    ("हिन्दी ไทยที่", {}, ["हिन्दी", "ไทยที่"]),
    ("語漢字。かな", {}, ["語漢字", "かな"]),
    ("٣ ² Ⅷ ½ ⑤", {}, ["٣", "²", "ⅷ", "½", "⑤"]),
    ("a\u200db a\xadb a\xa0b", {}, ["a", "b"] * 3),
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
    # version 4 comes first: what it has taken is no part of a version 6
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


# Fields


MAIL = {"subject": "Free prize", "body": b"a free\xff lunch", "id": 7}


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


# Unicode


SURROGATES = range(0xD800, 0xE000)


@pytest.mark.parametrize("plane", range(17))
def test_every_code_point_is_lowered_and_is_a_word_or_not(plane):
    tokenizer = Tokenizer()
    for code in range(plane << 16, (plane + 1) << 16):
        c = chr(code).lower()[0]
        expected = [(c, 1.0)] if is_word_character(c) else []
        assert list(tokenizer.transform_one(chr(code)).items()) == expected, hex(code)


@pytest.mark.parametrize("plane", range(17))
@pytest.mark.parametrize("lowercase", [True, False])
def test_every_code_point_between_letters_parts_them_or_not(plane, lowercase):
    tokenizer = Tokenizer(lowercase=lowercase)
    for first in range(plane << 16, (plane + 1) << 16, 128):
        block = [chr(code) for code in range(first, first + 128)]
        expected = {}
        for c in map(lowered, block) if lowercase else block:
            words = [f"a{c}b"] if is_word_character(c) else ["a", "b"]
            expected.update(dict.fromkeys(words, 1.0))
        text = "\n".join(f"a{c}b" for c in block)
        got = list(tokenizer.transform_one(text).items())
        assert got == list(expected.items()), hex(first)
        if first not in SURROGATES:
            assert list(tokenizer.transform_one(text.encode()).items()) == got, hex(first)


@pytest.mark.parametrize("plane", range(17))
def test_every_code_point_is_a_character(plane):
    tokenizer = Tokenizer(analyzer="char", value="count")
    for first in range(plane << 16, (plane + 1) << 16, 128):
        text = "".join(chr(code) for code in range(first, first + 128))
        expected = list(Counter(lowered(text)).items())
        assert list(tokenizer.transform_one(text).items()) == expected, hex(first)
        if first not in SURROGATES:
            assert list(tokenizer.transform_one(text.encode()).items()) == expected, hex(first)


def test_digits_that_are_not_ascii_are_letters_to_folding():
    words = ("", "1", "0x", "a1b", "1.2.3.", "1.2.3.4.", "::", "::1")
    digits = [c for c in map(chr, range(0x80, 0x110000)) if c.isdigit()]
    assert len(digits) > 600
    for digit in digits:
        text = " ".join(f"{word}{digit} {digit}{word}" for word in words)
        check(text, fold_numbers=True, value="count", ngram_range=(1, 2))


# UTF-8 that is none


# one byte of every kind there is, and the ends of each kind
BYTES = bytes.fromhex(
    "00 41 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 f7 f8 fb fc fe ff"
)
FEW_BYTES = bytes.fromhex("41 80 8f 90 9f a0 bf c2 e0 ed ef f0 f4 f5")
INVALID = {
    "lone continuation": b"\x80",
    "two continuations": b"\xbf\xbf",
    "start of two": b"\xc3",
    "start of three": b"\xe8\xaa",
    "start of four": b"\xf0\x9f\x99",
    "overlong two": b"\xc0\xaf",
    "overlong three": b"\xe0\x80\xaf",
    "overlong four": b"\xf0\x80\x80\xaf",
    "surrogate": b"\xed\xa0\x80",
    "pair of surrogates": b"\xed\xa0\xbd\xed\xb9\x82",
    "beyond the last": b"\xf4\x90\x80\x80",
    "five bytes": b"\xf8\x88\x80\x80\x80",
    "six bytes": b"\xfc\x84\x80\x80\x80\x80",
    "FE": b"\xfe",
    "FF": b"\xff",
    "UTF-16": b"\xff\xfea\0b\0",
}


WHOLE = Tokenizer(separators="\n", lowercase=False, max_length=None)


def assert_decoded(raw):
    """The one word that there is shows what the bytes were decoded to."""
    assert dict(WHOLE.transform_one(raw)) == {raw.decode("utf-8", "replace"): 1.0}, raw


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_bytes_of_any_kind_are_decoded_as_python_does(n):
    for some in product(range(256), repeat=n):
        if 10 not in some:
            assert_decoded(bytes(some))
            assert_decoded(b"a" + bytes(some) + b"b")


@pytest.mark.parametrize("some", [BYTES, FEW_BYTES], ids=["three", "four"])
def test_three_and_four_bytes_of_every_kind_are_decoded_as_python_does(some):
    for raw in map(bytes, product(some, repeat=3 if some is BYTES else 4)):
        assert_decoded(raw)


@pytest.mark.parametrize("kind", INVALID)
def test_invalid_utf8_is_replaced_wherever_it_stands(kind):
    bad = INVALID[kind]
    for n in range(72):
        for before in (b"a", b" ", "é".encode(), "🙂".encode()):
            for after in (b"", b"b" * (71 - n), "é".encode()):
                assert_decoded(before * n + bad + after)
                check(before * n + bad + after, ngram_range=(1, 2), max_length=None)
    check(b"one" + bad + b"two " + bad, analyzer="char", ngram_range=(1, 3))
    check(b"1.2.3.4" + bad + b"::1" + bad + b"0x1", fold_numbers=True)


@seeds(10)
def test_random_bytes_are_decoded_as_python_does(seed):
    rng = random.Random(seed)
    for _ in range(300):
        raw = rng.randbytes(rng.randint(1, 100)).replace(b"\n", b"")
        if raw:
            assert_decoded(raw)
        check(rng.randbytes(rng.randint(0, 200)), value="count")


# Borders: where code may take many bytes at once


FILLERS = {"ASCII": "a", "Latin-1": "é", "two bytes": "ж", "three bytes": "語", "four bytes": "𝔘"}
every_filler = pytest.mark.parametrize("filler", FILLERS)


@every_filler
def test_texts_of_every_length(filler):
    c = FILLERS[filler]
    tokenizer = Tokenizer(max_length=None)
    chars = Tokenizer(analyzer="char", ngram_range=(5, 5), value="count")
    for n in range(201):
        for text in (c * n, c * n + " ", " " * n + c, "x" * n + c, " " * n, f"{c * n} {c * n}b B"):
            check(text, tokenizer, max_length=None)
            check(text.encode(), tokenizer, max_length=None)
        check(c * n + "X", chars, analyzer="char", ngram_range=(5, 5), value="count")


@pytest.mark.parametrize(
    "special", [" ", "A", "Z", "İ", "é", "語", "𝔘", "\ud800", "_", "\u0301", "0", ".", ":", "\x80"]
)
def test_one_character_that_is_different_wherever_it_stands(special):
    params = {"fold_numbers": True, "max_length": None, "value": "count", "ngram_range": (1, 2)}
    tokenizer = Tokenizer(**params)
    for common in ("a", " ", "1", "ab ", "1.2.3.4 "):
        text = (common * 136)[:136]
        for i in range(136):
            changed = text[:i] + special + text[i + 1 :]
            check(changed, tokenizer, **params)
            check(as_bytes(changed), tokenizer, **params)


@every_filler
@pytest.mark.parametrize("chunk", [8, 16, 32, 64])
def test_words_that_start_and_end_around_a_border(filler, chunk):
    c = FILLERS[filler]
    tokenizer = Tokenizer()
    for border in (chunk, 2 * chunk, 3 * chunk):
        for start in range(border - 5, border + 3):
            for length in (1, 2, 3, 5, chunk - 1, chunk, chunk + 1):
                for gap in (" ", "a "):
                    text = (gap * border)[:start] + c * length + " Tail"
                    check(text, tokenizer)
                    check(text.encode(), tokenizer)


@every_filler
def test_words_of_every_length(filler):
    c = FILLERS[filler]
    words = [c * n for n in (*range(1, 70), 100, 127, 128, 255, 256, 257, 1000, 4095, 4096, 5000)]
    text = " ".join(words)
    params = {"max_length": None, "ngram_range": (1, 2)}
    check(text, **params)
    check(text.encode(), **params)
    for word in words:
        check(word, **params)
    for n in (1, 14, 15, 16, 17, 99, 100, 101, 5000):
        check(text, max_length=n)
        check(text.encode(), max_length=n)
        check(text, min_length=n, max_length=None, value="count")


def test_names_of_equal_beginnings_and_lengths_are_told_apart():
    # 15 bytes and more, and texts that differ only in what is no letter
    words = [f"{'x' * n}{end}" for n in (13, 14, 15, 16, 31) for end in ("a", "b", "é", "", "aa")]
    check(" ".join(words * 2), value="count", ngram_range=(1, 2))
    check(" ".join(f"{i:x}" for i in range(5000)), value="count")
    check("a\0 a\0\0 \0a \0 \0\0 a", separators=" ", value="count")
    check("\ud83d\ude42🙂\ud83d", analyzer="char", ngram_range=(1, 2), value="count")


def test_a_large_text_and_a_small_one_after_it():
    rng = random.Random(1)
    words = [f"word{rng.randrange(20_000)}" for _ in range(40_000)]
    tokenizer = Tokenizer(value="count")
    check(" ".join(words), tokenizer, value="count")
    check("one two", tokenizer, value="count")
    check("x" * 300_000, tokenizer, value="count")
    check("1:" * 20_000 + "1." * 20_000, fold_numbers=True, value="count")


# Everything at once


@seeds(40)
def test_random_texts_with_random_parameters(seed):
    rng = random.Random(seed)
    params = random_parameters(rng)
    tokenizer = Tokenizer(**params)
    for _ in range(120):
        check(random_x(rng, params["fields"]), tokenizer, **params)


@seeds(10)
def test_random_texts_are_folded(seed):
    rng = random.Random(seed)
    params = {"fold_numbers": True, "value": "count", "lowercase": seed % 2 == 0}
    tokenizer = Tokenizer(**params)
    for _ in range(300):
        # addresses and what is nearly one
        text = "".join(rng.choices(("1", "25", "0", "ab", "f", ".", ":", "::", " ", "_"), k=25))
        check(text, tokenizer, **params)
        check(rng.choice((random_text, random_bytes))(rng, 12), tokenizer, **params)


# name: how many lines
STREAMS = {
    "sms_spam": 300,
    "trec07p_first12000": 40,
    "spamassassin": 40,
    "20news_train": 60,
    "loghub_system": 400,
    "bgl_alert": 400,
}


@needs_data
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ngram_range": (1, 2), "fold_numbers": True, "value": "log", "normalize": "l2"},
        {"lowercase": False, "separators": " \t", "min_length": 2, "max_length": None},
        {"analyzer": "char", "ngram_range": (2, 4), "value": "count"},
    ],
    ids=["words", "folded", "separators", "characters"],
)
def test_real_streams_as_text_and_as_bytes(stream, params):
    tokenizer = Tokenizer(**params)
    for text, _ in labelled_texts(stream, STREAMS[stream]):
        check(text, tokenizer, **params)
        assert list(tokenizer.transform_one(text.encode()).items()) == list(
            tokenizer.transform_one(text).items()
        )


# The event is a mapping


def test_event_is_a_mapping():
    event = Tokenizer(value="count").transform_one("free prize Free é")
    plain = {"free": 2.0, "prize": 1.0, "é": 1.0}
    assert isinstance(event, Mapping)
    assert len(event) == 3
    assert bool(event)
    assert list(event) == list(plain)
    assert list(event) == list(event)
    assert event["free"] == 2.0
    assert event["é"] == 1.0
    assert event.get("prize") == 1.0
    assert event.get("absent") is None
    assert event.get("absent", 5.0) == 5.0
    assert "free" in event
    for absent in ("fre", "free ", "Free", "", "\ud800", 3, None, b"free", ("free",)):
        assert absent not in event
        assert event.get(absent) is None
        with pytest.raises(KeyError) as caught:
            event[absent]
        assert caught.value.args == (absent,)
    assert list(event.keys()) == list(plain)
    assert list(event.values()) == list(plain.values())
    assert list(event.items()) == list(plain.items())
    assert len(event.keys()) == len(event.values()) == len(event.items()) == 3
    assert event.keys() & {"free", "other"} == {"free"}
    assert ("free", 2.0) in event.items()
    assert dict(event) == plain
    assert {**event, "more": 1.0} == {**plain, "more": 1.0}


def test_events_are_equal_as_dicts_are():
    tokenizer = Tokenizer()
    event = tokenizer.transform_one("a b")
    assert event == {"a": 1.0, "b": 1.0}
    plain = {"b": 1.0, "a": 1.0}
    assert plain == event
    assert event == tokenizer.transform_one("b, a")
    assert event != tokenizer.transform_one("a b c")
    assert event != tokenizer.transform_one("a c")
    assert event != {"a": 1.0, "b": 2.0}
    assert event != ["a", "b"]
    assert event != "a b"
    assert tokenizer.transform_one("") == {}


def test_event_has_no_hash_as_dicts_have_none():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Tokenizer().transform_one("a"))


def test_event_cannot_be_changed():
    event = Tokenizer().transform_one("a b")
    with pytest.raises(TypeError):
        event["a"] = 2.0
    with pytest.raises(TypeError):
        del event["a"]
    assert event == {"a": 1.0, "b": 1.0}


def test_representation_shows_the_features():
    assert "'free': 2.0" in repr(Tokenizer(value="count").transform_one("free Free prize"))


def test_event_of_an_empty_text_is_empty():
    for text in ("", b"", " .,", b"\xff"):
        for params in ({}, {"normalize": "l2"}, {"ngram_range": (2, 3), "value": "log"}):
            event = Tokenizer(**params).transform_one(text)
            assert len(event) == 0
            assert not event
            assert list(event.items()) == []
            assert "" not in event


ODD_TEXTS = ("", "a b a", b"caf\xc3\xa9 \xff", "\ud800 é 語 𝔘 \0", "x" * 90 + " y", "10.0.0.1 a")


@pytest.mark.parametrize("text", ODD_TEXTS)
@pytest.mark.parametrize("read", [True, False], ids=["read", "unread"])
def test_event_pickles_and_copies(text, read):
    copies = [copy.copy, copy.deepcopy]
    copies += [
        lambda event, p=protocol: pickle.loads(pickle.dumps(event, p))
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
    ]
    for params in (
        {"value": "log", "normalize": "l2"},
        {"analyzer": "char", "ngram_range": (1, 3)},
    ):
        expected = features(text, **params)
        for make_copy in copies:
            event = Tokenizer(**params).transform_one(text)
            if read:
                assert len(event) == len(expected)
            same = make_copy(event)
            assert type(same) is type(event)
            assert list(same.items()) == list(expected.items()) == list(event.items())


def test_events_stand_on_their_own():
    tokenizer = Tokenizer(value="count")
    rng = random.Random(5)
    texts = [random_text(rng) for _ in range(200)]
    events = [tokenizer.transform_one(text) for text in texts]
    iterators = [iter(event.items()) for event in events]
    del tokenizer
    for text, event, iterator in reversed(list(zip(texts, events, iterators, strict=True))):
        expected = features(text, value="count")
        assert list(iterator) == list(expected.items())
        assert dict(event) == expected
        assert all(event[name] == value for name, value in expected.items())


class Shouting(str):
    """A str that says something else of itself."""

    def lower(self):
        return "something else"

    def __iter__(self):
        return iter("something else")

    def __len__(self):
        return 3


def test_a_text_is_its_code_points_whatever_its_class_says():
    for text in (Shouting("One two"), np.str_("One two")):
        assert list(Tokenizer().transform_one(text)) == ["one", "two"]


# Texts


def test_texts_are_a_sequence_of_events():
    tokenizer = Tokenizer(value="count", ngram_range=(1, 2))
    raw = ["a b", b"c c", "", "\ud800é", "a b"]
    texts = tokenizer.transform_many(raw)
    events = [features(text, value="count", ngram_range=(1, 2)) for text in raw]
    assert isinstance(texts, Sequence)
    assert len(texts) == 5
    assert [list(event.items()) for event in texts] == [list(event.items()) for event in events]
    assert list(texts) == list(texts) == events
    assert type(texts[0]) is type(tokenizer.transform_one(""))
    for i in range(-5, 5):
        assert texts[i] == events[i]
    for i in (5, -6, 10**9):
        with pytest.raises(IndexError):
            texts[i]
    with pytest.raises(TypeError):
        texts["a"]
    for part in (slice(1, 3), slice(None, None, -1), slice(3, 1), slice(0, 100, 2)):
        assert list(texts[part]) == events[part]
    assert list(reversed(texts)) == events[::-1]
    assert events[1] in texts
    assert {"z": 1.0} not in texts
    assert texts.index({"c": 2.0, "c c": 1.0}) == 1
    assert texts.count(events[0]) == 2


def test_no_texts_are_an_empty_sequence():
    texts = Tokenizer().transform_many([])
    assert len(texts) == 0
    assert list(texts) == []


def test_texts_may_come_as_a_tuple_and_have_fields():
    x = ({"a": "one two", "b": b"two"}, {"b": "", "a": ""})
    texts = Tokenizer(fields=("b", "a")).transform_many(x)
    assert list(texts) == [features(mapping, fields=("b", "a")) for mapping in x]


def test_texts_do_not_change_when_their_list_does():
    raw = [{"a": "one"}, {"a": "two"}]
    texts = Tokenizer(fields="a").transform_many(raw)
    raw[0]["a"] = "three"
    raw.pop()
    assert list(texts) == [{"a:one": 1.0}, {"a:two": 1.0}]


# What is refused


@pytest.mark.parametrize(
    "x", [None, 3, 1.5, ["a"], ("a",), {"a": 1}, {"a": "b"}, bytearray(b"a"), memoryview(b"a")]
)
def test_what_is_no_text_is_refused(x):
    with pytest.raises(TypeError) as caught:
        Tokenizer().transform_one(x)
    assert type(x).__name__ in str(caught.value)
    with pytest.raises(TypeError):
        list(Tokenizer().transform_many(["good", x]))


@pytest.mark.parametrize("x", ["a", b"a", None, ["subject", "body"], 3])
def test_fields_of_no_mapping_are_refused(x):
    with pytest.raises(TypeError):
        Tokenizer(fields=("subject", "body")).transform_one(x)


def test_a_missing_field_is_named():
    tokenizer = Tokenizer(fields=("subject", "body"))
    for x in ({"subject": "a"}, {}, {"subject": "a", "Body": "b"}):
        with pytest.raises(ValueError, match="subject" if not x else "body"):
            tokenizer.transform_one(x)
    with pytest.raises(ValueError, match="body"):
        list(tokenizer.transform_many([MAIL, {"subject": "a"}]))


@pytest.mark.parametrize("value", [None, 3, ["a"], {"a": 1}, bytearray(b"a")])
def test_a_field_that_is_no_text_is_named(value):
    with pytest.raises(TypeError, match="body"):
        Tokenizer(fields=("subject", "body")).transform_one({"subject": "a", "body": value})


@pytest.mark.parametrize("texts", ["a text", b"a text", 3, None])
def test_one_text_is_not_taken_for_many(texts):
    with pytest.raises(TypeError):
        Tokenizer().transform_many(texts)


BAD_PARAMETERS = [
    {"analyzer": "words"},
    {"analyzer": None},
    {"ngram_range": (0, 1)},
    {"ngram_range": (2, 1)},
    {"ngram_range": (1,)},
    {"ngram_range": (1, 2, 3)},
    {"ngram_range": (1.0, 2.0)},
    {"ngram_range": ("1", "2")},
    {"ngram_range": 2},
    {"ngram_range": None},
    {"lowercase": "yes"},
    {"lowercase": None},
    {"separators": ""},
    {"separators": b" "},
    {"separators": [" "]},
    {"separators": 3},
    {"min_length": -1},
    {"min_length": 1.5},
    {"min_length": "3"},
    {"min_length": None},
    {"max_length": -1},
    {"max_length": 2.5},
    {"max_length": "100"},
    {"min_length": 10**30},
    {"max_length": 3, "min_length": 4},
    {"fold_numbers": "yes"},
    {"fold_numbers": None},
    {"value": "tf"},
    {"value": None},
    {"normalize": "l1"},
    {"normalize": True},
    {"fields": 3},
    {"fields": b"body"},
    {"fields": ("body", 3)},
    {"fields": ("body", None)},
    {"fields": ()},
    {"separators": " ", "fold_numbers": True},
    {"separators": " ", "analyzer": "char"},
    {"fold_numbers": True, "analyzer": "char"},
    {"min_length": 2, "analyzer": "char"},
    {"max_length": 50, "analyzer": "char"},
    {"max_length": None, "analyzer": "char"},
]


@pytest.mark.parametrize("params", BAD_PARAMETERS, ids=repr)
def test_bad_parameter_is_refused_by_its_name(params):
    with pytest.raises((TypeError, ValueError)) as caught:
        Tokenizer(**params)
    assert type(caught.value) in (TypeError, ValueError)
    assert next(iter(params)) in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("params", BAD_PARAMETERS[-6:], ids=repr)
def test_parameters_that_do_not_go_together_are_both_named(params):
    with pytest.raises(ValueError, match=next(iter(params))) as caught:
        Tokenizer(**params)
    assert list(params)[1] in str(caught.value)


# The tokenizer as River's estimator


PARAMETERS = {
    "analyzer": "word",
    "ngram_range": (1, 3),
    "lowercase": False,
    "separators": None,
    "min_length": 2,
    "max_length": None,
    "fold_numbers": True,
    "value": "log",
    "normalize": "l2",
    "fields": ("subject", "body"),
}


def test_parameters_are_kept_as_they_are_given():
    assert Tokenizer(**PARAMETERS)._get_params() == PARAMETERS
    for name, value in PARAMETERS.items():
        assert getattr(Tokenizer(**PARAMETERS), name) == value


def test_parameters_cannot_be_changed():
    tokenizer = Tokenizer(**PARAMETERS)
    for name, value in Tokenizer()._get_params().items():
        with pytest.raises(AttributeError):
            setattr(tokenizer, name, value)
    assert tokenizer._get_params() == PARAMETERS


@pytest.mark.parametrize(
    "make_copy",
    [
        lambda tokenizer: tokenizer.clone(),
        lambda tokenizer: tokenizer.clone(include_attributes=True),  # as River's unions do it
        copy.copy,
        copy.deepcopy,
        lambda tokenizer: pickle.loads(pickle.dumps(tokenizer)),
    ],
    ids=["clone", "clone with attributes", "copy", "deepcopy", "pickle"],
)
def test_a_copy_has_the_parameters(make_copy):
    tokenizer = make_copy(Tokenizer(**PARAMETERS))
    assert type(tokenizer) is Tokenizer
    assert tokenizer._get_params() == PARAMETERS
    check({"subject": "10.0.0.1 is Up", "body": "Ab c Ab"}, tokenizer, **PARAMETERS)


def test_clone_takes_new_parameters():
    tokenizer = Tokenizer(**PARAMETERS).clone({"value": "count"})
    assert tokenizer._get_params() == {**PARAMETERS, "value": "count"}


@pytest.mark.parametrize(
    "params",
    [{}, {"fields": "text"}, {"analyzer": "char", "ngram_range": (3, 3)}],
    ids=["words", "fields", "characters"],
)
def test_every_check_of_river_passes(params):
    tokenizer = Tokenizer(**params)
    calls = list(checks.yield_checks(tokenizer))
    assert len(calls) >= 14
    failures = []
    for call in calls:
        try:
            call(tokenizer.clone())
        except Exception as error:
            failures.append((call.__name__, repr(error)))
    assert failures == []


def test_tokenizer_is_known_to_river_as_a_transformer_of_texts():
    assert isinstance(Tokenizer(), base.Transformer)
    assert not Tokenizer()._supervised
    assert base.tags.TEXT_INPUT in Tokenizer()._tags


def random_mails(rng, n, labels):
    """(text, label) that can be learnt in part: each label has words that it likes."""
    words = ["Été", "語漢字", "a_name_of_more_than_15_bytes", "İx"]
    words += [f"word{i}" for i in range(30)]
    for i in range(n):
        k = rng.randrange(len(labels) if i > n // 4 else 2)
        some = [words[(k + rng.randrange(9) * len(labels)) % len(words)] for _ in range(4)]
        some += rng.choices(words, k=rng.randint(0, 8))
        some += rng.choices(("10.0.0.1", "42", "::1", "0x1F", "\0", "\ud800", "🙂."), k=2)
        yield rng.choice((" ", ", ", "\n")).join(some[: rng.choice((0, 1, 20, 20, 20))]), labels[k]


def mails(learner, n=80, seed=3):
    return list(random_mails(random.Random(seed), n, labels_for(learner)))


@every_learner
def test_tokenizer_before_a_learner_is_the_learner_on_the_dicts(learner):
    pipeline, model = Tokenizer(value="log") | make(learner), make(learner)
    for text, y in mails(learner, 200):
        x = features(text, value="log")
        assert pipeline.predict_one(text) == model.predict_one(x)
        assert pipeline.predict_proba_one(text) == model.predict_proba_one(x)
        pipeline.learn_one(text, y)
        model.learn_one(x, y)
    assert learned(pipeline[learner]) == learned(model)
    assert 0 < model.n_mistakes < 150


@every_learner
def test_tokenizer_before_a_learner_takes_texts_in_batches(learner):
    pipeline, model = Tokenizer() | make(learner), make(learner)
    pairs = mails(learner)
    texts = [text for text, _ in pairs]
    pipeline.learn_many(texts, [y for _, y in pairs])
    for text, y in pairs:
        model.learn_one(features(text), y)
    assert learned(pipeline[learner]) == learned(model)
    predictions = [model.predict_one(features(text)) for text in texts]
    assert list(pipeline.predict_many(texts)) == predictions


def test_progressive_validation_is_that_of_the_dicts():
    pairs = mails("Perceptron", 300)
    plain = compose.FuncTransformer(features) | make("Perceptron")
    scores = [
        evaluate.progressive_val_score(pairs, model, metrics.Accuracy()).get()
        for model in (Tokenizer() | make("Perceptron"), plain)
    ]
    assert scores[0] == scores[1] > 0.6


@pytest.mark.parametrize(
    ("between", "model"),
    [
        ([], naive_bayes.MultinomialNB()),
        ([], naive_bayes.BernoulliNB()),
        # River's linear models take dicts and nothing else
        ([compose.FuncTransformer(dict)], linear_model.LogisticRegression()),
        ([compose.FuncTransformer(dict)], linear_model.PAClassifier()),
    ],
    ids=["MultinomialNB", "BernoulliNB", "LogisticRegression", "PAClassifier"],
)
def test_rivers_own_models_learn_from_it_what_they_learn_from_dicts(between, model):
    pipeline = compose.Pipeline(Tokenizer(value="count"), *between, model.clone())
    plain = compose.FuncTransformer(count_features) | model.clone()
    for text, y in mails("Perceptron"):
        assert pipeline.predict_proba_one(text) == plain.predict_proba_one(text)
        pipeline.learn_one(text, y)
        plain.learn_one(text, y)
    assert pipeline.predict_proba_one("word1 word2") == plain.predict_proba_one("word1 word2")


def count_features(text):
    return features(text, value="count")


def test_union_of_words_and_characters():
    chars = {"analyzer": "char", "ngram_range": (3, 3)}
    union = Tokenizer() + Tokenizer(**chars)
    pipeline = (Tokenizer() + Tokenizer(**chars)) | make("Perceptron")
    model = make("Perceptron")
    for text, y in mails("Perceptron"):
        x = dict(ChainMap(features(text), features(text, **chars)))
        assert list(union.transform_one(text).items()) == list(x.items())
        assert pipeline.predict_one(text) == model.predict_one(x)
        pipeline.learn_one(text, y)
        model.learn_one(x, y)
    assert learned(pipeline["Perceptron"]) == learned(model)


# Learners


TOKENIZERS = {
    "words": {},
    "values": {"ngram_range": (1, 2), "fold_numbers": True, "value": "log", "normalize": "l2"},
    "characters": {"analyzer": "char", "ngram_range": (1, 3), "value": "count"},
}
every_tokenizer = pytest.mark.parametrize("kind", TOKENIZERS)


def explained(model, x):
    """All that a model says of an event, and why."""
    return *answers(model, x), model.explain_one(x), model.debug_one(x)


def assert_predicted(got, expected):
    """As lists: numpy's truth values are Python's, and an array may have any dtype."""
    assert np.asarray(got).tolist() == list(expected)


def check_rows(model, texts, events):
    """The answers to texts are those to the events, row by row."""
    assert_predicted(model.predict_many(texts), [model.predict_one(x) for x in events])
    p = [list(model.predict_proba_one(x).values()) for x in events]
    assert np.asarray(model.predict_proba_many(texts)).tolist() == p
    decisions = [model.decision_function_one(x) for x in events]
    if decisions and isinstance(decisions[0], dict):
        decisions = [list(decision.values()) for decision in decisions]
    assert np.asarray(model.decision_function_many(texts)).tolist() == decisions


@every_tokenizer
@every_variant
def test_learner_learns_from_texts_what_it_learns_from_dicts(learner, variant, kind):
    params = TOKENIZERS[kind]
    tokenizer = Tokenizer(**params)
    model, plain, tested = (make(learner, variant) for _ in range(3))
    for i, (text, y) in enumerate(mails(learner)):
        text = text if i % 3 else as_bytes(text)
        x = features(text, **params)
        event = tokenizer.transform_one(text)
        w = (1.0, 0.5, 2.0)[i % 3]
        # the same event is asked of, learned, and asked of again
        assert answers(model, event) == answers(plain, x)
        assert tested.test_then_train_one(event, y, w=w) == plain.predict_one(x)
        model.learn_one(event, y, w=w)
        plain.learn_one(x, y, w=w)
        if i % 10 == 9:
            assert explained(model, event) == explained(plain, x)
        assert answers(model, event) == answers(plain, x)
    assert learned(model) == learned(plain) == learned(tested)


@every_tokenizer
@every_variant
def test_batches_of_texts_are_learned_and_answered_row_by_row(learner, variant, kind):
    params = TOKENIZERS[kind]
    tokenizer = Tokenizer(**params)
    model, plain, tested = (make(learner, variant) for _ in range(3))
    pairs = iter(mails(learner))
    for n in (1, 30, 0, 49):
        rows = list(islice(pairs, n))
        raw, labels = [text for text, _ in rows], [y for _, y in rows]
        w = [(1.0, 0.5, 0.0)[i % 3] for i in range(n)]
        events = [features(text, **params) for text in raw]
        texts = tokenizer.transform_many(raw)
        if plain.n_seen:
            check_rows(plain, texts, events)
        model.learn_many(texts, labels, w=w)
        expected = [
            plain.test_then_train_one(x, y, w=step)
            for x, y, step in zip(events, labels, w, strict=True)
        ]
        assert_predicted(tested.test_then_train_many(texts, labels, w=w), expected)
        assert learned(model) == learned(plain) == learned(tested)
    check_rows(model, texts, events)


@every_learner
def test_batches_of_bytes_and_of_fields(learner):
    pairs = mails(learner)
    raw, labels = [as_bytes(text) + b" \xff" for text, _ in pairs], [y for _, y in pairs]
    mapped = [{"a": text, "b": as_bytes(text[::-1])} for text, _ in pairs]
    for params, xs in (({"value": "count"}, raw), ({"fields": ("a", "b")}, mapped)):
        texts = Tokenizer(**params).transform_many(xs)
        events = [features(x, **params) for x in xs]
        one, many, plain = (make(learner) for _ in range(3))
        many.learn_many(texts, labels)
        for x, event, y in zip(events, texts, labels, strict=True):
            one.learn_one(event, y)
            plain.learn_one(x, y)
        assert learned(one) == learned(many) == learned(plain)
        check_rows(many, texts, events)
        check_rows(many, texts[10:20], events[10:20])


@every_learner
def test_one_model_takes_dicts_texts_and_batches_in_turn(learner):
    tokenizer = Tokenizer()
    model, plain = make(learner), make(learner)
    pairs = mails(learner, 200)
    known = tokenizer.transform_one("word1 word2 word3")
    for i, (text, y) in enumerate(pairs):
        x = features(text)
        if i % 4 == 0:
            model.learn_one(x, y)
        elif i % 4 == 1:
            model.learn_one(tokenizer.transform_one(text), y)
        elif i % 4 == 2:
            model.learn_many(tokenizer.transform_many([text]), [y])
        else:
            model.learn_one({**tokenizer.transform_one(text)}, y)
        plain.learn_one(x, y)
        assert answers(model, known) == answers(plain, {"word1": 1, "word2": 1, "word3": 1})
    assert learned(model) == learned(plain)


@every_learner
def test_one_event_serves_many_models(learner):
    # seeds differ, and so does where each model keeps a feature
    models = [make(learner, hash_seed=seed) for seed in (1, 2)]
    models += [make(learner, "hashed", hash_seed=3)]
    plain = [model.clone() for model in models]
    tokenizer = Tokenizer(value="log")
    for text, y in mails(learner, 40) * 2:
        event = tokenizer.transform_one(text)
        for model, other in zip(models, plain, strict=True):
            assert answers(model, event) == answers(other, features(text, value="log"))
            model.learn_one(event, y)
            other.learn_one(features(text, value="log"), y)
    assert [learned(model) for model in models] == [learned(model) for model in plain]


@every_learner
def test_names_of_every_kind_are_the_dicts_names(learner):
    texts = ["a", "a\0", "\0", "\0\0", "x" * 14, "x" * 15, "x" * 16, "é" * 7, "é" * 8, "語" * 5]
    texts += ["語" * 6, "\ud83d\ude42", "🙂", "\ud800", "\udfff", "𝔘" * 3, "𝔘" * 4, "x" * 3000, "ÿ"]
    tokenizer = Tokenizer(separators=" ", max_length=None, lowercase=False)
    model, plain = make(learner), make(learner)
    labels = labels_for(learner)
    for i, text in enumerate(texts * 2):
        model.learn_one(tokenizer.transform_one(text), labels[i % 2])
        plain.learn_one({text: 1}, labels[i % 2])
    assert learned(model) == learned(plain)
    assert model.n_features == len(texts)
    assert model.weights == plain.weights


@every_learner
def test_a_bad_batch_of_texts_teaches_nothing(learner):
    texts = Tokenizer().transform_many(["one two", "three", "four"])
    good, bad = labels_for(learner)[:2], [] if learner != "Perceptron" else "maybe"
    model = make(learner)
    model.learn_many(texts, [good[0], good[1], good[0]])
    before = learned(model)
    for labels in ([good[0]], [good[0], good[1], bad], [*good, *good]):
        with pytest.raises((TypeError, ValueError)):
            model.learn_many(texts, labels)
    with pytest.raises(ValueError, match="w"):
        model.learn_many(texts, [good[0]] * 3, w=[1.0, -1.0, 1.0])
    with pytest.raises((TypeError, ValueError)):
        model.learn_one(texts[0], bad)
    assert learned(model) == before


@pytest.mark.parametrize("intercept", [True, False])
def test_a_text_without_features_is_the_empty_event(intercept):
    model, plain = (Perceptron(intercept=intercept, hash_seed=1) for _ in range(2))
    empty = Tokenizer().transform_one(" ")
    for y in (True, False, False, True):
        model.learn_one(empty, y)
        plain.learn_one({}, y)
        assert answers(model, empty) == answers(plain, {})
    model.learn_many(Tokenizer().transform_many(["", ""]), [True, True])
    plain.learn_one({}, True)
    plain.learn_one({}, True)
    assert learned(model) == learned(plain)


# Threads


@pytest.mark.parametrize("shared", [True, False], ids=["shared events", "own events"])
@pytest.mark.parametrize("way", ["one", "many"])
@eager
@every_learner
def test_who_asks_while_another_learns_is_told_of_a_state_before_or_after(learner, way, shared):
    tokenizer = Tokenizer(value="count")
    pairs = mails(learner, 400)
    probes = [text for text, _ in pairs[:5]]
    events = [features(probe, value="count") for probe in probes]
    model, plain = make(learner), make(learner)
    known = [[repr(plain.decision_function_one(x))] for x in events]
    for text, y in pairs:
        plain.learn_one(features(text, value="count"), y)
        for answers_known, x in zip(known, events, strict=True):
            answers_known.append(repr(plain.decision_function_one(x)))
    known = [set(answers_known) for answers_known in known]
    common = [tokenizer.transform_one(probe) for probe in probes]
    stop, errors, asked = threading.Event(), [], [0] * 3

    def ask(i):
        try:
            while not stop.is_set() or not asked[i]:
                for k, probe in enumerate(probes):
                    event = common[k] if shared else tokenizer.transform_one(probe)
                    assert repr(model.decision_function_one(event)) in known[k]
                    assert model.predict_one(event) in (None, *labels_for(learner))
                    assert event == events[k]
                asked[i] += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask, args=(i,), daemon=True) for i in range(3)]
    for thread in threads:
        thread.start()
    try:
        for i in range(0, len(pairs), 40):
            texts, labels = zip(*pairs[i : i + 40], strict=True)
            if way == "many":
                model.learn_many(tokenizer.transform_many(texts), labels)
            else:
                for text, y in zip(texts, labels, strict=True):
                    model.learn_one(tokenizer.transform_one(text), y)
    finally:
        stop.set()
    for thread in threads:
        thread.join(100)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []
    assert min(asked) > 0
    assert learned(model) == learned(plain)


@eager
def test_one_tokenizer_serves_many_threads():
    params = {"ngram_range": (1, 2), "fold_numbers": True, "value": "log"}
    tokenizer = Tokenizer(**params)
    rng = random.Random(9)
    texts = [random_x(rng) for _ in range(150)]
    expected = [list(features(text, **params).items()) for text in texts]
    results = [None] * 4

    def run(i):
        results[i] = [list(tokenizer.transform_one(text).items()) for text in texts]

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert results == [expected] * 4


def test_text_beyond_what_can_be_counted_is_refused():
    text = b"a " * (2**27) + b"b"
    for given in (text, text.decode()):
        with pytest.raises(ValueError, match=r"x has a length of 268435457; split a text of more"):
            Tokenizer().transform_one(given)


def test_learner_alone_says_what_to_do_with_a_text():
    for text in ("a text", b"a text"):
        with pytest.raises(TypeError, match=r"for a text put Tokenizer\(\) before the learner"):
            make("Perceptron").learn_one(text, True)


@pytest.mark.parametrize("how", ["pickle", "deepcopy", "copy"])
def test_many_texts_go_along_in_a_pickle_and_a_copy(how):
    copies = {
        "pickle": lambda texts: pickle.loads(pickle.dumps(texts)),
        "deepcopy": copy.deepcopy,
        "copy": copy.copy,
    }
    raw = ["win a prize", b"b\xc3\xa9", "жук", ""]
    for tokenizer, given in (
        (Tokenizer(ngram_range=(1, 2)), raw),
        (Tokenizer(), pd.Series(["a b", "c"], index=[5, 4])),
        (Tokenizer(fields=("a", "b")), [{"a": "x y", "b": "z"}, {"a": "", "b": "x"}]),
        (Tokenizer(), []),
    ):
        texts = tokenizer.transform_many(given)
        other = copies[how](texts)
        assert type(other) is type(texts)
        assert list(other) == list(texts)
        model, twin = Perceptron(hash_seed=1), Perceptron(hash_seed=1)
        model.learn_many(texts, [True] * len(texts))
        twin.learn_many(other, [True] * len(texts))
        assert pickle.dumps(model) == pickle.dumps(twin)
        found, expected = twin.predict_many(other), model.predict_many(texts)
        assert type(found) is type(expected)
        assert list(getattr(found, "index", [])) == list(getattr(expected, "index", []))


@pytest.mark.parametrize("how", ["pickle", "deepcopy"])
def test_lines_go_along_in_a_pickle_and_a_copy(how):
    block = b"spam\twin a prize\nham\tsee you\n\nno tab\nspam\t\xc3\xa9\n"
    lines = Lines(Tokenizer(), block, LINES.LABELLED)
    other = copy.deepcopy(lines) if how == "deepcopy" else pickle.loads(pickle.dumps(lines))
    assert type(other) is Lines
    assert list(other) == list(lines)
    for name in ("labels", "faults", "numbers", "line_numbers", "n_lines", "n_blank"):
        assert getattr(other, name) == getattr(lines, name)
    assert list(copy.deepcopy(lines[1:])) == list(lines)[1:]


@pytest.mark.parametrize("seed", range(5), ids="seed={}".format)
def test_lines_know_whether_a_text_was_no_utf_8(seed):
    rng = random.Random(seed)
    parts = [
        b"a",
        b" prize",
        b"\xc3\xa9",
        b"\xef\xbf\xbd",
        b"\xe6\xbc\xa2",
        b"\xf0\x9f\x98\x80",
        b"\xff",
    ]
    parts += [b"\xc3", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xe6\xbc"]
    for _ in range(300):
        tokenizer = Tokenizer(**rng.choice([{}, {"analyzer": "char"}, {"separators": " "}]))
        model = LineModel(MulticlassPerceptron(), tokenizer, {"format": "plain"})
        weights = [20] * 6 + [1] * 5
        lines = [b"".join(rng.choices(parts, weights, k=rng.randrange(1, 20))) for _ in range(4)]
        block = Block(model, b"\n".join(lines), LINES.TEXT)
        block.answer()
        bad = [number for number, line in enumerate(lines) if "\ufffd" in undecoded(line)]
        assert block.lines.replaced == bool(bad)
        assert block.replaced() == bad


def undecoded(line):
    """A line, in which U+FFFD stands for nothing but what is not UTF-8."""
    return line.replace(b"\xef\xbf\xbd", b"x").decode(errors="replace")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_no_sequence_of_texts_and_its_columns_names_are_none(kind):
    frame = {
        "pandas": lambda texts: pd.DataFrame({"text": texts}),
        "polars": lambda texts: pl.DataFrame({"text": texts}),
        "pyarrow": lambda texts: pa.table({"text": texts}),
    }[kind](["a b", "c"])
    model = Tokenizer() | Perceptron()
    for call in (
        model.predict_many,
        Tokenizer().transform_many,
        Tokenizer(fields="a").transform_many,
    ):
        with pytest.raises(TypeError, match="takes a sequence of texts: give it one column"):
            call(frame)
