"""MultiLabelClassifier for scikit-learn: indicator matrices, or one class per row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from streamptron.common.cells import SKIP_NAN
from streamptron.common.checks import truth, whole
from streamptron.common.parameters import arguments
from streamptron.estimator.batches import batch_of
from streamptron.estimator.multilabel import entries_of, sets_of_entries
from streamptron.learners import multilabel
from streamptron.sklearn.base import _row_weights
from streamptron.sklearn.epochs import best_of
from streamptron.sklearn.wrapper import Named, Wrapper, check_two


class Rows(NamedTuple):
    """Checked rows, the ones of their indicator matrix, and whether each row has a single one."""

    X: Named
    rows: np.ndarray
    columns: np.ndarray
    classes: np.ndarray
    single: bool


class MultiLabelClassifier(Wrapper):
    """Several labels per row, each learned separately but in a single pass.

    y is an indicator matrix, dense or sparse, with one column per label; ``predict`` then returns
    one, too. y may also have one class per row: then the class with the highest score is the
    answer.

    Parameters
    ----------
    eta : float, default=1.0
        The step size; there is rarely a reason to change it.
    forget : float, default=2^-10
        How fast a weight's steps become long again; .03 for streams that change suddenly.
    threshold : float, dict or "f1", default=0.5
        A label is answered if its probability is above this. A dict ``{column: number}`` has one
        for each label; "f1" is the multiple of 1/64 that would have given the best F1 so far.
    max_iter : int, default=5
        The number of epochs in ``fit``.
    shuffle : bool, default=True
        Whether each epoch learns the rows in a new random order.
    random_state : int, RandomState instance or None, default=None
        Seeds these orders.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; for an indicator matrix, the numbers of its columns.
    n_iter_ : int
        Epochs of ``fit``; 1 after ``partial_fit``.
    n_features_in_, feature_names_in_
        As for :class:`PerceptronClassifier`.
    model_ : streamptron.MultiLabelClassifier
        The learner, to continue event by event. Its features are the numbers of the columns, its
        labels are `classes_`.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MultiLabelBinarizer
    >>> from streamptron.sklearn import MultiLabelClassifier

    >>> texts = ["oil in the port", "wheat in the port", "oil prices", "wheat prices"] * 3
    >>> tags = [{"crude", "ship"}, {"grain", "ship"}, {"crude"}, {"grain"}] * 3
    >>> binary = MultiLabelBinarizer()
    >>> model = make_pipeline(CountVectorizer(), MultiLabelClassifier(random_state=0))
    >>> model = model.fit(texts, binary.fit_transform(tags))
    >>> binary.inverse_transform(model.predict(["oil", "the port of wheat"]))
    [('crude',), ('grain', 'ship')]
    """

    _dtype = np.float64

    def __init__(
        self,
        *,
        eta: float = 1.0,
        forget: float = 2**-10,
        threshold: float | Mapping[Hashable, float] | str = 0.5,
        max_iter: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.__dict__.update(arguments(locals()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch, in `max_iter` epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            An indicator matrix of 0 and 1; or the class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Scales the step of each row. A row of weight 0 is left out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        epochs = whole("max_iter", self.max_iter, 1, 2**31, "an int")
        shuffle = truth("shuffle", self.shuffle)
        rng = check_random_state(self.random_state)
        found = self._validated(X, y, reset=True, classes=None)
        if found.single:
            check_two(found.classes)
        model = self._started()
        weights = _row_weights(sample_weight, found.X.X)
        if weights is not None and not weights.any():
            raise ValueError("sample_weight is zero in every row: there is nothing to learn")
        n = found.X.X.shape[0]
        for _ in range(epochs):
            self._learn(model, found, weights, rng.permutation(n) if shuffle else np.arange(n))
        return self._fitted(model, found, epochs)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continue learning: one pass over the rows, in their order.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``. An indicator matrix has the same columns in every call.
        classes : array-like of shape (n_classes,), default=None
            For one class per row: classes, including those that are not in y yet. New classes may
            be added in any call.

        Returns
        -------
        self : object
            The estimator.
        """
        first = not hasattr(self, "model_")
        found = self._validated(X, y, reset=first, classes=classes)
        if not first and found.single != self._single:
            forms = "an indicator matrix", "one class per row"
            raise ValueError(
                f"y is {forms[found.single]}; in the calls before it was {forms[self._single]}"
            )
        if not first and not found.single and len(found.classes) != len(self.classes_):
            raise ValueError(
                f"y has {len(found.classes)} columns; in the calls before it had "
                f"{len(self.classes_)}, one per label"
            )
        model = self._started() if first else self.model_
        weights = _row_weights(sample_weight, found.X.X)
        self._learn(model, found, weights, np.arange(found.X.X.shape[0]))
        return self._fitted(model, found, 1)

    def _fitted(self, model: Any, found: Rows, n_iter: int) -> Self:
        self.model_, self.classes_, self.n_iter_ = model, found.classes, n_iter
        self._single = found.single
        return self

    def _started(self) -> Any:
        return multilabel.MultiLabelClassifier(
            eta=self.eta,
            forget=self.forget,
            threshold=self.threshold,
            missing=SKIP_NAN,
            hash_seed=None if self.random_state is None else 0,
        )

    def _learn(self, model: Any, found: Rows, weights: Any, order: np.ndarray) -> None:
        if weights is not None:
            order = order[weights[order] > 0]
        if not len(order):
            return
        n = found.X.X.shape[0]
        sets = sets_of_entries(found.classes.tolist(), found.rows, found.columns, n, int(order[0]))
        batch = batch_of(*found.X, model.missing).ready()
        model._learned_sets(batch, sets, weights, order.astype(np.intp))

    def _validated(self, X: Any, y: Any, reset: bool, classes: Any) -> Rows:
        if y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None: an indicator matrix, or one "
                "class per row"
            )
        X, _ = self._checked_rows(X, reset)
        y = check_array(
            y,
            accept_sparse="csr",
            ensure_2d=False,
            dtype=None,
            input_name="y",
            ensure_min_samples=0,
        )
        if y.ndim == 2 and y.shape[1] > 1:
            rows, columns, (n, n_labels) = entries_of(y)
            found = Rows(X, rows, columns, np.arange(n_labels), False)
        else:
            y = column_or_1d(y.toarray() if hasattr(y, "toarray") else y, warn=True)
            check_classification_targets(y)
            known = [] if reset else [self.classes_]
            groups = [*known, *([] if classes is None else [np.asarray(classes)]), np.unique(y)]
            union = np.unique(np.concatenate(groups))
            n = len(y)
            found = Rows(X, np.arange(n), np.searchsorted(union, y), union, True)
        if n != (known := X.X.shape[0]):
            raise ValueError(f"y has {n} rows; X has {known}: inconsistent numbers of samples")
        return found

    # --- Answers

    def _said(self, ask: str, X: Any) -> np.ndarray:
        """What a method of the model returns for rows, by class."""
        rows = self._known(X)
        said = np.asarray(getattr(self.model_, ask)(*rows))
        output = {label: k for k, label in enumerate(self.model_.labels)}
        return said[:, [output[label] for label in self.classes_.tolist()]]

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels) or (n_samples,)
            With one class per row and two classes: one number per row, above 0 for ``classes_[1]``.
        """
        scores = self._said("decision_function_many", X)
        if self._single and len(self.classes_) == 2:
            scores = scores[:, 1] - scores[:, 0]  # whose type is Any in numpy 2.4
        return scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row.

        Returns
        -------
        p : ndarray of shape (n_samples, n_labels)
            For an indicator matrix they are independent; with one class per row they sum to 1.
        """
        p = self._said("predict_proba_many", X)
        return p / p.sum(axis=1, keepdims=True) if self._single else p

    def predict(self, X: Any) -> np.ndarray:
        """The labels, or the class, of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row.

        Returns
        -------
        y : ndarray of shape (n_samples, n_labels) or (n_samples,)
            An indicator matrix of ints, or classes, whichever y was in ``fit``.
        """
        check_is_fitted(self)
        if self._single:
            best: np.ndarray = self.classes_[best_of(self.decision_function(X))]
            return best
        return self._said("predict_many", X).astype(int)
