"""The base class of all classifiers for scikit-learn: named columns, gaps, texts, explanations.

A wrapper checks what scikit-learn requires; the learner inside, `model_`, does everything else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from streamptron.common.cells import SKIP_NAN
from streamptron.common.names import Pair, short_repr
from streamptron.estimator.base import BinaryEstimator, TopFeatures
from streamptron.estimator.columns import Rows
from streamptron.estimator.frames import frame_matrix, frame_wrap
from streamptron.estimator.learner import Learner, Savable

NO_VALIDATION = "no_validation"  # scikit-learn's default for a y that is not given
Explanation = list[tuple[Hashable, float]]


class Named(NamedTuple):
    """Checked rows: an array or a CSR matrix, and the features of its columns (None: numbers)."""

    X: Any
    names: list[Any] | None

    def taken(self, rows: Any) -> Named:
        """Some of the rows."""
        return Named(self.X[rows], self.names)


class Wrapper(Savable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # it has no types
    """A scikit-learn classifier with one of our learners inside, `model_`.

    Features are the names of a frame's columns, or the numbers of columns without names. NaN is a
    gap. A frame may hold texts and categories: "Paris" under "city" is the feature "city=Paris".
    """

    model_: Any
    classes_: np.ndarray
    n_features_in_: int
    predict_proba: Any
    _dtype: Any = "numeric"  # what rows are converted to, as in check_array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    # --- Rows

    def _checked_rows(self, X: Any, reset: bool, y: Any = NO_VALIDATION) -> tuple[Named, Any]:
        """Checked rows, and y, if it is given."""
        given = {} if y is NO_VALIDATION else {"y": y}
        frame = _frame_with_texts(X)
        if frame is None:
            checked = validate_data(
                self,
                X,
                **given,
                accept_sparse="csr",
                dtype=self._dtype,
                ensure_all_finite="allow-nan",
                reset=reset,
            )
            X, y = checked if given else (checked, None)
            names = getattr(self, "feature_names_in_", None)
            return Named(X, None if names is None else names.tolist()), y
        validate_data(self, X, **given, skip_check_array=True, reset=reset)
        if not hasattr(self, "feature_names_in_"):
            raise ValueError(
                "X has texts, but the classifier has learned columns without names, and a text is "
                "a category under its column's name: fit it with frames whose column names are strs"
            )
        if given:
            check_consistent_length(X, y)
            y = column_or_1d(y, warn=True)
            assert_all_finite(y, input_name="y")
        matrix, names = frame_matrix(frame, SKIP_NAN)
        return Named(matrix.csr() if isinstance(matrix, Rows) else matrix, names), y

    def _known(self, X: Any) -> Named:
        """Checked rows for a fitted classifier."""
        check_is_fitted(self)
        return self._checked_rows(X, reset=False)[0]

    # --- Looking inside

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of ``predict_proba``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            log_p: np.ndarray = np.log(self.predict_proba(X))
        return log_p

    def top_features(
        self, n: int = 10, label: Hashable = None, feature_names: Iterable[Any] | None = None
    ) -> Any:
        """The features with the largest weights.

        Parameters
        ----------
        n : int, default=10
            The number of features of each sign.
        label : hashable, default=None
            The class whose weights to show. By default ``classes_[1]`` if there are two classes,
            otherwise all classes.
        feature_names : iterable of str, default=None
            The names of the columns, for a classifier that was fitted on columns without names:
            for example, ``get_feature_names_out()`` of the pipeline's previous step.

        Returns
        -------
        top : TopFeatures or dict
            ``TopFeatures(positive, negative)``, each a list of (feature, weight), the largest in
            absolute value first; for all classes ``{class: TopFeatures}``.

        Examples
        --------
        >>> import pandas as pd
        >>> from streamptron.sklearn import PerceptronClassifier
        >>> X = pd.DataFrame({"goal": [2.0, 0.0], "law": [0.0, 3.0]})
        >>> model = PerceptronClassifier(max_iter=1, shuffle=False, serve="current")
        >>> model.fit(X, ["politics", "sport"]).top_features()
        TopFeatures(positive=[('law', 3.0)], negative=[('goal', -2.0)])
        """
        names = self._column_names(feature_names)
        found = self.model_.top_features(n, self._learned_label(label))
        if not isinstance(found, dict):
            return _top(found, names)
        return {each: _top(found[each], names) for each in self.classes_.tolist() if each in found}

    def explain(
        self, X: Any, label: Hashable = None, feature_names: Iterable[Any] | None = None
    ) -> list[Explanation]:
        """What each feature of each row contributes to its score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One event per row.
        label : hashable, default=None
            The class whose score to explain. By default ``classes_[1]`` if there are two classes,
            otherwise the one that ``predict`` returns.
        feature_names : iterable of str, default=None
            As for ``top_features``.

        Returns
        -------
        parts : list of lists
            For each row, pairs of feature and contribution, the largest in absolute value first.
            The intercept is the feature None.

        Examples
        --------
        >>> import pandas as pd
        >>> from streamptron.sklearn import PerceptronClassifier
        >>> X = pd.DataFrame({"goal": [2.0, 0.0], "law": [0.0, 3.0]})
        >>> model = PerceptronClassifier(max_iter=1, shuffle=False, serve="current")
        >>> model.fit(X, ["politics", "sport"]).explain(X[1:])
        [[('law', 9.0), (None, 0.0)]]
        """
        names = self._column_names(feature_names)
        rows, learned = self._known(X), self._learned_label(label)
        return [_parts(self.model_.explain_one(x, learned), names) for x in _events(rows)]

    def _column_names(self, feature_names: Iterable[Any] | None) -> list[Any] | None:
        """Names for the columns of a fitted classifier, checked; None if none are given."""
        check_is_fitted(self)
        if feature_names is None:
            return None
        names = list(feature_names)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"feature_names has {len(names)} names; the classifier was fitted on "
                f"{self.n_features_in_} columns"
            )
        if hasattr(self, "feature_names_in_"):
            raise ValueError("feature_names is given, but the columns already have names")
        return names

    def _learned_label(self, label: Hashable) -> Any:
        """A class as the learner's label; None if it is not given and there are more than two."""
        classes = self.classes_.tolist()
        label = label.item() if isinstance(label, np.generic) else label
        if label is None and len(classes) == 2:
            label = classes[1]
        if label is not None and label not in classes:
            raise ValueError(
                f"label={short_repr(label)} is not one of the classes, {short_repr(classes, 200)}"
            )
        if isinstance(self.model_, BinaryEstimator):
            return classes.index(label) == 1
        return label

    # --- Files

    def _file_wrapper(self) -> tuple[Learner, dict[str, Any]]:
        """The learner, and what the classifier itself has."""
        check_is_fitted(self)
        params = self.get_params(deep=False)
        kept = {name: _as_data(value) for name, value in vars(self).items() if name not in params}
        learner = kept.pop("model_")
        given = {name: _as_data(value) for name, value in params.items()}
        return learner, {"class": type(self).__name__, "given": given, "kept": kept}

    @classmethod
    def _of_file(cls, learner: Learner, given: dict[str, Any], kept: dict[str, Any]) -> Self:
        """The classifier that `_file_wrapper` wrote; an error if the data is invalid."""
        made = cls(**given)
        for name, value in kept.items():
            if name not in KEPT:
                raise ValueError(f"a classifier has no attribute {short_repr(name)}")
            setattr(made, name, _of_data(value))
        made.model_ = learner
        check_is_fitted(made, ["classes_", "n_features_in_"])
        return made


# What a fitted classifier has besides its learner.
KEPT = {"classes_", "n_features_in_", "feature_names_in_", "n_iter_", "_single"}


def check_two(classes: np.ndarray) -> None:
    """Check that there are classes to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            f"y has 1 class, {short_repr(classes.tolist()[0])}; fit needs two or more "
            "(partial_fit may begin with one)"
        )


def _name(feature: Any, names: list[Any]) -> Any:
    """A feature with names in place of the numbers of columns."""
    if isinstance(feature, Pair):
        return Pair(_name(feature.first, names), _name(feature.second, names))
    if isinstance(feature, tuple):  # ("gap", column), ("bend", column, place)
        return (feature[0], _name(feature[1], names), *feature[2:])
    return names[feature] if type(feature) is int else feature


def _parts(parts: Explanation, names: list[Any] | None) -> Explanation:
    return parts if names is None else [(_name(feature, names), part) for feature, part in parts]


def _top(top: TopFeatures, names: list[Any] | None) -> TopFeatures:
    return TopFeatures(_parts(top.positive, names), _parts(top.negative, names))


def _frame_with_texts(X: Any) -> Any:
    """X as a narwhals frame if it is one with columns that are not numbers; else None."""
    if isinstance(X, np.ndarray | list | tuple) or not hasattr(X, "columns"):
        return None
    import narwhals.stable.v2 as nw

    try:
        frame = frame_wrap(X)
    except TypeError:
        return None
    texts = (nw.String, nw.Categorical, nw.Enum, nw.Object)
    return frame if any(kind in texts for kind in frame.schema.values()) else None


def _events(rows: Named) -> list[dict[Any, Any]]:
    """Each row as the dict that a learner takes."""
    X, names = rows
    columns = range(X.shape[1]) if names is None else names
    if isinstance(X, np.ndarray):
        return [dict(zip(columns, row, strict=True)) for row in X.tolist()]
    found = []
    for start, end in pairwise(X.indptr):
        entries = zip(X.indices[start:end].tolist(), X.data[start:end].tolist(), strict=True)
        found.append({columns[at]: value for at, value in entries})
    return found


def _as_data(value: Any) -> Any:
    """A parameter or attribute without numpy's types."""
    if isinstance(value, np.ndarray):
        return ("ndarray", value.dtype.str, value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return dict(value) if isinstance(value, Mapping) else value


def _of_data(value: Any) -> Any:
    if not (isinstance(value, tuple) and value and value[0] == "ndarray"):
        return value
    _, kind, values = value
    if np.dtype(kind).kind not in "biufUSO" or not isinstance(values, list):
        raise ValueError(f"an array of {short_repr(kind)} cannot be part of a classifier")
    return np.fromiter(values, dtype=kind, count=len(values))
