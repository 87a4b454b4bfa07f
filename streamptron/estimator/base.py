"""What all estimators add to the core: frames, explanations, weights by name."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from streamptron.common.checks import jobs_of
from streamptron.common.errors import ParameterError, plain
from streamptron.common.names import short_repr, type_shown, value_in
from streamptron.common.parameters import kept
from streamptron.common.river import base
from streamptron.doors._core import BinaryModel, LabelModel, PairModel
from streamptron.doors.model import Model
from streamptron.doors.names import damaged
from streamptron.estimator.learner import Learner

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from streamptron.estimator.batches import Batch

Weights = dict[Hashable, float]


class TopFeatures(NamedTuple):
    """The strongest features for a label, and the strongest against it."""

    positive: list[tuple[Hashable, float]]
    negative: list[tuple[Hashable, float]]


class Answering(Learner):
    """A compiled model that answers labels: batches, explanations.

    ``learn_one`` and ``predict_one`` are the core's own: no Python code runs in between.
    """

    # --- Batches: row by row, to the bit the same as learn_one in a loop

    def learn_many(
        self, X: Any, y: Any, w: Any = 1.0, feature_names: Iterable[Hashable] | None = None
    ) -> None:
        """Learn from the rows of a matrix or frame, one after the other.

        The model becomes the same, to the last bit, as if ``learn_one`` had learned each row as a
        dict ``{column: value}`` of its nonzero values, in the order of the columns. All cells and
        labels are checked first: after an error, nothing has been learned. The interpreter's lock
        is released during the call, so X must not change until it returns.

        Parameters
        ----------
        X
            One event per row, one feature per column: a scipy sparse matrix or array (CSR is read
            in place, other formats are converted to it; repeated entries are summed), a numpy array
            of two dimensions, or a pandas, polars or pyarrow frame. Any dtype of real numbers; a
            frame may also have texts, categories and gaps, as an event may.
        y
            A series, array or sequence with one label per row.
        w
            The sample weight of all rows, or one weight per row.
        feature_names
            For arrays and matrices: the name of each column's feature. By default column j is the
            feature ``j``. The columns of a frame have names.

        Raises
        ------
        TypeError, ValueError
            If a cell is not finite, or neither a number nor a text; or if y, w or feature_names
            does not fit X. The message names the row and column.
        MemoryError
            If memory runs out. The message says how many rows have been learned; no later row has
            changed anything.

        Examples
        --------
        >>> import numpy as np
        >>> from streamptron import Perceptron
        >>> model = Perceptron()
        >>> X = np.array([[1.0, 0.0], [0.0, 2.0]])
        >>> model.learn_many(X, [True, False], feature_names=["free", "meeting"])
        >>> model.weights
        {'free': 1.0, 'meeting': -2.0}
        """
        self._many(self._batch(X, feature_names), y, w)

    def test_then_train_many(
        self, X: Any, y: Any, w: Any = 1.0, feature_names: Iterable[Hashable] | None = None
    ) -> Any:
        """Predict each row, then learn it; the predictions are those made before learning.

        Parameters
        ----------
        X, y, w, feature_names
            As for ``learn_many``.

        Returns
        -------
        A series like the frame, or an array.
        """
        batch = self._batch(X, feature_names)
        predictions = batch.outputs()
        labels = self._many(batch, y, w, predictions)
        return batch.labels(predictions, labels, self._y_name)

    def predict_many(
        self,
        X: Any,
        feature_names: Iterable[Hashable] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Any:
        """Predict the label of each row.

        Parameters
        ----------
        X, feature_names
            As for ``learn_many``.
        n_jobs
            How many threads may share the rows: None is 1, and -1 is one for each core that this
            process may use. The answers are those of one thread, bit for bit.

        Returns
        -------
        For a frame, a series of the same kind and index. Otherwise an array: of truth values, ints
        or floats if all labels are of that type, else of objects.
        """
        batch = self._batch(X, feature_names)
        jobs = jobs_of(n_jobs)
        predictions = batch.outputs()
        labels = self._predicted(jobs, batch, predictions, None, None)
        assert labels is not None  # predictions have room for any number of labels
        return batch.labels(predictions, labels, self._y_name)

    def decision_function_many(
        self,
        X: Any,
        feature_names: Iterable[Hashable] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Any:
        """The score of each row, or of each row for each label.

        Parameters
        ----------
        X, feature_names, n_jobs
            As for ``predict_many``.

        Returns
        -------
        For a learner of two labels, a series or an array. For a learner of any number of labels, a
        frame or an array with one column per label, in the order of ``labels``.
        """
        batch = self._batch(X, feature_names)
        return batch.scores(*self._scores_of(batch, jobs_of(n_jobs)))

    def _scores_of(self, batch: Batch, n_jobs: int) -> tuple[NDArray[np.float64], list[Any] | None]:
        """The scores of a batch, and the labels that they are for; None: there is one score."""
        while True:
            labelled = self._scores_by_label
            scores = batch.numbers(len(self._known_labels) if labelled else 1)
            labels = self._predicted(n_jobs, batch, None, scores, None)
            if labels is not None:
                return scores, labels if labelled else None

    def predict_proba_many(
        self,
        X: Any,
        feature_names: Iterable[Hashable] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Any:
        """The probability of each label for each row.

        Parameters
        ----------
        X, feature_names, n_jobs
            As for ``predict_many``.

        Returns
        -------
        A frame or an array with one column per label, in the order of ``labels`` (for two labels:
        False, True).
        """
        batch = self._batch(X, feature_names)
        jobs = jobs_of(n_jobs)
        while True:
            p = batch.numbers(len(self._known_labels))
            labels = self._predicted(jobs, batch, None, None, p)
            if labels is not None:
                return batch.scores(p, labels)

    def _predicted(
        self,
        n_jobs: int,
        batch: Batch,
        predictions: np.ndarray | None,
        scores: np.ndarray | None,
        p: np.ndarray | None,
    ) -> list[Any] | None:
        """Predict a batch; the labels known then, or None if the arrays are too small for them."""
        return batch.answered(self._predict_rows, predictions, scores, p, None, None, n_jobs)

    def _many(
        self, batch: Batch, y: Any, w: Any, predictions: np.ndarray | None = None
    ) -> list[Any]:
        """Learn a batch, with the prediction before each row; returns the labels at the end."""
        labels, numbers = batch.numbered(y, self._checked_label)
        steps = self._steps(w, labels, numbers)
        if predictions is not None:
            batch.can_hold({*self._known_labels, *labels, None})
        known = self._learned(batch, labels, numbers, steps, predictions)
        self._y_name = getattr(y, "name", None)
        return known

    def _steps(self, w: Any, labels: list[Any], numbers: Any) -> NDArray[np.float64] | None:
        """Sample weight times class weight of each row; None if all are 1."""
        if type(w) is float and w == 1.0 and self.class_weight is None:
            return None
        from streamptron.estimator.batches import steps_of

        return steps_of(w, labels, numbers, self._checked_step)

    def _learned(
        self,
        batch: Batch,
        labels: list[Any],
        numbers: NDArray[np.intp],
        steps: NDArray[np.float64] | None,
        predictions: np.ndarray | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> list[Any]:
        """Learn a batch whose labels and weights are checked; the model's labels at its end.

        `order`: the rows to learn, in this order; None: all rows, in the order of the batch.
        """
        given = labels, numbers, steps, predictions, None, order
        return batch.learned(self._learn_rows, *given)

    # --- Explanations

    def explain_one(
        self, x: Mapping[Any, float], label: Hashable = None
    ) -> list[tuple[Hashable, float]]:
        """What each feature of an event contributes to its score.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        label
            The label to explain. Default: with three labels or more the predicted one; with up to
            two, the one for which `decision_function_one` is positive.

        Returns
        -------
        Pairs of feature and contribution (value times weight), the largest in absolute value first.
        The intercept is the feature None, always present if the learner has one; features with a
        weight of 0 are left out. The weights are those of the kept vector that answers this event.
        ``math.fsum`` of the contributions is exactly the decision function for that label: the
        smallest contribution absorbs the rounding difference. (If a score is very much smaller than
        all contributions, the sum may differ from it in the last bit.)

        Examples
        --------
        >>> from streamptron import Perceptron
        >>> model = Perceptron.from_weights({"free": 2.0, "meeting": -3.0}, intercept=0.5)
        >>> model.explain_one({"free": 1, "now": 1})
        [('free', 2.0), (None, 0.5)]
        """
        return self._explanation(x, label)[0]

    def _explanation(
        self, x: Mapping[Any, float], label: Hashable
    ) -> tuple[list[tuple[Hashable, float]], str, Any]:
        """Contributions, the kept vector that they come from, and the label that it predicts."""
        parts, score, kind, predicted = self._explain(x, *self._explained(label))
        return summing_to(score, parts), kind, predicted

    def top_features(self, n: int = 10, label: Hashable = None) -> Any:
        """The features with the largest weights, by the vector that is best overall (`serving`).

        Parameters
        ----------
        n
            The number of features of each sign.
        label
            The label whose weights to show. The default is True for a learner of two labels, and
            all labels for other learners.

        Returns
        -------
        ``TopFeatures(positive, negative)``: the n most positive and the n most negative weights,
        each as a list of (feature, weight), the largest in absolute value first. For all labels, a
        dict of these by label.

        Examples
        --------
        >>> from streamptron import Perceptron
        >>> model = Perceptron.from_weights({"free": 2.0, "win": 1.0, "meeting": -3.0})
        >>> model.top_features(n=1)
        TopFeatures(positive=[('free', 2.0)], negative=[('meeting', -3.0)])
        """
        if label is None and self._scores_by_label:
            labels, weights = self._weights(self.serving)  # both at the same moment
            assert labels is not None
            return {known: top_of(n, its) for known, its in zip(labels, weights, strict=True)}
        output, sign = self._explained(label)
        return top_of(n, self._weights(self.serving, output)[1][0], sign)

    @property
    def _known_labels(self) -> list[Any]:
        raise NotImplementedError

    @property
    def _scores_by_label(self) -> bool:
        """Whether each label has a score; if not, there is one score."""
        raise NotImplementedError

    def _explained(self, label: Hashable) -> tuple[int, float]:
        """The output of a label (-1: that of the predicted one), and its sign."""
        raise NotImplementedError

    def debug_one(self, x: Mapping[Any, float]) -> str:
        """A table of the features behind the decision, in the form that River's linear models use.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        if not self._known_labels:
            return "no label has been seen yet"
        parts, kind, predicted = self._explanation(x, None)
        rows = [("Name", "Value", "Weight", "Contribution")]
        for feature, part in parts:
            value = 1.0 if feature is None else value_in(x, feature)
            name = "Intercept" if feature is None else str(feature)
            rows.append((name, f"{value:.5f}", f"{part / value:.5f}", f"{part:.5f}"))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        ]
        answer = f"{predicted!r} by the {kind} weights"
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], "", answer])


class Estimator(Answering, base.MiniBatchClassifier):
    """A compiled model as a River mini-batch classifier: one label per event."""

    @property
    def _scores_by_label(self) -> bool:
        return bool(self._multiclass)


def summing_to(score: float, parts: list[tuple[Hashable, float]]) -> list[tuple[Hashable, float]]:
    """Contributions, the largest first; the smallest is adjusted so that `fsum` is the score."""
    parts.sort(key=lambda part: -abs(part[1]))
    for _ in range(8):  # one round is enough unless the last part is far smaller than the others
        try:
            excess = math.fsum((score, *(-value for _, value in parts)))
        except (OverflowError, ValueError):  # no learned weights are this large
            raise damaged("a weight is too large") from None
        if excess == 0.0 or not parts:
            break
        feature, value = parts[-1]
        parts[-1] = (feature, value + excess)
        parts.sort(key=lambda part: -abs(part[1]))
    return parts


def top_of(n: int, weights: Weights, sign: float = 1.0) -> TopFeatures:
    """The n largest weights of each sign."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise ValueError(f"n={short_repr(n)}; it must be an int of at least 0")
    ranked = sorted(
        ((feature, sign * weight) for feature, weight in weights.items()), key=itemgetter(1)
    )
    positive = [item for item in reversed(ranked[max(0, len(ranked) - n) :]) if item[1] > 0]
    return TopFeatures(positive, [item for item in ranked[:n] if item[1] < 0])


class OneVector(Model):
    """The weights of one output, whatever it is for."""

    @property
    def weights(self) -> Weights:
        """The current weights, ``{feature: weight}``; a feature that is absent has weight 0."""
        return self._weights("current")[1][0]

    @property
    def averaged_weights(self) -> Weights:
        """The running average of the weights."""
        return self._weights("average")[1][0]

    @property
    def pocket_weights(self) -> Weights:
        """The weights in the pocket."""
        return self._weights("pocket")[1][0]


class BinaryEstimator(BinaryModel, OneVector, Estimator):  # type: ignore[misc]  # no **kwargs
    """Two labels: the weights of one output."""

    _towards = True

    @property
    def _known_labels(self) -> list[Any]:
        return [False, True]

    @property
    def intercept_(self) -> float:
        """The current intercept."""
        return self._intercepts("current")[1][0]

    @property
    def averaged_intercept(self) -> float:
        """The running average of the intercept."""
        return self._intercepts("average")[1][0]

    @property
    def pocket_intercept(self) -> float:
        """The intercept in the pocket."""
        return self._intercepts("pocket")[1][0]

    def _explained(self, label: Hashable) -> tuple[int, float]:
        return 0, 1.0 if label is None or self._checked_label(label) else -1.0

    @classmethod
    def from_weights(
        cls, weights: Mapping[Any, float], intercept: float = 0.0, **params: Any
    ) -> Self:
        """A model that starts from given weights; its average and its pocket start from them too.

        Parameters
        ----------
        weights
            ``{feature: weight}``.
        intercept
            The intercept to start from. False: a model without an intercept, as with
            ``intercept=False`` in the constructor.
        params
            The other parameters of the constructor.

        Examples
        --------
        >>> from streamptron import Perceptron
        >>> Perceptron.from_weights({"a": 1.0}, intercept=-0.5).predict_one({"a": 1})
        True
        """
        if intercept is False:
            params, intercept = {**params, "intercept": False}, 0.0
        model = cls(**params)
        model._set_weights(weights, intercept, 0)
        return model


class ByLabel(LabelModel, Answering):
    """Any labels: each has an output with its own weights."""

    max_labels = kept[int | None]("The largest number of labels that are learned.")

    @property
    def _known_labels(self) -> list[Any]:
        return self.labels

    @property
    def _scores_by_label(self) -> bool:
        return True

    @staticmethod
    def _by_label(labels: list[Any] | None, values: list[Any]) -> dict[Hashable, Any]:
        return dict(zip(labels or (), values, strict=True))

    @property
    def weights(self) -> dict[Hashable, Weights]:
        """The current weights, ``{label: {feature: weight}}``; absent features have weight 0."""
        return self._by_label(*self._weights("current"))

    @property
    def averaged_weights(self) -> dict[Hashable, Weights]:
        """The running average of the weights."""
        return self._by_label(*self._weights("average"))

    @property
    def pocket_weights(self) -> dict[Hashable, Weights]:
        """The weights in the pocket."""
        return self._by_label(*self._weights("pocket"))

    @property
    def intercept_(self) -> dict[Hashable, float]:
        """The current intercepts, ``{label: intercept}``."""
        return self._by_label(*self._intercepts("current"))

    @property
    def averaged_intercept(self) -> dict[Hashable, float]:
        """The running average of the intercepts."""
        return self._by_label(*self._intercepts("average"))

    @property
    def pocket_intercept(self) -> dict[Hashable, float]:
        """The intercepts in the pocket."""
        return self._by_label(*self._intercepts("pocket"))

    def _explained(self, label: Hashable) -> tuple[int, float]:
        if label is None:
            if not self.labels:
                raise ValueError("the model has seen no label yet: there is nothing to explain")
            return -1, 1.0
        known = self.labels
        if label not in known:
            raise ParameterError(
                "label",
                label,
                "a label that has been seen",
                f"{{label}} has not been seen; the model knows {plain(short_repr(known, 200))}",
            )
        return known.index(label), 1.0


class LabelEstimator(ByLabel, Estimator):  # type: ignore[misc]  # no **kwargs
    """Any labels; each event has one."""

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def from_weights(
        cls,
        weights: Mapping[Any, Mapping[Any, float]],
        intercept: Mapping[Any, float] | bool | None = None,
        **params: Any,
    ) -> Self:
        """A model that starts from given weights; its average and its pocket start from them too.

        Parameters
        ----------
        weights
            ``{label: {feature: weight}}``; its order is the order of the labels.
        intercept
            ``{label: intercept}`` to start from; a label that is not in it starts from 0. False: a
            model without intercepts, as with ``intercept=False`` in the constructor.
        params
            The other parameters of the constructor.

        Examples
        --------
        >>> from streamptron import MulticlassPerceptron
        >>> model = MulticlassPerceptron.from_weights({"spam": {"free": 1.0}, "ham": {"hi": 1.0}})
        >>> model.predict_one({"hi": 1})
        'ham'
        """
        if intercept is False:
            params = {**params, "intercept": False}
        elif intercept is not None and not isinstance(intercept, Mapping):
            raise TypeError(
                f"intercept={short_repr(intercept)}; it must be a dict of label to number, or False"
            )
        start = dict(intercept or {})
        if not isinstance(weights, Mapping):
            raise TypeError(f"weights is {type_shown(weights)}; it must be {{label: {{...}}}}")
        if unknown := [label for label in start if label not in weights]:
            raise ValueError(
                f"intercept has labels that weights does not have: {short_repr(unknown, 200)}"
            )
        model = cls(**params)
        model._expect_labels(list(weights))
        for output, (label, row) in enumerate(weights.items()):
            model._set_weights(row, start.get(label, 0.0), output)
        return model


class PairEstimator(PairModel, LabelEstimator):  # type: ignore[misc]  # no **kwargs
    """Any labels: up to two share one output's weights; with more, each has its own output."""

    @property
    def _scores_by_label(self) -> bool:
        return self._split

    @staticmethod
    def _by_label(labels: list[Any] | None, values: list[Any]) -> Any:
        return values[0] if len(values) == 1 else dict(zip(labels or (), values, strict=True))

    def _explained(self, label: Hashable) -> tuple[int, float]:
        output, sign = super()._explained(label)
        if self._split:
            return output, sign
        if label is None:
            output = self.labels.index(self._towards)
        return 0, 1.0 if output == self._positive else -1.0

    @property
    def _towards(self) -> Any:
        """The label that a single output is explained for by default: the positive one."""
        return self.labels[: self._positive + 1][-1]

    @classmethod
    def from_weights(cls, weights: Mapping[Any, Any], intercept: Any = None, **params: Any) -> Self:
        """A model that starts from given weights.

        Parameters
        ----------
        weights
            For two labels, ``{feature: weight}`` in favour of the second one, or of the first if
            that is True; the labels are those of the events to come. For more than two labels,
            ``{label: {feature: weight}}``.
        intercept
            The number to start from; for more than two labels, ``{label: intercept}``. False: a
            model without an intercept, as with ``intercept=False`` in the constructor.
        params
            The other parameters of the constructor.

        Raises
        ------
        TypeError, ValueError
            If a weight is not a number, or if only one or two labels are given weights by label.

        Examples
        --------
        >>> from streamptron import AROW
        >>> model = AROW.from_weights({"free": 2.0, "meeting": -3.0}, intercept=0.5)
        >>> model.decision_function_one({"free": 1})
        2.5
        """
        if isinstance(weights, Mapping) and any(
            isinstance(row, Mapping) for row in weights.values()
        ):
            if len(weights) <= 2:
                raise ValueError(
                    f"weights has {len(weights)} labels; two labels share their weights: give one "
                    "dict {feature: weight}, for the second label or for True"
                )
            return super().from_weights(weights, intercept, **params)
        if intercept is False:
            params = {**params, "intercept": False}
        model = cls(**params)
        model._set_weights(weights, 0.0 if intercept in (None, False) else intercept, 0)
        return model
