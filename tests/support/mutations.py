"""Damaged model files: bytes that were changed at random, with checksums that fit or do not.

A damaged file must load, as some model that works, or be refused; model_file/test_damage.py asks
that of some thousands and fuzz/model_file.py of as many as you like.
"""

import contextlib
import copy
import json
import os
import pickle
import random
import re
import struct
import tempfile
import zlib
from decimal import Decimal
from pathlib import Path

import numpy as np

from streamptron import Mail, ModelFileError, MultiLabelClassifier, Tokenizer, VotedPerceptron
from streamptron.keeping.layout import Contents
from streamptron.keeping.read import model_of, read
from streamptron.keeping.write import write
from tests.support.streams import make_key
from tests.support.variants import LEARNERS, labels_for

BASES = {
    "names": ("Perceptron", {}),
    "no average": ("Perceptron", {"average": "none", "intercept": False}),
    "folds": ("MulticlassPerceptron", {"average": "exponential", "half_life": 1, "pocket": True}),
    "labels": ("MIRA", {"class_weight": {"label 1": 2.0}}),
    "hashed": ("Perceptron", {"hash_bits": 9}),
    "hashed labels": ("MulticlassPerceptron", {"hash_bits": 10, "average": "exponential"}),
    "ceiling": ("Perceptron", {"max_features": 60}),
    "pairs": ("Perceptron", {"degree": 2}),
    "votes": ("VotedPerceptron", {"budget": 40}),
    "kernel": ("VotedPerceptron", {"degree": 2}),
    "pipeline": ("Perceptron", {}),
    "mail": ("AdaptiveClassifier", {}),
    "weighed": ("AdaptiveClassifier", {}),
    "weighed, two labels": ("AdaptiveClassifier", {}),
    "variances": ("AROW", {}),
}
SETS = {
    "sets": ("MultiLabelClassifier", {"threshold": {"label 1": 0.25, 7: 0.5}}),
    "sets, hashed": ("MultiLabelClassifier", {"hash_bits": 9, "threshold": "f1"}),
}
LINES = {"reading": {"format": "plain"}, "positive": None, "names": ["ham", None]}
KINDS = ("str", "long", "non-ascii", "int", "float", "bytes", "tuple")
WORDS = (0, 1, 2, 255, 2**31, 2**32 - 1, 2**53, 2**63, 2**64 - 1)
DOUBLES = (float("nan"), float("inf"), -float("inf"), 1e308, -0.0, 5e-324)
VALUES = (
    *(
        None,
        True,
        -1,
        0,
        1,
        2**31,
        2**64,
        2**200,
        0.5,
        "",
        "0",
        "nan",
        "inf",
        "0x1p+2000",
        "-0x1p-1",
    ),
    *("uniform", "best", "pocket", "Perceptron", "MIRA", "os.system", "F32", "U64", "99"),
    *([], {}, [[]], ["tuple"], ["int", "-ff"], ["float", "nan"], ["Fraction", "1", "0"]),
    *(["Decimal", "sNaN"], ["Decimal", "0.1"], ["date", "2026-13-01"], ["object", 1]),
)


def base(name, n=None):
    """The bytes of a whole file; of n names."""
    learner, params = (BASES | SETS)[name]
    made = LEARNERS | {"MultiLabelClassifier": MultiLabelClassifier}
    model = made[learner](hash_seed=7, **params)
    labels = labels_for(learner, 2 if "two labels" in name else 6)
    rng = random.Random(name)
    n = n or {"names": 600, "labels": 300}.get(name, 100)  # two have several chunks
    names = [make_key(kind, i) for kind in KINDS for i in range(n // len(KINDS))]
    if takes_objects(model):
        names += [Decimal(f"0.{i}1") for i in range(5)]
    for i, some in enumerate(names):
        x = {some: rng.gauss(0, 1), rng.choice(names): 1.0}
        model.learn_one(x, taught(model, labels[i % len(labels)]), 2.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        contents = Contents(model, metadata={"name": name})
        if name == "pipeline":
            tokenizer = Tokenizer(ngram_range=(1, 2), fields=("subject", "body"))
            position = {("mail", 0): 7, "ids": [b"1-0", None]}
            contents = contents._replace(tokenizer=tokenizer, lines=LINES, position=position)
        if name == "mail":
            contents = contents._replace(tokenizer=Mail(bytes=40), journal=b"a journal's bytes")
        write(path, contents)
        return path.read_bytes()


def takes_objects(model):
    """Whether a name may be any object."""
    return not (model.hash_bits or getattr(model, "max_features", None) or makes_pairs(model))


def makes_pairs(model):
    return hasattr(model, "max_pairs") and model.degree == 2


def taught(model, y):
    """A label as a model learns it."""
    return [y] if isinstance(model, MultiLabelClassifier) else y


def is_kernel(model):
    return type(model) is VotedPerceptron and model.degree > 1


def parts(data):
    """Header and arrays."""
    end = 8 + int.from_bytes(data[:8], "little")
    return data[8:end], data[end:]


def joined(header, arrays):
    return len(header).to_bytes(8, "little") + header + arrays


def sealed(data):
    """With checksums that fit, where there are places for them."""
    header, arrays = parts(data)
    crc = b"%08x" % zlib.crc32(arrays)
    header = re.sub(b'"arrays_crc32":"[0-9a-f]{8}"', b'"arrays_crc32":"%s"' % crc, header)
    header = re.sub(b'"header_crc32":"[0-9a-f]{8}"', b'"header_crc32":"00000000"', header)
    crc = b"%08x" % zlib.crc32(joined(header, b""))
    header = header.replace(b'"header_crc32":"00000000"', b'"header_crc32":"%s"' % crc)
    return joined(header, arrays)


def _flipped(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def _overwritten(rng, data):
    """A number of an array, wherever it is, becomes another one."""
    header, arrays = parts(data)
    arrays = bytearray(arrays)
    size = rng.choice((1, 4, 4, 8, 8))
    at = rng.randrange(len(arrays) // size) * size
    if size == 8 and rng.random() < 0.2:
        arrays[at : at + 8] = struct.pack("<d", rng.choice(DOUBLES))
    elif rng.random() < 0.3:
        from_ = rng.randrange(len(arrays) // size) * size
        arrays[at : at + size] = arrays[from_ : from_ + size]
    else:
        old = int.from_bytes(arrays[at : at + size], "little")
        new = rng.choice((rng.choice(WORDS), old + 1, old - 1, old ^ 1 << rng.randrange(8 * size)))
        arrays[at : at + size] = (new % 2 ** (8 * size)).to_bytes(size, "little")
    return joined(header, bytes(arrays))


def _cut(rng, data):
    return data[: rng.randrange(len(data))] if rng.random() < 0.7 else data + b"\0" * 8


def _changed(rng, value):
    """A JSON value with something in it changed."""
    if isinstance(value, dict) and value and rng.random() < 0.95:
        name = rng.choice(list(value))
        how = rng.random()
        if how < 0.05:
            return {n: v for n, v in value.items() if n != name}
        if how < 0.1:
            return {**value, str(rng.choice(VALUES)): rng.choice(list(value.values()))}
        return {**value, name: _changed(rng, value[name])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        how = rng.random()
        if how < 0.1:
            return value[:at] + value[at + 1 :]
        if how < 0.2:
            return [*value[:at], rng.choice(value), *value[at:]]
        return [*value[:at], _changed(rng, value[at]), *value[at + 1 :]]
    if isinstance(value, str) and value[:1] in ("[", "{") and rng.random() < 0.95:
        with contextlib.suppress(json.JSONDecodeError):  # changed before
            return json.dumps(_changed(rng, json.loads(value)))
    if isinstance(value, int) and rng.random() < 0.5:
        return value + rng.choice((-1, 1, 8, -8))
    if isinstance(value, str) and value and rng.random() < 0.3:
        at = rng.randrange(len(value))
        return value[:at] + chr(rng.randrange(32, 127)) + value[at + 1 :]
    return rng.choice(VALUES)


def _reworded(rng, data):
    """The header says something else."""
    header, arrays = parts(data)
    value = json.loads(header)
    for _ in range(rng.choice((1, 1, 2))):
        value = _changed(rng, value)
    text = json.dumps(value, separators=(",", ":")).encode()
    return joined(text + b" " * (-(8 + len(text)) % rng.choice((64, 64, 64, 8, 1))), arrays)


def mutated(rng, data):
    """A damaged file, and whether its checksums were made to fit."""
    how = rng.choice((_flipped, _overwritten, _overwritten, _cut, _reworded, _reworded))
    data = how(rng, data)
    fits = rng.random() < 0.8
    return (sealed(data) if fits and len(data) >= 8 else data), fits


def event(model):
    """One with names of all kinds."""
    x = {"word1": 1, "a long name of some kind": -2, 7: 0.5, ("word", 3, ""): 1}
    if model.hash_bits:
        x = {"word1": 1, 7: 0.5}
    elif takes_objects(model):
        x[Decimal("0.11")] = 1
    return x


def doors(model):
    """All that reads a model: what to call."""
    x = event(model)
    names = [name for name in x if not isinstance(name, Decimal)]
    X = np.ones((2, len(names)))
    yield from (
        lambda: model.predict_one(x),
        lambda: model.predict_proba_one(x),
        lambda: model.decision_function_one(x),
        lambda: model.explain_one(x) if model._known_labels and not is_kernel(model) else None,
        lambda: model.debug_one(x),
        lambda: model.predict_many(X, names),
        lambda: model.predict_proba_many(X, names),
        lambda: model.decision_function_many(X),
        lambda: (model.n_features, model.memory_usage),
        lambda: None if is_kernel(model) else (model.weights, model.intercept_),
        lambda: model.averaged_weights if getattr(model, "average", "none") != "none" else None,
        lambda: None if is_kernel(model) else model.top_features(),
        lambda: pickle.dumps(model),
        lambda: copy.deepcopy(model),
        lambda: model.clone(include_attributes=True),
        lambda: model.save(os.devnull + "/none"),
    )


def used(model, learn):
    """Everything that reads a model, and what learns."""
    for door in doors(model):
        with contextlib.suppress(NotADirectoryError):  # as far as the disk
            door()
    if learn:
        for y in model._known_labels[:3] * 2:
            model.learn_one(event(model), taught(model, y))
        model._check()


def texts_answered(contents):
    """The pipeline, if the file has one, answers a text."""
    if contents.tokenizer is not None:
        fields = getattr(contents.tokenizer, "fields", None)
        if isinstance(contents.tokenizer, Mail):
            model_of(contents).predict_proba_one(b"Subject: word1\n\n7")
            return
        text = "word1 7" if fields is None else dict.fromkeys(as_tuple(fields), "word1 7")
        model_of(contents).predict_proba_one(text)


def as_tuple(fields):
    return (fields,) if isinstance(fields, str) else fields


def survives(path, data):
    """Load a damaged file in both ways, and use what has come. Returns whether it loaded at all."""
    path.write_bytes(data)
    try:
        whole = read(path)
    except ModelFileError:
        whole = None
    else:
        model = whole.learner
        used(model, learn=False)
        texts_answered(whole)
        write(path, whole)
        again = read(path)
        assert pickle.dumps(again.learner.__getstate__()) == pickle.dumps(model.__getstate__())
        assert repr(again[1:]) == repr(whole[1:])
        used(model, learn=True)
        path.write_bytes(data)
    try:
        mapped = read(path, mmap=True)
    except ModelFileError:
        return whole is not None
    for door in (*doors(mapped.learner), lambda: texts_answered(mapped)):
        try:
            with contextlib.suppress(NotADirectoryError):
                door()
        except ModelFileError:
            assert whole is None  # the arrays have not been read before
    return True


def try_one(seed, bases, path):
    """The fate of the damaged file of a seed."""
    rng = random.Random(seed)
    data, _ = mutated(rng, rng.choice(bases))
    return survives(path, data)
