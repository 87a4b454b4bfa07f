"""Documents with grades in passes: queries move as wholes, rows are counted as learn_many does."""

import io
import pickle
import random

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from streamptron import Perceptron, RankingPerceptron, Tokenizer, merge
from streamptron.files import read
from streamptron.study import fit
from tests.support.candidates import documents
from tests.support.marks import seeds

N = 12  # columns


def data_of(seed, n_queries=25, n_columns=N):
    rows, grades, qid = documents(random.Random(seed), n_queries, n_columns)
    X = np.zeros((len(rows), n_columns))
    for r, x in enumerate(rows):
        X[r, list(x)] = list(x.values())
    return X, grades, qid


def in_order(data, queries):
    """The rows of some queries, one query after the other."""
    X, grades, qid = data
    names = list(dict.fromkeys(qid))
    rows = [r for number in queries for r in range(len(qid)) if qid[r] == names[number]]
    return X[rows], [grades[r] for r in rows], [qid[r] for r in rows]


@seeds(2)
@pytest.mark.parametrize(
    "params",
    [{}, {"update": "margin"}, {"serve": "average"}, {"hash_bits": 20}, {"max_features": 5},
     {"degree": 2}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("form", [np.array, csr_array])
def test_each_pass_learns_a_permutation_of_whole_queries_as_learn_many_does(form, params, seed):
    data = data_of(seed)
    model, twin = (RankingPerceptron(**params, hash_seed=1) for _ in range(2))
    history = fit(model, (form(data[0]), *data[1:]), epochs=3, seed=seed)
    rng = np.random.default_rng(seed)
    for passed in history:
        seen, mistakes, updates = twin.n_seen, twin.n_mistakes, twin.n_updates
        twin.learn_many(*in_order(data, rng.permutation(25)))
        assert passed.mistakes == twin.n_mistakes - mistakes
        assert passed.updates == twin.n_updates - updates
        assert passed.error == passed.mistakes / (twin.n_seen - seen)
    assert pickle.dumps(model) == pickle.dumps(twin)


def test_a_fixed_order_is_so_many_calls_of_learn_many_and_shared_ones_share_queries():
    data = data_of(3)
    model, shared, twin = (RankingPerceptron(hash_seed=1) for _ in range(3))
    fit(model, data, epochs=2, shuffle=False)
    for _ in range(2):
        twin.learn_many(*data)
    assert pickle.dumps(model) == pickle.dumps(twin)
    fit(shared, data, epochs=1, shuffle=False, n_jobs=2, mixes=1)
    halves = [RankingPerceptron(hash_seed=1) for _ in range(2)]
    for k, half in enumerate(halves):
        half.learn_many(*in_order(data, range(25)[k::2]))
    assert pickle.dumps(shared) == pickle.dumps(merge(halves, since=RankingPerceptron(hash_seed=1)))


def test_more_rows_than_a_block_holds_are_learned_query_by_query():
    data = data_of(5, n_queries=3000)
    model, twin = (RankingPerceptron(hash_seed=1) for _ in range(2))
    fit(model, data, epochs=1, seed=1)
    order = np.random.default_rng(1).permutation(3000).tolist()
    rows, names = {}, list(dict.fromkeys(data[2]))
    for r, name in enumerate(data[2]):
        rows.setdefault(name, []).append(r)
    taken = [r for number in order for r in rows[names[number]]]
    twin.learn_many(data[0][taken], *([column[r] for r in taken] for column in data[1:]))
    assert pickle.dumps(model) == pickle.dumps(twin)


def lines_of(data):
    X, grades, qid = data
    return b"".join(
        f"{grade} qid:{name.split()[1]} {' '.join(f'{j}:{v}' for j, v in enumerate(x))}\n".encode()
        for x, grade, name in zip(X.tolist(), grades, qid, strict=True)
    )


def test_arrays_frames_mappings_and_files_of_svmlight_give_the_same_model():
    X, grades, qid = data_of(6)
    forms = [
        (X, grades, qid),
        (X, np.array(grades), pd.Series(qid)),
        ([dict(enumerate(x)) for x in X.tolist()], grades, qid),
        read(io.BytesIO(lines_of((X, grades, qid))), "svmlight"),
    ]
    models = [RankingPerceptron() for _ in forms]
    for model, data in zip(models, forms, strict=True):
        fit(model, data, epochs=2, seed=1)
    assert all(model.weights == models[0].weights for model in models)
    named = RankingPerceptron()
    fit(
        named, (pd.DataFrame(X, columns=[f"c{j}" for j in range(N)]), grades, qid), epochs=2, seed=1
    )
    assert named.weights == {f"c{j}": w for j, w in models[0].weights.items()}


def ranked_wrongly(model, data):
    """By event: some row of a higher grade has a lower score, or the same and comes first."""
    X, grades, qid = data
    scores = model.decision_function_many(X, qid)
    found = []
    for r in range(len(qid)):
        better = [i for i in range(len(qid)) if qid[i] == qid[r] and grades[i] > grades[r]]
        if better:
            found.append(any((scores[i], i) < (scores[r], r) for i in better))
    return found


@seeds(3)
def test_validation_is_the_share_of_rows_that_are_not_below_all_better_ones(seed):
    data, held = data_of(seed), data_of(seed + 100, n_queries=40)
    held[0][::3] = 0.0  # ties
    model = RankingPerceptron()
    history = fit(model, data, epochs=6, seed=seed, validation=held)
    wrong = ranked_wrongly(model, held)
    assert history[history.best - 1].validation_error == np.mean(wrong)
    assert 0 < sum(wrong) < len(wrong)


def test_validation_counts_what_n_mistakes_would():
    for seed in range(40):  # queries of one event each: nothing is learned before it
        data = in_order(data_of(seed, n_queries=30), range(30))
        rows = [r for r in range(0, len(data[2]) - 1) if data[2][r] == data[2][r + 1]][::2]
        pair = (data[0][rows[0] : rows[0] + 2], data[1][rows[0] : rows[0] + 2], ["q", "q"])
        if pair[1][0] == pair[1][1]:
            continue
        model = RankingPerceptron(serve="current")
        fit(model, data, epochs=1, seed=seed)
        wrong = ranked_wrongly(model, pair)
        (passed,) = fit(model, pair, epochs=1)
        assert [bool(passed.mistakes)] == wrong


def test_choices_validate_what_was_learned_from_grades_and_separable_grades_converge():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    model = RankingPerceptron()
    choices = [([{0: 1.0}, {1: 1.0}], 0)]
    history = fit(model, (X, [2, 0, 1, 0], [7, 7, 8, 8]), seed=1, validation=choices)
    assert (history.stopped, history[-1].validation_error) == ("converged", 0.0)
    model = RankingPerceptron()
    fit(model, (X, [2, 0, 1, 0], [7, 7, 8, 8]), seed=1, init="random")
    assert model.weights.keys() == {0, 1}


ROWS, GRADES, QID = np.eye(4), [1, 0, 1, 0], [1, 1, 2, 2]
REFUSED = {
    "a query that comes back": ((ROWS, GRADES, [1, 2, 1, 1]), {}, "data: qid has 1 again"),
    "too few grades": ((ROWS, GRADES[:3], QID), {}, "data: grades has 3 entries"),
    "an invalid grade": ((ROWS, [1, "x", 1, 0], QID), {}, "data: grades in row 1"),
    "a missing cell": ((np.full((4, 1), np.nan), GRADES, QID), {}, "data: X has no value in row 0"),
    "no rows": ((ROWS[:0], [], []), {}, "data is empty"),
    "queries of one grade": ((ROWS, [0, 0, 1, 1], QID), {}, "no query has rows of different"),
    "rows without grades": ((ROWS, GRADES), {}, r"\(X, grades, qid\)"),
    "random mistakes": (
        (ROWS, GRADES, QID),
        {"order": "random-mistake"},
        "rows with grades are learned by query",
    ),
    "validation that is invalid": (
        (ROWS, GRADES, QID),
        {"validation": (ROWS, GRADES, [1, 2, 1, 1])},
        "validation: qid has 1 again",
    ),
    "a file without queries": (
        lambda: read(io.BytesIO(b"1 qid:1 1:2\n0 1:3\n"), "svmlight"),
        {},
        "<BytesIO>:2 has no qid",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_named_and_changes_nothing(what):
    data, arguments, message = REFUSED[what]
    model = RankingPerceptron()
    before = pickle.dumps(model)
    with pytest.raises((TypeError, ValueError), match=message):
        fit(model, data() if callable(data) else data, **arguments)
    assert pickle.dumps(model) == before


def test_grades_are_for_a_ranking_perceptron_alone():
    with pytest.raises(TypeError, match="fit the RankingPerceptron alone"):
        fit(Tokenizer() | RankingPerceptron(), (ROWS, GRADES, QID))
    with pytest.raises(TypeError, match="data is a tuple of 3"):
        fit(Perceptron(), (ROWS, GRADES, QID))
