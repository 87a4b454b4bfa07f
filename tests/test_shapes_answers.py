"""What curves and surfaces answer, on their own and beside the line.

The figures are errors of test-then-train in one pass, as measured for the rule's equations.
"""

import copy
import math
import random

import pytest
from river import datasets

import streamptron
from streamptron import AdaptiveClassifier
from tests.twin import adaptive


def error(model, events):
    wrong = 0
    for x, y in events:
        wrong += model.predict_one(x) != y
        model.learn_one(x, y)
    return 100 * wrong / len(events)


def xor(n, seed, columns=2):
    """Two columns decide by their signs, which differ or not; others are noise."""
    rng = random.Random(seed)
    for _ in range(n):
        x = {f"c{i}": rng.gauss(0.0, 1.0) for i in range(columns)}
        yield x, (x["c0"] > 0) != (x["c1"] > 0)


def of_three_labels(n, seed):
    rng = random.Random(seed)
    for _ in range(n):
        x = {"a": rng.gauss(0.0, 1.0), "b": rng.gauss(0.0, 1.0), "word": rng.choice([0, 1])}
        inside = x["a"] ** 2 + x["b"] ** 2 < 1
        yield x, "in" if inside else "right" if x["a"] > 0 else "left"


def surfaces(model):
    """The pairs of columns that have surfaces."""
    return {(a, b) for a, b, *_ in model._shapes()[0] if a != b}


def probabilities(model, events):
    return [model.predict_proba_one(x) for x, _ in events]


@pytest.mark.parametrize(
    ("shape", "most"), [("line", 47.0), ("curve", 28.9), ("auto", 10.7)], ids=str
)
def test_errors_of_the_rule(shape, most):
    events = list(datasets.Bananas())
    assert error(AdaptiveClassifier(shape=shape), events) == pytest.approx(most, abs=0.1)


def test_a_curve_learns_an_interval_and_no_product_of_columns():
    rng = random.Random(1)
    inside = [({"a": a}, abs(a) < 0.7) for a in (rng.gauss(0.0, 1.0) for _ in range(3000))]
    assert error(AdaptiveClassifier(shape="line"), inside) > 40
    assert error(AdaptiveClassifier(shape="curve"), inside) < 8
    events = list(xor(3000, seed=1))
    assert error(AdaptiveClassifier(shape="curve"), events) > 40
    assert error(AdaptiveClassifier(shape="auto"), events) < 12


def test_two_columns_that_say_something_only_together_are_found_among_24():
    model = AdaptiveClassifier(shape="auto")
    events = list(xor(4000, seed=0, columns=24))
    error(model, events[:3000])
    assert ("c0", "c1") in surfaces(model)
    assert len(surfaces(model)) == 16 * 15 / 2
    assert error(model, events[3000:]) < 10


def test_a_third_label_changes_no_answer_of_the_two():
    """What the outputs say of each other stays, but that rounding may differ."""
    model = adaptive.AdaptiveClassifier(shape="auto", naive_bayes=False)
    events = list(xor(300, seed=3))
    error(model, events)
    two = copy.deepcopy(model)
    model.make_way("third")
    assert not model.two
    for x, _ in events[:50]:
        scores = model.answer(x).final
        assert scores[1] - scores[0] == pytest.approx(two.answer(x).final[1], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("stream", [xor, of_three_labels])
def test_a_step_that_is_taken_back_at_once_leaves_the_same_answers(stream):
    model = AdaptiveClassifier(shape="auto")
    events = list(stream(700, seed=4))
    error(model, events[:600])
    for x, y in events[600:]:
        before = probabilities(model, events[:10])
        model.undo(model.learn_one(x, y, undo=True))
        assert probabilities(model, events[:10]) == before
        model.learn_one(x, y)


def test_most_of_what_a_wrong_event_did_is_gone_once_it_is_taken_back_after_others():
    events = list(xor(900, seed=5))
    with_it, without = AdaptiveClassifier(shape="auto"), AdaptiveClassifier(shape="auto")
    error(with_it, events[:500])
    error(without, events[:500])
    step = with_it.learn_one({"c0": 1.0, "c1": 1.0}, True, 5.0, undo=True)  # which is wrong
    error(with_it, events[500:540])
    error(without, events[500:540])

    def distance():
        pairs = zip(probabilities(with_it, events), probabilities(without, events), strict=True)
        return math.fsum(abs(p[True] - q[True]) for p, q in pairs)

    before = distance()
    with_it.undo(step)
    assert distance() < before / 2


def test_one_shard_that_others_say_nothing_beside_is_merged_as_it_is():
    base = AdaptiveClassifier(shape="auto")
    error(base, list(xor(500, seed=6)))
    shard = copy.deepcopy(base)
    error(shard, list(xor(100, seed=7)))
    merged = streamptron.merge([shard, copy.deepcopy(base)], since=base)
    events = list(xor(50, seed=8))
    assert probabilities(merged, events) == probabilities(shard, events)


def test_four_shards_merged_err_about_as_little_as_one_model_that_saw_all():
    shards = [AdaptiveClassifier(shape="auto") for _ in range(4)]
    serial = AdaptiveClassifier(shape="auto")
    for k, shard in enumerate(shards):
        events = list(xor(1000, seed=10 + k))
        error(shard, events)
        error(serial, events)
    merged = streamptron.merge(shards)
    events = list(xor(1000, seed=20))

    def frozen(model):
        return sum(model.predict_one(x) != y for x, y in events) / 10

    assert frozen(merged) < frozen(serial) + 2
    assert merged.n_seen == 4000


def test_answers_are_finite_whatever_the_columns_are():
    rng = random.Random(9)
    model = AdaptiveClassifier(shape="auto")
    for n in range(600):
        x = {"huge": rng.choice([1e50, -1e50, 3.0]), "constant": 1.0, "usual": rng.gauss(0, 1)}
        if n > 300:
            x["late"] = rng.gauss(5, 2)
        for p in model.predict_proba_one(x).values():
            assert 0.0 <= p <= 1.0
        model.learn_one(x, rng.random() < 0.5, rng.choice([1e-9, 1.0, 1e30 if n == 400 else 1.0]))


def test_a_column_that_is_none_any_more_is_forgotten_with_its_pairs():
    rng = random.Random(10)
    model = AdaptiveClassifier(shape="auto")
    for n in range(2000):
        x = {"a": rng.gauss(0, 1)}
        if n < 300:
            x["b"] = rng.gauss(0, 1)
        model.learn_one(x, x["a"] > 0)
        if n == 299:
            assert surfaces(model) == {("a", "b")}
    assert list(model._columns()) == ["a"]
    assert [(a, b) for a, b, *_ in model._shapes()[0]] == [("a", "a")]
