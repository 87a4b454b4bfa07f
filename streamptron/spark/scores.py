"""An Arrow UDF that turns a column of texts or vectors into predictions, scores, probabilities.

Scores and probabilities are vectors, in the order of the sorted labels.
"""

from __future__ import annotations

import pickle
import typing
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # forgotten in pyspark

from streamptron.keeping.read import load
from streamptron.learners.multilabel import MultiLabelClassifier
from streamptron.spark.rows import features, parts

if typing.TYPE_CHECKING:
    from pyspark import Broadcast

# The type of a prediction in Spark, and in Arrow.
PREDICTIONS = {
    "boolean": pa.bool_(),
    "double": pa.float64(),
    "string": pa.string(),
    "array<double>": pa.list_(pa.float64()),
    "array<string>": pa.list_(pa.string()),
}

# The models that this process opened last: a worker lives long, and gets new models.
_opened: dict[str, Any] = {}
MOST_OPENED = 4


class Sent:
    """A model that reaches workers as a broadcast."""

    def __init__(self, broadcast: Broadcast[bytes]) -> None:
        self.key = uuid.uuid4().hex
        self.broadcast = broadcast

    def model(self) -> Any:
        return _once(self.key, lambda: pickle.loads(self.broadcast.value))


class Filed:
    """A model in a file, of which each machine has one copy that its processes share in memory."""

    def __init__(self, name: str) -> None:
        self.key = name

    def model(self) -> Any:
        return _once(self.key, lambda: load(SparkFiles.get(self.key), mmap=True))


def _once(key: str, opened: Callable[[], Any]) -> Any:
    if key not in _opened:
        if len(_opened) >= MOST_OPENED:
            del _opened[next(iter(_opened))]
        _opened[key] = opened()
    return _opened[key]


def sorted_labels(learner: Any) -> list[Any]:
    """The labels of a learner, sorted."""
    return sorted(learner._known_labels)


def kind_of(learner: Any) -> str:
    """The type of a prediction; a string if there are no labels yet."""
    labels = sorted_labels(learner)
    kinds = {_kind(label) for label in labels} or {"string"}
    if len(kinds) > 1:
        raise TypeError(f"the labels {labels[:3]} ... have several types, but a column has one")
    kind = kinds.pop()
    if not isinstance(learner, MultiLabelClassifier):
        return kind
    if kind == "boolean":
        raise TypeError(f"the labels {labels} are truth values; arrays have strings or numbers")
    return f"array<{kind}>"


def _kind(label: Any) -> str:
    if isinstance(label, bool):
        return "boolean"
    if isinstance(label, int | float):
        return "double"
    if isinstance(label, str):
        return "string"
    raise TypeError(f"the label {label!r} is neither bool, number nor str")


def scorer(
    source: Sent | Filed, kind: str, wanted: tuple[str, ...], thresholds: list[float] | None
) -> Any:
    """The UDF: one column in, a struct of the wanted columns out.

    `wanted`: any of "prediction", "rawPrediction" and "probability".
    """

    def score(column: pa.Array) -> pa.Array:
        tokenizer, learner = parts(source.model())
        rows = features(tokenizer, column)
        labels = sorted_labels(learner)
        p = None
        if "probability" in wanted or thresholds is not None:
            p = _probabilities(learner, rows, labels)
        found: dict[str, pa.Array] = {}
        if "prediction" in wanted:
            if isinstance(learner, MultiLabelClassifier):
                there = np.asarray(learner.predict_many(rows))[:, _order(learner, labels)]
                values = [[labels[k] for k in row.nonzero()[0].tolist()] for row in there]
            elif thresholds is None or p is None:
                values = learner.predict_many(rows).tolist()
            else:
                places = by_threshold(p, thresholds)
                values = [labels[place] for place in places.tolist()]
            found["prediction"] = _predictions(values, kind)
        if "rawPrediction" in wanted:
            found["rawPrediction"] = _lists(_scores(learner, rows, labels))
        if "probability" in wanted:
            assert p is not None
            found["probability"] = _lists(p)
        return pa.StructArray.from_arrays([found[name] for name in wanted], list(wanted))

    types = {"prediction": kind, "rawPrediction": "array<double>", "probability": "array<double>"}
    schema = ", ".join(f"{name} {types[name]}" for name in wanted)
    # its type hints require a functionType, but it finds that out by itself
    return arrow_udf(score, f"struct<{schema}>")  # type: ignore[call-overload]


def by_threshold(p: np.ndarray, thresholds: list[float]) -> np.ndarray:
    """The index of the label with the largest p / t; a threshold of 0 wins if p is above 0."""
    if p.shape[1] != len(thresholds):
        raise ValueError(f"there are {len(thresholds)} thresholds, but {p.shape[1]} labels")
    with np.errstate(divide="ignore", invalid="ignore"):
        leads = np.where(p > 0, p / np.array(thresholds), 0.0)
    best: np.ndarray = leads.argmax(axis=1)
    return best


def _predictions(values: list[Any], kind: str) -> pa.Array:
    if kind == "double":
        values = [None if value is None else float(value) for value in values]
    return pa.array(values, PREDICTIONS[kind])


def _probabilities(learner: Any, rows: Any, labels: list[Any]) -> np.ndarray:
    return np.asarray(learner.predict_proba_many(rows))[:, _order(learner, labels)]


def _scores(learner: Any, rows: Any, labels: list[Any]) -> np.ndarray:
    """One score per label; if two labels share an output, one has the negative of the other."""
    scores = np.asarray(learner.decision_function_many(rows))
    if scores.ndim == 1:
        scores = np.stack([scores if k == learner._positive else -scores for k in range(2)], axis=1)
    return scores[:, _order(learner, labels)]


def _order(learner: Any, labels: list[Any]) -> list[int]:
    known = {label: output for output, label in enumerate(learner._known_labels)}
    return [known[label] for label in labels]


def _lists(values: np.ndarray) -> pa.ListArray:
    n, size = values.shape
    starts = np.arange(n + 1, dtype=np.int32) * np.int32(size)
    return pa.ListArray.from_arrays(
        pa.array(starts), pa.array(np.ascontiguousarray(values).ravel())
    )
