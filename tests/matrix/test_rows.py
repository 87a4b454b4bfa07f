"""The matrix door: sparse matrices, arrays and frames are learned as the dicts that their rows are.

The dict of a row has its values that are not 0, in the order of the columns. A model that has
learned a batch is afterwards the same, to the last bit of its pickle, as one that was given these
dicts one by one.
"""

import copy
import pickle
import random

import numpy as np
import pytest
import scipy.sparse as sp

from tests.support.marks import in_turn, seeds
from tests.support.matrices import (
    DENSE,
    FORMS,
    WAYS,
    assert_answers_alike,
    assert_learned_on,
    both_ways,
    column_names,
    csr,
    dicts,
    is_frame,
    learn_each,
    listed,
    padded,
    random_batch,
    texts,
    untouched,
    way_of,
    widened,
)
from tests.support.streams import needs_data, random_events, svmlight
from tests.support.twins import KEPT, RULES, check_answers, check_counts, check_weights, twins
from tests.support.twins import labels_for as labels_for_rule
from tests.support.variants import (
    LEARNERS,
    ONE_OUTPUT,
    answers,
    every_learner,
    every_variant,
    every_variant_and_in_turn,
    labels_for,
    make,
)


@every_variant_and_in_turn("way", WAYS)
def test_batches_of_all_kinds_and_dicts_in_turn_are_learned_as_their_rows_bit_for_bit(
    learner, variant, way
):
    rng = random.Random(f"{learner}, {variant}, {way}")
    model, twin = make(learner, variant), make(learner, variant)
    dense, ys, ws = random_batch(rng, learner, n=150, weighted=True)
    forms = rng.sample(list(FORMS), 5)
    last = 0
    for form in forms:
        first, last = last, min(150, last + rng.randint(15, 25))
        part = widened(dense[first:last], way_of(form, way))
        X = FORMS[form](part, rng, way)
        names = {}
        if not is_frame(X) and rng.random() < 0.5:
            names["feature_names"] = texts(X)
        rows = dicts(part[:, : X.shape[1]], names.get("feature_names", column_names(X)))
        y, w = ys[first:last], ws[first:last]
        assert_answers_alike(model, twin, X, rows, **names)
        if rng.random() < 0.5:
            model.learn_many(X, y, w, **names)
        else:
            expected = []
            before = copy.deepcopy(twin)
            for x, label, weight in zip(rows, y, w, strict=True):
                expected.append(before.predict_one(x))
                before.learn_one(x, label, weight)
            assert listed(model.test_then_train_many(X, y, w, **names)) == expected
        learn_each(twin, rows, y, w)
        x = rng.choice(rows)
        assert answers(model, x) == answers(twin, x)
        for each in (model, twin):  # and now one as a dict
            each.learn_one(x, ys[0])
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert twin.n_seen == last + len(forms)
    assert twin.n_updates > 5


@pytest.mark.parametrize(("form", "way", "learner"), in_turn(FORMS, WAYS, LEARNERS, n=2))
def test_matrix_of_every_kind_is_its_rows_and_stays_as_it_is(learner, form, way):
    rng = random.Random(f"{learner}, {form}")
    dense, ys, _ = random_batch(rng, learner)
    dense = widened(dense, way_of(form, way))
    X = FORMS[form](dense, rng, way)
    rows = dicts(dense, column_names(X))
    if form in ("array", "csr_array", "CSR, repeated"):
        assert_learned_on(way, X, make(learner))

    model, tested, twin = (make(learner) for _ in range(3))
    with untouched(X):
        model.learn_many(X, ys)
        predictions = tested.test_then_train_many(X, ys)
        expected = [twin.test_then_train_one(x, y) for x, y in zip(rows, ys, strict=True)]
        assert listed(predictions) == expected
        assert pickle.dumps(model) == pickle.dumps(tested) == pickle.dumps(twin)
        assert_answers_alike(model, twin, X, rows)
    assert model.n_features > 5


@seeds(1)
@pytest.mark.parametrize("kept", [kept for kept in KEPT if kept.endswith("best")])
@pytest.mark.parametrize("rule", RULES)
def test_matrices_are_learned_as_the_twin_learns_their_rows(rule, kept, seed):
    rng = random.Random(f"{rule}, {kept}, {seed}")
    labels = labels_for_rule(rule)
    class_weight = rng.choice([None, {labels[0]: 2.0, labels[1]: 0.3}])
    model, twin = twins(rule, class_weight=class_weight, half_life=20, **KEPT[kept])
    values = "real" if twin.average == "exponential" else "small"
    events = list(random_events(rng, 200, n_features=15, labels=labels, values=values))
    for first in range(0, 200, 50):
        part = events[first : first + 50]
        dense = np.zeros((len(part), 15))
        for row, (x, _, _) in zip(dense, part, strict=True):
            for name, value in x.items():
                row[int(name.removeprefix("word"))] = value
        way = rng.choice(WAYS)
        dense = widened(dense, way)
        model.learn_many(rng.choice([csr, np.asarray])(dense), [y for _, y, _ in part])
        for x, (_, y, _) in zip(dicts(dense), part, strict=True):
            twin.learn_one(x, y)
        check_counts(model, twin)
        for x in dicts(dense[:5]):
            check_answers(model, twin, x)
    check_weights(model, twin)
    assert twin.n_updates > 20


@needs_data
@every_variant
def test_real_matrix_is_learned_as_its_rows_bit_for_bit(learner, variant):
    rows, ys = zip(*svmlight("a9a", 1500), strict=True)
    ys = [y == 1 for y in ys] if learner == "Perceptron" else [f"label {y + 2}" for y in ys]
    data = [value for x in rows for value in x.values()]
    indices = [column for x in rows for column in x]
    X = sp.csr_array((data, indices, np.cumsum([0, *map(len, rows)])), shape=(1500, 124))
    model, twin = make(learner, variant), make(learner, variant)
    half = {"in place": slice(750), "on a copy": slice(750, 1500)}
    for way, part in half.items():
        model.learn_many(padded(X[part], way), ys[part])
        learn_each(twin, rows[part], ys[part])
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert_answers_alike(model, twin, X[:100], rows[:100])
    assert twin.n_mistakes > 200


@pytest.mark.parametrize(
    ("learner", "variant", "way"),
    in_turn(LEARNERS, ["default", "pocket", "hashed", "no intercept"], WAYS),
)
def test_rows_of_many_values_are_learned_as_they_are(learner, variant, way):
    """Rows of more values than are checked at a time, and blocks that end anywhere."""
    rng = np.random.default_rng(5)
    n_columns = 2500 if way == "in place" else 5000
    dense = rng.integers(-2, 3, (30, n_columns)).astype(float)
    dense[rng.random(dense.shape) < 0.3] = 0.0
    dense[::3, 50:] = 0.0
    dense[5] = 0.0
    ys = [labels_for(learner)[i % 2] for i in range(30)]
    model, twin = make(learner, variant), make(learner, variant)
    model.learn_many(dense, ys)
    model.learn_many(csr(dense), ys)
    for _ in range(2):
        learn_each(twin, dicts(dense), ys)
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert_answers_alike(model, twin, csr(dense), dicts(dense))


@both_ways
@every_learner
def test_broadcast_array_is_one_row_again_and_again(learner, way):
    row = np.arange(-2.0, 2.0)
    n = 50 if way == "in place" else 40_000
    X = np.broadcast_to(row, (n, 4))
    labels = labels_for(learner)
    ys = [labels[i % 2] for i in range(n)]
    # with a budget, as else every update votes
    model, twin = make(learner, budget=20), make(learner, budget=20)
    model.learn_many(X, ys)
    learn_each(twin, dicts(row[None, :]) * n, ys)
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert listed(model.predict_many(X)) == [twin.predict_one(dicts(row[None, :])[0])] * n


@both_ways
@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@every_learner
def test_memory_mapped_matrix_is_learned_from_its_file(learner, mode, way, tmp_path):
    rng = random.Random(4)
    dense, ys, _ = random_batch(rng, learner)
    dense = widened(dense, way)
    matrix = csr(dense, way)
    saved = {"dense": dense, "data": matrix.data, "indices": matrix.indices}
    for name, array in saved.items():
        np.save(tmp_path / f"{name}.npy", array)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    mapped = {name: np.load(tmp_path / f"{name}.npy", mmap_mode=mode) for name in saved}
    assert all(isinstance(array, np.memmap) for array in mapped.values())
    X = sp.csr_array((mapped["data"], mapped["indices"], matrix.indptr), shape=dense.shape)
    by_array, by_matrix, twin = (make(learner) for _ in range(3))
    by_array.learn_many(mapped["dense"], ys)
    by_matrix.learn_many(X, ys)
    learn_each(twin, dicts(dense), ys)
    assert pickle.dumps(by_array) == pickle.dumps(by_matrix) == pickle.dumps(twin)
    assert_answers_alike(by_array, twin, X, dicts(dense))
    assert before == {file.name: file.read_bytes() for file in tmp_path.iterdir()}


@pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "csc", "coo", "lil", *DENSE])
@every_learner
def test_batch_without_rows_is_nothing_and_one_without_columns_is_empty_events(learner, form):
    model = make(learner)
    labels = labels_for(learner)
    for label in labels[:2]:
        model.learn_one({0: 1}, label)
    twin = copy.deepcopy(model)

    def made(shape):
        return FORMS[form](np.zeros(shape), random.Random(1), "in place")

    X = made((0, 3))
    model.learn_many(X, [])
    model.learn_many(X, np.empty(0, int), w=np.empty(0))
    for answer in (model.test_then_train_many(X, []), model.predict_many(X)):
        assert isinstance(answer, np.ndarray)
        assert len(answer) == 0
    assert model.predict_proba_many(X).shape == (0, 2)
    assert model.decision_function_many(X).shape == ((0,) if learner in ONE_OUTPUT else (0, 2))
    assert pickle.dumps(model) == pickle.dumps(twin)

    X = made((3, 0))
    model.learn_many(X, [*labels[:2], labels[0]])
    learn_each(twin, [{}] * 3, [*labels[:2], labels[0]])
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert_answers_alike(model, twin, X, [{}] * 3)


@both_ways
@every_learner
def test_rows_without_values_are_empty_events(learner, way):
    dense = np.zeros((30, 4))
    dense[[3, 17, 29], [0, 3, 1]] = 2.0
    dense = widened(dense, way)
    ys = [labels_for(learner)[i % 2] for i in range(30)]
    rows = dicts(dense)
    assert rows.count({}) == 27
    for X in (csr(dense, way), dense, sp.csc_array(dense)):
        model, twin = make(learner), make(learner)
        model.learn_many(X, ys)
        learn_each(twin, rows, ys)
        assert pickle.dumps(model) == pickle.dumps(twin)
        assert_answers_alike(model, twin, X, rows)
