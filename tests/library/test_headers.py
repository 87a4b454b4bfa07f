"""Every value of every header, replaced by one of another kind: C and Python say the same."""

import json

import pytest

from streamptron import AdaptiveClassifier, Perceptron, Tokenizer
from tests.library.test_damage import of_python, opened
from tests.support import mutations
from tests.support.library import needs_compiler
from tests.support.marks import slow
from tests.support.model_files import GOLDEN

pytestmark = [needs_compiler, pytest.mark.once]  # the library knows no Python

WRONG = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53, 2**64, 10**30, 0.5),
    *("", "0", "1", "99", "0x1p+1", "0x1p+2000", "nan", "true", "tuple"),
    *([], {}, [[]], [1], {"a": 1}, ["tuple"], ["tuple", "a"], ["list"], ["dict"]),
    *(["float", "0x1p+0"], ["float", "nan"], ["float", "1"], ["int", "0x5"], ["int", "5"]),
    *(["bytes", "0g"], ["Fraction", "0x1", "0x0"], ["object", 1]),
)
OWN = ("header_crc32", "arrays_crc32")  # what seals the file


def places(value, path=()):
    """The path to each value in a value; of long lists and objects only to some."""
    yield path
    if isinstance(value, list):
        items = list(enumerate(value))
        items = items[:3] + items[-1:] if len(items) > 4 else items
    else:
        items = list(value.items()) if isinstance(value, dict) else []
    for name, part in items:
        yield from places(part, (*path, name))


def replaced(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def at(value, path):
    for name in path:
        value = value[name]
    return value


def instead(value):
    """What is written in place of a value: other kinds, and of a list or object more and less."""
    yield from WRONG
    if isinstance(value, list) and value:
        yield from ([*value, value[0]], value[1:], value[:-1], dict(enumerate(value)))
    if isinstance(value, dict) and value:
        yield {**value, "more": 1}
        yield {name: part for name, part in value.items() if name != next(iter(value))}


def changed(data, every, first=0):
    """(what, file) of each change of a file; `every`: the number of changes to one that is made."""
    header, arrays = mutations.parts(data)
    whole = json.loads(header)
    texts = whole["__metadata__"]

    def file(**its):
        its = {name: text for name, text in {**texts, **its}.items() if text is not None}
        text = json.dumps({**whole, "__metadata__": its}, separators=(",", ":")).encode()
        return mutations.sealed(mutations.joined(text + b" " * (-(8 + len(text)) % 64), arrays))

    n = 0
    for name, text in texts.items():
        if name in ("format", "version", "streamptron", *OWN):
            continue
        value = json.loads(text)
        yield f"{name} left out", file(**{name: None})
        if text.startswith("{") and value:
            twice = f"{{{json.dumps(next(iter(value)))}:0,{text[1:]}"
            yield f"{name}: a name twice", file(**{name: twice})
        yield f"{name}: cut off", file(**{name: text[:-1]})
        for path in places(value):
            for new in instead(at(value, path)):
                n += 1
                if n % every == first % every:
                    yield (
                        f"{name}{list(path)}={new!r}",
                        file(**{name: json.dumps(replaced(value, path, new))}),
                    )


def check(changes, folder):
    """Both open a file, or both refuse it in the same words. Returns how many are refused."""
    whats, paths = [], []
    for i, (what, data) in enumerate(changes):
        whats.append(what)
        paths.append(folder / str(i))
        paths[-1].write_bytes(data)
    refused = 0
    for what, path, (whole, _, words) in zip(whats, paths, opened(paths), strict=True):
        mine = of_python(path)
        assert (words if whole else None) == mine, what
        refused += mine is not None
        path.unlink()
    return refused


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_header_with_a_wrong_value_is_refused_in_the_same_words(path, tmp_path):
    assert check(changed(path.read_bytes(), 40), tmp_path) > 20


@pytest.mark.slow
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_wrong_value_of_a_header_is_refused_in_the_same_words(path, tmp_path):
    """Of a learner's own file all; of those that hold the same in another way a third, in turn."""
    every = 1 if path.name[0].isupper() else 3
    changes = changed(path.read_bytes(), every, GOLDEN.index(path))
    assert check(changes, tmp_path) > 1000 / every


@pytest.mark.parametrize("every", slow([1], [1, 20]))
@pytest.mark.parametrize("name", ["pipeline", "mail", "sets", "labels", "pairs"])
def test_what_files_hold_beside_a_learner_is_refused_in_the_same_words(name, every, tmp_path):
    assert check(changed(mutations.base(name), every), tmp_path) > 20


def test_what_is_kept_of_steps_that_are_taken_back_is_refused_in_the_same_words(tmp_path):
    model = AdaptiveClassifier()
    steps = [model.learn_one({"a": 1}, "xy"[i % 2], undo=True) for i in range(6)]
    model.undo(steps[2])
    model.save(tmp_path / "model")
    data = (tmp_path / "model").read_bytes()
    assert b'"past"' in data
    assert check(changed(data, 1), tmp_path) > 100


def test_the_words_of_files_of_today_are_none(tmp_path):
    model = Tokenizer(fields=("subject", "body")) | Perceptron(class_weight={True: 2.0})
    model.save(tmp_path / "model")
    assert check([("as it is", (tmp_path / "model").read_bytes())], tmp_path) == 0
