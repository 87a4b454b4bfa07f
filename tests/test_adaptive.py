"""AdaptiveClassifier equals its plain-Python twin (tests/twin/adaptive.py), bit for bit.

Every door is held to it: dicts, texts, matrices of every kind, and whatever comes between:
pickles, copies, files.
"""

import copy
import math
import pickle
import random
from itertools import islice, pairwise

import numpy as np
import pytest

import streamptron
from streamptron import AdaptiveClassifier, Tokenizer
from tests.support import operations, operations_on_numbers
from tests.support.counts import counts_of, counts_text
from tests.support.marks import seeds, slow
from tests.support.operations_on_labels import rows_of
from tests.support.streams import (
    KEYS,
    VALUES,
    make_key,
    needs_data,
    random_events,
    svmlight,
    tagging_stream,
    text_stream,
)
from tests.support.variants import learned
from tests.twin import adaptive

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

LABELS = ("ham", "spam", "eggs", 7, ("baked", "beans"), "bacon", "toast", "jam", "tea", 0.5)


def twins(max_labels=None, max_features=None, hash_bits=None, **params):
    """The library's learner and its twin."""
    model = AdaptiveClassifier(
        **params,
        hash_seed=1,
        max_labels=max_labels,
        max_features=max_features,
        hash_bits=hash_bits,
    )
    return model, adaptive.AdaptiveClassifier(**params, max_features=max_features)


def told_by(twin, x, label=None):
    """What the twin explains, with the library's names of surfaces."""
    pairs = [(a, b) for a in twin.columns for b in twin.columns]
    parts = twin.explain_one(x, label)
    return {streamptron.Pair(*j) if j in pairs else j: part for j, part in parts.items()}


def check_answers(model, twin, x, its=None):
    """`its`: x as the twin has it, if that is another."""
    its = x if its is None else its
    assert model.predict_one(x) == twin.predict_one(its)
    assert model.decision_function_one(x) == twin.decision_function_one(its)
    assert model.predict_proba_one(x) == twin.predict_proba_one(its)


def check_counts(model, twin):
    assert (model.n_seen, model.n_updates, model.n_mistakes) == (
        *(twin.n_seen, twin.n_updates, twin.n_mistakes),
    )


def check_weights(model, twin):
    """Weights of 0 are left out."""
    assert model.labels == twin.labels
    found = {
        k: {j: slot.w[k] for j, slot in twin.slots.items() if slot.w.get(k, 0.0) != 0.0}
        for k in twin.outputs
    }
    if twin.two:
        assert model.weights == found[1]
        assert model.intercept_ == twin.w0[1]
    else:
        assert model.weights == {label: found[k] for k, label in enumerate(twin.labels)}
        assert model.intercept_ == dict(zip(twin.labels, twin.w0.values(), strict=True))
    assert model.n_features == len(twin.slots)


def check_stream(model, twin, events, ask=check_answers):
    for x, y, w in events:
        ask(model, twin, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
        check_counts(model, twin)
    check_weights(model, twin)
    model._check()


def n_wrong(model, events):
    """How many answers are wrong, each given before its event is learned."""
    wrong = 0
    for x, y in events:
        wrong += model.predict_one(x) != y
        model.learn_one(x, y)
    return wrong


PARAMETERS = {
    "default": {},
    "no naive Bayes": {"naive_bayes": False},
    "no intercept": {"intercept": False},
    "neither": {"naive_bayes": False, "intercept": False},
    "short steps": {"eta": 0.3, "forget": 0.03},
    "long steps": {"eta": 2.0, "forget": 0.0},
    "watching": {"forget": "auto"},
    "false alarms": {"false_positive_rate": {True: 0.1, "spam": 0.2, "eggs": 0.02, "none": 0.1}},
}


@seeds(1, n_slow=1)
@pytest.mark.parametrize("labels", [(False, True), ("ham", "spam"), LABELS[:3], LABELS], ids=len)
@pytest.mark.parametrize("params", PARAMETERS)
def test_learner_equals_its_twin_at_every_event(params, labels, seed):
    rng = random.Random(f"{params}, {labels}, {seed}")
    class_weight = rng.choice([None, {labels[0]: 2.0, labels[1]: 0.3}, {labels[-1]: 0.0}])
    model, twin = twins(class_weight=class_weight, **PARAMETERS[params])
    events = random_events(
        rng,
        n=250,
        labels=labels,
        keys=rng.choice([*KEYS, "mixed"]),
        values=rng.choice(list(VALUES)),
        weighted=rng.random() < 0.5,
        size=rng.choice((3, 12, 40)),
    )
    check_stream(model, twin, events)
    assert twin.n_updates > 0


# --- Measurements: numbers that every event has, or nearly


UNITS = {"m": 1.0, "km": 1e-3, "eV": 1e19, "K": 40.0}


def measurements(rng, n, labels=(False, True), missing=0.05):
    """(x, y): the label says how much two of the numbers are together; the others say nothing."""
    for _ in range(n):
        sizes = {name: 1.0 + 2.0 * rng.random() for name in UNITS}
        y = labels[int((sizes["m"] + sizes["km"]) * (len(labels) - 0.5) / 6.0)]
        x = {name: size * UNITS[name] for name, size in sizes.items() if rng.random() >= missing}
        yield {**x, "always": 3.0, "signed": rng.random() - 0.5, "word": 1}, y


@seeds(2)
@pytest.mark.parametrize("labels", [(False, True), LABELS[:4]], ids=len)
@pytest.mark.parametrize("intercept", [True, False])
def test_measurements_are_learned_as_by_the_twin(intercept, labels, seed):
    rng = random.Random(f"{intercept}, {labels}, {seed}")
    model, twin = twins(intercept=intercept)
    heavy = 2.0**18  # with a few of these counts are halved, and the events counted likewise
    events = [(x, y, rng.choice((1.0, 3.0))) for x, y in measurements(rng, 120, labels)]
    events += [(x, y, rng.choice((1.0, heavy))) for x, y in measurements(rng, 40, labels)]
    check_stream(model, twin, events)
    assert twin.most < twin.T


@seeds(2)
def test_measurements_need_no_scaling(seed):
    model = AdaptiveClassifier()
    n_wrong = 0
    for i, (x, y) in enumerate(measurements(random.Random(seed), 2_000, missing=0.0)):
        n_wrong += i >= 1_000 and model.predict_one(x) != y
        model.learn_one(x, y)
    assert n_wrong < 40


def right(model, rng):
    """The share of right answers to measurements about a mean of 5."""
    X = 5.0 + np.clip(rng.normal(size=(2_000, 3)), -4.0, 4.0)
    return float(np.mean(np.array(model.predict_many(X)) == (X[:, 0] > 5.0)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weight", "missing", "least"), [(1.0, 0.0, 0.95), (1.0, 0.05, 0.93), (0.3, 0.01, 0.95)]
)
def test_measurements_are_told_apart_when_counts_have_been_halved(weight, missing, least):
    """What is missing is 0, far from all others, and costs some answers."""
    rng = np.random.default_rng(1)
    n = 50_000
    X = 5.0 + np.clip(rng.normal(size=(n, 3)), -4.0, 4.0)
    y = (X[:, 0] > 5.0).tolist()
    X[rng.random((n, 3)) < missing] = 0.0
    model = AdaptiveClassifier(hash_seed=1)
    for _ in range(60):
        model.learn_many(X, y, [weight] * n)
        assert right(model, rng) > least


@pytest.mark.slow
def test_counts_of_words_are_told_apart_however_many_have_come():
    """Each word is in a quarter of the events: what it counts is never taken for the usual."""
    rng = np.random.default_rng(1)
    weights = np.array([3.0, -3.0, 2.0, -2.0, 1.5, -1.5, 1.0, -1.0, 2.5, -2.5])
    model = AdaptiveClassifier(hash_seed=1)
    errors = []
    for _ in range(12):
        n = 30_000
        often = np.where(rng.random((n, 1)) < 0.5, 0.45, 0.05)
        X = (rng.random((n, 10)) < often) * rng.choice((1.0, 2.0, 3.0), (n, 10))
        y = ((X > 0) @ weights + 0.3 * rng.logistic(size=n) > 0.2).tolist()
        errors.append(np.mean(np.array(model.predict_many(X)) != y))
        model.learn_many(X, y, [10.0] * n)
    assert max(errors[1:]) < errors[1] + 0.02


@seeds(3)
@pytest.mark.parametrize("scale", [1e3, 1e4, 1e12, 1e45])
def test_one_wrong_value_spoils_no_measurement(scale, seed):
    model = AdaptiveClassifier()
    n_wrong = 0
    for i, (x, y) in enumerate(measurements(random.Random(seed), 2_000, missing=0.0)):
        n_wrong += i >= 1_000 and model.predict_one(x) != y
        wrong = {j: x_j * scale if j in UNITS and x_j < 1e5 else x_j for j, x_j in x.items()}
        model.learn_one(wrong if i == 100 else x, y)
    assert n_wrong < 120


def test_sure_answers_leave_the_other_label_a_probability_above_0():
    model = AdaptiveClassifier(eta=100.0)
    for _ in range(400):
        model.learn_one({"a": 1}, True)
        model.learn_one({"b": 1}, False)
    yes, no = (model.predict_proba_one({j: 1}) for j in "ab")
    assert 0.0 < yes[False] < 1e-20
    assert 0.0 < no[True] < 1e-20


def test_measurements_are_told_apart_by_shards_that_were_merged():
    rng = np.random.default_rng(1)
    X = 5.0 + np.clip(rng.normal(size=(290_000, 3)), -4.0, 4.0)
    y = (X[:, 0] > 5.0).tolist()
    model = AdaptiveClassifier(hash_seed=1)
    for _ in range(3):
        model.learn_many(X, y)
    shards = [copy.deepcopy(model) for _ in range(6)]
    for n in range(1, 7):
        assert right(streamptron.merge(shards[:n]), rng) > 0.99


# --- Every door


def learn_rows(model, twin, X, events, ys, ws, ask, **names):
    """Rows of a matrix or texts, and the same as dicts."""
    if ask:
        predictions = model.test_then_train_many(X, ys, w=ws, **names).tolist()
    else:
        model.learn_many(X, ys, w=ws, **names)
    for r, (x, y, w) in enumerate(zip(events, ys, ws, strict=True)):
        if ask:
            assert predictions[r] == twin.predict_one(x)
        twin.learn_one(x, y, w)
    check_counts(model, twin)


@seeds(1, n_slow=1)
@pytest.mark.parametrize(
    "kind", ["array", "float32", "csr", "unsorted csr", "coo in parts", "frame"]
)
@pytest.mark.parametrize("labels", [(True, False), LABELS], ids=len)
def test_rows_of_a_matrix_are_learned_as_their_dicts(labels, kind, seed):
    rng = random.Random(f"{labels}, {kind}, {seed}")
    model, twin = twins(class_weight=rng.choice([None, {labels[1]: 0.0}]))
    for _ in range(8):
        n = rng.choice((1, 5, 60))
        dense = [[rng.choice((0, 0, 1, 0.5, -2)) for _ in range(25)] for _ in range(n)]
        X, events = rows_of(kind, dense)
        ys = [rng.choice(labels) for _ in range(n)]
        ws = [rng.choice((0.0, 1.0, 1.0, 2.0)) for _ in range(n)]
        learn_rows(model, twin, X, events, ys, ws, rng.random() < 0.5)
        check_answers(model, twin, events[0])
        X, events = rows_of(kind, dense)
        assert model.predict_many(X).tolist() == [twin.predict_one(x) for x in events]
        P = np.asarray(model.predict_proba_many(X)).tolist()
        assert [list(twin.predict_proba_one(x).values()) for x in events] == P
        found = [twin.decision_function_one(x) for x in events]
        if not twin.two:
            found = [list(decision.values()) for decision in found]
        assert np.asarray(model.decision_function_many(X)).tolist() == found
    check_weights(model, twin)
    model._check()


@seeds(3)
def test_texts_are_learned_as_the_dicts_of_their_words(seed):
    rng = random.Random(seed)
    model, twin = twins()
    words = [make_key("str", i) for i in range(60)]
    for _ in range(10):
        texts = [" ".join(rng.choices(words, k=rng.randrange(12))) for _ in range(20)]
        events = [dict(Tokenizer().transform_one(text)) for text in texts]
        ys = [rng.choice(LABELS[:4]) for _ in texts]
        ws = [1.0] * len(texts)
        learn_rows(model, twin, Tokenizer().transform_many(texts), events, ys, ws, True)
        for text, x in zip(texts, events, strict=True):
            check_answers(model, twin, x)
            event = Tokenizer().transform_one(text)
            assert model.predict_one(event) == twin.predict_one(x)
            assert model.test_then_train_one(event, ys[0]) == twin.predict_one(x)
            twin.learn_one(x, ys[0])
    check_weights(model, twin)


def from_file(model, folder):
    model.save(folder / "model")
    return streamptron.load(folder / "model")


AGAIN = {
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "copy": lambda model, _: copy.copy(model),
    "deepcopy": lambda model, _: copy.deepcopy(model),
    "clone": lambda model, _: model.clone(include_attributes=True),
    "file": from_file,
}


@pytest.mark.parametrize(
    "labels", [(False, True), LABELS[:2], LABELS], ids=["truth", "two", "many"]
)
@pytest.mark.parametrize("again", AGAIN)
def test_a_model_learns_on_as_if_nothing_had_happened(again, labels, tmp_path):
    rng = random.Random(f"{again}, {labels}")
    model, twin = twins()
    for _ in range(12):
        for x, y, w in random_events(
            rng, n=15, labels=labels, keys=rng.choice(("long", "non-ascii", "int"))
        ):
            check_answers(model, twin, x)
            model.learn_one(x, y, w)
            twin.learn_one(x, y, w)
        before = learned(model)
        model = AGAIN[again](model, tmp_path)
        assert learned(model) == before
        model.save(tmp_path / "mapped")
        mapped = streamptron.load(tmp_path / "mapped", mmap=True)
        check_answers(mapped, twin, x)
        assert mapped.weights == model.weights
        assert mapped.explain_one(x) == model.explain_one(x)
        assert learned(copy.deepcopy(mapped)) == before
    check_weights(model, twin)
    check_counts(model, twin)
    model._check()


# --- Labels that come


@seeds(4)
def test_a_third_label_deals_slots_out_as_they_are_learned(seed):
    """Slots that have been dealt out and slots that have not lie side by side."""
    rng = random.Random(seed)
    model, twin = twins()
    first = list(random_events(rng, n=150, labels=LABELS[:2], n_features=600))
    later = list(random_events(rng, n=150, labels=LABELS[:5], n_features=600, weighted=True))
    for x, y, w in first:
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    names = {j for x, _, _ in first for j in x}
    for i, (x, y, w) in enumerate(later):
        check_answers(model, twin, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
        if i % 10 == 0:
            check_answers(model, twin, dict.fromkeys(names, 1))
            check_weights(model, twin)
            model = pickle.loads(pickle.dumps(model))
            model._check()


@pytest.mark.parametrize("first", [True, False, 1, 0, "spam", 1.0, np.True_])
def test_the_output_speaks_for_true_or_for_the_second_label(first):
    model, twin = twins()
    x = {"a": 1}
    second = "other" if isinstance(first, str) else not first
    for learner in (model, twin):
        learner.learn_one(x, first)
    check_answers(model, twin, x)
    for learner in (model, twin):
        learner.learn_one({"b": 1}, second)
    check_answers(model, twin, x)
    assert (model.decision_function_one(x) > 0) == (first == True)  # noqa: E712
    assert model.predict_one(x) == first
    third = "third"
    for learner in (model, twin):
        learner.learn_one({"c": 1, "a": 1}, third)
    check_answers(model, twin, x)
    assert list(model.predict_proba_one(x)) == [first, second, third]


@seeds(1)
def test_many_labels_equal_the_twin(seed):
    rng = random.Random(seed)
    model, twin = twins()
    labels = [f"label {i}" for i in range(70)]
    check_stream(model, twin, random_events(rng, n=300, labels=labels, weighted=True))
    assert len(model.labels) > 45


@pytest.mark.slow
@seeds(1, n_slow=1)
def test_labels_that_become_more_than_a_word_has_bits_equal_the_twin(seed):
    """Rows that have all labels, some or one, while new ones come: up to 64 lie in bits."""
    rng = random.Random(seed)
    model, twin = twins()
    for i in range(700):
        y = f"label {rng.randrange(3 + i // 9)}"
        x = {"all": 1, "half": rng.randrange(2), y[:-1]: 1, f"{y} {rng.randrange(2)}": 1.5}
        if i > 600 or i % 7 == 0:
            check_answers(model, twin, x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    assert len(model.labels) > 65
    check_weights(model, twin)
    model._check()


@pytest.mark.parametrize("weight", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("n_labels", [4, 70])
def test_products_of_many_large_odds_equal_the_twins(n_labels, weight):
    """Each feature says one label alone, and how often it came is next to nothing of all events."""
    model, twin = twins()
    for k in range(n_labels):
        for learner in (model, twin):
            learner.learn_one({(k, j): 1 for j in range(60)}, k, 1.0)
            learner.learn_one({"often": 1}, k, weight)
    for k in range(n_labels):
        check_answers(model, twin, {(k, j): 1 for j in range(60)})
    check_weights(model, twin)


@pytest.mark.slow
def test_of_more_labels_than_an_event_goes_through_tau_learns_of_one_event_in_two():
    model, twin = twins()
    n = twin.at_once + 2
    for y in range(n):
        for learner in (model, twin):
            learner.learn_one({y: 1}, y)
    found = [twin.tau]
    for i in range(30):
        x = {i % 5: 1, i % 3: 1}
        for learner in (model, twin):
            learner.learn_one(x, i % 7)
        found.append(twin.tau)
    changed = [before != after for before, after in pairwise(found)]
    assert changed == [True, False] * 15
    check_answers(model, twin, x)


@pytest.mark.parametrize("n", slow([9_000], among=[3_000, 9_000]))
def test_answers_stay_finite_with_thousands_of_labels_and_no_more_than_may_be_come(n):
    model = AdaptiveClassifier(max_labels=n)
    for k in range(n):
        model.learn_one({f"own {k}": 1, k % 10: 1}, k)
    assert model.labels == list(range(n))
    x = {f"own {n // 2}": 1, 3: 1, "new": 1}
    P = model.predict_proba_one(x)
    assert len(P) == n
    assert all(p > 0.0 and math.isfinite(p) for p in P.values())
    assert math.fsum(P.values()) == pytest.approx(1.0)
    assert all(map(math.isfinite, model.decision_function_one(x).values()))
    assert all(map(math.isfinite, model.intercept_.values()))
    assert all(math.isfinite(w) for of in model.weights.values() for w in of.values())
    assert model.memory_usage / n < 8_000  # bytes
    before = model.n_seen, model.n_features, model.memory_usage, P
    with pytest.raises(ValueError, match=f"max_labels={n}"):
        model.learn_one({"another": 1}, n)
    assert before == (
        *(model.n_seen, model.n_features, model.memory_usage, model.predict_proba_one(x)),
    )


# --- Other sizes of model


@seeds(2)
@pytest.mark.parametrize("labels", [(False, True), LABELS], ids=len)
def test_hashed_features_that_do_not_collide_equal_the_twin(labels, seed):
    rng = random.Random(f"{labels}, {seed}")
    model, twin = twins(hash_bits=22)
    for x, y, w in random_events(rng, n=200, labels=labels, weighted=True):
        check_answers(model, twin, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    assert model.intercept_ == (
        twin.w0[1] if twin.two else dict(zip(twin.labels, twin.w0.values(), strict=True))
    )


@seeds(1, n_slow=1)
@pytest.mark.parametrize("max_features", [1, 6, 30, 90])
@pytest.mark.parametrize("labels", [(False, True), LABELS], ids=len)
def test_a_model_under_a_ceiling_equals_its_twin(labels, max_features, seed):
    rng = random.Random(f"{labels}, {max_features}, {seed}")
    model, twin = twins(max_features=max_features, class_weight=rng.choice([None, {labels[1]: 0}]))
    values = rng.choice(["one", "real"])
    events = random_events(
        rng, n=300, labels=labels, values=values, n_features=200, size=12, weighted=True
    )
    check_stream(model, twin, events)
    assert model.n_features == max_features
    assert model.n_evicted == twin.ceiling.n_evicted > 50


@seeds(4)
@pytest.mark.parametrize(
    "params", [{"hash_bits": 3}, {"max_features": 6}, {"max_features": 30}], ids=str
)
@pytest.mark.parametrize("labels", [(False, True), LABELS], ids=len)
def test_what_shares_slots_is_learned_alike_at_every_door(labels, params, seed, tmp_path):
    rng = random.Random(f"{labels}, {params}, {seed}")
    one, many, kept = (AdaptiveClassifier(hash_seed=2, **params) for _ in range(3))
    dense = [[rng.choice((0, 0, 0, 1, 0.5, -2)) for _ in range(60)] for _ in range(300)]
    X, events = rows_of("csr", dense)
    ys = [rng.choice(labels) for _ in events]
    many.learn_many(X, ys)
    for i, (x, y) in enumerate(zip(events, ys, strict=True)):
        one.learn_one(x, y)
        kept.learn_one(x, y)
        if i % 60 == 0:
            kept = from_file(kept, tmp_path)
    assert learned(one) == learned(many) == learned(kept)
    one._check()
    assert all(math.isfinite(p) for x in events[:50] for p in one.predict_proba_one(x).values())
    if "max_features" in params:
        assert one.n_features == params["max_features"]
        assert one.n_evicted > 100


@pytest.mark.parametrize(
    ("hash_bits", "decision"),
    [(1, "-0x1.1b92d4efcdca8p-1"), (2, "-0x1.149ec8bd22e26p-2"), (3, "-0x1.27b3cbecacd95p-1")],
)
def test_features_of_an_event_in_one_slot_are_one_column_or_come_one_by_one(hash_bits, decision):
    model = AdaptiveClassifier(hash_bits=hash_bits, hash_seed=2, shape="line")
    for i in range(40):
        x = {j: 1 + (i * j) % 7 / 4 for j in range(1, 14) if (i + j) % 3 or j == i}
        model.learn_one(x, i % 5 < 2)
    assert model.decision_function_one(x).hex() == decision


# --- Explanations


@seeds(3)
@pytest.mark.parametrize("labels", [(False, True), LABELS], ids=len)
@pytest.mark.parametrize("naive_bayes", [True, False])
def test_contributions_sum_to_the_decision_and_are_the_twins(naive_bayes, labels, seed):
    rng = random.Random(f"{naive_bayes}, {labels}, {seed}")
    model, twin = twins(naive_bayes=naive_bayes)
    for x, y, w in random_events(rng, n=150, labels=labels, values="real"):
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
        if len(model.labels) < 2:
            continue
        for label in model.labels:
            explained = model.explain_one(x, label)
            decision = model.decision_function_one(x)
            if twin.two:
                sign = 1 if twin.speaks_for(1, label) else -1
                decision *= sign
                theirs = {j: sign * part for j, part in twin.explain_one(x).items()}
            else:
                decision = decision[label]
                theirs = twin.explain_one(x, label)
            parts = dict(explained)
            # exact, unless no doubles of the parts' size add up to it
            finest = min((math.ulp(part) for part in parts.values()), default=0.0)
            excess = abs(math.fsum((decision, *(-part for part in parts.values()))))
            assert excess == 0.0 or excess < finest
            assert parts.keys() <= theirs.keys()
            scale = max(map(abs, theirs.values()))
            assert {j: parts.get(j, 0.0) for j in theirs} == pytest.approx(
                theirs, abs=1e-12 * scale
            )


# --- Numbers at the limits


@seeds(6)
@pytest.mark.parametrize("labels", [(False, True), LABELS[:1], LABELS], ids=len)
def test_numbers_stay_finite_and_equal_the_twin_at_all_scales(labels, seed):
    rng = random.Random(f"{labels}, {seed}")
    model, twin = twins(eta=rng.choice((1e-6, 1.0, 1e6)), forget=rng.choice((0.0, 2**-10, 1.0)))
    sizes = [1e-50, 1e50, 1e-300, 5e-324, 1.0, 1e-160]
    for _ in range(200):
        x = {
            rng.randrange(25): rng.choice((-1, 1, 1))
            * rng.choice((*sizes, 10.0 ** rng.uniform(-50, 50)))
            for _ in range(rng.choice((0, 1, 8, 20)))
        }
        w = rng.choice((1.0, 0.0, 1e30, 5e-324, 2.0**20, 10.0 ** rng.uniform(-300, 30)))
        check_answers(model, twin, x)
        P = model.predict_proba_one(x)
        assert all(0.0 <= p <= 1.0 for p in P.values())
        y = rng.choice(labels)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
        unknown = {f"new {rng.random()}": -1e50}
        check_answers(model, twin, unknown)
    check_weights(model, twin)
    assert learned(pickle.loads(pickle.dumps(model))) == learned(model)


@seeds(2)
@pytest.mark.parametrize("labels", [(False, True), LABELS[:4]], ids=len)
def test_counts_that_are_halved_equal_the_twins(labels, seed):
    rng = random.Random(f"{labels}, {seed}")
    model, twin = twins()
    events = (
        (x, y, rng.choice((1.0, 300_000.0, 2.0**19, 1e7)))
        for x, y, _ in random_events(rng, n=200, labels=labels)
    )
    check_stream(model, twin, events)


# --- Bad inputs


@pytest.mark.parametrize(
    ("params", "learn", "message"),
    [
        ({}, lambda model: model.learn_one({"a": 1}, True, 1.1e30), "must be at most 1e"),
        (
            {"class_weight": {True: 1e20}},
            lambda model: model.learn_one({"a": 1}, True, 1e20),
            "class weight of True",
        ),
        (
            {"class_weight": {True: 1e20}},
            lambda model: model.learn_many(np.ones((2, 3)), [False, True], w=[1.0, 1e20]),
            "in row 1",
        ),
        ({}, lambda model: model.learn_many(np.ones((2, 3)), [False, True], w=1e31), "at most"),
        ({"max_labels": 1}, lambda model: model.learn_one({"a": 1}, "b"), "max_labels=1"),
    ],
)
def test_what_is_too_much_is_refused_and_nothing_has_changed(params, learn, message):
    model = AdaptiveClassifier(**params)
    model.learn_one({"a": 1}, True)
    before = learned(model)
    with pytest.raises(ValueError, match=message):
        learn(model)
    assert learned(model) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("eta", 0.0),
        ("eta", -1.0),
        ("eta", 1e7),
        ("eta", "1"),
        ("eta", True),
        ("eta", float("nan")),
        ("forget", -0.1),
        ("forget", 1.1),
        ("forget", None),
        ("forget", "automatic"),
        ("naive_bayes", 1),
        ("intercept", None),
        ("max_features", 0),
        ("class_weight", {None: 1.0}),
        ("false_positive_rate", 0.1),
        ("false_positive_rate", {None: 0.1}),
        *(("false_positive_rate", {"spam": rate}) for rate in (0, 1, -0.1, 1.5)),
        *(("false_positive_rate", {"spam": rate}) for rate in ("1", True, math.nan)),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused_by_name(name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        AdaptiveClassifier(**{name: value})


# --- Real streams

BINARY = {
    "sms": lambda: ((x, y == "spam", 1.0) for x, y in text_stream("sms_spam", limit=800)),
    "trec07p": lambda: (
        (x, y == "spam", 1.0) for x, y in text_stream("trec07p_first12000", limit=100)
    ),
    "a9a": lambda: ((x, y > 0, 1.0) for x, y in svmlight("a9a", limit=1000)),
    "svmguide3": lambda: ((x, y > 0, 1.0) for x, y in svmlight("svmguide3")),
}
MANY = {
    "20news": lambda: ((x, y, 1.0) for x, y in text_stream("20news_train", limit=60)),
    "loghub": lambda: ((x, y, 1.0) for x, y in text_stream("loghub_system", limit=600)),
    "tagging": lambda: ((x, y, 1.0) for x, y in islice(tagging_stream("train"), 500)),
}


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("stream", [*BINARY, *MANY])
def test_learner_equals_its_twin_on_a_real_stream(stream):
    model, twin = twins()
    check_stream(model, twin, (BINARY | MANY)[stream]())
    assert twin.n_mistakes > 0


# --- A state that was tampered with


FORGED = {  # what is kept once, made of what it was: T, m, nm, rows, tau, its squares, naive Bayes'
    # weight and its, the watch; with two labels that is in the rows
    "nothing": lambda once: (),
    "without rows": lambda once: once[:3],
    "a row less": lambda once: (*once[:3], once[3][:-1], *once[4:]),
    "narrow rows": lambda once: (*once[:3], ((1.0,) * 2,) * len(once[3]), *once[4:]),
    "without tau's squares": lambda once: (*once[:5], *once[6:]),
    "a number more": lambda once: (*once[:6], 1.0, *once[6:]),
    "half a watch": lambda once: (*once[: 6 + 2 * (len(once[3]) > 2)], (0.0,) * 4),
    "no mean": lambda once: (math.nan, *once[1:]),
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("forget", [2.0**-10, "auto"])
@pytest.mark.parametrize("labels", ["xy", "xyz"])
def test_what_is_kept_once_is_refused_if_it_cannot_be(forged, forget, labels):
    model = AdaptiveClassifier(forget=forget)
    for i in range(20):
        model.learn_one({"a": 1.0, f"b{i}": 2.0}, labels[i % len(labels)])
    state = model.__getstate__()
    AdaptiveClassifier().__setstate__(state)  # untouched, it is taken
    name = "adaptive" if labels == "xy" else "many"
    state[name] = counts_text(FORGED[forged](counts_of(state[name])))
    before = learned(model)
    words = r"what is kept (once does not fit the model|of all events)"
    with pytest.raises(ValueError, match=words):
        model.__setstate__(state)
    assert learned(model) == before


# --- Calls of every kind in turn


@seeds(50, n_slow=100)
def test_calls_of_every_kind_agree_with_the_twin(seed):
    case = operations_on_numbers.drawn(random.Random(seed), random.Random(-1 - seed), seed)
    assert operations.difference(*case) is None


# --- A newcomer among the labels


def topics(rng, n, names):
    """Texts of 60 words; a topic has 1,600, of which 200 are the next one's, too."""
    for i in range(n):
        k = i % len(names)
        words = rng.choices(range(1400 * k, 1400 * k + 1600), k=60)
        yield {f"w{j}": 1 for j in words}, names[k]


def texts(rng, n, names):
    return list(topics(rng, n, names))


def wrong(model, events):
    return sum(model.predict_one(x) != y for x, y in events)


@seeds(3)
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("labels", [2, 3, 10])
def test_a_mistyped_label_takes_no_answers_from_the_others(labels, times, seed):
    rng = random.Random(seed)
    names = [f"topic {k}" for k in range(labels)]
    model = AdaptiveClassifier(hash_seed=1)
    for x, y in texts(rng, 150 * labels, names):
        model.learn_one(x, y)
    asked = texts(rng, 200, names)
    assert wrong(model, asked) == 0
    for x, _ in texts(rng, times, names[-1:]):
        model.learn_one(x, "topicc")
    assert len(model.labels) == labels + 1
    assert wrong(model, asked) <= 1


@seeds(2)
def test_a_label_that_goes_on_to_come_is_known_after_some_ten_events(seed):
    rng = random.Random(seed)
    names = ["old", "older", "new"]
    model = AdaptiveClassifier(hash_seed=1)
    for x, y in texts(rng, 300, names[:2]):
        model.learn_one(x, y)
    for x, y in texts(rng, 45, names):
        model.learn_one(x, y)
    assert wrong(model, texts(rng, 300, names)) <= 3


@seeds(2)
def test_a_mistyped_label_of_one_shard_takes_no_answers_from_the_merged_model(seed):
    rng = random.Random(seed)
    names = ["ham", "spam"]
    base = AdaptiveClassifier(hash_seed=1)
    for x, y in texts(rng, 400, names):
        base.learn_one(x, y)
    shards = [copy.deepcopy(base) for _ in range(3)]
    for shard in shards:
        for x, y in texts(rng, 40, names):
            shard.learn_one(x, y)
    for x, _ in texts(rng, 1, ["spam"]):
        shards[1].learn_one(x, "Spam")
    merged = streamptron.merge(shards, since=base)
    assert merged.labels == ["ham", "spam", "Spam"]
    assert wrong(merged, texts(rng, 400, names)) <= 2


@seeds(2)
def test_shares_of_an_explanation_add_up_to_the_decision_beside_a_newcomer(seed):
    rng = random.Random(seed)
    model = AdaptiveClassifier(hash_seed=1)
    for x, y in [*texts(rng, 60, ["a", "b"]), *texts(rng, 6, ["a", "b", "c"])]:
        model.learn_one(x, y)
    for x, _ in texts(rng, 12, ["a", "b", "c"]):
        decision = model.decision_function_one(x)
        for label in model.labels:
            parts = model.explain_one(x, label=label)
            assert sum(part for _, part in parts) == pytest.approx(decision[label], abs=1e-9)
