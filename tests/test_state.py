"""State: copies and pickles within a stream, memory, the index, the hash, long averages."""

import copy
import json
import math
import pickle
import random
import sys
from array import array
from fractions import Fraction

import pandas as pd
import pytest

from streamptron import MIRA, Perceptron
from streamptron.common.river import INSTALLED
from tests.support.marks import in_turn, seeds
from tests.support.processes import in_another_process
from tests.support.variants import (
    AVERAGERS,
    COPIES,
    LEARNERS,
    answers,
    every_averager,
    every_learner,
    every_variant,
    every_variant_and_in_turn,
    labels_for,
    make,
    named_events,
)

EVERY_COPY = COPIES | {
    "pickle 2": lambda model: pickle.loads(pickle.dumps(model, 2)),
    "pickle 5": lambda model: pickle.loads(pickle.dumps(model, 5)),
}
every_copy = pytest.mark.parametrize("how", EVERY_COPY)


# Copies in the middle of a stream


@every_variant_and_in_turn("how", EVERY_COPY, n=2)
def test_model_replaced_by_its_copy_now_and_then_learns_on_as_if_nothing_had_happened(
    learner, variant, how
):
    seed = list(EVERY_COPY).index(how)
    rng = random.Random(seed)
    model, replaced = make(learner, variant), make(learner, variant)
    for x, y, w in named_events(learner, seed):
        if rng.random() < 0.1:
            if rng.random() < 0.5:
                replaced.predict_one(x)  # the scratch remembers it; a copy must not be misled
            replaced = EVERY_COPY[how](replaced)
        assert answers(replaced, x) == answers(model, x)
        model.learn_one(x, y, w)
        replaced.learn_one(x, y, w)
    assert pickle.dumps(replaced) == pickle.dumps(model)


@every_variant_and_in_turn("how", EVERY_COPY)
def test_copy_and_original_do_not_touch_each_other(learner, variant, how):
    events = list(named_events(learner, seed=4))
    original = make(learner, variant)
    for x, y, w in events[:75]:
        original.learn_one(x, y, w)
    before = pickle.dumps(original)

    other = EVERY_COPY[how](original)
    for x, y, w in events[75:]:
        other.learn_one(x, y, w)
    assert pickle.dumps(original) == before != pickle.dumps(other)

    other = EVERY_COPY[how](original)
    for x, y, w in events[75:]:
        original.learn_one(x, y, w)
    assert pickle.dumps(other) == before
    after = pickle.dumps(original)
    del original
    for x, y, w in events[75:]:
        other.learn_one(x, y, w)
    assert pickle.dumps(other) == after


@every_variant_and_in_turn("how", EVERY_COPY)
def test_copy_has_the_same_bytes_at_every_moment(learner, variant, how):
    model = make(learner, variant)
    for x, y, w in named_events(learner, seed=5, n=30):
        assert pickle.dumps(EVERY_COPY[how](model)) == pickle.dumps(model)
        model.learn_one(x, y, w)
    assert pickle.dumps(EVERY_COPY[how](model)) == pickle.dumps(model)


@every_averager
def test_copy_has_the_same_bytes_whatever_strings_are_the_same_objects(learner):
    """Pickle writes an object only once, and equal strings may be one object or two."""
    given = json.loads('{"average": "uniform", "serve": "average"}')
    model = make(learner, **given)
    assert pickle.dumps(pickle.loads(pickle.dumps(model))) == pickle.dumps(model)
    if learner != "Perceptron":
        for labels in (("average", "pocket"), ("format", "serve"), ("uniform", "margin")):
            model = make(learner)
            for y in labels:
                model.learn_many(pd.DataFrame({"a": [1.0]}), pd.Series([y], name=labels[0]))
            assert pickle.dumps(pickle.loads(pickle.dumps(model))) == pickle.dumps(model)


@every_learner
def test_two_models_that_learned_the_same_have_the_same_bytes(learner):
    first, second = make(learner), make(learner)
    for x, y, w in named_events(learner, seed=6):
        first.predict_one(x)
        first.learn_one(x, y, w)
        second.learn_one(
            {str(name) if type(name) is str else name: v for name, v in x.items()}, y, w
        )
    assert pickle.dumps(first) == pickle.dumps(second)


@every_variant
def test_counters_and_answers_survive_a_pickle(learner, variant):
    model = make(learner, variant)
    for x, y, w in named_events(learner, seed=7):
        model.learn_one(x, y, w)
    other = pickle.loads(pickle.dumps(model))
    for name in ("n_seen", "n_updates", "n_mistakes", "n_features", "serving"):
        assert getattr(other, name) == getattr(model, name)
    assert other._get_params() == model._get_params()
    if getattr(model, "degree", 1) == 1:
        assert other.weights == model.weights
        assert other.explain_one(x) == model.explain_one(x)
        assert other.top_features() == model.top_features()
    if learner != "Perceptron":
        assert other.labels == model.labels


@every_learner
def test_model_pickled_here_learns_on_alike_in_another_process(learner, tmp_path):
    model = make(learner)
    events = list(named_events(learner, seed=8))
    for x, y, w in events[:100]:
        model.learn_one(x, y, w)
    (tmp_path / "model").write_bytes(pickle.dumps((model, events[100:])))
    in_another_process(f"""
import pickle
from pathlib import Path
model, events = pickle.loads(Path({str(tmp_path / "model")!r}).read_bytes())
for x, y, w in events:
    model.learn_one(x, y, w)
Path({str(tmp_path / "after")!r}).write_bytes(pickle.dumps(model))
""")
    for x, y, w in events[100:]:
        model.learn_one(x, y, w)
    assert (tmp_path / "after").read_bytes() == pickle.dumps(model)


def test_state_of_another_format_is_refused():
    model = Perceptron()
    state = {**model.__getstate__(), "format": 99}
    with pytest.raises(ValueError, match="format 99"):
        model.__setstate__(state)


def damaged(state, part, change):
    """A copy of a state, of which one part is another."""
    if part in state["arrays"]:
        shape, data = state["arrays"][part]
        return {**state, "arrays": {**state["arrays"], part: change(shape, data)}}
    if part in state["params"]:
        return {**state, "params": {**state["params"], part: change(state["params"][part])}}
    return {**state, part: change(state[part])}


def with_doubles(*numbers):
    """The bytes of an array begin with these."""
    head = array("d", numbers).tobytes()
    return lambda shape, data: (shape, head + data[len(head) :])


def with_words(at, *numbers):
    """An array of 32-bit words has these from one place on."""
    return lambda shape, data: (
        shape,
        data[: 4 * at] + array("I", numbers).tobytes() + data[4 * (at + len(numbers)) :],
    )


def longer(n):
    return lambda shape, data: ((shape[0] + n, *shape[1:]), data)


def twice_a_name(shape, data):
    return shape, data[:-16] + data[-32:-16]


def counts(change):
    """A changed text of what is counted."""
    return lambda text: json.dumps(change(json.loads(text)))


NAN = float("nan")
BAD_STATES = [
    ("exact", "format", lambda _: 2),
    ("exact", "format", lambda _: "1"),
    ("exact", "kind", lambda _: 0),
    ("exact", "kind", lambda _: 77),
    ("exact", "kind", lambda _: None),
    ("exact", "dict", lambda _: 5),
    ("exact", "params", lambda params: {}),
    ("exact", "average", lambda _: "none"),  # the slots are too wide then
    ("exact", "pocket", lambda _: False),
    ("exact", "hash_bits", lambda _: 8),
    ("exact", "hash_seed", lambda _: 77),
    ("exact", "max_features", lambda _: 100),  # there are no stamps
    ("exact", "max_labels", lambda _: 2),
    ("exact", "seed", lambda _: -1),
    ("exact", "labels", lambda labels: labels[:1]),  # there are weights of no label
    ("exact", "labels", lambda labels: [*labels, "one more"]),
    ("exact", "outputs", lambda outputs: outputs + 1),
    ("binary", "outputs", lambda _: 2),
    ("exact", "labels", lambda labels: labels[:2] + labels[:1]),
    ("exact", "labels", lambda labels: [*labels[:2], []]),
    ("exact", "labels", lambda labels: [*labels[:2], NAN]),
    ("exact", "labels", lambda _: None),
    ("exact", "labels", lambda labels: dict.fromkeys(labels)),
    ("exact", "objects", lambda objects: objects * 2),
    ("exact", "objects", lambda objects: []),
    ("exact", "objects", lambda objects: [[]]),
    ("exact", "objects", lambda objects: ["a word"]),
    ("exact", "objects", lambda objects: None),
    ("exact", "counters", lambda _: "[1,2]"),
    ("exact", "counters", lambda _: "[-1,0,0]"),
    ("exact", "counters", lambda _: f"[{2**64},0,0]"),
    ("exact", "counters", lambda _: "[1,2,"),
    ("exact", "counters", lambda _: (1, 2, 3)),
    ("exact", "clock", counts(lambda clock: ["nan", *clock[1:]])),
    ("exact", "clock", counts(lambda clock: ["inf", *clock[1:]])),
    ("exact", "clock", counts(lambda clock: ["0x1p-1", *clock[1:]])),
    ("exact", "clock", counts(lambda clock: [*clock[:3], "nan"])),
    ("exact", "clock", counts(lambda clock: clock[:3])),
    ("exact", "serve", counts(lambda serve: serve[:2])),
    ("exact", "serve", counts(lambda serve: [serve[0][:2], *serve[1:]])),
    ("exact", "serve", counts(lambda serve: [[["nan"] * 8] * 3, *serve[1:]])),
    ("exact", "serve", counts(lambda serve: [serve[0], [[0, 0, 0, 2]] * 2, serve[2]])),
    ("exact", "serve", counts(lambda serve: [serve[0], [["nan", 0, 0, 0]] * 2, serve[2]])),
    ("exact", "arrays", lambda arrays: {**arrays, "more": ((1,), b"1")}),
    ("exact", "arrays", lambda arrays: {}),
    ("exact", "arrays", lambda arrays: None),
    ("exact", "weights", longer(1)),
    ("exact", "weights", longer(-1)),
    ("exact", "weights", longer(2**60)),
    ("exact", "weights", longer(-(10**6))),
    ("exact", "weights", lambda shape, data: ((shape[0], 2**63), data)),
    ("exact", "weights", lambda shape, data: (shape[:1], data)),
    ("exact", "weights", lambda shape, data: ((), data)),
    ("exact", "weights", lambda shape, data: (shape, data[:-1])),
    ("exact", "weights", lambda shape, data: (shape, bytearray(data))),
    ("exact", "weights", lambda shape, data: (shape, memoryview(data))),
    ("exact", "weights", lambda shape, data: (shape, 5)),
    ("exact", "weights", lambda shape, data: None),
    ("exact", "weights", with_doubles(1.0)),  # of the slot for what is unknown
    ("exact", "weights", with_doubles(*[0.0] * 20, NAN)),
    ("exact", "chunks", longer(1)),
    ("exact", "chunks", longer(-1)),
    ("exact", "chunks", lambda shape, data: ((shape[0], 2), data)),
    ("exact", "chunks", with_words(0, 9)),
    ("exact", "chunks", with_words(1, 9)),
    ("exact", "chunks", with_words(1, 2**32 - 1)),
    ("exact", "chunks", with_words(2, 1)),
    ("exact", "keys", longer(-1)),
    ("exact", "keys", longer(1)),
    ("exact", "keys", twice_a_name),
    ("exact", "keys", with_words(0, 1)),
    ("exact", "keys", lambda shape, data: ((0, 2), b"")),
    ("exact", "keys", lambda shape, data: (shape, data[:-16] + b"\xff" * 16)),
    ("exact", "texts", longer(1)),
    ("exact", "texts", lambda shape, data: ((shape[0] - 1,), data[:-1])),
    ("exact", "texts", lambda shape, data: ((0,), b"")),
    ("exact", "texts", lambda shape, data: (shape, b"\xff" * len(data))),
    ("ceiling", "ceiling", counts(lambda ceiling: [0, *ceiling[1:]])),
    ("ceiling", "ceiling", counts(lambda ceiling: [10**6, *ceiling[1:]])),
    ("ceiling", "ceiling", counts(lambda ceiling: ceiling[:2])),
    ("ceiling", "max_features", lambda _: 1),
    ("ceiling", "stamps", lambda shape, data: ((shape[0] - 1,), data[:-4])),
    ("hashed", "rows", with_words(2, 2**31)),
    ("hashed", "rows", with_words(0, 1)),
    ("hashed", "rows", with_words(2, 3, 2)),
    ("hashed", "rows", lambda shape, data: ((0,), b"")),
    ("hashed", "hash_bits", lambda _: 2),
    ("binary", "labels", lambda _: ["a", "b"]),
    ("binary", "labels", lambda _: []),
    ("binary", "kind", lambda _: 2),
]  # fmt: skip


def stateful(kind):
    """A model that has something of all that a state may hold."""
    if kind == "binary":
        model = Perceptron(hash_seed=1)
        model.learn_one({"a": 1}, True)
        return model
    own = {"ceiling": {"max_features": 30}, "hashed": {"hash_bits": 6}}.get(kind, {})
    model = MIRA(pocket=True, hash_seed=1, **own)
    for i in range(30):
        x = {f"w{i % 7}": 1.0, f"a name of more than fifteen bytes {i % 5}": 1.0, i % 3: 0.5}
        if kind == "exact":
            x[Word("object")] = 1.0
        model.learn_one(x, f"label {i % 3}")
    return model


BAD = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError)


@pytest.mark.parametrize(
    ("kind", "part", "change"),
    BAD_STATES,
    ids=[f"{kind} {part} {i}" for i, (kind, part, _) in enumerate(BAD_STATES)],
)
def test_state_that_does_not_fit_is_refused_and_changes_nothing(kind, part, change):
    model = stateful(kind)
    before = model.__getstate__()
    with pytest.raises(BAD):
        model.__setstate__(damaged(before, part, change))
    assert model.__getstate__() == before
    model._check()
    model.__setstate__(before)
    assert model.__getstate__() == before


@pytest.mark.parametrize("kind", ["exact", "ceiling", "hashed", "binary"])
@seeds(40)
def test_forged_state_is_refused_or_makes_a_model_that_works(kind, seed):
    """Whatever is in a pickle's arrays, nothing is read or written beside them."""
    rng = random.Random(seed)
    model = stateful(kind)
    for _ in range(20):
        state = model.__getstate__()
        name = rng.choice(list(state["arrays"]))
        shape, data = state["arrays"][name]
        data = bytearray(data)
        for _ in range(rng.randint(1, 3) if data else 0):
            data[rng.randrange(len(data))] = rng.choice(
                (0, 1, 2, 127, 128, 255, rng.randrange(256))
            )
        state["arrays"] = {**state["arrays"], name: (shape, bytes(data))}
        other = type(model)()
        try:
            other.__setstate__(state)
        except ValueError:
            assert (other.n_seen, other.n_features) == (0, 0)
        else:
            other.learn_one({"w1": 1.0, "new": 2.0}, model.predict_one({}))
            assert len(pickle.loads(pickle.dumps(other)).__getstate__()) == len(state)


@every_learner
def test_parameters_that_cannot_be_leave_a_used_model_as_it_was(learner):
    model = make(learner)
    for x, y, w in named_events(learner, seed=2, n=30):
        model.learn_one(x, y, w)
    before = pickle.dumps(model)
    for bad in (
        {"half_life": 0},
        {"serve": "pocket"},
        {"class_weight": {None: 1}},
        {"hash_seed": -1},
    ):
        with pytest.raises((ValueError, TypeError), match=next(iter(bad))):
            model.__init__(**bad)
        assert pickle.dumps(model) == before
    model.__init__(hash_seed=1)
    assert pickle.dumps(model) == pickle.dumps(type(model)(hash_seed=1))


def test_name_nested_more_deeply_than_a_file_may_hold_goes_into_a_pickle():
    name = ()
    for _ in range(150):
        name = (name,)
    model = Perceptron.from_weights({name: 1.0})
    assert pickle.loads(pickle.dumps(model)).weights == {name: 1.0}


@every_variant
def test_state_set_on_a_used_model_replaces_all_that_it_knew(learner, variant):
    first, second = make(learner, variant), make(learner, variant)
    events = list(named_events(learner, seed=9))
    for x, y, w in events:
        first.learn_one(x, y, w)
        second.learn_one(x, labels_for(learner)[1 - (y == labels_for(learner)[1])], w)
    used = make(learner, variant)
    for x, y, w in events[:5]:
        for source in (first, second, make(learner, variant)):
            used.__setstate__(source.__getstate__())
            assert answers(used, x) == answers(source, x)
            assert pickle.dumps(used) == pickle.dumps(source)
        used.learn_one(x, y, w)


# What users hang on a model


class Named(MIRA):
    """A subclass with a parameter and an attribute of its own."""

    def __init__(self, name="none", C=1.0):
        super().__init__(C=C, hash_seed=2)
        self.name = name
        self.log = []

    def learn_one(self, x, y, w=1.0):
        self.log.append(y)
        super().learn_one(x, y, w)


class Word:
    """A feature name that the core cannot read."""

    def __init__(self, text):
        self.text = text

    def __hash__(self):
        return hash(self.text)

    def __eq__(self, other):
        return isinstance(other, Word) and other.text == self.text


@every_copy
@every_learner
def test_attributes_set_on_a_model_go_along(learner, how):
    model = make(learner)
    from river import stats

    model.note = "x"
    model.metric = stats.Mean()
    model.myself = model
    model.learn_one({"a": 1}, labels_for(learner)[1])
    other = EVERY_COPY[how](model)
    assert other.note == "x"
    assert (other.metric is model.metric) == (how == "copy")
    assert other.myself is (model if how == "copy" else other)
    other.note = "y"
    assert model.note == "x"
    assert other.weights == model.weights


@every_copy
def test_subclass_goes_along_with_its_attributes(how):
    model = Named("spam filter", C=0.5)
    for x, y, _ in named_events("MIRA", seed=1, n=20):
        model.learn_one(x, y)
    other = EVERY_COPY[how](model)
    assert type(other) is Named
    assert (other.name, other.C, other.log) == ("spam filter", 0.5, model.log)
    assert len(other.log) == other.n_seen == 20
    assert {**other.__getstate__(), "dict": None} == {**model.__getstate__(), "dict": None}
    other.learn_one({"a": 1}, "y")
    assert other.log[-1] == "y"
    assert other.n_seen == 21


def test_clone_of_a_subclass_has_its_parameters():
    clone = Named("spam filter", C=0.5).clone({"C": 0.25})
    assert (clone.name, clone.C, clone.log) == ("spam filter", 0.25, [])


@every_copy
@every_learner
def test_names_that_are_mere_objects_go_along(learner, how):
    words = [Word(f"w{i}") for i in range(5)]
    model = make(learner)
    for i in range(20):
        model.learn_one({words[i % 5]: 1, words[i % 3]: 2}, labels_for(learner)[i % 2])
    other = EVERY_COPY[how](model)
    equal = {Word("w1"): 1, Word("w4"): 1, Word("unknown"): 1}
    assert answers(other, equal) == answers(model, equal)
    for each in (model, other):
        each.learn_one(equal, labels_for(learner)[0], 3.0)
    assert other.weights == model.weights


# Memory


@every_variant
def test_memory_usage_is_small_at_first_and_grows_with_the_features(learner, variant):
    model = make(learner, variant)
    # a table of 2**20 slots has 32 KiB of places for its chunks, in each of its blocks
    blocks = 3 if learner == "AdaptiveClassifier" else 1
    assert 0 < model.memory_usage < (40_000 * blocks if model.hash_bits == 20 else 5000)
    labels = labels_for(learner)
    sizes = []
    n = 40 if "pairs" in variant else 1000  # 40 make 780 pairs
    for i in range(20):
        x = {f"a name that is not short {k}": 1 for k in range(n * i, n * (i + 1))}
        model.learn_one(x, labels[i % 2], 2.0)
        sizes.append(model.memory_usage)
    assert sizes == sorted(sizes)
    assert sys.getsizeof(model) >= model.memory_usage == model.__sizeof__()
    if INSTALLED:  # River asks each part for its size
        assert model._raw_memory_usage >= model.memory_usage
    if model.hash_bits is None and "ceiling" not in variant:
        assert model.n_features > 10_000
        assert sizes[-1] > model.n_features * (16 + 8 + 24)  # key, weight, text
    if variant == "hashed, colliding" and learner != "VotedPerceptron":  # which keeps the events
        assert sizes[2] == sizes[-1]


@every_learner
def test_memory_of_a_copy_is_that_of_the_original(learner):
    model = make(learner, pocket=True)
    for i in range(30):
        x = {f"a name that is not short {k}": 1 for k in range(1000 * i, 1000 * (i + 1))}
        model.learn_one(x, labels_for(learner)[i % 2], 2.0)
    for how in EVERY_COPY.values():
        # less the scratch, which a copy starts without, and room to grow
        assert 0.7 < how(model).memory_usage / model.memory_usage < 1.1


MEASURE = """
import gc
from streamptron import {learner}

def resident():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024

model = {learner}(hash_seed=1, {params})
labels = {labels}
for i in range(40):
    model.learn_one({{"warm up": 1, "again": i}}, labels[i % len(labels)])
gc.collect()
resident_before, before = resident(), model.memory_usage
for i in range(3000):
    x = {{"{prefix}%d" % k: 1.0 for k in range(100 * i, 100 * i + 100)}}
    model.learn_one(x, labels[i % len(labels)], 2.0)
del x
gc.collect()
print(resident() - resident_before, model.memory_usage - before, model.n_features)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("learner", "params", "labels", "prefix", "most"),
    [
        ("Perceptron", "", [False, True], "w", 64),
        ("Perceptron", "average='none'", [False, True], "w", 56),
        ("Perceptron", "", [False, True], "a name of more than fifteen bytes ", 112),
        ("MIRA", "pocket=True", list(range(6)), "w", 320),
    ],
    ids=["short names", "no average", "long names", "six labels and a pocket"],
)
def test_memory_usage_is_what_the_process_has_grown_by(learner, params, labels, prefix, most):
    code = MEASURE.format(learner=learner, params=params, labels=labels, prefix=prefix)
    resident, usage, n_features = map(int, in_another_process(code).split())
    assert n_features > 299_000
    assert 0.75 < usage / resident < 1.25
    assert usage / n_features < most


@every_learner
def test_no_event_moves_all_the_features_there_are(learner):
    """Seen in what the model holds: it grows in small steps, however large it is."""
    model = make(learner)
    labels = labels_for(learner)[:2]
    step, size = 0, model.memory_usage
    for i in range(150_000):
        # a sample weight that grows makes every event a mistake that changes the next answer
        model.learn_one({i: 1}, labels[i % 2])
        grown = model.memory_usage
        step, size = max(step, grown - size), grown
    assert model.n_features > 140_000
    assert size > 5_000_000
    # a VotedPerceptron's updates lie in queues that double: 16 and 24 bytes each, besides scratch
    assert step < (70_000 if learner != "VotedPerceptron" else 48 * 150_000)


def moved(before, after):
    """How many entries have moved from one reading of ``_growth`` to the next, of each array."""
    steps = {}
    for name, (length, copied) in after.items():
        old_length, old_copied = before[name]
        steps[name] = copied - old_copied
        if length != old_length:
            assert length == 2 * old_length
            steps[name] = old_length - old_copied + copied
    return steps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "learner"), [(None, AVERAGERS[0]), *in_turn(EVERY_COPY, AVERAGERS)]
)
def test_arrays_that_grow_with_the_features_move_a_few_entries_at_a_time(learner, how):
    """The places of the index's runs, and of chunks, are never copied as a whole."""
    model = make(learner, average="exponential", half_life=5)
    labels = labels_for(learner, 6)
    longest = {"runs": 0, "keys": 0, "chunks": 0, "folds": 0}
    for label in labels:
        model.learn_one({"first": 1}, label)
    model.learn_one({f"first {i}": 1 for i in range(100_000)}, labels[0], 2.0)
    assert model.n_features > 100_000
    if how is not None:
        model = EVERY_COPY[how](model)
    before = model._growth()
    for i in range(200_000):
        model.learn_one({i: 1}, labels[i % len(labels)], 2.0)
        after = model._growth()
        if after != before:
            for name, step in moved(before, after).items():
                assert step <= 8, (name, before, after)
                longest[name] = max(longest[name], step)
            before = after
        if i % 40_000 == 0:
            model._check()
    model._check()
    assert longest == {"runs": 8, "keys": 8, "chunks": 8, "folds": 8}


@pytest.mark.parametrize("max_features", [None, 300_000])
def test_a_large_model_and_its_copy_are_in_good_order(max_features):
    """Of more than 8 MB of names, for which memory is asked in other pieces."""
    model = Perceptron(max_features=max_features)
    for i in range(4000):
        model.learn_one({f"w{j}": 1 for j in range(100 * i, 100 * i + 100)}, i % 2 == 0, 2.0)
    assert model.n_features + model.n_evicted == 400_000
    assert model.memory_usage > 16_000_000
    model._check()
    twin = copy.deepcopy(model)
    twin._check()
    assert pickle.dumps(twin) == pickle.dumps(model)
    for i in range(4000, 4500):
        x = {f"w{j}": 1 for j in range(100 * i, 100 * i + 100)}
        model.learn_one(x, i % 2 == 0, 2.0)
        twin.learn_one(x, i % 2 == 0, 2.0)
    twin._check()
    assert pickle.dumps(twin) == pickle.dumps(model)


# The index


NAMES = {
    "short": lambda i: f"w{i}",
    "long": lambda i: f"a name of more than fifteen bytes {i}",
    "int": lambda i: i * 7919 - 10**6,
    "float": lambda i: i + 0.5,
    "bytes": lambda i: b"%d" % i,
    "tuple": lambda i: ("word", i),
}


def names_in_turn(kinds, n):
    """n different names, of the kinds in turn."""
    return [NAMES[kinds[i % len(kinds)]](i) for i in range(n)]


@pytest.mark.parametrize(
    ("kinds", "n"), [(["short", "long", "int"], 200_000), *(([kind], 10_000) for kind in NAMES)]
)
def test_each_of_many_names_has_a_weight_of_its_own(kinds, n):
    names = names_in_turn(kinds, n)
    weights = {name: float(i + 1) for i, name in enumerate(names)}
    model = Perceptron.from_weights(weights)
    assert model.n_features == len(weights) == n
    assert model.weights == weights
    found = [model.decision_function_one({name: 1}) for name in names]
    assert found == list(weights.values())
    unknown = names_in_turn(kinds, n + 1000)[n:]
    assert not any(model.decision_function_one({name: 1}) for name in unknown)


@seeds(3)
def test_names_learned_one_by_one_keep_their_weights_while_the_index_grows(seed):
    rng = random.Random(seed)
    model = Perceptron(margin=1e40, average="none", intercept=False)  # every event is learned
    expected = {}
    names = names_in_turn(list(NAMES), 20_000)
    for i, name in enumerate(names):
        value = float(rng.randint(1, 9))
        x = {name: value}
        if rng.random() < 0.3:
            x[rng.choice(names[: i + 1])] = value
        y = rng.random() < 0.5
        model.learn_one(x, y)
        for feature, v in x.items():
            expected[feature] = expected.get(feature, 0.0) + (v if y else -v)
    assert model.n_features == len(expected)
    assert model.weights == {name: weight for name, weight in expected.items() if weight}


ALIKE = [
    "", b"", "\0", b"\0", "\0\0", 0, "0", b"0", (), ("",), (b"",), (0,), ((),), None, (None,),
    0.5, "0.5", -1, 2**61, 2**64, -(2**64), "a" * 15, "a" * 16, "a" * 17, b"a" * 15, b"a" * 16,
    "a" * 15 + "\0", "é", "e\u0301", ("a", "b"), ("ab",), ("a", ("b",)), 5e-324, float("inf"),
    2**1023, "inf", 1, "1", (1, 0), (10,), ("t", 1),
]  # fmt: skip


@seeds(5)
def test_names_that_look_alike_are_different_features(seed):
    names = random.Random(seed).sample(ALIKE, len(ALIKE))
    weights = {name: float(i + 1) for i, name in enumerate(names)}
    assert len(weights) == len(ALIKE)
    model = Perceptron.from_weights(weights, hash_seed=seed)
    assert model.weights == weights
    assert [model.decision_function_one({name: 1}) for name in names] == list(weights.values())


# The hash


SLOTS_OF_SEED_42 = {
    "spam": 11779,
    "a name of more than fifteen bytes": 1042150,
    "ж": 168894,
    b"spam": 437647,
    7: 439843,
    -7: 313513,
    2**80: 581121,
    0.5: 948203,
    None: 40274,
    ("new", "york", 1): 73989,
}


@pytest.mark.parametrize("name", SLOTS_OF_SEED_42, ids=repr)
def test_hash_of_a_seed_never_changes(name):
    """A model with hash_bits finds its weights by it: in every process, machine and version."""
    model = Perceptron.from_weights({name: 1.5}, hash_bits=20, hash_seed=42)
    assert model.weights == {SLOTS_OF_SEED_42[name]: 1.5}


@pytest.mark.parametrize("learner", LEARNERS)
def test_seeded_hash_gives_the_same_slots_in_another_process(learner):
    code = f"""
import random
from tests.support.streams import random_events
from tests.support.variants import labels_for, make
model = make({learner!r}, hash_bits=9, hash_seed=42)
for kind in ("str", "long", "int", "float", "tuple", "bytes"):
    for x, y, _ in random_events(random.Random(1), keys=kind, labels=labels_for({learner!r})):
        model.learn_one(x, y)
print(repr(model.weights))
"""
    outputs = {in_another_process(code, hash_seed) for hash_seed in ("0", "12345")}
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000


def test_hash_without_a_seed_is_secret():
    weights = {f"w{i}": 1.0 for i in range(20)}
    slots = {tuple(Perceptron.from_weights(weights, hash_bits=20).weights) for _ in range(3)}
    assert len(slots) == 3


def test_secret_seed_stays_the_same_in_copies_and_is_no_parameter():
    model = Perceptron.from_weights({"a": 1.0}, hash_bits=20)
    assert model.hash_seed is None
    for how in EVERY_COPY.values():
        assert how(model).weights == model.weights
        assert how(model).hash_seed is None


@pytest.mark.parametrize("kind", NAMES)
@seeds(3)
def test_hashed_names_scatter_as_if_by_chance(kind, seed):
    n = 4096
    weights = dict.fromkeys(names_in_turn([kind], n), 1.0)
    model = Perceptron.from_weights(weights, hash_bits=12, hash_seed=seed)
    # throwing n balls at n boxes hits (1 - 1/e) n of them, with a deviation of 0.312 sqrt(n)
    assert abs(model.n_features - 0.632 * n) < 4 * 0.312 * n**0.5


# Averages over long streams


@pytest.mark.parametrize("learner", ["Perceptron", "MIRA"])
def test_exponential_average_with_a_half_life_of_one_event_follows_its_definition(learner):
    """20,000 events halve the scale 20,000 times: it must be folded again and again."""
    rng = random.Random(1)
    labels = (False, True) if learner == "Perceptron" else ("x", "y")
    always = {"margin": 1e40} if learner == "Perceptron" else {}  # update on every event
    # two models that learn the same; one shows its current weights, the other the average
    current, average = (
        make(learner, average="exponential", half_life=1, serve=serve, intercept=False, **always)
        for serve in ("current", "average")
    )

    def weight(model, name):
        decision = model.decision_function_one({name: 1})
        return decision if learner == "Perceptron" else decision["x"]

    for label in labels:
        current.learn_one({}, label)
        average.learn_one({}, label)
    expected = dict.fromkeys(["often", "seldom", "once", "filler 250"], 0.0)
    for t in range(20_000):
        x = {"often": rng.gauss(0, 1)}
        if t == 1:  # slots of another chunk, not written again for thousands of events
            x |= {f"filler {i}": 0.5 for i in range(300)}
        if t % 3000 == 17:
            x |= {"seldom": 1.0, "filler 250": -1.0}
        if t == 100:
            x["once"] = 1.0
        y = rng.choice(labels)
        current.learn_one(x, y)
        average.learn_one(x, y)
        for name, old in expected.items():
            expected[name] = new = 0.5 * old + 0.5 * weight(current, name)
            assert math.isclose(weight(average, name), new, rel_tol=1e-9, abs_tol=1e-12)
    assert average.n_updates > 5000
    assert weight(average, "once") != 0.0


@pytest.mark.parametrize("learner", ["Perceptron", "MulticlassPerceptron"])
def test_uniform_average_over_a_long_stream_is_the_mean_of_all_weights_so_far(learner):
    rng = random.Random(2)
    labels = (False, True) if learner == "Perceptron" else ("x", "y")
    model = make(learner)
    sums = dict.fromkeys(["a", "b", "late"], 0.0)  # of whole numbers, so exact
    n = 100_000
    for label in labels:  # so that both are known; the weights are still 0
        model.learn_one({}, label)
    for t in range(n):
        x = {"a": rng.randint(-3, 3), "b": rng.randint(-3, 3)}
        if t > 90_000:
            x["late"] = 1
        model.learn_one(x, rng.choice(labels))
        weights = model.weights if learner == "Perceptron" else model.weights["x"]
        for name, w in weights.items():
            sums[name] += w
    found = model.averaged_weights if learner == "Perceptron" else model.averaged_weights["x"]
    # w_0 counts too
    assert found == pytest.approx({name: w / (n + 3) for name, w in sums.items()}, rel=1e-9)


@pytest.mark.parametrize("half_life", [1e3, 1e6, 1e8, 1e10], ids="half_life={:g}".format)
def test_exponential_average_of_a_long_half_life_follows_its_definition(half_life):
    """As exactly as doubles allow of w less nearly all of w: to a millionth at the longest."""
    model = Perceptron(average="exponential", half_life=half_life, margin=1e40, intercept=False)
    keep = Fraction(1) - Fraction(-math.expm1(-math.log(2) / half_life))
    w, average = Fraction(0), Fraction(0)
    rng = random.Random(3)
    for _ in range(300):
        x, y = rng.uniform(0.5, 2.0), rng.random() < 0.8
        model.learn_one({"a": x}, y)
        w += Fraction(x) if y else -Fraction(x)
        average = (
            Fraction(float(keep * average + (1 - keep) * w))
            if half_life < 1e4
            else (keep * average + (1 - keep) * w).limit_denominator(10**60)
        )
    found = model.averaged_weights["a"]
    assert found == pytest.approx(float(average), rel=max(1e-9, 1e-16 * half_life))


def test_half_life_that_leaves_too_little_of_an_average_is_refused_with_its_range():
    with pytest.raises(ValueError, match=r"half_life=1e\+16.*at least 1 event and at most 1e\+10"):
        Perceptron(average="exponential", half_life=1e16)
    with pytest.raises(ValueError, match="at most 1e"):
        Perceptron(average="exponential", half_life=1.001e10)
