"""MultiLabelClassifier: several labels per event."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from streamptron.common.parameters import MAX_PAIRS, arguments, kept
from streamptron.common.river import base
from streamptron.doors.model import RULES
from streamptron.doors.multilabel import MultiLabelModel
from streamptron.estimator.base import ByLabel

if TYPE_CHECKING:
    from streamptron.estimator.batches import Batch
    from streamptron.estimator.multilabel import Sets


class MultiLabelClassifier(  # type: ignore[misc]
    MultiLabelModel, ByLabel, base.MultiLabelClassifier
):
    """Several labels per event, such as topics, tags or causes.

    Each label is learned against its absence, as :class:`AdaptiveClassifier` learns two labels: by
    logistic regression with a step size for each weight, features weighted by how informative they
    are, and naive Bayes as one more feature. But all labels share one model. A feature stores
    numbers for a label only if that label came with it, or was wrongly expected with a probability
    of more than 1/8: 16 bytes for each such pair, and nothing for others. The time of an event
    depends on the labels of its features, not on all labels.

    Labels need not be declared. A new one counts as absent from all earlier events.

    Parameters
    ----------
    eta, forget
        As for :class:`AdaptiveClassifier`.
    threshold
        A label is predicted if its probability is above this. 1/2, the default, makes the fewest
        wrong labels; about .3 gives a better F1 if labels are rare. ``{label: number}``: one for
        each label, and 1/2 for labels that are not in it. ``"f1"``: the multiple of 1/64 that would
        have given the answers so far the best F1 over all labels; ``best_threshold`` shows it.
    max_features
        As for :class:`Perceptron`; a feature's size is its largest weight over all labels, times
        the square root of how often it has come.
    max_labels
        The largest number of labels. An event with more is a ValueError, and is not learned. None:
        no limit. A label costs about 250 bytes, and 16 for each feature that it comes with; so
        users who can send labels of their own can use up memory, 16 bytes for each label and
        feature of their events.
    hash_bits, hash_seed, degree, interactions, max_pairs, missing
        As for :class:`Perceptron`.

    Attributes
    ----------
    labels
        The labels in the order in which they were first seen; those that came in the same set, in
        the order of their repr.
    weights
        ``{label: {feature: weight}}``, which apply to scaled values; ``explain_one`` says what each
        feature contributes to the score of a label.
    intercept_
        ``{label: intercept}``.
    best_threshold
        The threshold that would have given the best F1.
    n_seen, n_updates, n_features, n_evicted, memory_usage
        As for :class:`Perceptron`.
    n_mistakes
        Events whose set of labels was not predicted exactly, with a threshold of 1/2.

    Notes
    -----
    ``decision_function_one`` gives the score of each label; the sigmoid of the score is the
    probability. Probabilities are independent: those of an event's labels need not sum to 1.

    Examples
    --------
    >>> from streamptron import MultiLabelClassifier, Tokenizer

    >>> model = Tokenizer() | MultiLabelClassifier()
    >>> for _ in range(3):
    ...     model.learn_one("oil tankers leave the port", {"crude", "ship"})
    ...     model.learn_one("wheat is loaded in the port", {"grain", "ship"})
    ...     model.learn_one("the bank lowers its rate", {"interest"})
    >>> answer = model.predict_one("oil leaves the port")
    >>> sorted(label for label in answer if answer[label])
    ['crude', 'ship']

    River's protocol, with labels that are known to be absent, and nothing said about others:

    >>> model.learn_one("oil prices rise", {"crude": True, "ship": False})
    >>> model.predict_proba_one("oil prices")["crude"][True] > 0.9
    True

    References
    ----------
    * Read, J., Pfahringer, B., Holmes, G. & Frank, E. (2011). Classifier chains for multi-label
      classification. Machine Learning 85: on one classifier per label, the baseline.
    """

    def __init__(
        self,
        eta: float = 1.0,
        forget: float = 2**-10,
        threshold: float | Mapping[Hashable, float] | str = 0.5,
        max_features: int | None = None,
        max_labels: int | None = None,
        hash_bits: int | None = None,
        hash_seed: int | None = None,
        degree: int = 1,
        interactions: Sequence[tuple[str, str]] | None = None,
        max_pairs: int = MAX_PAIRS,
        missing: str = "skip",
    ) -> None:
        self._configure(RULES.SETS, **arguments(locals()))

    # The parameters that only this learner has, as they were given.
    eta = kept[float]("The step size.")
    forget = kept[float]("How fast a weight's steps become long again.")
    threshold = kept[float | dict[Hashable, float] | str](
        "The probability above which a label is answered."
    )

    @classmethod
    def from_weights(cls, weights: Any, intercept: Any = None, **params: Any) -> Self:
        """Not supported: this learner needs more than weights."""
        raise TypeError(
            "MultiLabelClassifier keeps counts with each weight and cannot start from weights; "
            "save or pickle a model"
        )

    # --- Many rows

    def learn_many(
        self,
        X: Any,
        y: Any,
        w: Any = 1.0,
        feature_names: Iterable[Hashable] | None = None,
        labels: Iterable[Hashable] | None = None,
    ) -> None:
        """Learn from the rows of a matrix or frame, one after the other.

        The model becomes the same, to the last bit, as if ``learn_one`` had learned row by row.
        Everything is checked first: after an error, nothing has been learned.

        Parameters
        ----------
        X, feature_names
            As for ``Perceptron.learn_many``.
        y
            A sequence of label sets as ``learn_one`` takes them, one per row; or an indicator
            matrix of 0 and 1, with a row per event and a column per label: an array, a sparse
            matrix, or a frame.
        w
            The sample weight of all rows, or one weight per row.
        labels
            For an indicator matrix without column names: the label of each column.

        Raises
        ------
        TypeError, ValueError
            If a cell or a label is invalid. The message names the row.
        MemoryError
            If memory runs out. The message says how many rows have been learned.

        Examples
        --------
        >>> import numpy as np
        >>> from streamptron import MultiLabelClassifier
        >>> model = MultiLabelClassifier()
        >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * 4)
        >>> Y = np.array([[1, 0], [0, 1], [1, 1]] * 4)
        >>> model.learn_many(X, Y, labels=["ham", "eggs"])
        >>> model.predict_many(X[:3]).astype(int).tolist()
        [[1, 0], [0, 1], [1, 1]]
        """
        import numpy as np  # only when it is needed, as in ``_batch``

        from streamptron.estimator.batches import steps_of
        from streamptron.estimator.multilabel import sets_of

        batch = self._batch(X, feature_names)
        rows = np.zeros(len(batch), dtype=np.intp)
        steps = steps_of(w, [None], rows, lambda label, w: self._weight(w))
        self._learned_sets(batch, sets_of(self, y, len(batch), labels, steps), steps)

    def _learned_sets(self, batch: Batch, sets: Sets, steps: Any, order: Any = None) -> None:
        batch.learned(self._learn_sets, *sets, steps, order)

    def predict_many(
        self,
        X: Any,
        feature_names: Iterable[Hashable] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Any:
        """Whether each row has each label.

        Parameters
        ----------
        X, feature_names, n_jobs
            As for ``Perceptron.predict_many``.

        Returns
        -------
        Truth values with one column per label, in the order of ``labels``: a frame if X is one,
        else an array.
        """
        import numpy as np

        p = self.predict_proba_many(X, feature_names, n_jobs=n_jobs)
        # another thread may have taught it more labels since; they come after these
        columns = self.labels[: p.shape[1]] if isinstance(p, np.ndarray) else list(p.columns)
        above = np.array([self._threshold_of(label) for label in columns])
        return p > (above if isinstance(p, np.ndarray) else above[None, :])

    def _threshold_of(self, label: Hashable) -> float:
        if isinstance(self.threshold, dict):
            return self.threshold.get(label, 0.5)
        return self.best_threshold if isinstance(self.threshold, str) else self.threshold

    def test_then_train_many(self, X: Any, y: Any, w: Any = 1.0, feature_names: Any = None) -> Any:
        """Not supported: each row may add labels, and so columns to the answers."""
        raise TypeError(
            "test_then_train_many is not for MultiLabelClassifier, whose labels grow with the "
            "rows; use test_then_train_one, or predict_many and then learn_many"
        )
