"""How good a ranking is: NDCG and the reciprocal rank, of one query and as River's metrics."""

from __future__ import annotations

import math
import typing
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from streamptron.common.checks import checked_number
from streamptron.common.names import short_repr, type_shown
from streamptron.common.river import compose, module_of

if typing.TYPE_CHECKING:
    from river.metrics.base import Metric
else:
    Metric = module_of("metrics.base", "metrics").Metric

__all__ = ["MRR", "NDCG", "ndcg", "reciprocal_rank"]


def ndcg(grades: Any, scores: Any, k: int | None = None) -> float:
    """Normalized discounted cumulative gain of one query, from 0 to 1.

    The gain of a document is its grade, and its discount at place i = 1, 2, .. is log2(i + 1). The
    sum over the first k places is divided by the largest that there could be. Documents of equal
    score share their places: each gets the mean of their discounts. So the answer does not depend
    on their order, and is scikit-learn's ``ndcg_score``.

    Parameters
    ----------
    grades
        The grade of each document, at least 0: ``{id: grade}`` or a sequence.
    scores
        The score of each document, in the same form.
    k
        How many places count; None: all.

    Returns
    -------
    The NDCG; 0 if all grades are 0, as scikit-learn has it.

    Raises
    ------
    TypeError, ValueError
        If a grade or a score is not a finite number, a grade is below 0, there are no documents,
        or grades and scores are not of the same documents.

    Examples
    --------
    >>> from streamptron.metrics import ndcg
    >>> ndcg({"a": 2, "b": 0, "c": 1}, {"a": 0.3, "b": 0.9, "c": 0.1}, k=2)
    0.4796...
    """
    _check_k(k)
    documents = _documents(grades, scores)
    if any(grade < 0 for grade, _ in documents):
        raise ValueError(
            f"grades={short_repr(grades)} has a grade below 0; 0 is that of the irrelevant"
        )
    ideal = _gain([(grade, grade) for grade, _ in documents], k)
    return _gain(documents, k) / ideal if ideal > 0 else 0.0


def _gain(documents: list[tuple[float, float]], k: int | None) -> float:
    """The discounted cumulative gain of (grade, score)."""
    n = len(documents) if k is None else min(k, len(documents))
    ranked = sorted(documents, key=lambda document: -document[1])
    gain, place = [], 0
    for _, group in groupby(ranked, key=lambda document: document[1]):
        grades = [grade for grade, _ in group]
        discounts = [1.0 / math.log2(i + 2) for i in range(place, min(place + len(grades), n))]
        gain.append(math.fsum(grades) / len(grades) * math.fsum(discounts))
        place += len(grades)
    return math.fsum(gain)


def reciprocal_rank(grades: Any, scores: Any, k: int | None = None) -> float:
    """One over the place of the first relevant document of one query: 1, 1/2, 1/3 ..

    A document is relevant if its grade is above 0. Documents of equal score may come in any order:
    the answer is the mean over all of them.

    Parameters
    ----------
    grades, scores
        As for ``ndcg``.
    k
        How many places count; None: all.

    Returns
    -------
    The reciprocal rank; 0 if there is no relevant document on the places that count.

    Raises
    ------
    TypeError, ValueError
        As for ``ndcg``, but grades may be below 0.

    Examples
    --------
    >>> from streamptron.metrics import reciprocal_rank
    >>> reciprocal_rank([0, 1, 0], [0.9, 0.5, 0.1])
    0.5
    """
    _check_k(k)
    ranked = sorted(_documents(grades, scores), key=lambda document: -document[1])
    place = 0
    for _, group in groupby(ranked, key=lambda document: document[1]):
        relevant = [grade > 0 for grade, _ in group]
        n, m = len(relevant), sum(relevant)
        if m:
            # the first of m among n is at place i + 1 of these in C(n - 1 - i, m - 1) orders
            return math.fsum(
                math.comb(n - 1 - i, m - 1) / math.comb(n, m) / (place + i + 1)
                for i in range(n - m + 1)
                if k is None or place + i < k
            )
        place += n
    return 0.0


def _check_k(k: Any) -> None:
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise ValueError(f"k={short_repr(k)}; it must be None or an int of at least 1")


def _documents(grades: Any, scores: Any) -> list[tuple[float, float]]:
    """The grade and score of each document."""
    if isinstance(grades, Mapping) != isinstance(scores, Mapping):
        raise TypeError(
            f"grades is {type_shown(grades)} and scores {type_shown(scores)}; give both "
            "by id or both in order"
        )
    if isinstance(grades, Mapping):
        for name in grades:
            if name not in scores:
                raise ValueError(f"scores has nothing for {short_repr(name)}, which grades has")
        pairs = [(name, grade, scores[name]) for name, grade in grades.items()]
    else:
        grades, scores = _listed(grades, "grades"), _listed(scores, "scores")
        pairs = list(zip(range(len(grades)), grades, scores, strict=False))
    if len(grades) != len(scores):
        raise ValueError(f"grades has {len(grades)} documents and scores {len(scores)}")
    if not pairs:
        raise ValueError("grades is empty: a query without documents has no value")
    return [
        (
            checked_number(grade, f"grades[{short_repr(name)}]"),
            checked_number(score, f"scores[{short_repr(name)}]"),
        )
        for name, grade, score in pairs
    ]


def _listed(values: Any, what: str) -> list[Any]:
    if hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise TypeError(
            f"{what} is {short_repr(values)}, {type_shown(values)}; it must be a dict by id, or a "
            "sequence of numbers"
        )
    return list(values)


class _MeanOverQueries(Metric):
    """The mean of a query's value, each counting by its weight."""

    _fmt = ",.6f"  # as River shows a number

    def __init__(self, k: int | None = None) -> None:
        _check_k(k)
        self.k = k
        self._sum = 0.0
        self._n = 0.0

    def _value(self, grades: Any, scores: Any) -> float:
        raise NotImplementedError

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """Count one more query.

        Parameters
        ----------
        y_true
            The grade of each document.
        y_pred
            The score of each, as from ``decision_function_one``.
        w
            The weight of the query.
        """
        value = self._value(y_true, y_pred)
        self._sum += w * value
        self._n += w

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """Take a query back that has been counted.

        Parameters
        ----------
        y_true, y_pred, w
            As for ``update``.
        """
        self.update(y_true, y_pred, -w)

    def get(self) -> float:
        """The mean; 0 before the first query."""
        return self._sum / self._n if self._n else 0.0

    @property
    def bigger_is_better(self) -> bool:
        return True

    def works_with(self, model: Any) -> bool:
        """Whether it measures what a model does."""
        return hasattr(model[-1] if isinstance(model, compose.Pipeline) else model, "rank_one")


class NDCG(_MeanOverQueries):
    """Mean normalized discounted cumulative gain over queries.

    Parameters
    ----------
    k
        How many places of a query count; None: all.

    Examples
    --------
    >>> from streamptron import RankingPerceptron
    >>> from streamptron.metrics import NDCG

    >>> model, metric = RankingPerceptron(), NDCG(k=10)
    >>> for _ in range(3):
    ...     query, grades = [{"a": 1}, {"b": 1}], [0, 1]
    ...     metric.update(grades, model.decision_function_one(query))
    ...     model.learn_one(query, chosen=1)
    >>> metric
    NDCG: 0.938488
    """

    def _value(self, grades: Any, scores: Any) -> float:
        return ndcg(grades, scores, self.k)


class MRR(_MeanOverQueries):
    """Mean reciprocal rank over queries.

    Parameters
    ----------
    k
        How many places of a query count; None: all.

    Examples
    --------
    >>> from streamptron.metrics import MRR
    >>> metric = MRR()
    >>> metric.update([0, 1], [0.9, 0.1])
    >>> metric.update([0, 1], [0.1, 0.9])
    >>> metric
    MRR: 0.75
    """

    def _value(self, grades: Any, scores: Any) -> float:
        return reciprocal_rank(grades, scores, self.k)
