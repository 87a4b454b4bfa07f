"""Rows learned and answered in an order, where they lie: as if they had been laid out so."""

import pickle
import random

import numpy as np
import pytest

from streamptron import MulticlassPerceptron, Perceptron, Tokenizer
from streamptron.estimator.batches import batch_of, steps_of
from streamptron.estimator.passes import Passes
from tests.support.marks import seeds
from tests.support.matrices import (
    FORMS,
    column_names,
    contents,
    csr,
    dicts,
    learn_each,
    random_batch,
)
from tests.support.variants import every_learner, every_variant, make


def passes_of(model, X, ys, ws=1.0):
    """Labelled rows to be learned more than once."""
    batch = batch_of(X, None)
    labels, numbers = batch.numbered(ys, model._checked_label)
    steps = steps_of(ws, labels, numbers, model._checked_step)
    return Passes(batch, labels, np.asarray(numbers, dtype=np.intp), steps)


@seeds(1)
@every_variant
def test_rows_in_an_order_are_learned_as_their_dicts_in_that_order_bit_for_bit(
    learner, variant, seed
):
    rng = random.Random(f"{learner}, {variant}, {seed}")
    model, twin = make(learner, variant), make(learner, variant)
    dense, ys, ws = random_batch(rng, learner, n=150, weighted=True)
    for form in rng.sample(sorted(FORMS.keys() - {"dia"}), 4):  # scipy warns of many diagonals
        X = FORMS[form](dense, rng, "in place")
        before = contents(X)
        rows = dicts(dense, column_names(X))
        passes = passes_of(model, X, ys, ws)
        for n in (150, 150, 40):  # all rows, all again, and some of them
            order = rng.sample(range(150), n)
            passes.learn(model, np.array(order))
            chosen = ([rows[row] for row in order], [ys[row] for row in order])
            learn_each(twin, *chosen, [ws[row] for row in order])
            assert pickle.dumps(model) == pickle.dumps(twin), form
        if isinstance(before, tuple):
            assert contents(X) == before


@seeds(1)
@every_learner
def test_texts_in_an_order_are_learned_as_in_that_order(learner, seed):
    rng = random.Random(f"{learner}, {seed}")
    _, ys, _ = random_batch(rng, learner, n=150)
    texts = [" ".join(rng.choices(["a", "bé", "ñ", "ж", "漢", "𝄞", "z"], k=5)) for _ in ys]
    model, twin = make(learner), make(learner)
    passes = passes_of(model, Tokenizer().transform_many(texts), ys)
    for _ in range(2):
        order = np.array(rng.sample(range(150), 150))
        passes.learn(model, order)
        for row in order:
            twin.learn_one(Tokenizer().transform_one(texts[row]), ys[row])
        assert pickle.dumps(model) == pickle.dumps(twin)


@every_learner
def test_answers_in_an_order_stand_where_the_rows_lie(learner):
    rng = random.Random(learner)
    dense, ys, _ = random_batch(rng, learner, n=150)
    model = make(learner)
    model.learn_many(dense, ys)
    batch = batch_of(csr(dense), None).ready()
    every = batch.outputs()
    model._predict_rows(batch.rows, None, every, None, None)
    assert len(set(every.tolist())) > 1
    some, order = np.full_like(every, -9), np.array([7, 149, 3])
    done, _ = model._predict_rows(batch.rows, None, some, None, None, None, order)
    assert done == 3
    assert some[order].tolist() == every[order].tolist()
    assert (np.delete(some, order) == -9).all()


@pytest.mark.parametrize("order", [[0, 3], [-1], [0, 1, 2**62]])
def test_an_order_of_rows_that_are_not_there_is_refused_and_changes_nothing(order):
    model = Perceptron()
    passes = passes_of(model, np.eye(3), [True, False, True])
    before = pickle.dumps(model)
    with pytest.raises(IndexError, match="there are 3 rows"):
        passes.learn(model, np.array(order))
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("bad", [float("nan"), 1e60])
def test_a_bad_value_is_found_before_the_first_pass(bad):
    dense = np.eye(5)
    dense[3, 4] = bad
    for X in (dense, csr(dense)):
        with pytest.raises(ValueError, match="row 3, column 4"):
            passes_of(Perceptron(), X, [True, False, True, False, True])


def test_a_pass_over_no_rows_changes_nothing():
    model = MulticlassPerceptron()
    passes = passes_of(model, np.eye(2), ["a", "b"])
    passes.learn(model, np.array([], dtype=np.intp))
    assert (model.n_seen, model.labels) == (0, [])
