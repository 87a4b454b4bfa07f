"""Curves and surfaces: columns whose score is not a straight line, as the twin has them."""

import copy
import functools
import math
import pickle
import random

import numpy as np
import pytest

import streamptron
from streamptron import AdaptiveClassifier
from tests.late.test_undo import check_adaptive, inside, learn_and_undo, n_undone
from tests.support.marks import seeds
from tests.support.shards import merged_twin, pair_of, shards_of
from tests.support.streams import make_key, random_events
from tests.support.variants import learned
from tests.test_adaptive import (
    LABELS,
    check_answers,
    check_stream,
    measurements,
    n_wrong,
    told_by,
    twins,
)
from tests.test_columns import by_name, table
from tests.twin import adaptive

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

sparse = pytest.importorskip("scipy.sparse")

labels_2_or_9 = pytest.mark.parametrize("labels", [(False, True), LABELS[:9]], ids=len)


shapes = pytest.mark.parametrize("shape", ["curve", "auto"])


def pairs_in(parts):
    """The pairs of columns that a score's parts name."""
    pairs = [name for name in parts if isinstance(name, streamptron.Pair)]
    return {tuple(sorted((name.first, name.second))) for name in pairs}


# --- As the twin has it


@seeds(2)
@labels_2_or_9
@pytest.mark.parametrize(
    "params",
    [{}, {"naive_bayes": False, "intercept": False}, {"max_features": 30}, {"max_features": 12}],
    ids=str,
)
@shapes
def test_a_learner_with_shapes_equals_its_twin_at_every_event(shape, params, labels, seed):
    rng = random.Random(f"{params}, {labels}, {seed}")
    model, twin = twins(shape=shape, **params)
    missing = rng.choice((0.05, 0.4))
    events = [(x, y, rng.choice((1.0, 3.0))) for x, y in measurements(rng, 150, labels, missing)]
    check_stream(model, twin, events)
    assert model.n_features > len(events[0][0]) or params


@pytest.mark.parametrize("keys", ["str", "int", "float", "tuple", "bytes"])
def test_columns_of_any_name_have_the_shapes_of_the_twin(keys):
    rng = random.Random(keys)
    model, twin = twins()
    for x, y in measurements(rng, 100, LABELS[:3]):
        named = {make_key(keys, i): value for i, value in enumerate(x.values())}
        check_stream(model, twin, [(named, y, 1.0)])
    assert twin.shapes.surfaces.gates


@shapes
def test_an_event_scored_before_others_were_learned_has_the_shapes_of_now(shape):
    model, twin = twins(shape=shape)
    stream = list(measurements(random.Random(1), 60))
    x = stream[0][0]
    for other, y in stream:
        model.predict_one(x)  # what it had been is in scratch
        check_answers(model, twin, x)
        model.learn_one(other, y)
        twin.learn_one(other, y)
        model.predict_one(x)
        model.learn_one(x, not y)
        twin.learn_one(x, not y)
    check_answers(model, twin, x)


@shapes
def test_the_first_column_may_begin_when_there_are_labels_without_room(shape):
    model, twin = twins(shape=shape)
    for k in range(9):
        check_stream(model, twin, [({"a": 1}, k, 1.0)])
    check_stream(model, twin, [({"a": a}, a % 9, 1.0) for a in range(2, 12)])
    model._check()


# --- Every door


@labels_2_or_9
@shapes
def test_rows_with_zeros_without_and_in_matrices_are_the_same_events(shape, labels):
    X, y = table(5, labels=labels)
    ways = [AdaptiveClassifier(shape=shape, hash_seed=1) for _ in range(4)]
    for row, label in zip(X, y, strict=True):
        x = by_name(row)
        ways[0].predict_one(x)
        ways[0].learn_one(x, label)
        ways[1].learn_one({j: x_j for j, x_j in x.items() if x_j}, label)
    ways[2].learn_many(X, y)
    ways[3].learn_many(sparse.csr_matrix(X), y)
    for model in ways[1:]:
        assert learned(model) == learned(ways[0])
    found = ways[0].predict_proba_many(X)
    assert found.tolist() == [list(ways[0].predict_proba_one(by_name(row)).values()) for row in X]


@pytest.mark.parametrize("gap", [None, math.nan], ids=repr)
def test_what_is_missing_has_the_shapes_of_0(gap):
    model, other = (AdaptiveClassifier(missing="skip_nan", hash_seed=1) for _ in range(2))
    X, y = table(3)
    for row, label in zip(X, y, strict=True):
        x = {f"c{j}": value for j, value in by_name(row).items()}
        model.learn_one({j: value or gap for j, value in x.items()}, label)
        other.learn_one(x, label)
    assert learned(model) == learned(other)


@labels_2_or_9
@shapes
def test_models_with_shapes_travel_and_learn_on(shape, labels, tmp_path):
    X, y = table(6, labels=labels)
    model = AdaptiveClassifier(shape=shape)
    model.learn_many(X[:150], y[:150])
    path = tmp_path / "model"
    model.save(path)
    rows = [by_name(row) for row in X[150:]]
    answers = [model.predict_proba_one(x) for x in rows]
    placed = streamptron.load(path, mmap=True)
    assert [placed.predict_proba_one(x) for x in rows] == answers
    model.learn_many(X[150:], y[150:])
    for other in (streamptron.load(path), pickle.loads(pickle.dumps(streamptron.load(path)))):
        assert [other.predict_proba_one(x) for x in rows] == answers
        other.learn_many(X[150:], y[150:])
        assert learned(other) == learned(model)


@seeds(2)
@pytest.mark.parametrize("went_on", [True, False], ids=["since", "nothing in common"])
@shapes
def test_merged_models_with_shapes_equal_the_merged_twins(shape, went_on, seed):
    rng = random.Random(f"{went_on}, {seed}")
    base, base_twin = pair_of("AdaptiveClassifier", shape=shape)
    untrained = copy.deepcopy(base_twin)
    if went_on:
        for x, y in measurements(rng, 60):
            base.learn_one(x, y)
            base_twin.learn_one(x, y)
    streams = [[(x, y, 1.0) for x, y in measurements(rng, 60)] for _ in range(3)]
    model = streamptron.merge(shards_of(base, streams), since=base if went_on else None)
    twin = merged_twin(shards_of(base_twin, streams), base_twin if went_on else None, untrained)
    model._check()
    for x, y in measurements(rng, 40):
        check_answers(model, twin, x)
        model.learn_one(x, y)
        twin.learn_one(x, y)


# --- Steps taken back


@seeds(3)
@labels_2_or_9
@pytest.mark.parametrize("most", [None, 40, 14])
@shapes
def test_steps_of_columns_are_taken_back_as_by_the_twin(shape, most, labels, seed, tmp_path):
    rng = random.Random(f"{labels}, {seed}")
    model, twin = pair_of("AdaptiveClassifier", shape=shape, max_features=most)
    events = [(x, y, 1.0) for x, y in measurements(rng, 100, labels)]
    model = learn_and_undo(rng, model, twin, events, tmp_path / "model", check_adaptive)
    model._check()


def test_the_last_step_leaves_no_bit():
    model = AdaptiveClassifier()
    events = list(measurements(random.Random(4), 200))
    for x, y in events[:150]:
        model.learn_one(x, y)
    n = 0
    for x, y in events[150:]:
        before, features = inside(model), model.n_features
        model.undo(model.learn_one(x, y, undo=True))
        n += model.n_features == features
        assert model.n_features != features or inside(model) == before
    assert n > 40


@pytest.mark.parametrize("most", [None, 30, 400])
def test_steps_of_pairs_are_taken_back_under_a_ceiling_too(most):
    model = AdaptiveClassifier(degree=2, max_features=most)
    assert n_undone(model, curve(random.Random(8), 150)) > 90


# --- What they are for


def curve(rng, n):
    """The label says whether a number is far from its mean, to either side."""
    for _ in range(n):
        x = rng.gauss(5.0, 2.0)
        yield {"x": x, "noise": rng.random()}, abs(x - 5.0) > 1.4


def test_small_and_large_values_may_speak_for_the_same_label():
    events = list(curve(random.Random(1), 1000))
    assert n_wrong(AdaptiveClassifier(shape="line"), events) > 350
    model = AdaptiveClassifier()
    assert n_wrong(model, events) < 100
    model = AdaptiveClassifier(shape="curve")
    assert n_wrong(model, events) < 100
    share = {x: dict(model.explain_one({"x": x, "noise": 0.5}))["x"] for x in (1.0, 5.0, 9.0)}
    assert share[1.0] > 0 > share[5.0]
    assert share[9.0] > 0


def test_words_are_learned_to_the_last_bit_as_without():
    rng = random.Random(2)
    events = random_events(rng, n=300, labels=LABELS[:3], keys="str", values="one")
    models = [AdaptiveClassifier(shape=shape, hash_seed=1) for shape in ("line", "auto")]
    for x, y, w in events:
        assert models[0].predict_proba_one(x) == models[1].predict_proba_one(x)
        for model in models:
            model.learn_one(x, y, w)
    assert models[0].weights == models[1].weights


@labels_2_or_9
@seeds(2)
@shapes
def test_contributions_sum_to_the_decision_and_are_the_twins(shape, labels, seed):
    model, twin = twins(shape=shape)
    for x, y in measurements(random.Random(seed), 120, labels):
        model.learn_one(x, y)
        twin.learn_one(x, y)
    for x, _ in measurements(random.Random(seed + 100), 20, labels):
        parts = dict(model.explain_one(x))
        assert bool(pairs_in(parts)) == (shape == "auto")
        label = None if twin.two else model.predict_one(x)
        told = told_by(twin, x, label)
        assert parts == pytest.approx({j: told[j] for j in parts}, rel=1e-9)
        decision = model.decision_function_one(x)
        if not twin.two:
            decision = decision[label]
        assert math.fsum(parts.values()) == pytest.approx(decision, rel=1e-12)


def test_plots_draw_the_curve():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from streamptron import plot

    model = AdaptiveClassifier()
    for x, y in curve(random.Random(3), 600):
        model.learn_one(x, y)
    *_, line, straight = plot.column(model, "x", ax=Figure().subplots()).lines
    heights = line.get_ydata()
    assert min(heights[20], heights[-20]) > 0 > heights[len(heights) // 2]
    assert len(straight.get_ydata()) == len(heights)  # beside it, the line alone


# --- What has none


def test_a_pair_that_is_a_column_has_neither_curve_nor_surface():
    class Paired(adaptive.AdaptiveClassifier):
        def has_hidden(self, column):
            return not isinstance(column, streamptron.Pair)

    model, twin = AdaptiveClassifier(degree=2), Paired()
    for x, y in curve(random.Random(4), 150):
        both = {**x, streamptron.Pair("x", "noise"): x["x"] * x["noise"]}
        assert model.predict_proba_one(x) == twin.predict_proba_one(both)
        model.learn_one(x, y)
        twin.learn_one(both, y)
    assert pairs_in(dict(model.explain_one(x))) == {("noise", "x")}
    assert streamptron.Pair("x", "noise") in twin.columns


def test_a_name_that_is_an_object_has_neither_curve_nor_surface():
    class Name:
        pass

    name = Name()
    model = AdaptiveClassifier()
    for x, y in curve(random.Random(5), 100):
        model.learn_one({name: x["x"], "b": x["noise"], "c": x["x"]}, y)
    assert pairs_in(dict(model.explain_one({name: 1.0, "b": 0.5, "c": 2.0}))) == {("b", "c")}


def test_a_misspelt_shape_is_refused():
    with pytest.raises(ValueError, match="shape='curves'; it must be one of 'line', 'curve', 'a"):
        AdaptiveClassifier(shape="curves")


def test_what_was_learned_keeps_its_shape_in_a_copy():
    model = AdaptiveClassifier()
    for x, label in measurements(random.Random(1), 100):
        model.learn_one(x, label)
    with pytest.raises(ValueError, match="shape cannot change in a copy"):
        model.clone({"shape": "line"}, include_attributes=True)
    same = model.clone({"shape": "auto", "eta": 2.0}, include_attributes=True)
    assert same.weights == model.weights


# --- Hashed tables, which have numbers instead of names


class Numbered(adaptive.AdaptiveClassifier):
    """The twin of names that have numbers of their own; columns are summed in their order."""

    @staticmethod
    @functools.cache
    def number(name):
        model = streamptron.Perceptron(hash_bits=22, hash_seed=1, intercept=False)
        model.learn_one({name: 1.0}, True)
        return next(iter(model.weights))

    def hidden_of(self, name, column, x):
        hidden = super().hidden_of(name, column, x)
        return {self.number(hidden_name): value for hidden_name, value in hidden.items()}

    def find_columns(self):
        super().find_columns()
        self.columns.sort()

    def numbered(self, x):
        return {self.number(name): value for name, value in x.items()}


@seeds(2)
@labels_2_or_9
@shapes
def test_hashed_shapes_are_those_of_the_columns_numbers(shape, labels, seed):
    rng = random.Random(f"{labels}, {seed}")
    model, twin = AdaptiveClassifier(shape=shape, hash_bits=22, hash_seed=1), Numbered(shape=shape)
    for x, y in measurements(rng, 150, labels, rng.choice((0.05, 0.4))):
        check_answers(model, twin, x, twin.numbered(x))
        model.learn_one(x, y)
        twin.learn_one(twin.numbered(x), y)
    assert len(twin.slots) > len(twin.columns) > 0
    model._check()


@labels_2_or_9
@pytest.mark.parametrize("bits", [3, 5, 16, 24])
@shapes
def test_hashed_models_with_shapes_travel_and_learn_on(shape, bits, labels, tmp_path):
    X, y = table(6, labels=labels)
    model = AdaptiveClassifier(shape=shape, hash_bits=bits, hash_seed=1)
    model.learn_many(X[:120], y[:120])
    model.save(tmp_path / "model")
    rows = [by_name(row) for row in X[120:]]
    answers = [model.predict_proba_one(x) for x in rows]
    placed = streamptron.load(tmp_path / "model", mmap=True)
    assert [placed.predict_proba_one(x) for x in rows] == answers
    assert placed.decision_function_one({}) == model.decision_function_one({})
    others = [streamptron.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    base = copy.deepcopy(others[0])
    for other in others:
        assert [other.predict_proba_one(x) for x in rows] == answers
        for x, label in zip(rows, y[120:], strict=True):
            other.learn_one(x, label)
        other._check()
    model.learn_many(X[120:], y[120:])
    assert inside(others[0]) == inside(others[1]) == inside(model)
    for since in (base, placed):
        there = copy.deepcopy(base)
        there.apply(model.delta(since))
        there._check()
        assert [there.predict_proba_one(x) for x in rows] == [
            model.predict_proba_one(x) for x in rows
        ]


@labels_2_or_9
@pytest.mark.parametrize("bits", [3, 5, 24])
def test_a_step_of_hashed_shapes_taken_back_at_once_leaves_the_answers_as_they_were(bits, labels):
    X, y = table(7, labels=labels)
    model = AdaptiveClassifier(hash_bits=bits, hash_seed=1)
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        x = by_name(row)
        if i > 20 and i % 3 == 0:
            before = model.predict_proba_one(x)
            model.undo(bytes(model.learn_one(x, label, undo=True)))
            assert model.predict_proba_one(x) == before
            model._check()
        model.learn_one({j: x_j for j, x_j in x.items() if x_j}, label)


def test_an_empty_batch_and_wild_numbers_do_no_harm():
    model = AdaptiveClassifier()
    model.learn_many(np.empty((0, 3)), [])
    rng = random.Random(6)
    for _ in range(200):
        x = {j: rng.choice((1e50, -1e50, 1e-50, 1.0, 0.0)) for j in "abc"}
        model.learn_one(x, rng.random() < 0.5)
        assert 0.0 <= model.predict_proba_one(x)[model.predict_one(x)] <= 1.0
    model._check()
