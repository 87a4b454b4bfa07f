"""Labels and sample weights: what is good, and what bad ones get."""

import enum
import pickle
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from streamptron import MulticlassPerceptron, MultiLabelClassifier, Perceptron, load
from tests.support.doors import CALLS, INF, NAN, refused, trained
from tests.support.variants import every_learner, labels_for

# Labels


HASHABLE_NO_TRUTH = [
    "spam",
    "True",
    b"",
    -1,
    2,
    None,
    0.5,
    NAN,
    (True,),
    np.int8(2),
    np.float64(2),
    1 + 1j,
]
UNHASHABLE = [[1], {}, {1}, ([1],), np.array(1), np.array([True]), np.array([1, 2])]
NO_LABEL = [None, NAN, ("a", NAN), ((NAN,),)]
NO_LABEL += [np.float64("nan"), Decimal("NaN"), Decimal("sNaN"), pd.NaT]

TRUTHS = [
    True,
    1,
    1.0,
    np.float64(1),
    np.float32(1),
    np.float16(1),
    np.int8(1),
    np.bool_(True),
    Decimal(1),
]


@pytest.mark.parametrize("one", [*TRUTHS, Fraction(1)], ids=repr)
def test_perceptron_takes_whatever_equals_true_or_false_at_every_door(one):
    zero = one - one if not isinstance(one, bool | np.bool_) else type(one)(False)
    expected = Perceptron(class_weight={True: 2.0}, hash_seed=1)
    expected.learn_one({"a": 1}, True)
    expected.learn_one({"b": 1}, False)
    model = Perceptron(class_weight={one: 2.0}, hash_seed=1)
    model.learn_one({"a": 1}, one)
    model.learn_one({"b": 1}, zero)
    tested = Perceptron(class_weight={one: 2.0}, hash_seed=1)
    tested.test_then_train_one({"a": 1}, one)
    tested.test_then_train_one({"b": 1}, zero)
    rows = Perceptron(class_weight={one: 2.0}, hash_seed=1)
    rows.learn_many(np.eye(2), [one, zero], feature_names=["a", "b"])
    for other in (model, tested, rows):
        assert other.__getstate__() == expected.__getstate__()
        assert other.explain_one({"a": 1}, zero) == expected.explain_one({"a": 1}, False)
        assert other.top_features(1, one) == expected.top_features(1, True)
    array = np.array([1, 0], dtype=float)
    again = Perceptron(class_weight={one: 2.0}, hash_seed=1)
    again.learn_many(np.eye(2), array, feature_names=["a", "b"])
    assert again.__getstate__() == expected.__getstate__()


@pytest.mark.parametrize("call", ["learn_one", "test_then_train_one"])
@pytest.mark.parametrize("y", HASHABLE_NO_TRUTH, ids=repr)
def test_perceptron_refuses_a_label_that_is_no_truth_value(y, call):
    refused(
        trained("Perceptron"),
        lambda model: CALLS[call](model, {"a": 1}, y),
        f"y={y!r}",
        "MulticlassPerceptron",
        error=ValueError,
    )


@pytest.mark.parametrize("call", ["learn_one", "test_then_train_one"])
@pytest.mark.parametrize("y", UNHASHABLE, ids=repr)
@every_learner
def test_unhashable_label_is_refused(learner, y, call):
    refused(
        trained(learner),
        lambda model: CALLS[call](model, {"a": 1}, y),
        "y",
        repr(y),
        error=TypeError,
    )


@pytest.mark.parametrize("call", ["learn_one", "test_then_train_one"])
@pytest.mark.parametrize("y", NO_LABEL, ids=repr)
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_label_that_stands_for_nothing_is_refused(learner, y, call):
    refused(
        trained(learner),
        lambda model: CALLS[call](model, {"a": 1}, y),
        "y",
        "NaT" if y is pd.NaT else str(y),
        "label",
        error=TypeError if str(y) == "sNaN" else ValueError,  # that one has no hash
    )


@pytest.mark.parametrize("y", [pd.NA, pd.Series([1, 2])], ids=["NA", "Series"])
@every_learner
def test_label_that_cannot_be_compared_is_refused(learner, y):
    message = refused(trained(learner), lambda model: model.learn_one({"a": 1}, y))
    assert message.startswith("y")


# Sample weights


BAD_WEIGHTS = [NAN, INF, -INF, -1, -0.5, 1e51, 10**400, Decimal("NaN")]
NO_WEIGHTS = ["1", b"1", None, [1.0], 1j, np.array(1.0), {}]


@pytest.mark.parametrize("call", ["learn_one", "test_then_train_one"])
@pytest.mark.parametrize(
    ("w", "error"),
    [(w, ValueError) for w in BAD_WEIGHTS] + [(w, TypeError) for w in NO_WEIGHTS],
    ids=lambda value: f"{value!r:.12}",
)
@every_learner
def test_bad_sample_weight_is_refused(learner, w, error, call):
    message = refused(
        trained(learner),
        lambda model: getattr(model, call)({"a": 1}, labels_for(learner)[0], w),
        error=error,
    )
    assert message.startswith("w")
    assert "x[" not in message


@pytest.mark.parametrize("w", [0, 2, True, 0.5, np.float32(0.5), np.int8(2), Fraction(1, 2)])
@every_learner
def test_sample_weight_is_any_number_of_at_least_zero(learner, w):
    model, plain = trained(learner), trained(learner)
    for label in labels_for(learner)[:2] * 2:
        model.learn_one({"a": 1}, label, w)
        plain.learn_one({"a": 1}, label, float(w))
    assert pickle.dumps(model) == pickle.dumps(plain)


class Kind(enum.StrEnum):
    SPAM = "spam"


class Number(enum.IntEnum):
    TWO = 2


class Mixed(str, enum.Enum):  # noqa: UP042  as code older than StrEnum has them
    SPAM = "spam"


class Text(str):
    pass


Place = namedtuple("Place", "city number")

SUBCLASSES = [
    (Kind.SPAM, "spam"),
    (Mixed.SPAM, "spam"),
    (Text("spam"), "spam"),
    (np.str_("spam"), "spam"),
    (np.bytes_(b"spam"), b"spam"),
    (Number.TWO, 2),
    (np.int8(2), 2),
    (np.float64(0.5), 0.5),
    (Place(Kind.SPAM, Number.TWO), ("spam", 2)),
    ((Kind.SPAM, (np.int8(2), True)), ("spam", (2, True))),
]


@pytest.mark.parametrize(("odd", "plain"), SUBCLASSES, ids=repr)
def test_a_label_is_kept_as_the_plain_one_that_it_equals(odd, plain, tmp_path):
    model = MulticlassPerceptron(hash_seed=1)
    model.learn_one({"a": 1}, odd)
    model.learn_many(np.eye(2), [odd, False])
    several = MultiLabelClassifier()
    several.learn_one({"a": 1}, [odd])
    for learner in (model, several):
        assert type(learner.labels[0]) is type(plain)
        assert repr(learner.labels[0]) == repr(plain)
        learner.save(tmp_path / "model")
        assert load(tmp_path / "model").labels == learner.labels
