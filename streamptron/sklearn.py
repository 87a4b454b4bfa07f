"""The learners as scikit-learn classifiers: `pip install "streamptron[sklearn]"`."""

from __future__ import annotations

import copy
import math
import typing
import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import StratifiedShuffleSplit
    from sklearn.utils import check_array, check_random_state
    from sklearn.utils.class_weight import compute_class_weight
    from sklearn.utils.multiclass import check_classification_targets, unique_labels
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
except ImportError as _error:
    raise ImportError(
        f"streamptron.sklearn needs scikit-learn 1.6 or later ({_error}): "
        'pip install "streamptron[sklearn]"'
    ) from _error

from streamptron._batches import batch_of, steps_of
from streamptron.engine.api import VALUE_LIMIT
from streamptron._names import shown
from streamptron.mira import MIRA
from streamptron.perceptron import MulticlassPerceptron, Perceptron

if typing.TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["MIRAClassifier", "PerceptronClassifier"]

# Stored values of a permuted epoch that are gathered at a time: enough to be worth the call, few
# enough to be still in the cache when they are learned.
GATHERED = 1 << 18
# Stored values, about, in the rows that tell after each epoch whether to go on, and how many rows
# they are at least.
JUDGED = 1 << 19
JUDGED_ROWS = 1 << 10


class _Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # it has no types
    """What the classifiers share: epochs, when to stop, and classes.

    Two numberings meet here. A class's number is its place in `classes_`, which is sorted, also
    when classes join later. The core numbers its outputs in the order in which the classes joined;
    those of one call join in sorted order. The core's labels are the classes themselves, but for
    Perceptron, whose False and True are the first and the second class.
    """

    def _learner(self, n_classes: int) -> tuple[Any, dict[str, Any]]:
        """The learner for that many classes, and the parameters that it alone has."""
        raise NotImplementedError

    @staticmethod
    def _of_two(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """What stands for two classes with these scores, or weights: above 0 for the second."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # --- Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch, in at most `max_iter` epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event a row, of any dtype. The rows are gathered some at a time, never all of them.
        y : array-like of shape (n_samples,)
            The class of each row; at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Scales the step that a row makes. A row of weight 0 is left out. A row of weight 2 is
            not the same as two rows, because the first would change the weights that the second
            meets.

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
        self._check_epochs()
        X, classes, numbers = self._validated(X, y, reset=True)
        if len(classes) < 2:
            raise ValueError(
                f"y has 1 class, {shown(classes.tolist()[0])}; fit needs two or more (partial_fit "
                "may begin with one)"
            )
        class_weight = self.class_weight
        # called for the others too, because it raises for odd ones
        balance = compute_class_weight(class_weight, classes=classes, y=classes[numbers])
        if isinstance(class_weight, str):
            class_weight = dict(zip(classes.tolist(), balance.tolist(), strict=True))
        weights = _row_weights(sample_weight, X)
        model = self._started(classes, class_weight)
        labels, steps = _told(model, classes, numbers, weights)
        try:
            model, n_iter = self._epochs(model, _canonical(X), labels, numbers, steps)
        except ValueError:
            # raises the same if it was a value, but with the number of its row in X
            model.decision_function_many(X)
            raise
        self.model_, self.classes_, self.n_iter_ = model, classes, n_iter
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continue learning: one pass over the rows, in their order.

        New classes may join in any call; those of a call are known before its first row is learned.
        If all `classes` are given in the first call, it makes no difference how the rows are
        divided into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event a row, of any dtype. A CSR matrix or an array is read where it lies.
        y : array-like of shape (n_samples,)
            The class of each row.
        classes : array-like of shape (n_classes,), default=None
            Classes that need not be in y yet.
        sample_weight : array-like of shape (n_samples,), default=None
            As for ``fit``.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        TypeError, ValueError
            If X, y, classes, sample_weight or a parameter is invalid. Nothing has been learned
            then.
        """
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={shown(self.class_weight)}; partial_fit cannot know how many rows "
                "of each class are to come: give a dict, such as one made of a sample by "
                "sklearn.utils.compute_class_weight"
            )
        first = not hasattr(self, "model_")
        X, found, numbers = self._validated(X, y, reset=first)
        groups = [found] if classes is None else [found, classes]
        union = unique_labels(*groups if first else [self.classes_, *groups])
        weights = _row_weights(sample_weight, X)
        if first:
            model = self._started(union, self.class_weight)
        elif len(union) > len(self.classes_):
            # what cannot be learned is found before anything changes
            self.model_.decision_function_many(X)
            model = self._grown(union)
        else:
            model, union = self.model_, self.classes_
        numbers = np.searchsorted(union, found)[numbers]
        labels, steps = _told(model, union, numbers, weights)
        if steps is not None and not steps.all():
            # here too, and with the number of its row in X
            model.decision_function_many(X)
            rows = np.flatnonzero(steps)
            X, numbers, steps = X[rows], numbers[rows], steps[rows]
        model._learned(batch_of(X, None), labels, numbers, steps)
        self.model_, self.classes_, self.n_iter_ = model, union, 1
        return self

    def _validated(self, X: Any, y: Any, reset: bool) -> tuple[Any, np.ndarray, np.ndarray]:
        """Checked X, the classes that are in y, and the number of each row's among them."""
        X, y = validate_data(self, X, y, accept_sparse="csr", reset=reset)
        try:
            check_classification_targets(y)
            classes, numbers = np.unique(y, return_inverse=True)
        except TypeError as error:
            raise TypeError(f"y holds classes that cannot be sorted together: {error}") from None
        return X, classes, numbers

    def _check_epochs(self) -> None:
        """Check the parameters that no learner has."""
        for name in ("max_iter", "n_iter_no_change"):
            _checked(name, getattr(self, name), Integral, 1, "an int of at least 1")
        if self.tol is not None:
            _checked("tol", self.tol, Real, 0, "None or a number of at least 0")
        _truth("shuffle", self.shuffle)
        if _truth("early_stopping", self.early_stopping):
            bound = "a number above 0 and below 1"
            fraction = _checked("validation_fraction", self.validation_fraction, Real, 0, bound)
            if not 0 < fraction < 1:
                raise ValueError(f"validation_fraction={fraction}; it must be {bound}")

    def _started(self, classes: np.ndarray, class_weight: Any) -> Any:
        """A learner that knows the classes and has learned nothing."""
        labels = classes.tolist()
        kind, own = self._learner(len(labels))
        if kind is Perceptron and isinstance(class_weight, Mapping):
            first, second = labels
            class_weight = {
                False: class_weight.get(first, 1.0),
                True: class_weight.get(second, 1.0),
            }
        model = kind(
            **own,
            average=self.average,
            half_life=self.half_life,
            pocket=_truth("pocket", self.pocket),
            serve=self.serve,
            intercept=_truth("fit_intercept", self.fit_intercept),
            class_weight=class_weight,
            # secret, unless the same fit is to give the same bytes
            hash_seed=None if self.random_state is None else 0,
        )
        if kind is not Perceptron:
            for label in labels:
                model._add_label(label)
        return model

    def _grown(self, classes: np.ndarray) -> Any:
        """The model, or one that takes its place, with the classes that it does not know yet."""
        known = self.classes_.tolist()
        model = self.model_
        if isinstance(model, Perceptron):
            model = _as_multiclass(model, known, self.class_weight)
        for label in classes.tolist():
            if label not in known:
                model._add_label(label)
        return model

    def _epochs(
        self,
        model: Any,
        X: Any,
        labels: list[Any],
        numbers: np.ndarray,
        steps: np.ndarray | None,
    ) -> tuple[Any, int]:
        """Learn X epoch by epoch: the model, and the number of epochs."""
        rng = check_random_state(self.random_state)
        rows = np.arange(len(numbers)) if steps is None else np.flatnonzero(steps)
        if not len(rows):
            raise ValueError("every row has the weight zero; there is nothing to learn")
        judged = rows[:0]
        if self.early_stopping:
            split = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=rng)
            rows, judged = (rows[part] for part in next(split.split(rows, numbers[rows])))
        elif self.tol is not None:
            n_judged = max(JUDGED_ROWS, X.shape[0] * JUDGED // max(1, X.size))
            judged = rows if n_judged >= len(rows) else rng.permutation(rows)[:n_judged]
        X_judged = X[judged]
        best, least, n_stale = model, math.inf, 0
        for epoch in range(1, self.max_iter + 1):
            for part in _parts(rng.permutation(rows) if self.shuffle else rows, X):
                part_steps = None if steps is None else steps[part]
                model._learned(batch_of(X[part], None), labels, numbers[part], part_steps)
            if not len(judged):
                continue
            loss = self._loss(
                model.decision_function_many(X_judged),
                numbers[judged],
                None if steps is None else steps[judged],
            )
            n_stale = n_stale + 1 if loss > least - (self.tol or 0.0) else 0
            if loss < least:
                least = loss
                best = copy.deepcopy(model) if self.early_stopping else model
            if self.tol is not None and n_stale >= self.n_iter_no_change:
                return best, epoch
        if self.tol is not None:
            warnings.warn(
                f"fit did not converge in max_iter={self.max_iter} epochs; allow more of them, a "
                "larger tol, or ask for this many by tol=None",
                ConvergenceWarning,
                stacklevel=3,
            )
        return best, self.max_iter

    def _loss(self, decision: np.ndarray, numbers: np.ndarray, steps: np.ndarray | None) -> float:
        """What `tol` goes by: the share of mistakes, or how far behind the classes of rows are."""
        if self.early_stopping:
            return float(np.average(_best(decision) != numbers, weights=steps))
        if decision.ndim == 1:
            leads = np.where(numbers, decision, -decision)
        else:
            rows = np.arange(len(numbers))
            others = decision.copy()
            others[rows, numbers] = -np.inf
            leads = decision[rows, numbers] - others.max(axis=1)
        leads = leads if steps is None else leads * steps
        total = np.abs(leads).sum()
        return float(-leads[leads < 0].sum() / total) if total else 0.0

    # --- Answers

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event a row.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number a row, above 0 for ``classes_[1]``; else the score of each
            class in the order of `classes_`. It is ``X @ coef_.T + intercept_``, unless `serve` is
            "best".
        """
        X = self._known(X)
        return self._decision(self.model_.decision_function_many(X))

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest score; of equal ones the first in `classes_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event a row.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of each row.
        """
        best = _best(self.decision_function(X))
        return self.classes_[best]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, as the learner calibrated it while it learned.

        That costs nothing extra; :class:`sklearn.calibration.CalibratedClassifierCV` gives better
        ones. The class that ``predict`` gives is always the most probable: where the calibration
        finds another more probable, as it can near the boundary of two classes, both get the same.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event a row.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        X = self._known(X)
        p: np.ndarray = self.model_.predict_proba_many(X)
        if not isinstance(self.model_, Perceptron):
            p = p[:, self._columns()]
        best = _best(self._decision(self.model_.decision_function_many(X)))
        rows = np.flatnonzero(p.argmax(axis=1) != best)
        best, other = best[rows], p[rows].argmax(axis=1)
        p[rows, other] = (p[rows, other] + p[rows, best]) / 2
        p[rows, best] = np.nextafter(p[rows, other], 1)
        return p

    @property
    def coef_(self) -> np.ndarray:
        """The weights that answer: (1, n_features) for two classes, else (n_classes, n_features).

        Those of the vector that `serve` names; of "best" the one that has made the fewest mistakes
        lately, ``model_.serving``. Computed at each access.
        """
        kept = self._serving("weights")
        coef = np.zeros((len(kept), self.n_features_in_))
        for row, weights in zip(coef, kept, strict=True):
            for column, weight in weights.items():
                # model_ may have been taught features that are no columns
                if type(column) is int and 0 <= column < len(row):
                    row[column] = weight
        return np.atleast_2d(self._by_class(coef))

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts that go with `coef_`, of shape (1,) or (n_classes,)."""
        return np.atleast_1d(self._by_class(np.array(self._serving("intercept"))))

    def _serving(self, what: str) -> list[Any]:
        """The weights or the intercepts of the vector that answers, one for each output."""
        check_is_fitted(self)
        names = {
            ("current", "weights"): "weights",
            ("average", "weights"): "averaged_weights",
            ("current", "intercept"): "intercept_",
            ("average", "intercept"): "averaged_intercept",
        }
        serving = self.model_.serving
        found = getattr(self.model_, names.get((serving, what), f"{serving}_{what}"))
        return [found] if isinstance(self.model_, Perceptron) else list(found.values())

    def _known(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", reset=False)

    def _columns(self) -> list[int]:
        """The core's output of each class."""
        outputs = {label: output for output, label in enumerate(self.model_.labels)}
        return [outputs[label] for label in self.classes_.tolist()]

    def _decision(self, scores: np.ndarray) -> np.ndarray:
        """The core's scores as scikit-learn has them."""
        return self._by_class(np.atleast_2d(scores.T)).T

    def _by_class(self, kept: np.ndarray) -> np.ndarray:
        """From an entry for each of the core's outputs to one for each class, or one for two."""
        if isinstance(self.model_, Perceptron):
            return kept[0]  # type: ignore[no-any-return]
        kept = kept[self._columns()]
        return self._of_two(*kept) if len(kept) == 2 else kept


class PerceptronClassifier(_Classifier):
    """Averaged perceptron for two classes or more, on a compiled core.

    For two classes it learns one vector (:class:`streamptron.Perceptron`); for more, or where
    ``partial_fit`` began with a single class, one each (:class:`streamptron.MulticlassPerceptron`).
    If ``partial_fit`` meets a third class, the one vector w becomes -w and w, with average
    and pocket: what two vectors would have learned, so that no decision changes. Only the
    probabilities lose their offset.

    Parameters
    ----------
    margin : float, default=0.0
        Learn from a row whenever its class is ahead by at most this: with one vector by the size of
        the decision function, with more by the difference of two scores.
    average : {"uniform", "exponential", "none"}, default="uniform"
        The running average of the weights that is kept: the mean of all of them, one in which
        recent ones count more, or none (with another `serve`).
    half_life : float, default=1000
        Of the exponential average, in rows.
    pocket : bool, default=False
        Also keep the weights from their best time.
    serve : {"average", "current", "pocket", "best"}, default="average"
        The weights that answer. On shuffled rows the average makes about a quarter fewer mistakes
        than the current weights, and it is one vector, which `coef_` can show. "best" chooses, row
        by row, whichever has made fewer mistakes lately: for ``partial_fit`` on a stream that
        drifts.
    fit_intercept : bool, default=True
        Learn an intercept, as the weight of a feature that is 1 in every row.
    max_iter : int, default=1000
        The most epochs of ``fit``.
    tol : float or None, default=1e-3
        ``fit`` ends when the loss after `n_iter_no_change` epochs in a row was not this much below
        the least so far. The loss is how far classes are behind, added up over the rows where they
        are, as a share of how far they are behind or ahead over all rows (if there are many, over
        some of them), by the weights that answer. None: all `max_iter` epochs.
    shuffle : bool, default=True
        A new order of the rows in each epoch.
    random_state : int, RandomState instance or None, default=None
        Gives these orders, and the rows that are held out.
    early_stopping : bool, default=False
        Hold out some rows of each class. The loss that `tol` goes by is then the share of mistakes
        on these, and the model is kept as it was when they were fewest.
    validation_fraction : float, default=0.1
        The share of the rows that is held out.
    n_iter_no_change : int, default=5
        How many epochs may pass without an improvement.
    class_weight : dict, "balanced" or None, default=None
        ``{class: weight}``: scales the steps for a class. Classes that are not in it have weight 1.
        "balanced", in ``fit`` only: n_samples / (n_classes * rows of the class).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights that answer; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts that go with them.
    n_iter_ : int
        Epochs of ``fit``; 1 after ``partial_fit``.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame whose columns are all named by strs.
    model_ : streamptron.Perceptron or streamptron.MulticlassPerceptron
        The learner, to go on with event by event: ``learn_one``, ``explain_one``,
        ``top_features``. Its features are the numbers of the columns. Its labels are the classes,
        but those of a Perceptron are False for ``classes_[0]`` and True for ``classes_[1]``. New
        classes are for ``partial_fit``.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import HashingVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamptron.sklearn import PerceptronClassifier

    >>> texts = ["win a free prize now", "see you at the meeting", "free prize", "the agenda"]
    >>> model = make_pipeline(HashingVectorizer(), PerceptronClassifier(random_state=0))
    >>> model.fit(texts, ["spam", "ham", "spam", "ham"]).predict(["the new agenda", "a prize"])
    array(['ham', 'spam'], dtype='<U4')

    References
    ----------
    Rosenblatt, F. (1958). The perceptron. Psychological Review 65(6).
    Freund, Y. & Schapire, R. (1999). Large margin classification using the perceptron algorithm.
    Crammer, K. & Singer, Y. (2003). Ultraconservative online algorithms for multiclass
        problems. JMLR 3.
    """

    def __init__(
        self,
        *,
        margin: float = 0.0,
        average: str = "uniform",
        half_life: float = 1000,
        pocket: bool = False,
        serve: str = "average",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Hashable, float] | str | None = None,
    ) -> None:
        self.margin = margin
        self.average = average
        self.half_life = half_life
        self.pocket = pocket
        self.serve = serve
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight

    def _learner(self, n_classes: int) -> tuple[Any, dict[str, Any]]:
        return (Perceptron if n_classes == 2 else MulticlassPerceptron), {"margin": self.margin}

    @staticmethod
    def _of_two(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return second  # the negative of the first, and what a Perceptron would have learned


class MIRAClassifier(_Classifier):
    """MIRA for two classes or more, on a compiled core; also known as passive-aggressive (PA-I).

    Each step is the smallest that puts a row's class ahead of the best other one by 1, at most `C`.
    Two classes have a vector each, one the negative of the other, and the decision function is the
    difference of their scores. That is the binary PA-I with 2 C for its C.

    Parameters
    ----------
    C : float, default=1.0
        The largest step, above 0. Small values make noisy labels do less harm.
    update : {"margin", "mistake"}, default="margin"
        Learn from a row whenever its class is ahead by less than 1, or only if it is not ahead.
    average, half_life, pocket, serve, fit_intercept, max_iter, tol, shuffle, random_state
        As for :class:`PerceptronClassifier`.
    early_stopping, validation_fraction, n_iter_no_change, class_weight
        As for :class:`PerceptronClassifier`.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As for :class:`PerceptronClassifier`.
    model_ : streamptron.MIRA
        The learner, to go on with event by event: ``learn_one``, ``explain_one``,
        ``top_features``. Its features are the numbers of the columns, its labels the classes. New
        classes are for ``partial_fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from streamptron.sklearn import MIRAClassifier

    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(MIRAClassifier(C=0.1, random_state=0), X, y).mean().round(2)
    np.float64(0.97)

    References
    ----------
    Crammer, K. & Singer, Y. (2003). Ultraconservative online algorithms for multiclass
        problems. JMLR 3.
    Crammer, K. et al. (2006). Online passive-aggressive algorithms. JMLR 7.
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        update: str = "margin",
        average: str = "uniform",
        half_life: float = 1000,
        pocket: bool = False,
        serve: str = "average",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Hashable, float] | str | None = None,
    ) -> None:
        self.C = C
        self.update = update
        self.average = average
        self.half_life = half_life
        self.pocket = pocket
        self.serve = serve
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight

    def _learner(self, n_classes: int) -> tuple[Any, dict[str, Any]]:
        return MIRA, {"C": self.C, "update": self.update}

    @staticmethod
    def _of_two(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        lead: np.ndarray = second - first  # of which MIRA wants 1
        return lead


# --- Parameters and weights


def _checked(name: str, value: Any, kind: type, least: float, bound: str) -> Any:
    if isinstance(value, bool | np.bool_) or not isinstance(value, kind):
        raise TypeError(f"{name}={shown(value)}; it must be {bound}")
    if not typing.cast("float", value) >= least:
        raise ValueError(f"{name}={shown(value)}; it must be {bound}")
    return value


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={shown(value)}; it must be True or False")
    return bool(value)


def _row_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """One weight a row, all of them good; None for none."""
    if sample_weight is None:
        return None
    weights: np.ndarray = check_array(
        sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ValueError(f"sample_weight has {weights.ndim} dimensions; give one weight per row")
    check_consistent_length(X, weights)
    bad = np.flatnonzero((weights < 0) | (weights > VALUE_LIMIT))
    if len(bad):
        raise ValueError(
            f"sample_weight is {weights[bad[0]]} in row {bad[0]}; it must be at least 0 and at "
            f"most {VALUE_LIMIT:g}"
        )
    return weights


# --- The core


def _canonical(X: Any) -> Any:
    """An array, or a CSR matrix in order, so that it is not put in order in every epoch."""
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
    labels = [False, True] if isinstance(model, Perceptron) else classes.tolist()
    w = 1.0 if weights is None else weights
    return labels, steps_of(w, labels, numbers, model._checked_step)


def _parts(order: np.ndarray, X: Any) -> list[np.ndarray]:
    """An order of rows in parts of some GATHERED stored values."""
    size = max(1, GATHERED * X.shape[0] // max(1, X.size))
    return [order[first : first + size] for first in range(0, len(order), size)]


def _best(decision: np.ndarray) -> np.ndarray:
    """The number of the class that a decision is for."""
    if decision.ndim == 1:
        return (decision > 0).astype(np.intp)
    best: np.ndarray = decision.argmax(axis=1)
    return best


def _as_multiclass(model: Perceptron, labels: list[Any], class_weight: Any) -> MulticlassPerceptron:
    """What a MulticlassPerceptron of two labels would have learned from the same: -w and w.

    The steps are the same, so weights, averages and pocket are the Perceptron's and the negatives,
    exactly; clock, counters and contests are the same. A label's lead is twice the Perceptron's
    score, so the temperature beta is half the slope A. It has no offset. Its derivative by its
    logarithm is A times that by A: so are the roots of the sums of their squares (engine/calibrate.pxd).
    """
    state = model.__getstate__()
    twin = MulticlassPerceptron(**{**state["params"], "class_weight": class_weight})
    for label in labels:
        twin._add_label(label)
    fresh = twin.__getstate__()

    fields = 1 + (model.average != "none") + 2 * model.pocket
    arrays = state["arrays"]
    w = np.frombuffer(arrays["weights"][1]).reshape(-1, fields)
    lanes = np.zeros((len(w), 4, fields))  # outputs come in blocks of four
    lanes[:, 0] = 0.0 - w
    lanes[:, 1] = w
    if model.pocket:
        lanes[:, 0, -1] = w[:, -1]  # when it was put there, which is no weight
    kinds = []
    for (m, n, A, _, GA, *_), (_, _, _, B, _, *rest) in zip(
        state["serve"][0], fresh["serve"][0], strict=True
    ):
        beta = min(max(A / 2, 0.015625), 64.0)
        kinds.append((m, n, beta, B, 1.0 + A * A * (GA - 1.0), *rest))
    twin.__setstate__(
        {
            **fresh,
            **{part: state[part] for part in ("seed", "objects", "counters", "clock")},
            "arrays": {**arrays, "weights": ((len(w), 4 * fields), lanes.tobytes())},
            "serve": (kinds, *state["serve"][1:]),
        }
    )
    return twin
