"""When memory runs out, a call says so, and nothing has changed.

These tests need a build with -DSTREAMPTRON_FAIL (`make switches`), in which the n-th allocation of
the core can be made to fail. Random calls (operations.py) are tried with n = 1, 2, 3 ... until a
whole call succeeds: what fails is a MemoryError, the model is in good order and its pickle has the
same bytes as before, and it goes on exactly as its twin, which has not made that step.
"""

import copy
import pickle
import random
import re
import tempfile

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import streamptron
from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    MulticlassPerceptron,
    Perceptron,
    RankingPerceptron,
    Tokenizer,
)
from streamptron.doors.batch import Lines
from streamptron.engine import api
from tests.support import deeds, operations
from tests.support.candidates import learn_by_one
from tests.support.twins import RULES

pytestmark = pytest.mark.skipif(
    not hasattr(api, "_fail_at"), reason="this build cannot fail on purpose: make switches"
)

LEARNED = re.compile(r"no memory after (\d+) of \d+ rows; those are learned")


class Failing:
    """A pair of which the model's every call is tried again and again."""

    n_failed = 0

    def attempt(self, n, lasts, name, args):
        """Whether a call went through without a failure."""
        model, before = self.model, pickle.dumps(self.model)
        api._fail_at(n, lasts)
        try:
            getattr(self, name)(*args)
            failed = None
        except MemoryError as error:
            failed = error
        finally:
            left = api._fail_at(0)
        self.model._check()
        if failed is None:
            return left > 0
        assert left <= 0, "no memory, but there was some"
        Failing.n_failed += 1
        assert self.model is model
        some = LEARNED.fullmatch(str(failed))
        if some and int(some[1]):
            self.learn_first(int(some[1]))
        else:
            assert pickle.dumps(self.model) == before, f"changed by a failing {name}: {failed}"
        return False


FAILING = {kind: type("Failing" + kind.__name__, (Failing, kind), {}) for kind in operations.PAIRS}


class Spared:
    """A model that always finds memory."""

    def __init__(self, model):
        self.model = model

    def __getattr__(self, name):
        left = api._fail_at(0)
        try:
            found = getattr(self.model, name)
        finally:
            api._fail_at(left)
        if not callable(found):
            return found

        def call(*args):
            left = api._fail_at(0)
            try:
                return found(*args)
            finally:
                api._fail_at(left)

        return call


def went_well(pair, rng, name, args):
    """Try a call with a failure ever later, as it is and on copies, whose scratch is new."""
    lasts = rng.random() < 0.3
    fresh = rng.random() < 0.7
    n = 0
    while True:
        n += 1
        if fresh:
            pair.model = copy.deepcopy(pair.model)
        if pair.attempt(n, lasts, name, args):
            return


def tried(seed, **params):
    """The calls of a seed, each with all its failures."""
    rule, drawn, calls = operations.made(seed)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(dir=operations.MEMORY) as folder:
        pair = FAILING[operations.pair_of(rule)](rule, {**drawn, **params}, folder)
        if params:  # names that share a slot do not concern the twin
            pair.twin = Spared(copy.deepcopy(pair.model))
        for name, *args in [*calls[:12], ("weights",)]:
            if params and name in ("weights", "explain"):
                continue
            went_well(pair, rng, name, args)
            if params:
                assert pickle.dumps(pair.model) == pickle.dumps(pair.twin.model)
            else:
                pair.counts()
    return Failing.n_failed


# and some more of candidates and of votes
@pytest.mark.parametrize("seed", [*range(40), *range(46, 160, 8), *range(47, 160, 8)])
def test_what_fails_changes_nothing_whatever_is_called(seed):
    tried(seed)


# of names that a hashed table may have
@pytest.mark.parametrize(
    "seed",
    [
        seed
        for seed in range(40)
        if operations.made(seed)[0] in RULES and "max_features" in operations.made(seed)[1]
    ][:14],
)
def test_what_fails_changes_nothing_in_a_hashed_table(seed):
    tried(seed, hash_bits=9, max_features=None)


LEARNERS = {"Perceptron": Perceptron, "MulticlassPerceptron": MulticlassPerceptron, "MIRA": MIRA}


def large_events(rng, n, first):
    """Events of names of every kind, many of them new, many of them long."""
    for i in range(n):
        names = [rng.randrange(first + 40 * i) for _ in range(20)]
        names += [f"a rather long name, number {rng.randrange(first + 40 * i)}" for _ in range(20)]
        x = {name: rng.choice((1.0, -0.5, 2.0)) for name in names}
        yield x, rng.randrange(2 + i // 3)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("most", [None, 50, 600, 3000])
@pytest.mark.parametrize("average", ["none", "uniform", "exponential"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_large_model_goes_on_as_the_one_that_never_ran_out_of_memory(
    learner, average, most, seed
):
    rng = random.Random(seed)
    params = {"average": average, "max_features": most, "hash_seed": seed}
    params["pocket"] = rng.random() < 0.5
    model = LEARNERS[learner](**params)
    twin = LEARNERS[learner](**params)
    failures = 0
    for x, y in large_events(rng, 60, rng.choice((10, 1000))):
        label = y % 2 == 1 if learner == "Perceptron" else y
        n = 1 + rng.randrange(3)
        while True:
            before = pickle.dumps(model)
            api._fail_at(n, rng.random() < 0.5)
            try:
                model.learn_one(x, label)
            except MemoryError:
                failures += 1
            finally:
                left = api._fail_at(0)
            model._check()
            if left > 0:
                break
            assert pickle.dumps(model) == before
            n += rng.randrange(3)
        twin.learn_one(x, label)
        assert pickle.dumps(model) == pickle.dumps(twin)
    assert failures > 5


CATEGORIES = pl.Series(["a", "bc"] * 3, dtype=pl.Categorical)
MADE = {
    "a tokenizer of fields": lambda: Tokenizer(fields=("subject", "body")),
    "a tokenizer with separators": lambda: Tokenizer(separators=" ,;"),
    "an empty model": Perceptron,
    "a hashed model": lambda: MIRA(hash_bits=12),
    "the features of a text": lambda: dict(Tokenizer(ngram_range=(1, 2)).transform_one("a é b")),
    "pairs of long words": lambda: dict(
        Tokenizer(ngram_range=(1, 2)).transform_one(
            " ".join("word" * 20 + str(i) for i in range(300))
        )
    ),
    "characters of fields": lambda: dict(
        Tokenizer(analyzer="char", ngram_range=(18, 20), fields=("a", "b")).transform_one(
            {"a": "spam and eggs " * 40, "b": ""}
        )
    ),
    "texts": lambda: Tokenizer(fields=("a", "b")).transform_many([{"a": "é", "b": "x"}] * 3),
    "a column of texts": lambda: Tokenizer().transform_many(pl.Series(["a", "bc"] * 3)),
    "numbers of texts": lambda: Tokenizer().transform_many(CATEGORIES),
    "a block of lines": lambda: Lines(Tokenizer(), b"spam\twin\nham\thello\n" * 3, 0),
    "a model of given weights": lambda: Perceptron.from_weights({"a": 1.0, "b" * 20: -1.0}),
}


@pytest.mark.parametrize("what", MADE)
def test_what_cannot_be_made_for_want_of_memory_is_a_memory_error(what):
    made, n = MADE[what], 0
    while True:
        n += 1
        api._fail_at(n)
        try:
            made()
        except MemoryError:
            assert api._fail_at(0) == 0
            continue
        finally:
            left = api._fail_at(0)
        if left > 0:
            break
    assert n > 1


USES = {
    "save": lambda model, path: model.save(path),
    "load": lambda model, path: streamptron.load(path),
    "map": lambda model, path: streamptron.load(path, mmap=True).predict_one({1: 1.0}),
    "copy": lambda model, path: copy.deepcopy(streamptron.load(path, mmap=True)),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("params", [{}, {"hash_bits": 8}, {"max_features": 5}], ids=str)
@pytest.mark.parametrize("learner", [MulticlassPerceptron, AdaptiveClassifier])
def test_a_file_is_as_it_was_when_memory_is_not_enough_to_save_or_load(
    learner, params, use, tmp_path
):
    path = tmp_path / "model"
    model = learner(**params)
    for i in range(10):
        model.learn_one({i: 1, f"a long name, number {i}": 2}, i % 3)
    model.save(path)
    before = path.read_bytes(), pickle.dumps(model)
    n, left = 0, 0
    while left <= 0:
        n += 1
        api._fail_at(n)
        try:
            USES[use](model, path)
        except MemoryError:
            assert api._fail_at(0) == 0
            left = 0
        else:
            left = api._fail_at(0)
            assert left > 0
        assert (path.read_bytes(), pickle.dumps(model)) == before


MERGED = {
    "exact": (MulticlassPerceptron, {}),
    "folds": (MulticlassPerceptron, {"average": "exponential", "half_life": 1}),
    "ceiling": (Perceptron, {"max_features": 20}),
    "hashed": (MIRA, {"hash_bits": 6}),
    "a split": (AROW, {}),
    "adaptive": (AdaptiveClassifier, {}),
    "columns": (AdaptiveClassifier, {}),
    "columns, ceiling": (AdaptiveClassifier, {"max_features": 20}),
    "columns, hashed": (AdaptiveClassifier, {"hash_bits": 6}),
}


def event_of(kind, i):
    numbers = {"height": i * 7 % 11 / 3, "width": i * 5 % 13 / 4}
    return {i: 1, f"a long name, number {i}": 2} | (numbers if "columns" in kind else {})


@pytest.mark.parametrize("way", ["merge", "apply one", "apply all"])
@pytest.mark.parametrize("kind", MERGED)
def test_what_is_merged_is_as_it_was_when_memory_is_not_enough(kind, way):
    learner, params = MERGED[kind]
    base = learner(hash_seed=1, **params)
    labels = (False, True) if learner is Perceptron else ("a", "b", "c")
    for i in range(10):
        base.learn_one(event_of(kind, i), labels[i % 2])
    models = [copy.deepcopy(base) for _ in range(3)]
    for k, model in enumerate(models):
        for i in range(20):
            model.learn_one(event_of(kind, i * k), labels[i % len(labels)])
    deltas = [model.delta(base, shard=k) for k, model in enumerate(models)]
    delta = deltas[1] if way == "apply one" else streamptron.Delta.combine(deltas)
    before = [pickle.dumps(model) for model in (base, *models)]
    n, left = 0, 0
    while left <= 0:
        n += 1
        model = copy.deepcopy(base)
        api._fail_at(n)
        try:
            if way == "merge":
                model = streamptron.merge(models, since=base)
            else:
                model.apply(delta)
        except MemoryError:
            assert api._fail_at(0) == 0
            assert pickle.dumps(model) == before[0]
        else:
            left = api._fail_at(0)
            model._check()
        assert [pickle.dumps(model) for model in (base, *models)] == before
    assert n > 10


def test_a_model_of_many_chunks_is_loaded_whole_or_not_at_all(tmp_path):
    path = tmp_path / "model"
    model = MulticlassPerceptron(average="exponential")
    for i in range(40):
        model.learn_one({20 * i + j: 1.0 for j in range(20)}, i % 6)
    model.save(path)
    n = 0
    while True:
        n += 1
        api._fail_at(n)
        try:
            copied = streamptron.load(path)
        except MemoryError:
            continue
        finally:
            left = api._fail_at(0)
        assert left > 0
        break
    assert n > 10
    assert pickle.dumps(copied) == pickle.dumps(model)


@pytest.mark.parametrize("most", [None, 1000])
def test_a_call_that_fails_again_and_again_takes_no_more_memory(most):
    x = {f"a rather long name, number {i}": -1.0 for i in range(20_000)}
    model = Perceptron(max_features=most)
    model.learn_one({"free": 1.0}, True)
    sizes = []
    for _ in range(60):  # what is made ready stays; a block for long names is given back each time
        api._fail_at(8, True)
        with pytest.raises(MemoryError):
            model.learn_one(x, False)
        api._fail_at(0)
        sizes.append(model.memory_usage)
    assert len(set(sizes[30:])) == 1


@pytest.mark.parametrize("lasts", [False, True], ids=["one call", "all from then on"])
@pytest.mark.parametrize("params", [{}, {"hash_bits": 8}, {"max_features": 30}], ids=str)
@pytest.mark.parametrize("many", [False, True], ids=["learn_one", "learn_many"])
def test_a_third_label_that_finds_no_memory_leaves_two_with_one_output(many, params, lasts):
    rng = random.Random(str(params))
    model = AROW(hash_seed=1, **params)
    for i in range(600):
        model.learn_one({rng.randrange(2000): rng.gauss(0, 1) for _ in range(3)}, "ab"[i % 2])
    before, x = pickle.dumps(model), {5000: 1.0, 5001: 2.0}
    score, failed = model.decision_function_one(x), 0
    for n in range(1, 1000):
        api._fail_at(n, lasts)
        try:
            if many:
                model.learn_many(np.array([[1.0, 2.0]]), ["c"], feature_names=[5000, 5001])
            else:
                model.learn_one(x, "c")
            break
        except MemoryError:
            failed += 1
        finally:
            left = api._fail_at(0, False)
        model._check()
        assert pickle.dumps(model) == before
        assert model.decision_function_one(x) == score
    assert left > 0
    assert failed > 3
    twin = pickle.loads(before)
    twin.learn_one(x, "c")
    assert pickle.dumps(model) == pickle.dumps(twin)


def graded_rows(rng, n):
    """A matrix, grades and queries of n rows, and names of the columns, some of them long."""
    names = [f"a rather long name, number {j}" if j % 2 else j for j in range(40)]
    X = np.array([[rng.choice((0.0, 0.0, 1.0, -0.5)) for _ in names] for _ in range(n)])
    return X, [rng.randrange(3) for _ in range(n)], [r // 5 for r in range(n)], names


@pytest.mark.parametrize("way", ["learn_one", "learn_many", "a list"])
@pytest.mark.parametrize(
    "params", [{}, {"update": "margin"}, {"hash_bits": 8}, {"max_features": 20}], ids=str
)
def test_candidates_that_find_no_memory_change_nothing(params, way):
    rng = random.Random(f"{params}, {way}")
    model = RankingPerceptron(hash_seed=1, pocket=True, **params)
    twin = pickle.loads(pickle.dumps(model))
    failed = 0
    for _ in range(8):
        X, grades, qid, names = graded_rows(rng, 10)
        X[0] = 2.0  # all names, so that a list's are in this order
        rows = [{name: float(v) for name, v in zip(names, x, strict=True) if v} for x in X]
        n, lasts = 0, rng.random() < 0.5
        while True:
            n += 1
            before, seen = pickle.dumps(model), model.n_seen
            api._fail_at(n, lasts)
            try:
                if way == "learn_one":
                    model.learn_one(rows, 3)
                elif way == "a list":
                    model.learn_many(rows, grades, qid)
                else:
                    model.learn_many(sp.csr_array(X), grades, qid, feature_names=names)
            except MemoryError as error:
                failed += 1
                some = LEARNED.fullmatch(str(error))
                done = int(some[1]) if some else 0
            else:
                done = len(rows)
            left = api._fail_at(0)
            model._check()
            if way == "learn_one" and left > 0:
                twin.learn_one(rows, 3)
            elif way != "learn_one" and done:
                learn_by_one(part := pickle.loads(before), rows, grades, qid, last=done)
                assert (model.weights, model.n_seen) == (part.weights, part.n_seen)
                assert model.averaged_weights == part.averaged_weights
                model = pickle.loads(before)
                model.learn_many(X, grades, qid, feature_names=names)
                twin.learn_many(X, grades, qid, feature_names=names)
            else:
                assert (pickle.dumps(model), model.n_seen) == (before, seen)
                assert left <= 0
                continue
            assert pickle.dumps(model) == pickle.dumps(twin)
            break
    assert failed > 5


@pytest.mark.parametrize("deed", deeds.DEEDS)
@pytest.mark.parametrize(("kind", "named"), deeds.FORMS)
def test_a_model_is_sound_wherever_memory_runs_out(kind, named, deed):
    rng = random.Random(f"{kind}, {named}, {deed}")
    n = 0
    n_failed = 0
    while True:
        n += 1 + rng.randrange(1 + n // 4)
        case = deeds.Case(kind, named, seed=n, n=15)
        api._fail_at(n)
        try:
            deeds.DEEDS[deed](case)
        except MemoryError:
            n_failed += 1
        finally:
            left = api._fail_at(0)
        deeds.sound(case)
        if left > 0:
            break
    assert n_failed or n <= 2
