"""Passes over finite data: what they learn, when they end, and which weights the model has then."""

import copy
import importlib
import io
import pickle
import sys
import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import streamptron
from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    MulticlassPerceptron,
    Perceptron,
    RankingPerceptron,
    Tokenizer,
    VotedPerceptron,
)
from streamptron.files import read
from streamptron.study import fit
from tests.support.marks import seeds
from tests.support.streams import needs_data, svmlight
from tests.support.studies import blobs, pairs_of
from tests.support.variants import every_learner, labels_for, make


def orders(seed, n):
    """The order of each pass of a fit with this seed."""
    rng = np.random.default_rng(seed)
    while True:
        yield rng.permutation(n).tolist()


# What a pass is


@seeds(2)
@every_learner
def test_each_pass_learns_one_permutation_as_learn_one_does_bit_for_bit(learner, seed):
    X, ys = blobs(seed, noise=0.2, labels=labels_for(learner, 4))
    pairs = pairs_of(X, ys)
    by_row, by_event, twin = make(learner), make(learner), make(learner)
    histories = [fit(by_row, (csr_array(X), ys), epochs=3, seed=seed)]
    histories.append(fit(by_event, pairs, epochs=3, seed=seed))
    for passed, order in zip(histories[0], orders(seed, len(pairs)), strict=False):
        mistakes, updates = twin.n_mistakes, twin.n_updates
        for row in order:
            twin.learn_one(*pairs[row])
        assert passed.mistakes == twin.n_mistakes - mistakes
        assert passed.updates == twin.n_updates - updates
        assert passed.error == passed.mistakes / len(pairs)
    assert pickle.dumps(by_row) == pickle.dumps(by_event) == pickle.dumps(twin)
    assert [row[:4] for row in histories[0]] == [row[:4] for row in histories[1]]


def test_without_shuffling_a_fit_is_so_many_calls_of_learn_many():
    X, ys = blobs(3, noise=0.2)
    ways = [{"shuffle": False}, {"order": "fixed"}, {"shuffle": False, "order": "fixed"}]
    models = [Perceptron(hash_seed=1) for _ in ways]
    for model, way in zip(models, ways, strict=True):
        assert len(fit(model, (X, ys), epochs=4, **way)) == 4
    twin = Perceptron(hash_seed=1)
    for _ in range(4):
        twin.learn_many(X, ys)
    assert {pickle.dumps(model) for model in models} == {pickle.dumps(twin)}


def test_a_seed_repeats_a_fit_and_a_generator_goes_on():
    X, ys = blobs(4, noise=0.3)

    def fitted(seed):
        model = Perceptron(hash_seed=1)
        fit(model, (X, ys), epochs=2, seed=seed)
        return model.weights

    assert fitted(5) == fitted(5) != fitted(6)
    rng = np.random.default_rng(5)
    assert fitted(rng) == fitted(5)
    assert fitted(rng) != fitted(5)


FORMS = {
    "CSR": lambda X, ys: (csr_array(X), ys),
    "array, labels of numpy": lambda X, ys: (X, np.array(ys)),
    "pandas": lambda X, ys: (pd.DataFrame(X), pd.Series(ys)),
    "pairs": pairs_of,
    "dicts and labels": lambda X, ys: ([x for x, _ in pairs_of(X, ys)], ys),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_data_in_every_form_gives_the_same_model(form):
    X, ys = blobs(7, noise=0.1)
    model, twin = MIRA(), MIRA()
    fit(model, FORMS[form](X, ys), epochs=3, seed=2)
    fit(twin, pairs_of(X, ys), epochs=3, seed=2)
    assert model.weights == twin.weights
    assert model.averaged_weights == twin.averaged_weights


def test_texts_pairs_of_texts_and_files_give_the_same_model():
    lines = [("win a prize", "spam"), ("see you", "ham"), ("a prize", "spam"), ("you win", "ham")]
    texts, labels = zip(*lines, strict=True)
    file = "".join(f"{label}\t{text}\n" for text, label in lines).encode()
    models = []
    for data in (lines, (list(texts), labels), (pd.Series(texts), labels)):
        models.append(Tokenizer() | MulticlassPerceptron())
        fit(models[-1], data, epochs=3, seed=1)
    models.append(Tokenizer() | MulticlassPerceptron())
    fit(models[-1], read(io.BytesIO(file), "plain"), epochs=3, seed=1)
    assert len({str(model[-1].weights) for model in models}) == 1
    assert models[0].predict_one("a prize") == "spam"


def test_weights_of_a_file_and_of_classes_scale_the_steps():
    data = read(io.BytesIO(b"1 3.0 |a x\n2 1.0 |a y\n"), "vw")
    model = MulticlassPerceptron(class_weight={2: 5.0}, intercept=False)
    fit(model, data, epochs=1, shuffle=False)
    twin = MulticlassPerceptron(class_weight={2: 5.0}, intercept=False)
    twin.learn_one({"a^x": 1}, 1, 3.0)
    twin.learn_one({"a^y": 1}, 2, 1.0)
    assert model.weights == twin.weights == {1: {"a^y": -5.0}, 2: {"a^y": 5.0}}
    rows, twin = Perceptron(class_weight={True: 3.0}), Perceptron(class_weight={True: 3.0})
    fit(rows, (np.eye(2), [True, False]), epochs=1, shuffle=False)
    twin.learn_many(np.eye(2), [True, False])
    assert rows.weights == twin.weights


def test_a_fit_goes_on_from_what_the_model_has_learned_and_the_model_learns_on_after_it():
    X, ys = blobs(8, noise=0.2)
    model, twin = Perceptron(hash_seed=1), Perceptron(hash_seed=1)
    for each in (model, twin):
        each.learn_one({0: 1.0, "new": 2.0}, True)
    fit(model, (X, ys), epochs=2, shuffle=False)
    for _ in range(2):
        twin.learn_many(X, ys)
    for each in (model, twin):
        each.learn_one({1: 1.0}, False)
    assert pickle.dumps(model) == pickle.dumps(twin)


# When it ends


@pytest.mark.parametrize(
    "kind", [Perceptron, MulticlassPerceptron, partial(MIRA, update="mistake")]
)
def test_separable_data_ends_at_the_first_pass_without_an_update(kind):
    X, ys = blobs(9)
    model = kind()
    history = fit(model, (X, ys), epochs=5000, seed=1)
    assert history.stopped == "converged"
    assert history[-1].updates == history[-1].mistakes == 0
    assert all(row.updates for row in history[:-1])
    scores = model.decision_function_many(X)
    before = model.n_updates
    model.learn_many(X, ys)
    assert model.n_updates == before
    assert len(scores) == len(ys)


def test_it_ends_when_validation_is_no_better_and_the_weights_of_the_best_pass_serve():
    X, ys = blobs(10, noise=0.3)
    X_held, held = blobs(10, n=80, noise=0.3)
    model = Perceptron(hash_seed=1)
    history = fit(model, (X, ys), epochs=50, seed=3, validation=(X_held, held), patience=4)
    errors = [row.validation_error for row in history]
    assert history.stopped == "patience"
    assert errors.index(min(errors)) + 1 == history.best == len(history) - 4
    assert np.mean(model.predict_many(X_held) != np.array(held)) == min(errors)
    twin = Perceptron(hash_seed=1)
    fit(twin, (X, ys), epochs=history.best, seed=3)
    assert pickle.dumps(model) == pickle.dumps(twin)


def test_with_validation_alone_all_passes_are_made_and_the_best_ones_weights_serve():
    X, ys = blobs(11, noise=0.3)
    model = Perceptron()
    history = fit(model, (X, ys), epochs=12, seed=3, validation=pairs_of(*blobs(11, noise=0.3)))
    assert (len(history), history.stopped) == (12, "epochs")
    assert model.n_seen == history.best * len(ys)


def test_a_history_is_a_frame_and_a_table():
    X, ys = blobs(12, noise=0.2)
    history = fit(Perceptron(), (X, ys), epochs=3, validation=(X, ys))
    table = history.to_frame()
    assert list(table.columns) == ["mistakes", "updates", "error", "validation_error", "seconds"]
    assert list(table.index) == [1, 2, 3]
    assert table.mistakes.tolist() == [row.mistakes for row in history]
    lines = repr(history).splitlines()
    assert lines[0].split() == ["pass", "mistakes", "updates", "error", "validation", "seconds"]
    assert len(lines) == 5
    assert "validation" not in repr(fit(Perceptron(), (X, ys), epochs=1)).splitlines()[0]


# Random mistakes: Kowalczyk's perceptron learning algorithm

KOWALCZYK = {"order": "random-mistake", "init": "random", "epochs": 500}


def test_four_seeds_find_four_hyperplanes_and_each_separates_all_events():
    X, ys = blobs(13, n=40, n_columns=2)
    planes = set()
    for seed in range(4):
        model = Perceptron(average="none")
        history = fit(model, (X, ys), seed=seed, **KOWALCZYK)
        assert history.stopped == "converged"
        assert model.predict_many(X).tolist() == ys
        assert history[-1].error == 0.0
        w = np.array([model.weights[0], model.weights[1], model.intercept_])
        planes.add(tuple(np.round(w / np.linalg.norm(w), 9)))
    assert len(planes) == 4


@pytest.mark.parametrize("kind", [Perceptron, MulticlassPerceptron, MIRA, AROW])
def test_only_events_that_are_answered_wrongly_are_picked(kind):
    X, ys = blobs(14, n=60)
    model = kind()
    history = fit(model, (X, ys), epochs=500, seed=1, order="random-mistake")
    picks = sum(row.mistakes for row in history)
    assert history.stopped == "converged"
    # the first event of each label is picked too, but no answer before it is not a mistake
    assert picks <= model.n_seen <= picks + 2
    assert all(row.mistakes <= 60 for row in history)


def test_a_pass_of_random_mistakes_is_as_many_picks_as_there_are_events():
    xor = [({"x": x, "y": y}, x != y) for x in (0, 1) for y in (0, 1)]
    model = Perceptron()
    history = fit(model, xor, epochs=6, order="random-mistake", seed=1)
    assert (history.stopped, model.n_seen) == ("epochs", 24)
    assert all(0 < row.error <= 1 for row in history)


def test_random_mistakes_are_those_of_the_current_weights_whatever_answers():
    X, ys = blobs(15)
    model = Perceptron(serve="average")
    fit(model, (X, ys), seed=2, order="random-mistake", epochs=500)
    assert model.serve == "average"
    current = X @ np.array([model.weights.get(j, 0.0) for j in range(6)]) + model.intercept_
    assert ((current > 0) == np.array(ys)).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_random_weights_are_drawn_for_every_feature_and_label(intercept):
    data = [({"a": 1, "b": 2}, "x"), ({"c": 1}, "y"), ({"b": 1}, "z")]
    for kind in (MulticlassPerceptron, MIRA, AROW):
        model = kind(intercept=intercept)
        fit(model, data, epochs=1, order="random-mistake", init="random", seed=1)
        assert {label: set(row) for label, row in model.weights.items()} == {
            label: {"a", "b", "c"} for label in "xyz"
        }
        assert all(bool(value) == intercept for value in model.intercept_.values())


# What is refused, and changes nothing


def bad(**arguments):
    X, ys = blobs(16, n=6)
    model = arguments.pop("model", None) or Perceptron()
    data = arguments.pop("data", (X, ys))
    return model, data, arguments


REFUSED = {
    "epochs of 0": (bad(epochs=0), "epochs=0"),
    "epochs of 1.5": (bad(epochs=1.5), "epochs=1.5"),
    "epochs of True": (bad(epochs=True), "epochs=True"),
    "a generator": (bad(data=(pair for pair in [({"a": 1}, True)])), r"list\(data\)"),
    "no data": (bad(data=[]), "data is empty"),
    "a dict": (bad(data={"a": 1}), "data is a dict"),
    "no pairs": (bad(data=[({"a": 1}, True), 7]), r"data\[1\]"),
    "three": (bad(data=(1, 2, 3)), "tuple of 3"),
    "numbers as events": (bad(data=[(7, True)]), "data: an event is 7"),
    "a bad label": (bad(data=[({"a": 1}, True), ({"a": 1}, "spam")]), r"data\[1\]: y='spam'"),
    "a bad label in y": (bad(data=(np.eye(2), [True, "spam"])), "data, row 1: y='spam'"),
    "no label": (bad(data=[({"a": 1}, None)], model=MIRA()), r"data\[0\] has no label"),
    "a bad value": (bad(data=[({"a": 1}, True), ({"a": "7"}, True)]), r"data\[1\]: x\['a'\]"),
    "a bad cell": (
        bad(data=(np.array([[1.0], [np.nan]]), [1, 0])),
        "data: X has no value in row 1",
    ),
    "too few labels": (bad(data=(np.eye(3), [True])), "data: y has 1 entries"),
    "texts for a learner": (bad(data=[("a text", True)]), r"Tokenizer\(\) \| learner"),
    "dicts for a tokenizer": (
        bad(data=[({"a": 1}, True)], model=Tokenizer() | Perceptron()),
        "takes texts",
    ),
    "patience alone": (bad(patience=3), "there is no validation"),
    "patience of 0": (bad(patience=0, validation=(np.eye(2), [1, 0])), "patience=0"),
    "a generator to validate": (bad(validation=iter([])), r"list\(validation\)"),
    "labels that are never learned": (
        bad(model=MIRA(), validation=[({"a": 1}, True), ({"a": 1}, "new"), ({}, "odd")]),
        r"validation has the labels \['new', 'odd'\]",
    ),
    "an unknown order": (bad(order="sorted"), "order='sorted'"),
    "no order, but permuted": (bad(shuffle=False, order="permute"), "contradict"),
    "shuffle of 1": (bad(shuffle=1), "shuffle=1"),
    "an unknown init": (bad(init="zeros"), "init='zeros'"),
    "random weights of an AdaptiveClassifier": (
        bad(model=AdaptiveClassifier(), init="random"),
        "AdaptiveClassifier",
    ),
    "random weights of a VotedPerceptron": (
        bad(model=VotedPerceptron(), init="random"),
        "VotedPerceptron",
    ),
    "random mistakes of a VotedPerceptron": (
        bad(model=VotedPerceptron(), order="random-mistake"),
        "VotedPerceptron",
    ),
    "rows for a RankingPerceptron": (bad(model=RankingPerceptron()), r"\(candidates, chosen\)"),
    "an invalid choice": (
        bad(model=RankingPerceptron(), data=[([{"a": 1}, {"b": 1}], 7)]),
        r"data\[0\]: chosen",
    ),
    "random weights above a ceiling": (
        bad(model=Perceptron(max_features=3), init="random"),
        "max_features=3",
    ),
    "a seed below 0": (bad(seed=-1), "seed=-1"),
    "a text as seed": (bad(seed="x"), "seed='x'"),
    "progress of 7": (bad(progress=7), "progress=7"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_named_and_changes_nothing(what):
    (model, data, arguments), message = REFUSED[what]
    before = pickle.dumps(model)
    with pytest.raises((TypeError, ValueError), match=message):
        fit(model, data, **arguments)
    assert pickle.dumps(model) == before


def test_models_that_are_not_ours_are_refused():
    from river import linear_model, preprocessing

    for model in (
        linear_model.Perceptron(),
        preprocessing.StandardScaler() | linear_model.Perceptron(),
        Perceptron,
        None,
    ):
        with pytest.raises(TypeError, match="model is"):
            fit(model, [({"a": 1}, True)])


def test_random_weights_need_an_untrained_model():
    model = Perceptron()
    model.learn_one({"a": 1}, True)
    with pytest.raises(ValueError, match="untrained"):
        fit(model, [({"a": 1}, True)], init="random")
    with pytest.raises(ValueError, match="untrained"):
        fit(Perceptron.from_weights({"a": 1.0}), [({"a": 1}, True)], init="random")


def test_a_line_without_a_label_is_named():
    data = read(io.BytesIO(b"1 |a x\n|a y\n"), "vw")
    with pytest.raises(ValueError, match="<BytesIO>:2 has no label"):
        fit(MIRA(), data)


def test_a_model_that_is_opened_read_only_is_refused(tmp_path):
    model = Perceptron()
    model.learn_one({"a": 1}, True)
    model.save(tmp_path / "m")
    with pytest.raises(RuntimeError, match="mmap"):
        fit(streamptron.load(tmp_path / "m", mmap=True), [({"a": 1}, True)])


class Held:
    """An attribute that cannot be copied."""

    def __reduce_ex__(self, protocol):
        raise TypeError("not to be copied")


def test_attributes_of_the_user_stay_the_same_objects():
    class Mine(Perceptron):
        pass

    model = Mine()
    model.held = held = Held()
    fit(model, [({"a": 1}, True)])
    assert model.held is held
    assert model.n_seen


def test_a_model_that_another_thread_teaches_meanwhile_keeps_what_that_taught_it():
    X, ys = blobs(17, noise=0.3)
    model = Perceptron()
    data = pairs_of(X, ys)

    class Event(dict):
        """An event during whose reading somebody else teaches the model."""

        def items(self):
            if not model.n_seen:
                other = threading.Thread(target=model.learn_one, args=({"other": 1.0}, True))
                other.start()
                other.join()
            return super().items()

    data[3] = (Event(data[3][0]), data[3][1])
    with pytest.raises(RuntimeError, match="another thread"):
        fit(model, data, epochs=2)
    assert model.weights == {"other": 1.0}


# Bars


def test_a_bar_is_drawn_where_it_is_asked_for(capsys):
    X, ys = blobs(18, noise=0.3)
    fit(Perceptron(), (X, ys), epochs=3, progress=True, validation=(X, ys))
    said = capsys.readouterr().err
    assert "3/3" in said
    assert "validation=" in said
    fit(Perceptron(), (X, ys), epochs=3)  # no terminal
    assert capsys.readouterr().err == ""


def test_without_tqdm_a_bar_that_is_asked_for_is_an_error_that_says_what_to_install(monkeypatch):
    def missing(name, *rest):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    model = Perceptron()
    with pytest.raises(ImportError, match=r"streamptron\[study\]"):
        fit(model, [({"a": 1}, True)], progress=True)
    assert model.n_seen == 0
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    fit(model, [({"a": 1}, True)])
    assert model.n_seen


# Candidates


@pytest.mark.parametrize("order", ["permute", "random-mistake"])
def test_candidates_are_learned_in_passes_too(order):
    rng = np.random.default_rng(3)
    w = rng.normal(size=4)
    queries = []
    for _ in range(60):
        candidates = rng.normal(size=(3, 4))
        names = dict(zip("abc", [dict(enumerate(row)) for row in candidates.tolist()], strict=True))
        queries.append((names, "abc"[int((candidates @ w).argmax())]))
    model = RankingPerceptron(average="none")
    history = fit(model, queries, epochs=500, seed=1, order=order, init="random")
    assert history.stopped == "converged"
    assert all(model.predict_one(candidates) == chosen for candidates, chosen in queries)
    twin = RankingPerceptron()
    (only,) = fit(twin, queries, epochs=1, shuffle=False, validation=queries)
    other = RankingPerceptron()
    for candidates, chosen in queries:
        other.learn_one(candidates, chosen)
    assert twin.weights == other.weights
    assert only.mistakes == other.n_mistakes
    wrong = [other.predict_one(candidates) != chosen for candidates, chosen in queries]
    assert only.validation_error == np.mean(wrong)


# Published results


def test_one_pass_over_the_notes_of_cs188_gives_their_weights():
    points = [(1, 1, False), (3, 2, True), (2, 4, True), (3, 4, True), (2, 3, False)]
    model = Perceptron.from_weights({}, intercept=-1.0)
    data = [({1: x, 2: y}, label) for x, y, label in points]
    (only,) = fit(model, data, epochs=1, shuffle=False)
    assert (model.intercept_, model.weights) == (-1.0, {1: 1.0, 2: -1.0})
    assert (only.mistakes, only.updates, only.error) == (2, 2, 0.4)


@needs_data
@pytest.mark.parametrize(
    ("model", "rate", "updates"),
    [
        (Perceptron(intercept=False), (0.332, 0.012), (412, 15)),
        # two outputs share a step: C = 2^-5 of each is the 2^-4 of one
        (MIRA(intercept=False, C=2**-5), (0.236, 0.002), (763, 12)),
    ],
    ids=["Perceptron", "PA-I"],
)
def test_mistakes_and_updates_of_one_pass_over_svmguide3_are_those_of_libol(model, rate, updates):
    data = [(x, y > 0) for x, y in svmlight("svmguide3")]
    passes = [fit(copy.deepcopy(model), data, epochs=1, seed=seed)[0] for seed in range(20)]
    # the mean of 20 orders, within the spread that LIBOL reports for one
    assert abs(np.mean([row.error for row in passes]) - rate[0]) <= rate[1]
    assert abs(np.mean([row.updates for row in passes]) - updates[0]) <= updates[1]


@seeds(1)
def test_permuting_before_each_pass_needs_fewer_passes_than_one_fixed_order(seed):
    # CIML 4.2; sorted by label, as data often is, a fixed order is at its worst
    fixed, permuted = [], []
    for trial in range(12):
        X, ys = blobs(100 * seed + trial, n=100, n_columns=3)
        rows = np.argsort(ys, kind="stable")
        data = (X[rows], [ys[row] for row in rows])
        fixed.append(len(fit(Perceptron(), data, epochs=20_000, shuffle=False)))
        permuted.append(len(fit(Perceptron(), data, epochs=20_000, seed=trial)))
    assert sum(permuted) < 0.8 * sum(fixed)
