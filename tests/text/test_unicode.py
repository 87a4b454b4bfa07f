"""Every code point, bytes that are not UTF-8, and borders where many bytes are taken at once."""
# ruff: noqa: RUF001  letters that look alike are meant

import random
from itertools import product

import pytest

from streamptron import Tokenizer
from tests.support.marks import seeds
from tests.support.tokenized import as_bytes, check
from tests.twin.text import composed, features, seen

# Unicode


SURROGATES = range(0xD800, 0xE000)


@pytest.mark.parametrize("plane", range(17))
def test_every_code_point_is_lowered_and_is_a_word_or_not(plane):
    tokenizer = Tokenizer()
    for code in range(plane << 16, (plane + 1) << 16):
        expected = list(features(chr(code)).items())
        assert list(tokenizer.transform_one(chr(code)).items()) == expected, hex(code)


@pytest.mark.slow
@pytest.mark.parametrize("plane", range(17))
@pytest.mark.parametrize("lowercase", [True, False])
def test_every_code_point_between_letters_parts_them_or_not(plane, lowercase):
    tokenizer = Tokenizer(lowercase=lowercase)
    for first in range(plane << 16, (plane + 1) << 16, 128):
        block = map(chr, range(first, first + 128))
        text = "\n".join(f"a{c}b" for c in block)
        expected = list(features(text, lowercase=lowercase).items())
        assert list(tokenizer.transform_one(text).items()) == expected, hex(first)
        if first not in SURROGATES:
            assert list(tokenizer.transform_one(text.encode()).items()) == expected, hex(first)


@pytest.mark.parametrize("plane", range(17))
def test_every_code_point_is_a_character(plane):
    tokenizer = Tokenizer(analyzer="char", value="count")
    for first in range(plane << 16, (plane + 1) << 16, 128):
        text = "\n".join(map(chr, range(first, first + 128)))
        expected = list(features(text, analyzer="char", value="count").items())
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


# UTF-8 that is invalid


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
    text = composed(seen(raw.decode("utf-8", "replace")))
    assert dict(WHOLE.transform_one(raw)) == ({text: 1.0} if text else {}), raw


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
    # 15 bytes and more, and texts that differ only in what is not a letter
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
