"""Bad input is named, and nothing is learned."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import streamptron.sklearn
from streamptron.sklearn import (
    AdaptiveClassifier,
    AROWClassifier,
    MIRAClassifier,
    PerceptronClassifier,
)
from tests.support.classifiers import (
    both,
    every_classifier,
    names,
    problem,
    two_or_more,
    weights_of,
)


@every_classifier
@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"max_iter": 0}, ValueError, "max_iter=0; it must be an int of at least 1"),
        ({"max_iter": 2.5}, TypeError, "max_iter=2.5; it must be an int of at least 1"),
        ({"n_iter_no_change": True}, TypeError, "n_iter_no_change=True; it must be an int"),
        ({"tol": -1.0}, ValueError, "tol=-1.0; it must be None or a number of at least 0"),
        ({"tol": float("nan")}, ValueError, "tol=nan"),
        ({"tol": "small"}, TypeError, "tol='small'"),
        ({"shuffle": 1}, TypeError, "shuffle=1; it must be True or False"),
        ({"early_stopping": "yes"}, ValueError, "early_stopping='yes'; it must be True, False or"),
        ({"early_stopping": 1}, TypeError, "early_stopping=1; it must be True, False or 'auto'"),
        (
            {"early_stopping": True, "validation_fraction": 1.0},
            ValueError,
            "validation_fraction=1.0; it must be a number above 0 and below 1",
        ),
        ({"fit_intercept": None}, TypeError, "fit_intercept=None; it must be True or False"),
        ({"class_weight": {0: -1.0}}, ValueError, "class_weight"),
        ({"class_weight": "equal"}, ValueError, "class_weight"),
        ({"class_weight": [1, 2]}, ValueError, "class_weight"),
        ({"random_state": "now"}, ValueError, "seed"),
    ],
)
def test_bad_parameter_is_named_by_fit(classifier, params, error, message):
    X, y = problem(0, 2)
    with pytest.raises(error, match=re.escape(message)):
        classifier(**params).fit(X, y)


@both
@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"pocket": 2}, TypeError, "pocket=2; it must be True or False"),
        ({"average": "mean"}, ValueError, "average='mean'; it must be one of 'none'"),
        ({"average": "none"}, ValueError, "serve='average' needs an average"),
        ({"serve": "pocket"}, ValueError, "serve='pocket' needs pocket=True"),
        ({"half_life": 0}, ValueError, "half_life=0; it must be a number of at least 1"),
    ],
)
def test_bad_parameter_of_an_average_is_named_by_fit(classifier, params, error, message):
    X, y = problem(0, 2)
    with pytest.raises(error, match=re.escape(message)):
        classifier(**params).fit(X, y)


def test_bad_parameter_of_a_learner_is_named():
    X, y = problem(0, 2)
    for call in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match="margin=-1; it must be a number of at least 0"):
            getattr(PerceptronClassifier(margin=-1), call)(X, y)
        with pytest.raises(ValueError, match="C=0; it must be a number above 0"):
            getattr(MIRAClassifier(C=0), call)(X, y)
        with pytest.raises(ValueError, match="update='never'; it must be one of"):
            getattr(MIRAClassifier(update="never"), call)(X, y)
        with pytest.raises(ValueError, match="r=0; it must be a number above 0"):
            getattr(AROWClassifier(r=0), call)(X, y)
        with pytest.raises(ValueError, match="forget=2; it must be a number"):
            getattr(AdaptiveClassifier(forget=2), call)(X, y)
        with pytest.raises(TypeError, match="naive_bayes=1; it must be True or False"):
            getattr(AdaptiveClassifier(naive_bayes=1), call)(X, y)


def with_cell(X, value, dtype=float):
    X = X.astype(dtype)
    X[41, 3] = value
    return X


BAD = {
    "infinite": (lambda X, y: (with_cell(X, np.inf), y), ValueError, "Input X contains infinity"),
    "too large": (lambda X, y: (with_cell(X, 1e60), y), ValueError, "1e+60 in row 41, column 3"),
    "too large, sparse": (
        lambda X, y: (sp.csr_array(with_cell(X, 1e60)), y),
        ValueError,
        "1e+60 in row 41, column 3",
    ),
    "no float": (
        lambda X, y: (with_cell(X, 2**60 + 1, np.int64), y),
        ValueError,
        "an int in row 41, column 3",
    ),
    "texts": (
        lambda X, y: (X.astype(str).astype(object) + "?", y),
        ValueError,
        "could not convert",
    ),
    "complex": (lambda X, y: (X + 1j, y), ValueError, "Complex data not supported"),
    "one row": (lambda X, y: (X[0], y), ValueError, "Expected 2D array"),
    "too few y": (lambda X, y: (X, y[:-1]), ValueError, "inconsistent numbers of samples"),
    "no y": (lambda X, y: (X, None), ValueError, "requires y to be passed"),
    "y of numbers": (lambda X, y: (X, y + 0.5), ValueError, "Unknown label type"),
    "NaN in y": (lambda X, y: (X, np.where(y == 0, np.nan, y)), ValueError, "Input y contains NaN"),
    "y of a mixture": (
        lambda X, y: (X, np.array(["one", 0] * (len(y) // 2), dtype=object)),
        TypeError,
        "y holds classes that cannot be sorted together",
    ),
    "negative weight": (
        lambda X, y: (X, y, with_weight(y, -1.0)),
        ValueError,
        "sample_weight is -1.0 in row 7; it must be at least 0",
    ),
    "huge weight": (
        lambda X, y: (X, y, with_weight(y, 1e60)),
        ValueError,
        "sample_weight is 1e+60 in row 7; it must be at least 0 and at most 1e+50",
    ),
    "NaN weight": (
        lambda X, y: (X, y, with_weight(y, np.nan)),
        ValueError,
        "Input sample_weight contains NaN",
    ),
    "weights of two dimensions": (
        lambda X, y: (X, y, np.ones((len(y), 2))),
        ValueError,
        "sample_weight has 2 dimensions; give one weight per row",
    ),
    "too few weights": (
        lambda X, y: (X, y, np.ones(3)),
        ValueError,
        "inconsistent numbers of samples",
    ),
}


def with_weight(y, value):
    w = np.ones(len(y))
    w[7] = value
    return w


@every_classifier
@pytest.mark.parametrize("bad", BAD)
@two_or_more
def test_bad_input_is_named_and_nothing_is_learned(classifier, bad, n_classes):
    make, error, message = BAD[bad]
    X, y = problem(0, n_classes, values="small")
    args = make(X, y)
    X_bad, y_bad, w_bad = args if len(args) == 3 else (*args, None)
    with pytest.raises(error, match=re.escape(message)):
        classifier(random_state=0).fit(X_bad, y_bad, sample_weight=w_bad)

    model = classifier(random_state=0)
    with pytest.raises(error, match=re.escape(message)):
        model.partial_fit(X_bad, y_bad, sample_weight=w_bad)
    assert not hasattr(model, "model_")
    model.partial_fit(X, y)
    before = pickle.dumps(model)
    for classes in (None, [9]):  # the second: with a class that would join
        with pytest.raises(error, match=re.escape(message)):
            model.partial_fit(X_bad, y_bad, classes=classes, sample_weight=w_bad)
        assert pickle.dumps(model) == before


@every_classifier
def test_bad_value_beside_rows_of_weight_0_is_found_before_anything_is_learned(classifier):
    X, y = problem(0, 3)
    model = classifier(random_state=0).partial_fit(X, y)
    before = pickle.dumps(model)
    w = np.ones(len(y))
    w[:5] = 0.0
    with pytest.raises(ValueError, match="in row 41, column 3"):
        model.partial_fit(with_cell(X, 1e60), y, sample_weight=w)
    assert pickle.dumps(model) == before


@every_classifier
def test_failed_fit_leaves_the_last_one(classifier):
    X, y = problem(0, 3)
    model = classifier(random_state=0).fit(X, y)
    before = weights_of(model)
    with pytest.raises(ValueError, match="in row 41, column 3"):
        model.fit(with_cell(X, 1e60), y)
    assert weights_of(model) == before


@every_classifier
def test_too_little_to_learn_from_is_said(classifier):
    X, y = problem(0, 2)
    with pytest.raises(ValueError, match="y has 1 class, 'class 0'; fit needs two or more"):
        classifier().fit(X[y == 0], names(y[y == 0]))
    with pytest.raises(ValueError, match="every row has the weight zero"):
        classifier().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="class_weight='balanced'; partial_fit cannot know"):
        classifier(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(ValueError, match="Mix of label input types"):
        classifier().partial_fit(X, y).partial_fit(X, names(y))


BLOCKED = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "sklearn":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import streamptron
print(streamptron.Perceptron().predict_one({}))
try:
    import streamptron.sklearn
except ImportError as error:
    print(error)
"""


def test_without_scikit_learn_only_this_module_is_missing_and_says_what_to_install():
    run = subprocess.run(
        [sys.executable, "-c", BLOCKED],
        env={"PYTHONPATH": str(Path(streamptron.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    prediction, message = run.stdout.splitlines()
    assert prediction == "False"
    assert message.startswith("streamptron.sklearn needs scikit-learn 1.6 or later")
    assert message.endswith('pip install "streamptron[sklearn]"')


def test_classifier_without_an_average_says_that_serve_must_be_current():
    X, y = np.eye(2), [0, 1]
    with pytest.raises(ValueError, match=r"serve='current'"):
        PerceptronClassifier(average="none").fit(X, y)
    PerceptronClassifier(average="none", serve="current", tol=None, max_iter=2).fit(X, y)
