"""Thick training: only events that were answered wrongly, or by a narrow margin, are learned."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

from streamptron.common.names import short_repr, type_shown
from streamptron.common.river import base
from streamptron.doors.model import Model
from streamptron.doors.ranking import RankModel


class LearnUnsure(base.Classifier):
    """Learns an event only if the model answers it wrongly, or is not sure enough.

    A mail model then stores the words of only a fifth of the mails, in a quarter to a half of the
    memory, and mails that it already knows well do not change its weights. It makes fewer errors on
    some streams and more on others: docs/mail.md has figures.

    Parameters
    ----------
    model
        A learner with labels, such as AdaptiveClassifier, or a pipeline of a tokenizer and one:
        ``Mail() | AdaptiveClassifier()``. This is the model that learns and that you save; its file
        does not say that it was trained in this way.
    margin
        An answer with at least this margin is sure. With two labels the margin is the absolute
        value of ``decision_function_one``; with more, the best label's lead over the second. It has
        the unit of the learner's scores; 4 is right for AdaptiveClassifier on mails. With 0, only
        mistakes are learned.

    Examples
    --------
    >>> from streamptron import AdaptiveClassifier, LearnUnsure, Mail
    >>> model = LearnUnsure(Mail() | AdaptiveClassifier(), margin=4)
    >>> model.learn_one(b"Subject: win now\\n\\na free prize", "spam")
    >>> model.learn_one(b"Subject: tomorrow\\n\\nsee you at the meeting", "ham")
    >>> model.predict_one(b"Subject: prize\\n\\nfree")
    'spam'

    References
    ----------
    D. Sculley and G. M. Wachman (2007), Relaxed Online SVMs for Spam Filtering, SIGIR; J. Yerazunis
    (2006), Seven Hypothesis about Spam Filtering, TREC: "thick threshold training".
    """

    def __init__(self, model: Any, margin: float = 4.0) -> None:
        self.model = model
        self.margin = checked_margin("margin", margin)
        self._before, self._learner = _parts(model)

    def learn_one(self, x: Any, y: Hashable, w: float = 1.0) -> None:
        """Learn an event if the model is wrong about it, or unsure.

        Parameters
        ----------
        x, y, w
            As for ``learn_one`` of the model.
        """
        if self._before is not None:
            x = self._before.transform_one(x)
        if is_unsure(self._learner, x, y, self.margin):
            self._learner.learn_one(x, y, w)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn rows one after the other, each only if the model is then wrong or unsure about it.

        Parameters
        ----------
        X, y, w
            As for ``learn_many`` of the model; w must be a number.
        """
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != len(y):
            raise ValueError(f"X has {n_rows} rows and y {len(y)}; give each row a label")
        for at in range(n_rows):
            row, label = _row(X, at), _row(y, at)
            if self._before is not None:
                row = self._before.transform_many(row)
            if self._is_row_unsure(row, label):
                self._learner.learn_many(row, label, w)

    def _is_row_unsure(self, row: Any, label: Any) -> bool:
        if list(self._learner.predict_many(row)) != list(label):
            return True
        scores = self._learner.decision_function_many(row)
        values = getattr(scores, "values", scores)  # of a series or frame
        return margin_of([float(value) for value in values.ravel()]) < self.margin

    def predict_one(self, x: Any, **kwargs: Any) -> Any:
        """The label of an event; see ``predict_one`` of the model."""
        return self.model.predict_one(x, **kwargs)

    def predict_proba_one(self, x: Any, **kwargs: Any) -> Any:
        """The probability of each label; see ``predict_proba_one`` of the model."""
        return self.model.predict_proba_one(x, **kwargs)

    @property
    def _multiclass(self) -> bool:
        return bool(self._learner._multiclass)


def is_unsure(learner: Any, x: Any, y: Any, margin: float) -> bool:
    """Whether a learner answers an event wrongly, or by less than a margin."""
    if learner.predict_one(x) != y:
        return True
    scores = learner.decision_function_one(x)
    found = list(scores.values()) if isinstance(scores, dict) else [scores]
    return margin_of(found) < margin


def margin_of(scores: list[float]) -> float:
    """How sure an answer is: the absolute value of a single score, or the lead of the best one.

    Examples
    --------
    >>> margin_of([-3.0]), margin_of([1.0, 5.0, 4.5])
    (3.0, 0.5)
    """
    if len(scores) == 1:
        return abs(scores[0])
    *_, second, best = sorted(scores)
    return best - second


def checked_margin(name: str, margin: Any) -> float:
    """A margin, checked to be a finite number of at least 0."""
    if isinstance(margin, bool) or not isinstance(margin, int | float):
        raise TypeError(
            f"{name}={short_repr(margin)} is {type_shown(margin)}; give a number from 0"
        )
    if not 0 <= margin < math.inf:
        raise ValueError(f"{name}={margin}; it must be a finite number from 0")
    return float(margin)


def _parts(model: Any) -> tuple[Any, Any]:
    """The tokenizer, if there is one, and the learner."""
    found = getattr(model, "_pair", None) or (None, model)
    learner = found[1]
    if not isinstance(learner, Model) or isinstance(learner, RankModel) or learner._can("set"):
        raise TypeError(
            f"model is {type_shown(model)}; give a learner whose events have one label each, or a "
            "pipeline of a tokenizer and such a learner"
        )
    return found


def _row(X: Any, at: int) -> Any:
    """One row of X, as an object of the same kind."""
    return X.iloc[at : at + 1] if hasattr(X, "iloc") else X[at : at + 1]
