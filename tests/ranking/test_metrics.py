"""NDCG and the reciprocal rank are exact, with ties too."""

import math
import random
from itertools import pairwise, permutations

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from streamptron import RankingPerceptron
from streamptron.metrics import MRR, NDCG, ndcg, reciprocal_rank
from tests.support.marks import seeds

pytestmark = pytest.mark.once  # another Python would say the same


def query(rng):
    n = rng.randint(1, 8)
    scores = [rng.choice((0.0, 0.5, 1.0, rng.random())) for _ in range(n)]
    return [rng.randint(0, 4) for _ in range(n)], scores


@seeds(2)
@pytest.mark.parametrize("k", [None, 1, 2, 3, 10])
def test_ndcg_is_scikit_learns(k, seed):
    rng = random.Random(f"{k}, {seed}")
    for _ in range(200):
        grades, scores = query(rng)
        if len(grades) > 1:  # scikit-learn refuses one document
            expected = ndcg_score([grades], [scores], k=k)
            assert ndcg(grades, scores, k) == pytest.approx(expected, rel=1e-13, abs=1e-15)


def test_ndcg_of_one_document_is_1_if_it_is_relevant():
    assert (ndcg([2], [0.1]), ndcg([0], [0.1])) == (1.0, 0.0)


@seeds(2)
@pytest.mark.parametrize("k", [None, 1, 2])
def test_values_of_ties_are_the_mean_over_all_orders(k, seed):
    rng = random.Random(f"{k}, {seed}")
    for _ in range(20):
        grades, scores = query(rng)
        grades, scores = grades[:6], scores[:6]
        orders = [
            order
            for order in permutations(range(len(grades)))
            if all(scores[a] >= scores[b] for a, b in pairwise(order))
        ]
        for value in (ndcg, reciprocal_rank):
            means = [
                value([grades[i] for i in order], [-place for place in range(len(order))], k)
                for order in orders
            ]
            expected = math.fsum(means) / len(means)
            assert value(grades, scores, k) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_reciprocal_rank_of_the_first_relevant_document():
    assert reciprocal_rank([0, 0, 3, 1], [4, 3, 2, 1]) == 1 / 3
    assert reciprocal_rank([0, 0, 3, 1], [4, 3, 2, 1], k=2) == 0.0
    assert reciprocal_rank([0, 0], [4, 3]) == 0.0


def test_grades_and_scores_by_id_may_be_in_any_order():
    grades, scores = {"a": 2, "b": 0, "c": 1}, {"c": 0.1, "b": 0.9, "a": 0.3}
    assert ndcg(grades, scores) == ndcg([2, 0, 1], [0.3, 0.9, 0.1])
    assert reciprocal_rank(grades, scores) == 0.5
    assert ndcg(np.array([2, 0, 1]), np.array([0.3, 0.9, 0.1])) == ndcg(grades, scores)


@pytest.mark.parametrize("value", [ndcg, reciprocal_rank])
@pytest.mark.parametrize(
    ("grades", "scores", "error", "match"),
    [
        ([1, 0], [0.5], ValueError, "grades has 2 documents and scores 1"),
        ({"a": 1}, {"b": 0.5}, ValueError, "scores has nothing for 'a'"),
        ({"a": 1}, {"a": 0.5, "b": 1}, ValueError, "1 documents and scores 2"),
        ({"a": 1}, [0.5], TypeError, "by id or both in order"),
        ([], [], ValueError, "grades is empty"),
        ([1, "x"], [1, 2], TypeError, r"grades\[1\]"),
        ([1, 0], [1, math.nan], ValueError, r"scores\[1\]"),
        ("ab", [1, 2], TypeError, "grades is 'ab'"),
    ],
)
def test_bad_documents_are_named(value, grades, scores, error, match):
    with pytest.raises(error, match=match):
        value(grades, scores)


@pytest.mark.parametrize("k", [0, -1, True, 1.0])
def test_bad_k_is_named(k):
    for call in (NDCG, MRR, lambda k: ndcg([1], [1], k), lambda k: reciprocal_rank([1], [1], k)):
        with pytest.raises(ValueError, match="k="):
            call(k)


def test_ndcg_has_no_grades_below_0():
    with pytest.raises(ValueError, match=r"grades=.* below 0"):
        ndcg([1, -1], [0.5, 0.1])


def test_metrics_are_means_over_queries_and_can_be_reverted():
    metric = NDCG(k=2)
    assert metric.get() == 0.0
    metric.update([1, 0], [0.1, 0.9])
    metric.update([1, 0], [0.9, 0.1], w=3.0)
    second = 1 / math.log2(3)
    assert metric.get() == pytest.approx((second + 3.0) / 4.0, rel=1e-15)
    metric.revert([1, 0], [0.1, 0.9])
    assert metric.get() == pytest.approx(1.0, rel=1e-15)
    assert metric.bigger_is_better
    assert metric.works_with(RankingPerceptron())
    assert metric.clone().k == 2


def test_a_refused_query_is_not_counted():
    metric = MRR()
    with pytest.raises(ValueError, match="grades is empty"):
        metric.update([], [])
    assert metric.get() == 0.0
    metric.update([0, 1], [1, 0])
    assert metric.get() == 0.5
