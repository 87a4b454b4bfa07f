"""Letters and their marks are one character however they were written; what is not seen is none."""
# ruff: noqa: RUF001  letters that look alike are meant

import random

import pytest

from streamptron import Mail, Tokenizer
from tests.support.marks import seeds
from tests.support.texts import random_composed
from tests.support.tokenized import as_bytes, check
from tests.twin.text import UNSEEN, features, stays
from tests.twin.unicode import combining, normalize

WHOLE = {"separators": "\n", "max_length": None}

TEXTS = {
    "French": "Élève, naïve, ÇA",
    "Vietnamese": "Tiếng Việt ĐƯỢC nghỉ bệnh",
    "Turkish": "İSTANBUL Iğdır",
    "Yoruba": "Ẹ̀kọ́ ọjọ́",
    "Russian": "Йод, ещё ЁЖ",
    "Greek": "άνθρωπος Ὦ ᾧ",
    "Hebrew": "שָׁלוֹם",
    "Arabic": "مُحَمَّدٌ آخر",
    "Hindi": "क़लम लड़का",
    "Bengali": "কোনো নৌকা বাড়ি",
    "Tamil": "கொள்கை யௌவனம்",
    "Sinhala": "ශ්‍රී ෝ",
    "Thai": "ที่อยู่ นํ้า",
    "Japanese": "がんばって パン",
    "Korean": "한국어 값",
    "signs": "a ≠ b, 5 Ω, 273 K, Å",
}


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("analyzer", ["word", "char"])
def test_composed_and_decomposed_texts_are_one(language, lowercase, analyzer):
    params = {"lowercase": lowercase, "analyzer": analyzer, "ngram_range": (1, 3)}
    given = TEXTS[language]
    events = []
    for text in (given, *(normalize(form, given) for form in ("NFC", "NFD"))):
        check(text, **params)
        check(text.encode(), **params)
        events.append(list(Tokenizer(**params).transform_one(text)))
    assert events[0] == events[1] == events[2]


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("fold", [True, False])
def test_composed_and_decomposed_mails_are_one(language, fold):
    mail = Mail(bytes=0, fold=fold)
    texts = [normalize(form, TEXTS[language]) for form in ("NFC", "NFD")]
    events = [list(mail.transform_one(f"Subject: {text}\n\n{text}".encode())) for text in texts]
    assert events[0] == events[1]


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_code_point_and_what_it_is_composed_of_are_one(lowercase):
    whole = Tokenizer(**WHOLE, lowercase=lowercase)
    texts = [c for c in map(chr, range(0x10000)) if normalize("NFD", c) != c and not stays(c)]
    assert len(texts) > 12_000
    for text in texts:
        apart = normalize("NFD", text)
        assert list(whole.transform_one(text)) == list(whole.transform_one(apart)), ascii(text)


def test_letters_with_a_mark_of_the_same_script_are_composed_or_not():
    marks = [c for c in map(chr, range(0x900, 0x3100)) if combining(c)]
    for mark in marks:
        block = ord(mark) & ~0x7F
        text = "\n".join(chr(code) + mark for code in range(block, block + 128))
        check(text, **WHOLE)


@pytest.mark.parametrize("between", sorted(UNSEEN)[::7])
def test_what_is_not_seen_changes_nothing(between):
    c = chr(between)
    for text in ("Versicherung", "می خواهم", "e\u0301te\u0301", "한국", "한국"):
        for params in ({}, {"ngram_range": (1, 2)}, {"analyzer": "char", "ngram_range": (2, 2)}):
            event = list(Tokenizer(**params).transform_one(c + c.join(text) + c))
            assert event == list(Tokenizer(**params).transform_one(text))


def test_a_space_of_no_width_separates_words():
    assert list(Tokenizer().transform_one("ภาษา\u200bไทย")) == ["ภาษา", "ไทย"]


def test_marks_beyond_the_thirtieth_begin_anew():
    for n in (29, 30, 31, 32, 60, 61, 62, 200):
        for marks in ("\u0301", "\u0316", "\u0301\u0316", "\u0316\u0301", "\u0e48\u0e38"):
            for letter in ("e", "ê", "", " ", "語", "\0"):
                text = letter + (marks * n)[:n] + "\u0301"
                check(text, **WHOLE)
                check(text, **WHOLE, lowercase=False)


@seeds(20)
def test_random_letters_and_marks_are_composed_as_the_twin_does(seed):
    rng = random.Random(seed)
    for _ in range(200):
        text = random_composed(rng)
        for params in (WHOLE, {**WHOLE, "lowercase": False}, {}, {"analyzer": "char"}):
            check(text, **params)
            check(as_bytes(text), **params)


@seeds(5)
def test_each_text_is_the_same_in_every_form(seed):
    rng = random.Random(seed)
    whole = Tokenizer(**WHOLE)
    for _ in range(200):
        text = "".join(c for c in random_composed(rng, most=8, marks=3) if not stays(c))
        forms = [normalize(form, text) for form in ("NFC", "NFD")]
        events = [list(whole.transform_one(form)) for form in forms]
        assert events[0] == events[1] == list(features(forms[0], **WHOLE))
