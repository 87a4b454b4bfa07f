"""MultiLabelClassifier equals its plain-Python twin, and does what its page says."""

import copy
import math
import pickle
import random
import threading
from itertools import islice

import numpy as np
import pytest
from scipy.sparse import csr_array

import streamptron
from streamptron import ModelFileError, MultiLabelClassifier, Ticket, Tokenizer, load
from tests.support.marks import seeds
from tests.support.streams import labelled_texts, needs_data, random_events, words
from tests.twin.labels import MultiLabelClassifier as Twin

LABELS = ("crude", "ship", 7, ("baked", "beans"), "grain", "corn", True)


def sets(rng, n=200, labels=LABELS, protocol="mixed", **kinds):
    """Random events with several labels, which appear one after the other."""
    for i, (x, _, w) in enumerate(random_events(rng, n=n, **kinds)):
        there = [y for y in labels[: 2 + i * len(labels) // n] if rng.random() < 0.3]
        x |= {f"about {y}": 1.0 for y in there if rng.random() < 0.8}
        how = rng.choice(["list", "dict", "open"]) if protocol == "mixed" else protocol
        if how == "list":
            yield x, there, w
        else:
            named = [y for y in labels if y in there or how == "dict" or rng.random() < 0.5]
            yield x, {y: y in there for y in named}, w


def twins(**params):
    return MultiLabelClassifier(**params, hash_seed=0), Twin(**params)


def check(model, twin, x):
    assert model.decision_function_one(x) == twin.decision_function_one(x)
    assert model.predict_proba_one(x) == twin.predict_proba_one(x)
    assert model.predict_one(x) == twin.predict_one(x)


def check_state(model, twin):
    model._check()
    assert model.labels == twin.labels
    assert model.best_threshold == twin.best_threshold()
    counts = (model.n_seen, model.n_updates, model.n_mistakes, model.n_features, model.n_evicted)
    assert counts == (
        *(twin.n_seen, twin.n_updates, twin.n_mistakes),
        *(len(twin.slots), twin.ceiling.n_evicted),
    )
    assert model.intercept_ == {y: twin.kept[k].w0 for y, k in twin.place.items()}
    for y, row in model.weights.items():
        k = twin.place[y]
        kept = {j: slot.row[k].w for j, slot in twin.slots.items() if k in slot.row}
        assert row == {j: w for j, w in kept.items() if w != 0}


def learned(model):
    return pickle.dumps(model)


# --- The twin


@pytest.mark.once
@seeds(4)
@pytest.mark.parametrize("protocol", ["list", "dict", "open", "mixed"])
@pytest.mark.parametrize("values", ["small", "real"])
def test_learner_equals_its_twin_at_every_event(protocol, values, seed):
    rng = random.Random(f"{protocol}, {values}, {seed}")
    params = {"eta": rng.choice([1.0, 0.3]), "forget": rng.choice([2**-10, 0.0, 0.5])}
    model, twin = twins(**params)
    events = sets(rng, protocol=protocol, values=values, weighted=rng.random() < 0.5)
    for x, y, w in events:
        check(model, twin, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    check_state(model, twin)
    assert twin.n_updates > 20


@pytest.mark.once
@seeds(2)
@pytest.mark.parametrize("max_features", [1, 5, 40])
def test_learner_lets_the_same_features_leave_as_its_twin(max_features, seed):
    rng = random.Random(f"{max_features}, {seed}")
    model, twin = twins(max_features=max_features)
    for x, y, w in sets(rng, n=250, n_features=160, values="real"):
        check(model, twin, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    check_state(model, twin)
    assert model.n_evicted > 20


@pytest.mark.once
def test_counts_are_halved_as_the_twins_are():
    """After 2^19 events' weight, and what is left open meanwhile."""
    model, twin = twins()
    rng = random.Random(5)
    for i in range(300):
        x = {"always": 1.0, f"w{rng.randrange(5)}": 1.0}
        y = {"a": rng.random() < 0.5} if i % 3 else ["a"] * (rng.random() < 0.5) + ["b"]
        w = 1.0 if i % 20 else 50_000.0
        check(model, twin, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    check_state(model, twin)


@pytest.mark.once
@seeds(2)
def test_nothing_becomes_infinite_whatever_comes(seed):
    rng = random.Random(seed)
    model, twin = twins(eta=rng.choice([1.0, 1e6]), forget=rng.choice([0.0, 1.0]))
    for _ in range(300):
        x = {
            f"w{rng.randrange(9)}": rng.choice([1.0, -1e50, 1e50, 1e-300, 5e-324]) for _ in range(4)
        }
        y = [y for y in "abcd" if rng.random() < 0.4]
        if rng.random() < 0.5:
            y = {label: rng.random() < 0.5 for label in y}
        check(model, twin, x)
        w = rng.choice([1.0, 1e30, 1e-300, 5e-324, 1e5])
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    check_state(model, twin)
    assert all(map(math.isfinite, model.decision_function_one(x).values()))
    again = pickle.loads(pickle.dumps(model))
    check_state(again, twin)


def test_many_labels_of_one_feature_have_a_long_row():
    """A row grows through all classes, and past a segment of its own."""
    model, twin = twins()
    for n in range(0, 1500, 100):
        y = list(range(n, n + 100))
        model.learn_one({"the": 1}, y)
        twin.learn_one({"the": 1}, y)
    check(model, twin, {"the": 1})
    check_state(copy.deepcopy(model), twin)
    check_state(pickle.loads(pickle.dumps(model)), twin)


def reuters(limit=None):
    for text, topics in labelled_texts("reuters_topics", limit):
        yield words(text), list(dict.fromkeys(topics.split(",")))


@pytest.mark.slow
@needs_data
@pytest.mark.once
def test_learner_equals_its_twin_on_real_texts():
    model, twin = twins()
    for x, y in reuters(250):
        check(model, twin, x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    check_state(model, twin)


@needs_data
@pytest.mark.once
@pytest.mark.slow
def test_it_answers_reuters_topics_as_well_as_was_measured():
    """Micro-F1 of all events, each answered before it is learned."""
    model, hits, said, there = MultiLabelClassifier(), 0, 0, 0
    for x, y in reuters():
        scores = model.decision_function_one(x)
        answer = {label for label, score in scores.items() if score > 0}
        hits, said, there = hits + len(answer & {*y}), said + len(answer), there + len(y)
        model.learn_one(x, y)
    assert round(200 * hits / (said + there), 1) == 85.6
    assert model.memory_usage < 10e6


# --- The labels it is given


def test_a_set_says_that_others_are_absent_and_a_dict_leaves_them_open():
    x = {"port": 1}
    closed, told, left = (MultiLabelClassifier() for _ in range(3))
    for model in (closed, told, left):
        for _ in range(3):
            model.learn_one(x, ["ship", "grain"])
    before = left.predict_proba_one(x)["grain"][True]
    for _ in range(3):
        closed.learn_one(x, {"ship"})
        told.learn_one(x, {"ship": True, "grain": False})
        left.learn_one(x, {"ship": True})
    assert closed.predict_proba_one(x) == told.predict_proba_one(x)
    assert closed.predict_proba_one(x)["grain"][True] < before / 1.5
    assert left.predict_proba_one(x)["grain"][True] == pytest.approx(before, abs=0.05)


def test_an_empty_set_teaches_that_nothing_is_there():
    model = MultiLabelClassifier()
    for _ in range(5):
        model.learn_one({"oil": 1}, ["crude"])
    before = model.predict_proba_one({"oil": 1})["crude"][True]
    for _ in range(5):
        model.learn_one({"oil": 1}, [])
    assert model.predict_proba_one({"oil": 1})["crude"][True] < before
    assert model.labels == ["crude"]
    assert model.predict_one({}) == {"crude": False}


def test_labels_of_a_set_are_numbered_alike_in_every_run():
    model = MultiLabelClassifier()
    model.learn_one({"a": 1}, {"ship", "crude", "grain", 3})
    assert model.labels == ["crude", "grain", "ship", 3]
    model.learn_one({"a": 1}, {"z": False, "b": True})
    assert model.labels[4:] == ["z", "b"]


def test_an_event_of_weight_0_is_counted_and_teaches_nothing():
    model = MultiLabelClassifier(hash_seed=0)
    model.learn_one({"a": 1}, ["x"])
    before = model.predict_proba_one({"a": 1})
    model.learn_one({"a": 1}, ["x", "new"], 0.0)
    assert model.labels == ["x"]
    assert model.predict_proba_one({"a": 1}) == before
    assert (model.n_seen, model.n_mistakes) == (2, 1)


@pytest.mark.parametrize(
    ("y", "error", "says"),
    [
        ("spam", TypeError, "y is 'spam', a str; it must be the labels of the event"),
        (None, TypeError, "y is None"),
        (3, TypeError, "y is 3, an int; it must be the labels"),
        (["a", "a"], ValueError, "y has the label 'a' twice"),
        (["a", None], ValueError, "None, which stands for no prediction"),
        ([["a"]], TypeError, "a label must be hashable"),
        ({"a": 2}, ValueError, r"y\['a'\]=2; it must be True if the event has the label"),
        ({"a": "yes"}, ValueError, r"y\['a'\]='yes'"),
        ({"a": None}, ValueError, r"y\['a'\]=None"),
        (["b", "c", "d"], ValueError, "'d' is a new label, and the model already has max_labels=4"),
    ],
)
def test_what_cannot_be_labels_is_refused_and_changes_nothing(y, error, says):
    model = MultiLabelClassifier(max_labels=4, hash_seed=0)
    model.learn_one({"w": 1}, ["x", "a"])
    before = learned(model)
    for learn in (
        lambda: model.learn_one({"w": 1, "v": 1}, y),
        lambda: model.test_then_train_one({"w": 1, "v": 1}, y),
        lambda: model.learn_many(np.ones((2, 2)), [["x"], y], feature_names=["w", "v"]),
    ):
        with pytest.raises(error, match=says):
            learn()
        assert learned(model) == before


@pytest.mark.parametrize("w", [-1, math.nan, "1", 1e31])
def test_a_weight_that_cannot_be_is_refused(w):
    model = MultiLabelClassifier(hash_seed=0)
    before = learned(model)
    with pytest.raises((ValueError, TypeError), match=r"\bw(=| is )"):
        model.learn_one({"a": 1}, ["x"], w)
    assert learned(model) == before


@pytest.mark.parametrize(
    ("threshold", "error", "says"),
    [
        (0, ValueError, "threshold=0"),
        (1.0, ValueError, "threshold=1"),
        (2, ValueError, "above 0 and below 1"),
        (True, TypeError, "threshold=True"),
        (None, TypeError, "threshold"),
        ("f2", ValueError, "threshold='f2'; it must be a number above 0 and below 1"),
        ({"a": 0.0}, ValueError, r"threshold\['a'\]=0"),
        ({None: 0.5}, ValueError, "None"),
        (math.nan, ValueError, "threshold"),
    ],
)
def test_a_threshold_that_cannot_be_is_refused(threshold, error, says):
    with pytest.raises(error, match=says):
        MultiLabelClassifier(threshold=threshold)


def test_it_does_not_watch_for_drift_and_says_so():
    with pytest.raises(TypeError, match=r"forget='auto'; .* of at least 0 and at most 1$"):
        MultiLabelClassifier(forget="auto")


def test_what_it_cannot_do_is_said():
    model = MultiLabelClassifier()
    model.learn_one({"a": 1}, ["x"])
    with pytest.raises(TypeError, match="test_then_train_one"):
        model.test_then_train_many(np.ones((1, 1)), [["x"]])
    with pytest.raises(TypeError, match="cannot start from weights"):
        MultiLabelClassifier.from_weights({})


# --- Labels that come late


@pytest.mark.parametrize("params", [{}, {"max_features": 30}, {"threshold": {"crude": 0.2}}])
def test_a_ticket_is_learned_as_the_event_would_be(params):
    model, other = (MultiLabelClassifier(hash_seed=0, **params) for _ in range(2))
    waiting = []
    for x, y, w in sets(random.Random(4), values="real"):
        answer = model.predict_one(x)
        ticket = model.predict_ticket(x)
        assert ticket.prediction == tuple(label for label in answer if answer[label])
        waiting.append((bytes(ticket), x, y, w))
        if len(waiting) == 3:
            kept, x, y, w = waiting.pop(0)
            assert bytes(Ticket.from_bytes(kept)) == kept
            model.learn_ticket(kept, y, w)
            other.learn_one(x, y, w)
    assert learned(model) == learned(other)
    with pytest.raises(ValueError, match="another kind of model"):
        MultiLabelClassifier(eta=0.5).learn_ticket(kept, ["a"])
    before = learned(model)
    with pytest.raises(ValueError, match="has the label 'a' twice"):
        model.learn_ticket(kept, ["a", "a"])
    assert learned(model) == before


def test_a_text_has_tickets_too():
    model = Tokenizer() | MultiLabelClassifier()
    model.learn_one("oil tankers", {"crude", "ship"})
    ticket = model.predict_ticket("oil")
    model.learn_ticket(ticket, {"crude"})
    assert model[-1].n_seen == 2
    assert set(ticket.prediction) <= {"crude", "ship"}


# --- Answers


def trained(**params):
    model = MultiLabelClassifier(hash_seed=0, **params)
    for x, y, w in sets(random.Random(3), n=300):
        model.learn_one(x, y, w)
    return model


def test_a_threshold_can_be_one_number_one_a_label_or_the_best_f1():
    x = {"about crude": 1, "about ship": 1, "about 7": 1}
    p = {y: answer[True] for y, answer in trained().predict_proba_one(x).items()}
    assert trained(threshold=0.3).predict_one(x) == {y: p[y] > 0.3 for y in p}
    each = trained(threshold={"crude": 0.9, "ship": 0.01}).predict_one(x)
    assert each == {y: p[y] > {"crude": 0.9, "ship": 0.01}.get(y, 0.5) for y in p}
    best = trained(threshold="f1")
    assert best.predict_one(x) == {y: p[y] > best.best_threshold for y in p}
    assert MultiLabelClassifier(threshold="f1").best_threshold == 0.5


def test_a_label_that_was_never_met_is_absent():
    answer = trained().predict_one({"a": 1})
    assert "no such" not in answer
    assert answer["no such"] is False
    assert MultiLabelClassifier().predict_one({"a": 1}) == {}
    assert MultiLabelClassifier().predict_proba_one({"a": 1}) == {}


@seeds(3)
def test_contributions_sum_up_to_the_score(seed):
    rng = random.Random(seed)
    model, twin = twins()
    for x, y, w in sets(rng, values="real"):
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    for x, _, _ in sets(rng, n=20, values="real"):
        scores = model.decision_function_one(x)
        for label in model.labels:
            parts = dict(model.explain_one(x, label))
            assert math.fsum(parts.values()) == scores[label]
            theirs = twin.explain_one(x, label)
            for feature, part in parts.items():
                assert part == pytest.approx(theirs[feature], rel=1e-6, abs=1e-9)
    assert model.explain_one(x) == model.explain_one(x, max(scores, key=scores.get))
    assert "crude" in model.top_features(3)


def test_rivers_metrics_work_on_its_answers():
    from river import evaluate, metrics

    stream = [
        (x, {y: y in there for y in LABELS})
        for x, there, _ in sets(random.Random(1), n=200, protocol="list")
    ]
    for metric in (
        metrics.multioutput.MicroAverage(metrics.F1()),
        metrics.multioutput.MacroAverage(metrics.F1()),
        metrics.multioutput.SampleAverage(metrics.Jaccard()),
        metrics.multioutput.ExactMatch(),
    ):
        found = evaluate.progressive_val_score(stream, MultiLabelClassifier(), metric)
        assert 0.2 < found.get() < 1
    mixed = [
        (x, dict.fromkeys(there, True))
        for x, there, _ in sets(random.Random(1), n=200, protocol="list")
    ]
    found = metrics.multioutput.MacroAverage(metrics.Accuracy())
    evaluate.progressive_val_score(mixed, MultiLabelClassifier(), found)
    assert found.get() > 0


class Music:
    """In the place of River's stream of several labels, which it downloads."""

    def __iter__(self):
        rng = random.Random(6)
        for _ in range(200):
            x = {f"f{j}": rng.gauss(0, 1) for j in range(8)}
            yield x, {f"l{k}": x[f"f{k}"] + rng.gauss(0, 0.3) > 0.5 for k in range(5)}

    def take(self, n):
        return islice(self, n)


def test_rivers_checks_pass(monkeypatch):
    from river import checks

    monkeypatch.setattr("river.datasets.Music", Music)
    names = set()
    for check in checks.yield_checks(MultiLabelClassifier()):
        check(MultiLabelClassifier())
        names.add(getattr(check, "__name__", ""))
    assert {"check_learn_one", "check_pickling", "check_emerging_features"} <= names


def test_texts_are_events_too():
    model = Tokenizer() | MultiLabelClassifier()
    for _ in range(4):
        model.learn_one("oil tankers in the port", {"crude", "ship"})
        model.learn_one("wheat in the port", {"grain": True, "ship": True, "crude": False})
    assert model.predict_one("oil") == {"crude": True, "ship": True, "grain": False}
    texts = ["oil in the port", "wheat"]
    model.learn_many(texts, [["crude"], ["grain"]])
    assert model.predict_many(texts).tolist()[1][2]
    parts = dict(model.explain_one("oil the port", "crude"))
    assert parts["oil"] > max(parts["the"], parts["port"])


# --- Many rows


def matrix(rng, n=60, n_columns=12):
    X = np.where(rng.random((n, n_columns)) < 0.4, rng.integers(1, 4, (n, n_columns)), 0)
    Y = (rng.random((n, 5)) < 0.3).astype(int)
    return X.astype(float), Y


def one_by_one(model, X, rows, w=None):
    for r, (row, y) in enumerate(zip(X, rows, strict=True)):
        x = {j: value for j, value in enumerate(row.tolist()) if value}
        model.learn_one(x, y, 1.0 if w is None else w[r])
    return model


@seeds(2)
@pytest.mark.parametrize("kind", ["array", "csr"])
def test_rows_are_learned_as_one_by_one(kind, seed):
    rng = np.random.default_rng(seed)
    X, Y = matrix(rng)
    data = X if kind == "array" else csr_array(X)
    lists = [[f"l{k}" for k in np.flatnonzero(y)] for y in Y]
    dicts = [{f"l{k}": bool(y[k]) for k in rng.permutation(5) if rng.random() < 0.8} for y in Y]
    w = rng.choice([0.0, 0.5, 1.0, 3.0], len(Y))
    for rows in (lists, dicts):
        many = MultiLabelClassifier(hash_seed=0)
        many.learn_many(data, rows, w)
        assert learned(many) == learned(one_by_one(MultiLabelClassifier(hash_seed=0), X, rows, w))
    names = [f"l{k}" for k in range(5)]
    alone = MultiLabelClassifier(hash_seed=0)
    first = {**dict.fromkeys(lists[0], True), **{y: False for y in names if y not in lists[0]}}
    alone = MultiLabelClassifier(hash_seed=0)
    many = MultiLabelClassifier(hash_seed=0)
    many.learn_many(data, Y if kind == "array" else csr_array(Y), labels=names)
    one_by_one(alone, X[:1], [dict(sorted(first.items()))])
    assert learned(many) == learned(one_by_one(alone, X[1:], lists[1:]))
    p = many.predict_proba_many(data)
    one = [alone.predict_proba_one({j: v for j, v in enumerate(x.tolist()) if v}) for x in X]
    assert p.tolist() == [[row[y][True] for y in names] for row in one]
    assert (many.predict_many(data, n_jobs=2) == (p > 0.5)).all()
    scores = many.decision_function_many(data)
    assert ((scores > 0) == (p > 0.5)).all()


def test_a_matrix_much_larger_than_the_model_is_learned_alike():
    """It is learned on a copy, checked as it is learned."""
    rng = np.random.default_rng(2)
    X, Y = matrix(rng, 8000, 20)
    lists = [np.flatnonzero(y).tolist() for y in Y]
    many = MultiLabelClassifier(hash_seed=0)
    many.learn_many(X, lists)
    many._check()
    alone = MultiLabelClassifier(hash_seed=0)
    for first in range(0, 8000, 100):
        alone.learn_many(X[first : first + 100], lists[first : first + 100])
    assert learned(many) == learned(alone)
    before = learned(many)
    X[7000, 3] = math.inf
    with pytest.raises(ValueError, match="row 7000"):
        many.learn_many(X, lists)
    assert learned(many) == before


def test_a_frame_of_labels_names_its_columns():
    pd = pytest.importorskip("pandas")
    X, Y = matrix(np.random.default_rng(0))
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = MultiLabelClassifier()
    model.learn_many(frame, pd.DataFrame(Y, columns=list("abcde")))
    assert model.labels == list("abcde")
    answers = model.predict_many(frame)
    assert list(answers.columns) == list("abcde")
    assert answers.dtypes.eq(bool).all()


FRAMES = {
    "pandas": lambda library, columns: library.DataFrame(columns),
    "polars": lambda library, columns: library.DataFrame(columns),
    "pyarrow": lambda library, columns: library.table(columns),
}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("kind", [int, bool, float])
def test_labels_may_come_as_a_frame_of_any_library(library, kind):
    module = pytest.importorskip(library)
    X, Y = matrix(np.random.default_rng(1))
    expected = MultiLabelClassifier(hash_seed=0)
    expected.learn_many(X, Y, labels=list("abcde"))
    columns = dict(zip("abcde", Y.T.astype(kind).tolist(), strict=True))
    for labels in (None, list("abcde")):
        model = MultiLabelClassifier(hash_seed=0)
        model.learn_many(X, FRAMES[library](module, columns), labels=labels)
        assert learned(model) == learned(expected)


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_of_labels_that_cannot_be_is_refused(library):
    module = pytest.importorskip(library)
    model = MultiLabelClassifier(hash_seed=0)
    for column, error, says in [
        ([1, None, 0], ValueError, "no value in row 1, column 'a'"),
        ([1, 2, 0], ValueError, "y has 2 in row 1, column 0"),
        (["1", "0", "0"], TypeError, "y has dtype"),
        ([1, 0], ValueError, "it must have 3 rows, as X has, and 1 col"),
    ]:
        with pytest.raises(error, match=says):
            model.learn_many(np.ones((3, 2)), FRAMES[library](module, {"a": column}))
    assert not model.labels


def test_a_lazy_frame_of_labels_says_what_to_do():
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"y is a LazyFrame, .* give y\.collect\(\)"):
        MultiLabelClassifier().learn_many(np.ones((1, 2)), polars.LazyFrame({"a": [1]}))


@pytest.mark.parametrize(
    ("Y", "labels", "error", "says"),
    [
        (np.eye(3)[:2], ["a", "b", "c"], ValueError, "it must have 3 rows, as X has, and 3 col"),
        (np.eye(3), ["a", "b"], ValueError, "3 rows and 3 columns; it must have 3 rows"),
        (np.eye(3) * 2, ["a", "b", "c"], ValueError, "y has 2.0 in row 0, column 0"),
        (np.eye(3), ["a", "b", "a"], ValueError, "has a label twice"),
        (np.eye(3), None, TypeError, "give the labels of its columns"),
        (np.eye(3).astype(str), list("abc"), TypeError, "y has dtype"),
        (np.ones(3), list("abc"), ValueError, "dimension"),
        ([["a"], ["b"]], None, (ValueError, TypeError), "y"),
    ],
)
def test_an_indicator_matrix_that_cannot_be_is_refused(Y, labels, error, says):
    model = MultiLabelClassifier(hash_seed=0)
    before = learned(model)
    with pytest.raises(error, match=says):
        model.learn_many(np.ones((3, 2)), Y, labels=labels)
    assert learned(model) == before


# --- Threads


def test_threads_predict_while_one_learns():
    model = MultiLabelClassifier(hash_seed=0)
    events = list(sets(random.Random(8), n=400, protocol="list"))
    faults = []

    def ask():
        try:
            while not over.is_set():
                answer = model.predict_proba_one(events[0][0])
                assert all(0 <= p[True] <= 1 for p in answer.values())
                model.predict_many(np.ones((3, 2)))
        except Exception as fault:  # which the test then shows
            faults.append(fault)

    over = threading.Event()
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for x, y, w in events:
        model.learn_one(x, y, w)
    over.set()
    for thread in threads:
        thread.join()
    assert faults == []
    alone = MultiLabelClassifier(hash_seed=0)
    for x, y, w in events:
        alone.learn_one(x, y, w)
    assert learned(model) == learned(alone)


# --- Files


@seeds(2)
@pytest.mark.parametrize("params", [{}, {"max_features": 30}, {"hash_bits": 6}, {"degree": 2}])
def test_a_saved_model_learns_on_as_if_nothing_had_happened(params, seed, tmp_path):
    rng = random.Random(seed)
    model = MultiLabelClassifier(
        **params, hash_seed=0, threshold=rng.choice([0.3, "f1", {"crude": 0.2, 7: 0.4}])
    )
    events = list(sets(rng, values="real"))
    for x, y, w in events[:100]:
        model.learn_one(x, y, w)
    model.save(tmp_path / "a.model")
    loaded = load(tmp_path / "a.model")
    loaded.save(tmp_path / "b.model")
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()
    others = [loaded, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for x, y, w in events[100:]:
        for each in (model, *others):
            each.learn_one(x, y, w)
    for each in others:
        each._check()
        assert learned(each) == learned(model)
        assert each.threshold == model.threshold
        assert each.predict_one(x) == model.predict_one(x)


def test_a_checkpoint_goes_on_where_it_was(tmp_path):
    events = list(sets(random.Random(9), n=60))
    model = trained()
    checkpoint = streamptron.Checkpoint(model, tmp_path / "a", every_events=20)
    for x, y, w in events[:40]:
        model.learn_one(x, y, w)
        checkpoint.step()
    assert learned(streamptron.Checkpoint.newest(tmp_path / "a")) == learned(model)


@seeds(2)
@pytest.mark.parametrize("params", [{}, {"max_features": 30}, {"hash_bits": 6}])
def test_a_file_is_used_in_place(params, seed, tmp_path):
    rng = random.Random(seed)
    model = MultiLabelClassifier(**params, hash_seed=0, threshold="f1")
    for x, y, w in sets(rng, n=300, values="real", labels=(*LABELS, *range(100, 160))):
        model.learn_one(x, y, w)
    model.save(tmp_path / "m.model")
    mapped = load(tmp_path / "m.model", mmap=True)
    mapped._check()
    for x, y, _ in sets(rng, n=50, values="real"):
        assert mapped.predict_proba_one(x) == model.predict_proba_one(x)
        assert mapped.predict_one(x) == model.predict_one(x)
        assert mapped.explain_one(x, (y and next(iter(y))) or "crude") == model.explain_one(
            x, (y and next(iter(y))) or "crude"
        )
    assert mapped.weights == model.weights
    with pytest.raises(RuntimeError, match="mmap"):
        mapped.learn_one(x, y)
    again = copy.deepcopy(mapped)
    again.learn_one(x, y)
    model_and_one = copy.deepcopy(model)
    model_and_one.learn_one(x, y)
    assert learned(again) == learned(model_and_one)
    assert learned(mapped) == learned(model)
    mapped.save(tmp_path / "n.model")
    assert (tmp_path / "n.model").read_bytes() == (tmp_path / "m.model").read_bytes()
    shards = [copy.deepcopy(model) for _ in range(2)]
    for k, shard in enumerate(shards):
        shard.learn_one(x, ["crude", f"new{k}"])
        shard.save(tmp_path / f"{k}.model")
    files = [load(tmp_path / f"{k}.model", mmap=True) for k in range(2)]
    merged = streamptron.merge(shards, since=model)
    assert learned(streamptron.merge(files, since=mapped)) == learned(merged)
    assert files[0].delta(mapped).to_bytes() == shards[0].delta(model).to_bytes()


def test_a_file_in_place_is_whole_whatever_lay_in_its_scratch_before(tmp_path):
    """Not taken for damaged by scores that have not been worked out yet."""
    model = MultiLabelClassifier(hash_seed=0)
    model.learn_one({"a": 1}, [*range(60)])
    model.save(tmp_path / "m.model")
    for _ in range(20):
        mapped = load(tmp_path / "m.model", mmap=True)
        wrong = [b"\xff" * n for n in range(600, 6000, 16)]  # as doubles NaN
        del wrong
        assert mapped.predict_one({"a": 1}) == model.predict_one({"a": 1})


@pytest.mark.parametrize("array", ["marks", "marked", "weights"])
def test_a_damaged_file_that_is_used_in_place_leads_nowhere(array, tmp_path):
    """As one whose checksum fits: what addresses depend on is looked at."""
    model = trained()
    model.save(tmp_path / "m.model")
    state = model.__getstate__()
    data = (tmp_path / "m.model").read_bytes()
    part = state["arrays"][array][1]
    at = data.index(part)
    rng = random.Random(1)
    refused = 0
    for _ in range(200):
        damaged = bytearray(data)
        damaged[at + rng.randrange(len(part))] ^= 1 << rng.randrange(8)
        (tmp_path / "d.model").write_bytes(damaged)
        try:
            mapped = load(tmp_path / "d.model", mmap=True)
        except ModelFileError:
            refused += 1
        else:
            mapped.predict_proba_one({"about crude": 1, "w3": 2.5})
            mapped.explain_one({"about crude": 1}, "crude")
    assert refused > 5 or array == "weights"


@pytest.mark.parametrize("array", ["marks", "marked", "weights"])
def test_rows_that_contradict_themselves_are_refused(array):
    state = trained().__getstate__()
    shape, data = state["arrays"][array]
    rng = random.Random(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        model = MultiLabelClassifier.__new__(MultiLabelClassifier)
        try:
            arrays = {**state["arrays"], array: (shape, bytes(damaged))}
            model.__setstate__({**state, "arrays": arrays})
        except ValueError:
            refused += 1
        else:  # another number, which a model may have
            model._check()
            model.learn_one({"about crude": 1}, ["crude"])
            model._check()
    assert refused > 5
