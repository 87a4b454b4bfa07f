"""hash_bits: a model holds what has come, and the order in which it came does not matter."""

import pickle
import random

import numpy as np
import pytest

import streamptron
from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    Journal,
    MulticlassPerceptron,
    MultiLabelClassifier,
    Perceptron,
    VotedPerceptron,
)
from tests.support.marks import seeds

LEARNERS = {
    "Perceptron": lambda **given: Perceptron(pocket=True, **given),
    "fading": lambda **given: Perceptron(average="exponential", half_life=1.5, **given),
    "MulticlassPerceptron": MulticlassPerceptron,
    "fading, of many": lambda **given: MulticlassPerceptron(
        average="exponential", half_life=1.5, **given
    ),
    "MIRA": MIRA,
    "AROW": AROW,
    "AdaptiveClassifier": AdaptiveClassifier,
    "line": lambda **given: AdaptiveClassifier(shape="line", **given),
    "voted": VotedPerceptron,
    "kernel": lambda **given: VotedPerceptron(degree=2, budget=40, **given),
    "MultiLabelClassifier": MultiLabelClassifier,
}
BITS = {"crowded": 5, "found directly": 16, "found in the table": 24}


def events(name, n, seed):
    """Words and columns of measurements; labels two or five, or sets of them."""
    rng = random.Random(seed)
    made = []
    for _ in range(n):
        x = {f"word{rng.randrange(900)}": 1.0 for _ in range(12)}
        x |= {f"column{k}": rng.gauss(5 * k, 2.0) for k in range(6)}
        label = rng.randrange(5) if rng.random() < 0.2 else len(min(x)) % 5
        if name in ("Perceptron", "fading", "voted", "kernel"):
            label = bool(label % 2)
        made.append((x, {label, "any"} if name == "MultiLabelClassifier" else label))
    return made


def learn(model, stream):
    for x, y in stream:
        model.learn_one(x, y)


def saved(model, path):
    streamptron.save(model, path)
    return path.read_bytes()


@pytest.mark.parametrize("bits", BITS.values(), ids=list(BITS))
@pytest.mark.parametrize("name", LEARNERS)
@seeds(1, 1)
def test_a_model_from_a_file_learns_on_as_one_that_stayed_in_memory(name, bits, seed, tmp_path):
    model = LEARNERS[name](hash_bits=bits, hash_seed=3)
    stream = events(name, 900, seed)
    learn(model, stream[:500])
    before = saved(model, tmp_path / "model")
    again = streamptron.load(tmp_path / "model")
    assert saved(again, tmp_path / "again") == before
    again._check()
    learn(model, stream[500:])
    learn(again, stream[500:])
    for x, _ in stream[:50]:
        assert model.predict_one(x) == again.predict_one(x)
    assert saved(again, tmp_path / "again") == saved(model, tmp_path / "model")
    assert again.n_features == model.n_features


@pytest.mark.parametrize("bits", [16, 24, 30])
@pytest.mark.parametrize("labels", [2, 12])
def test_a_hashed_model_holds_no_more_than_one_with_names(labels, bits):
    """With some 20 labels in nearly every row it does: its rows are never dense."""
    exact, model = AdaptiveClassifier(), AdaptiveClassifier(hash_bits=bits)
    for i in range(600):
        x = {f"a name that is new {j}": 1.0 for j in range(25 * i, 25 * i + 25)}
        exact.learn_one(x, i % labels)
        model.learn_one(x, i % labels)
    assert model.memory_usage < exact.memory_usage


def test_a_hashed_model_holds_no_more_once_all_numbers_have_come():
    model = MulticlassPerceptron(hash_bits=9)
    stream = [({f"word{j}": 1.0 for j in range(40 * i, 40 * i + 40)}, i % 7) for i in range(400)]
    learn(model, stream[:200])
    held = model.memory_usage
    learn(model, stream[200:])
    assert model.memory_usage == held


@pytest.mark.parametrize("bits", BITS.values(), ids=list(BITS))
@pytest.mark.parametrize(
    "name",
    [
        *("Perceptron", "MulticlassPerceptron", "AROW"),
        *("AdaptiveClassifier", "line", "MultiLabelClassifier"),
    ],
)
def test_merging_does_not_ask_in_which_order_names_came(name, bits, tmp_path):
    base = LEARNERS[name](hash_bits=bits, hash_seed=3)
    learn(base, events(name, 200, 1))
    saved(base, tmp_path / "base")
    shards = [pickle.loads(pickle.dumps(base)) for _ in range(2)]
    others = [streamptron.load(tmp_path / "base") for _ in range(2)]
    for k in range(2):
        learn(shards[k], events(name, 200, 2 + k))
        learn(others[k], events(name, 200, 2 + k))
        saved(others[k], tmp_path / f"{k}")
    in_place = [streamptron.load(tmp_path / f"{k}", mmap=True) for k in range(2)]
    expected = saved(streamptron.merge(shards, since=base), tmp_path / "expected")
    for since in (base, streamptron.load(tmp_path / "base", mmap=True)):
        for models in (shards, others, in_place, [shards[0], in_place[1]]):
            merged = streamptron.merge(models, since=since)
            merged._check()
            assert saved(merged, tmp_path / "merged") == expected
    for models in (shards, others, in_place):
        there = streamptron.load(tmp_path / "base")
        there.apply(models[0].delta(base))
        there._check()
        assert saved(there, tmp_path / "there") == saved(shards[0], tmp_path / "whole")


def test_a_step_is_taken_back_after_its_weights_were_zero_in_a_file(tmp_path):
    journal = Journal(Perceptron(average="none", hash_bits=20, hash_seed=3), 10)
    journal.learn_one("first", {"free": 1.0}, True)
    journal.learn_one("second", {"free": 2.0}, False)
    journal.learn_one("third", {"free": 1.0}, True)  # all zeros again
    journal.save(tmp_path / "journal")
    again = Journal.load(tmp_path / "journal")
    for model in (journal, again):
        model.undo("second")
    assert again.model.weights == journal.model.weights


@pytest.mark.parametrize("bits", BITS.values(), ids=list(BITS))
@pytest.mark.parametrize("known", ["", "ab", "abc"], ids=lambda known: f"{len(known)} labels")
def test_labels_more_than_the_base_had_are_merged_in_whatever_order_names_came(
    known, bits, tmp_path
):
    rng = random.Random(f"{known}, {bits}")
    base = AdaptiveClassifier(hash_bits=bits, hash_seed=3)
    learn(base, [(x, rng.choice(known)) for x, _ in events("", 200, 1) if known])
    saved(base, tmp_path / "base")
    shards = [pickle.loads(pickle.dumps(base)) for _ in range(2)]
    others = [streamptron.load(tmp_path / "base") for _ in range(2)]
    for k, labels in enumerate(("abcd", "aceb")):
        stream = [(x, rng.choice(labels)) for x, _ in events("", 200, 2 + k)]
        learn(shards[k], stream)
        learn(others[k], stream)
        assert saved(others[k], tmp_path / f"{k}") == saved(shards[k], tmp_path / "whole")
    in_place = [streamptron.load(tmp_path / f"{k}", mmap=True) for k in range(2)]
    expected = saved(streamptron.merge(shards, since=base), tmp_path / "expected")
    for since in (base, streamptron.load(tmp_path / "base", mmap=True)):
        for models in (shards, others, in_place):
            merged = streamptron.merge(models, since=since)
            merged._check()
            assert saved(merged, tmp_path / "merged") == expected
            there = streamptron.load(tmp_path / "base")
            there.apply(models[1].delta(since))
            there._check()
            assert saved(there, tmp_path / "there") == saved(shards[1], tmp_path / "whole")


def inside(model):
    """What a model has learned, but not which steps it knows."""
    return {name: part for name, part in model.__getstate__().items() if name != "past"}


@pytest.mark.parametrize("bits", BITS.values(), ids=list(BITS))
@pytest.mark.parametrize(
    "name",
    ["two labels", "two, and then more", "AdaptiveClassifier", "line", "MultiLabelClassifier"],
)
@seeds(2)
def test_steps_are_taken_back_in_a_model_from_a_file(name, bits, seed, tmp_path):
    rng = random.Random(f"{name}, {bits}, {seed}")
    learner = LEARNERS.get(name, AdaptiveClassifier)
    stream = events(name, 200, seed)
    for i, (x, y) in enumerate(stream):
        if name == "two labels" or (name == "two, and then more" and i < 120):
            stream[i] = x, y % 2
    journal = Journal(learner(hash_bits=bits, hash_seed=3), 1000)
    for i, (x, y) in enumerate(stream):
        journal.learn_one(i, x, y)
    journal.save(tmp_path / "journal")
    again = Journal.load(tmp_path / "journal")
    order = rng.sample(range(200), 200)
    for undone in (order[:40], order[40:]):
        for model in (journal, again):
            for i in undone:
                model.undo(i)
            model.model._check()
        assert inside(again.model) == inside(journal.model)
        for model in (journal, again):
            for i, (x, y) in enumerate(stream[:50]):
                model.learn_one((undone[0], i), x, y)
    assert inside(again.model) == inside(journal.model)


@pytest.mark.parametrize("bits", BITS.values(), ids=list(BITS))
@pytest.mark.parametrize("name", ["AdaptiveClassifier", "line", "MultiLabelClassifier"])
def test_many_rows_at_once_are_learned_as_one_by_one(name, bits, tmp_path):
    rng = random.Random(f"{name}, {bits}")
    one, many = (LEARNERS[name](hash_bits=bits, hash_seed=1) for _ in range(2))
    X = [[rng.choice((0, 0, 0, 1, 2.5)) for _ in range(50)] for _ in range(300)]
    ys = [y for _, y in events(name, 300, bits)]
    learn(one, [({j: v for j, v in enumerate(x) if v}, y) for x, y in zip(X, ys, strict=True)])
    many.learn_many(np.array(X), ys)
    assert saved(many, tmp_path / "many") == saved(one, tmp_path / "one")


def test_a_step_of_columns_is_taken_back_in_a_model_from_a_file(tmp_path):
    journal = Journal(AdaptiveClassifier(hash_bits=20, hash_seed=3), 100)
    for i, (x, y) in enumerate(events("AdaptiveClassifier", 300, 4)):
        journal.learn_one(i, x, y)
    journal.save(tmp_path / "journal")
    again = Journal.load(tmp_path / "journal")
    for model in (journal, again):
        model.undo(290)
        model.undo(299)
    assert saved(again.model, tmp_path / "again") == saved(journal.model, tmp_path / "model")
