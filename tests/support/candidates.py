"""Candidates to choose among, queries of documents with grades, and who learns from them."""

from functools import partial

from streamptron import Pair, RankingPerceptron
from tests.support.streams import VALUES, make_key
from tests.support.twins import check_counts, check_equal
from tests.twin import learners
from tests.twin.pairs import with_pairs

RULES = {
    "perceptron": {},
    "margin of the perceptron": {"margin": 0.5},
    "MIRA": {"update": "margin"},
    "MIRA C=0.1": {"update": "margin", "C": 0.1},
    "MIRA on mistakes": {"update": "mistake"},
}


def twins(rule, **params):
    params = {"half_life": 20, **RULES[rule], **params}
    model, twin = RankingPerceptron(**params, hash_seed=0), learners.RankingPerceptron
    degree, interactions = params.pop("degree", 1), params.pop("interactions", None)
    if degree == 2 or interactions:
        twin = with_pairs(twin, Pair, interactions)
    return model, twin(**params)


def check_answers(model, twin, candidates):
    equal = partial(check_equal, exact=twin.average != "exponential")
    assert model.predict_one(candidates) == twin.predict_one(candidates)
    assert model.rank_one(candidates) == twin.rank_one(candidates)
    equal(model.decision_function_one(candidates), twin.decision_function_one(candidates))
    equal(model.predict_proba_one(candidates), twin.predict_proba_one(candidates))


def check_weights(model, twin):
    model._check()
    check_counts(model, twin)
    assert model.weights == twin.weights
    if twin.average != "none":
        exact = twin.average == "uniform"
        check_equal(model.averaged_weights, twin.averaged_weights, exact)
    if twin.pocket:
        assert model.pocket_weights == twin.pocket_weights


def choices(rng, n, values="small", keys="mixed", n_features=40, most=6):
    """({id: features}, the chosen id): a hidden scorer chooses, one in ten at random."""
    hidden = {i: rng.randint(-2, 2) for i in range(n_features)}
    for _ in range(n):
        candidates, scores = {}, {}
        for name in rng.sample("abcdefgh", rng.randint(1, most)):
            some = rng.sample(range(n_features), rng.randint(0, 6))
            x = {make_key(keys, i): VALUES[values](rng) for i in some}
            scores[name] = sum(hidden[i] * v for i, v in zip(some, x.values(), strict=True))
            candidates[name] = x
        best = max(scores, key=scores.get)
        yield candidates, rng.choice(list(scores)) if rng.random() < 0.1 else best


def documents(rng, n_queries, n_columns=12, values="real"):
    """(rows, grades, qid): {column: value} of each row, in queries of 1 to 6 rows.

    The first row has all columns, so that of a list, too, their order is that of the numbers.
    """
    hidden = [rng.gauss(0, 1) for _ in range(n_columns)]
    rows, grades, qid = [], [], []
    for query in range(n_queries):
        for _ in range(rng.randint(1, 6)):
            some = sorted(rng.sample(range(n_columns), rng.randint(0, 6)))
            x = {i: v for i in some if (v := VALUES[values](rng)) != 0}
            if not rows:
                x = {i: rng.gauss(0, 1) for i in range(n_columns)}
            score = sum(hidden[i] * v for i, v in x.items())
            rows.append(x)
            grades.append(rng.choice((0, 1, 2)) if rng.random() < 0.1 else int(score > 0) * 2)
            qid.append(f"query {query}")
    return rows, grades, qid


def learn_by_one(model, rows, grades, qid, w=None, last=None):
    """What learn_many learns up to row `last`: each row the worst of itself and the better ones."""
    for r in range(len(rows) if last is None else last):
        better = [
            i for i in range(len(rows)) if qid[i] == qid[r] and (i == r or grades[i] > grades[r])
        ]
        if len(better) > 1:
            reversed_ = [{name: -v for name, v in rows[i].items()} for i in better]
            model.learn_one(reversed_, better.index(r), 1.0 if w is None else w[r])
