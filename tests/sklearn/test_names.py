"""Columns by name, gaps, texts and categories: a classifier's features are the learner's own."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import streamptron
from streamptron.sklearn import (
    MultiLabelClassifier,
    PerceptronClassifier,
    VotedPerceptronClassifier,
)
from tests.support.classifiers import (
    both,
    core,
    every_classifier,
    every_classifier_without_votes,
    features_of,
    linear,
    names,
    problem,
    two_or_more,
    weights_of,
)
from tests.support.marks import seeds
from tests.support.variants import learned

KINDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "categories": lambda columns: pd.DataFrame(columns).astype({"city": "category"}),
    "objects": lambda columns: pd.DataFrame(columns).astype({"city": object}),
}
of_every_kind = pytest.mark.parametrize("kind", KINDS)


def columns(seed=0, n=80, gaps=True):
    rng = np.random.default_rng(seed)
    size = rng.normal(3.0, 1.0, n).tolist()
    city = rng.choice(["Paris", "Rome", "Oslo"], n).tolist()
    y = [s + 2.0 * (c == "Oslo") > 3.7 for s, c in zip(size, city, strict=True)]
    if gaps:
        city = [None if rng.random() < 0.1 else each for each in city]
        size = [None if rng.random() < 0.1 else each for each in size]
    return {"size": size, "city": city}, names(np.array(y, dtype=int))


def events(table):
    """The rows as dicts."""
    return [
        {name: value for name, value in zip(table, row, strict=True) if value is not None}
        for row in zip(*table.values(), strict=True)
    ]


@every_classifier
@two_or_more
def test_features_are_the_names_of_the_columns(classifier, n_classes):
    X, y = problem(0, n_classes)
    called = [f"column {j}" for j in range(X.shape[1])]
    model = classifier(random_state=0).fit(pd.DataFrame(X, columns=called), y)
    by_number = classifier(random_state=0).fit(X, y)
    if classifier is not VotedPerceptronClassifier:  # it has no weights by name
        assert features_of(model) - {("gap", name) for name in called} == {*called}
    assert weights_of(model) == weights_of(by_number)
    np.testing.assert_array_equal(
        model.predict_proba(pd.DataFrame(X, columns=called)), by_number.predict_proba(X)
    )
    event = dict(zip(called, X[0].tolist(), strict=True))  # as one goes on event by event
    expected = [
        model.model_.predict_proba_one(event)[label] for label in model.model_._known_labels
    ]
    np.testing.assert_array_equal(model.model_.predict_proba_many(X[:1], called)[0], expected)


@every_classifier_without_votes
@of_every_kind
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_frame_of_texts_and_gaps_is_learned_as_its_rows_are(classifier, kind, call):
    table, y = columns()
    X = KINDS[kind](table)
    params = {"shuffle": False, "max_iter": 1} if call == "fit" else {}
    model = getattr(classifier(random_state=0, **params), call)(X, y)
    labels = None if classifier is PerceptronClassifier else [names(0), names(1)]
    by_hand = core(classifier, 2, labels)
    truths = labels or [False, True]
    for x, label in zip(events(table), y, strict=True):
        by_hand.learn_one(x, truths[int(label == names(1))])
    assert learned(model.model_) == learned(by_hand)
    assert "city=Oslo" in features_of(model)
    assert model.feature_names_in_.tolist() == ["size", "city"]
    assert model.n_features_in_ == 2
    answers = [by_hand.predict_one(x) for x in events(table)]
    assert model.predict(X).tolist() == [names(truths.index(answer)) for answer in answers]


@every_classifier
def test_texts_may_be_others_later_and_frames_other_frames(classifier):
    table, y = columns()
    model = classifier(random_state=0).fit(pd.DataFrame(table), y)
    later = {"size": [3.0, None, 2.0], "city": ["Lima", "Oslo", None]}
    answers = [model.predict_proba(KINDS[kind](later)).tolist() for kind in KINDS]
    assert all(each == answers[0] for each in answers)
    model.partial_fit(pl.DataFrame(later), [names(0), names(1), names(0)])
    assert model.predict_proba(KINDS["pandas"](later)).tolist() != answers[0]


def test_what_cannot_be_a_category_is_named():
    table, y = columns(gaps=False)
    frame = pd.DataFrame(table)
    model = PerceptronClassifier(random_state=0)
    with pytest.raises(TypeError, match="column 'city', is the text '7', which reads as a number"):
        model.fit(frame.assign(city="7"), y)
    unnamed = PerceptronClassifier().fit(np.eye(80, 2), y)
    with (
        pytest.warns(UserWarning, match="fitted without feature names"),
        pytest.raises(ValueError, match="the classifier has learned columns without names"),
    ):
        unnamed.predict(frame)
    model.fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["city", "size"]])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.partial_fit(frame, y[:-1])
    assert pickle.dumps(model) == before


@linear
def test_weights_of_texts_are_no_coefficients(classifier):
    table, y = columns(gaps=False)
    model = classifier(random_state=0).fit(pd.DataFrame(table), y)
    with pytest.raises(AttributeError, match=r"a column of texts.*'city=.*model_.weights"):
        _ = model.coef_
    model.fit(pd.DataFrame(table)[["size"]], y)
    assert model.coef_.shape == (1, 1)
    assert model.coef_[0, 0] != 0


@every_classifier
@seeds(2)
@pytest.mark.parametrize("of", [np.asarray, sp.csr_array, pd.DataFrame], ids=["dense", "csr", "df"])
def test_nan_is_a_gap(classifier, of, seed):
    X, y = problem(seed, 2)
    X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    model = classifier(random_state=0, max_iter=1, shuffle=False).fit(of(X), y)
    without = [
        {j: value for j, value in enumerate(row) if value == value and value} for row in X.tolist()
    ]
    by_hand = core(classifier, 2)
    for x, label in zip(without, y.tolist(), strict=True):
        by_hand.learn_one(x, label)
    assert learned(model.model_) == learned(by_hand)
    np.testing.assert_array_equal(model.predict(of(X)), by_hand.predict_many(np.nan_to_num(X)))
    assert get_tags(model).input_tags.allow_nan
    assert cross_val_score(classifier(random_state=0), X, y, cv=3, error_score="raise").mean() > 0.4


def test_several_labels_a_row_have_names_gaps_and_texts_too():
    table, y = columns()
    Y = np.column_stack([y == names(1), [city == "Rome" for city in table["city"]]]).astype(int)
    model = MultiLabelClassifier(random_state=0).fit(pd.DataFrame(table), Y)
    assert {"size", "city=Rome"} <= features_of(model)
    assert (model.predict(pl.DataFrame(table))[:, 1] == Y[:, 1]).mean() > 0.9


# --- Looking inside


@every_classifier_without_votes
@two_or_more
def test_top_features_and_explanations_are_the_learners_by_class(classifier, n_classes):
    X, y = problem(0, n_classes)
    called = [f"column {j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=called)
    model = classifier(random_state=0).fit(frame, names(y))
    decision = model.decision_function(frame)
    known = {*called, *(("gap", name) for name in called)}
    for label in model.classes_.tolist():
        top = model.top_features(3, label)
        assert {name for name, _ in [*top.positive, *top.negative]} <= known
        assert len(top.positive) <= 3
        for row, parts in enumerate(model.explain(frame[:5], label)):
            alone = {name for name, _ in parts if not isinstance(name, streamptron.Pair)}
            assert alone <= {*known, None}
            if n_classes > 2:
                own = decision[row, model.classes_.tolist().index(label)]
                assert sum(part for _, part in parts) == pytest.approx(own)
    if n_classes > 2:
        every = model.top_features(3)
        assert list(every) == model.classes_.tolist()
        answers = model.predict(frame[:5])
        assert model.explain(frame[:5]) == [
            model.explain(frame[row : row + 1], answer)[0] for row, answer in enumerate(answers)
        ]
    else:
        assert model.top_features(3) == model.top_features(3, names(1))
        assert model.explain(frame[:5]) == model.explain(frame[:5], names(1))
        against = model.top_features(3, names(0))
        assert against.positive == [(name, -w) for name, w in model.top_features(3).negative]
    with pytest.raises(ValueError, match="label='spam' is not one of the classes"):
        model.top_features(label="spam")


def test_columns_without_names_are_named_by_what_made_them():
    texts = ["win a prize", "see you", "a prize for you", "see the agenda"] * 5
    y = ["spam", "ham", "spam", "ham"] * 5
    pipeline = make_pipeline(CountVectorizer(), PerceptronClassifier(random_state=0)).fit(texts, y)
    words = pipeline[:-1].get_feature_names_out()
    top = pipeline[-1].top_features(2, feature_names=words)
    assert top.positive[0][0] == "prize"
    parts = pipeline[-1].explain(pipeline[:-1].transform(["the prize"]), feature_names=words)
    assert {name for name, _ in parts[0]} <= {"the", "prize", None}
    with pytest.raises(ValueError, match="feature_names has 1 names; the classifier was fitted on"):
        pipeline[-1].top_features(feature_names=["prize"])
    pairs = PerceptronClassifier(random_state=0, degree=2).fit(np.eye(2) + 1, ["a", "b"])
    found = pairs.top_features(5, feature_names=["left", "right"])
    assert {str(name) for name, _ in [*found.positive, *found.negative]} <= {
        "left",
        "right",
        str(streamptron.Pair("left", "right")),
    }


@both
def test_names_come_through_a_pipeline_that_puts_out_frames(classifier):
    table, y = columns(gaps=False)
    scaled = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(scaled, classifier(random_state=0)).fit(pd.DataFrame(table), y)
    found = pipeline[-1].top_features(5)
    assert {name for name, _ in [*found.positive, *found.negative]} <= {
        "size",
        "city=Paris",
        "city=Rome",
        "city=Oslo",
    }


@every_classifier
@two_or_more
def test_log_probabilities_are_logarithms_of_the_probabilities(classifier, n_classes):
    X, y = problem(0, n_classes)
    model = classifier(random_state=0).fit(X, y)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))
