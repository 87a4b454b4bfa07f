"""What a tokenizer gives is a mapping, and of many texts a sequence of them."""
# ruff: noqa: RUF001  letters that look alike are meant

import copy
import pickle
import random
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

from streamptron import MulticlassPerceptron, Perceptron, Tokenizer
from streamptron.command.blocks import TextBlock
from streamptron.doors.batch import LINES, Lines
from streamptron.files.lines import LineModel
from streamptron.files.sources import Block as FileBlock
from tests.support.marks import seeds
from tests.support.texts import random_text
from tests.twin.text import features

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


@seeds(5)
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
        block = TextBlock(model, FileBlock("", 1, b"\n".join(lines)), LINES.TEXT)
        block.answer()
        bad = [number for number, line in enumerate(lines) if "\ufffd" in undecoded(line)]
        assert block.lines.replaced == bool(bad)
        assert block.replaced() == bad


def undecoded(line):
    """A line, in which U+FFFD stands for nothing but what is not UTF-8."""
    return line.replace(b"\xef\xbf\xbd", b"x").decode(errors="replace")
