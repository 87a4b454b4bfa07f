"""The base classes of the classifiers for scikit-learn: fit, partial_fit, classes and answers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np

try:
    from sklearn.utils import check_array
    from sklearn.utils.class_weight import compute_class_weight
    from sklearn.utils.multiclass import check_classification_targets, unique_labels
    from sklearn.utils.validation import check_consistent_length, check_is_fitted
except ImportError as _error:
    raise ImportError(
        f"streamptron.sklearn needs scikit-learn 1.6 or later ({_error}): "
        'pip install "streamptron[sklearn]"'
    ) from _error

from streamptron.common.cells import SKIP_NAN
from streamptron.common.checks import WEIGHT, are_weights
from streamptron.common.names import short_repr
from streamptron.estimator.base import BinaryEstimator
from streamptron.estimator.batches import batch_of, steps_of
from streamptron.estimator.passes import labels_met
from streamptron.sklearn import epochs
from streamptron.sklearn.epochs import best_of, truth
from streamptron.sklearn.wrapper import Named, Wrapper, check_two


class Classifier(Wrapper):
    """The base class: epochs, when to stop, and classes.

    Two numberings meet here. The number of a class is its index in `classes_`, which is sorted,
    even if classes are added later. The core numbers its outputs in the order in which the classes
    were added; those of one call are added in sorted order. The core's labels are the classes
    themselves, except for Perceptron, whose False and True are the first and the second class.
    """

    # The learners for two classes and for more; then the parameters that they take, and those that
    # only the learner for more classes has.
    _two: Any
    _several: Any
    _own: tuple[str, ...]
    _several_own: tuple[str, ...] = ()

    @staticmethod
    def _of_two(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """One score, or weight, for two classes with these: above 0 for the second class."""
        lead: np.ndarray = second - first
        return lead

    # --- Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch, in at most `max_iter` epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row, of any dtype. A CSR matrix or an array is read in place.
        y : array-like of shape (n_samples,)
            The class of each row; at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Scales the step of each row. A row of weight 0 is left out. A row of weight 2 is not the
            same as two rows, because the first would change the weights before the second is
            learned.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError, ValueError
            If X, y, sample_weight or a parameter is invalid.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If `max_iter` epochs were too few for `tol`.
        """
        epochs.check(self)
        rows, classes, numbers = self._validated(X, y, reset=True)
        check_two(classes)
        class_weight = self.class_weight
        # called for dicts and None, too, because it checks them
        balance = compute_class_weight(class_weight, classes=classes, y=classes[numbers])
        if isinstance(class_weight, str):
            class_weight = dict(zip(classes.tolist(), balance.tolist(), strict=True))
        weights = _row_weights(sample_weight, rows.X)
        model = self._started(classes, class_weight)
        labels, steps = _told(model, classes, numbers, weights)
        try:
            model, n_iter = epochs.learned(
                self,
                partial(self._decision, classes),
                partial(self._probabilities, classes),
                model,
                Named(_canonical(rows.X), rows.names),
                labels,
                numbers,
                steps,
            )
        except ValueError:
            # this raises the same for a bad value, but with the number of its row in X
            model.decision_function_many(*rows)
            raise
        self.model_, self.classes_, self.n_iter_ = model, classes, n_iter
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continue learning: one pass over the rows, in their order.

        New classes may be added in any call. The classes of a call are known before its first row
        is learned, except that AdaptiveClassifier, AROWClassifier and VotedPerceptronClassifier
        know a class only from its first row on. If all `classes` are given in the first call, it
        makes no difference how the rows are divided into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row, of any dtype. A CSR matrix or an array is read in place.
        y : array-like of shape (n_samples,)
            The class of each row.
        classes : array-like of shape (n_classes,), default=None
            Classes, including those that are not in y yet.
        sample_weight : array-like of shape (n_samples,), default=None
            As for ``fit``.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        TypeError, ValueError
            If X, y, classes, sample_weight or a parameter is invalid. Nothing has been learned.
        """
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={short_repr(self.class_weight)}; partial_fit cannot know how many "
                "rows of each class will come: give a dict, for example one computed from a sample "
                "by sklearn.utils.compute_class_weight"
            )
        first = not hasattr(self, "model_")
        rows, found, numbers = self._validated(X, y, reset=first)
        groups = [found] if classes is None else [found, classes]
        union = unique_labels(*groups if first else [self.classes_, *groups])
        weights = _row_weights(sample_weight, rows.X)
        if first:
            model = self._started(union, self.class_weight)
        elif len(union) > len(self.classes_):
            # a bad value is found before anything changes
            self.model_.decision_function_many(*rows)
            model = self._grown(union)
        else:
            model, union = self.model_, self.classes_
        numbers = np.searchsorted(union, found)[numbers]
        labels, steps = _told(model, union, numbers, weights)
        if steps is not None and not steps.all():
            # a bad value raises here, with the number of its row in X
            model.decision_function_many(*rows)
            kept = np.flatnonzero(steps)
            rows, numbers, steps = rows.taken(kept), numbers[kept], steps[kept]
        model._learned(batch_of(*rows, model.missing), *labels_met(model, labels, numbers), steps)
        self.model_, self.classes_, self.n_iter_ = model, union, 1
        return self

    def _validated(self, X: Any, y: Any, reset: bool) -> tuple[Named, np.ndarray, np.ndarray]:
        """Checked rows, the classes in y, and each row's index into these."""
        rows, y = self._checked_rows(X, reset, y)
        try:
            check_classification_targets(y)
            classes, numbers = np.unique(y, return_inverse=True)
        except TypeError as error:
            raise TypeError(f"y holds classes that cannot be sorted together: {error}") from None
        return rows, classes, numbers

    def _started(self, classes: np.ndarray, class_weight: Any) -> Any:
        """A learner that knows the classes and has learned nothing."""
        labels = classes.tolist()
        kind = self._two if len(labels) == 2 else self._several
        of_two = issubclass(kind, BinaryEstimator)
        if of_two and isinstance(class_weight, Mapping):
            first, second = (class_weight.get(label, 1.0) for label in labels)
            class_weight = {False: first, True: second}
        several_own = {name: _plain(getattr(self, name)) for name in self._several_own}
        if kind is not self._several:
            self._several(**several_own)  # which checks them
        model = kind(
            **{name: _plain(getattr(self, name)) for name in self._own},
            **(several_own if kind is self._several else {}),
            intercept=truth("fit_intercept", self.fit_intercept),
            class_weight=class_weight,
            missing=SKIP_NAN,
            # secret, unless random_state asks for repeatable fits
            hash_seed=None if self.random_state is None else 0,
        )
        if not of_two:
            self._announce(model, labels)
        return model

    def _grown(self, classes: np.ndarray) -> Any:
        """The model, or one that replaces it, with the classes that it does not know yet added."""
        known = self.classes_.tolist()
        model = self.model_
        if isinstance(model, BinaryEstimator):
            own = {name: _plain(getattr(self, name)) for name in self._several_own}
            params = {**self.model_._get_params(), "class_weight": self.class_weight, **own}
            model = self._several(**params)
            model._take_two(self.model_, known)
        self._announce(model, [label for label in classes.tolist() if label not in known])
        return model

    @staticmethod
    def _announce(model: Any, labels: list[Any]) -> None:
        """Make classes known before any of their rows is learned."""
        for label in labels:
            model._add_label(label)

    # --- Answers

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number per row, above 0 for ``classes_[1]``; otherwise the score of
            each class in the order of `classes_`. For a classifier with `coef_` it equals
            ``X @ coef_.T + intercept_``, unless `serve` is "best" or a class has had no row yet.
        """
        known = self._known(X)
        return self._decision(self.classes_, self.model_, known)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest score; if scores are equal, the first in `classes_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of each row.
        """
        best = best_of(self.decision_function(X))
        return self.classes_[best]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, as the learner gives it.

        This costs nothing extra; :class:`sklearn.calibration.CalibratedClassifierCV` may give
        better probabilities. The class that ``predict`` returns always has the highest one: if the
        learner's calibration makes another class more probable, as can happen near the boundary of
        two classes, both get the same probability.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        known = self._known(X)
        p = self._probabilities(self.classes_, self.model_, known)
        best = best_of(self._decision(self.classes_, self.model_, known))
        rows = np.flatnonzero(p.argmax(axis=1) != best)
        best, other = best[rows], p[rows].argmax(axis=1)
        p[rows, other] = (p[rows, other] + p[rows, best]) / 2
        p[rows, best] = np.nextafter(p[rows, other], 1)
        return p

    def _probabilities(self, classes: np.ndarray, model: Any, rows: Named) -> np.ndarray:
        """The core's probabilities by class."""
        p: np.ndarray = model.predict_proba_many(*rows)
        if isinstance(model, BinaryEstimator):
            return p
        labels = model.labels
        return self._of_classes(classes, labels, p.T, 0.0 if labels else 1.0 / len(classes)).T

    def _decision(self, classes: np.ndarray, model: Any, rows: Named) -> np.ndarray:
        """The core's scores in scikit-learn's shape."""
        scores = np.atleast_2d(model.decision_function_many(*rows).T)
        return self._by_class(classes, model, scores, scores.min(axis=0) - 1.0).T

    def _by_class(
        self, classes: np.ndarray, model: Any, kept: np.ndarray, unknown: Any = 0.0
    ) -> np.ndarray:
        """Values by the core's outputs as values by class; a single one for two classes.

        A class that the core does not know yet gets the value `unknown`.
        """
        if isinstance(model, BinaryEstimator):
            return kept[0]  # type: ignore[no-any-return]
        kept = self._of_classes(classes, model.labels, kept, unknown)
        return self._of_two(*kept) if len(kept) == 2 else kept

    @staticmethod
    def _of_classes(
        classes: np.ndarray, labels: list[Any], kept: np.ndarray, unknown: Any
    ) -> np.ndarray:
        """Values by the core's labels as values by class."""
        by_class = np.empty((len(classes), *kept.shape[1:]))
        by_class[:] = unknown
        outputs = {label: output for output, label in enumerate(labels)}
        for place, label in enumerate(classes.tolist()):
            if label in outputs:
                by_class[place] = kept[outputs[label]]
        return by_class


class PairClassifier(Classifier):
    """The base class for learners that give two labels one output.

    Such a learner only knows the classes that rows have had, in the order of these rows, so that it
    learns exactly what ``learn_one`` would learn from them. A class that has only been announced is
    never the answer.
    """

    @staticmethod
    def _announce(model: Any, labels: list[Any]) -> None:
        """Do nothing: a label becomes known with its first row."""

    def _by_class(
        self, classes: np.ndarray, model: Any, kept: np.ndarray, unknown: Any = 0.0
    ) -> np.ndarray:
        if not model._split:  # positive for one label, negative for the other
            positive, labels = model._positive, model.labels
            if len(labels) == len(classes) == 2:
                side = 1.0 if labels[positive] == classes[1] else -1.0
                return side * kept[0]  # type: ignore[no-any-return]
            kept = np.concatenate([-kept, kept] if positive else [kept, -kept])
            unknown = unknown - 2.0 * np.abs(kept[0]) if np.ndim(unknown) else unknown
        return super()._by_class(classes, model, kept, unknown)


class Linear(Classifier):
    """`coef_` and `intercept_`, for classifiers whose scores are sums of weights times values."""

    @property
    def coef_(self) -> np.ndarray:
        """The weights that answer: (1, n_features) for two classes, else (n_classes, n_features).

        They are those of the vector that `serve` names; for "best", of the one that has made the
        fewest mistakes lately, ``model_.serving``. They are computed at each access. With degree=2
        there is no `coef_`, since pairs of columns have weights, too.
        """
        check_is_fitted(self)
        if self.model_.degree != 1:
            raise AttributeError(
                f"{type(self).__name__} has no coef_ with degree={self.model_.degree}, whose pairs "
                "of columns have weights too; model_.weights has all of them by name"
            )
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()
        place = {name: column for column, name in enumerate(names)}
        kept = self.model_._weights(self.model_.serving)[1]
        coef = np.zeros((len(kept), self.n_features_in_))
        for row, weights in zip(coef, kept, strict=True):
            for name, weight in weights.items():
                # model_ may have learned features that are not columns; True is not 1
                if type(name) in (int, str) and name in place:
                    row[place[name]] = weight
                elif type(name) is str and name.partition("=")[0] in place:
                    raise AttributeError(
                        f"{type(self).__name__} has no coef_: X had a column of texts, each of "
                        f"which has a weight, such as {short_repr(name)}; model_.weights has all "
                        "by name"
                    )
        return np.atleast_2d(self._by_class(self.classes_, self.model_, coef))

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts that go with `coef_`, of shape (1,) or (n_classes,)."""
        check_is_fitted(self)
        kept = self.model_._intercepts(self.model_.serving)[1]
        return np.atleast_1d(self._by_class(self.classes_, self.model_, np.array(kept)))


def _plain(value: Any) -> Any:
    """A parameter as a Python value; a search may set it to a numpy number."""
    return value.item() if isinstance(value, np.generic) else value


def _row_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """One checked weight per row; None if none are given."""
    if sample_weight is None:
        return None
    weights: np.ndarray = check_array(
        sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ValueError(f"sample_weight has {weights.ndim} dimensions; give one weight per row")
    check_consistent_length(X, weights)
    bad = np.flatnonzero(~are_weights(weights))
    if len(bad):
        raise ValueError(f"sample_weight is {weights[bad[0]]} in row {bad[0]}; it must be {WEIGHT}")
    return weights


def _canonical(X: Any) -> Any:
    """An array, or a CSR matrix sorted once, so that no epoch has to sort it."""
    if isinstance(X, np.ndarray) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def _told(
    model: Any, classes: np.ndarray, numbers: np.ndarray, weights: np.ndarray | None
) -> tuple[list[Any], np.ndarray | None]:
    """The core's labels for these classes, and each row's sample weight times class weight.

    The second is None if all are 1.
    """
    labels = [False, True] if isinstance(model, BinaryEstimator) else classes.tolist()
    w = 1.0 if weights is None else weights
    return labels, steps_of(w, labels, numbers, model._checked_step)
