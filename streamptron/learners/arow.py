"""AROW: adaptive regularisation of weights."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from streamptron.common.parameters import MAX_PAIRS, arguments, kept
from streamptron.doors.model import RULES
from streamptron.estimator.base import PairEstimator


class AROW(PairEstimator):
    """Adaptive regularisation of weights: a step size for each feature.

    Each weight has a variance S, 1 at first, which falls with every step of the weight: the weights
    of frequent features move little, those of rare ones a lot. On an event x with label Y =
    +1 or -1 and Y w.x < 1: v = sum of S x^2, alpha = Y (1 - Y w.x) / (v + r), then w += alpha S x
    and S -= S^2 x^2 / (v + r). The intercept is the weight of a feature that is 1 in every event.

    Two labels share one score. It is above 0 for the second label seen, or for the first if that is
    True. With three or more labels, each has its own score, learned against all others; the first
    two start from w and -w, a new one from 0 with an intercept of -1. The best score wins; a tie
    goes to the label seen first. Before the first label the prediction is None, which is not a
    label: do not use it as a feature of another learner.

    There is no average: the variances do what averaging does for a perceptron. They can only fall,
    so AROW never forgets, unlike a perceptron, which makes it worse on streams that keep drifting.

    Parameters
    ----------
    r
        The noise of labels, above 0. Larger values make smaller steps, so that no single event
        matters much.
    intercept, class_weight, max_features, hash_bits, hash_seed, degree, interactions, max_pairs,
        missing
        As for :class:`Perceptron`. If sample weight times class weight is u, the event counts as u
        observations: r / u replaces r. With a sample weight of 0, no weights change.
    max_labels
        As for :class:`MulticlassPerceptron`.

    Attributes
    ----------
    labels
        The labels in the order in which they were first seen.
    weights, intercept_
        With up to two labels ``{feature: weight}`` and a number; with more, a dict of these by
        label. Weights of 0 are left out.
    n_seen, n_updates, n_mistakes, n_features, n_evicted, memory_usage
        As for :class:`Perceptron`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from streamptron import AROW

    >>> model = preprocessing.StandardScaler() | AROW()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 88.55%

    References
    ----------
    * Crammer, K., Kulesza, A. & Dredze, M. (2009). Adaptive regularization of weight vectors.
      NIPS 22.
    """

    def __init__(
        self,
        r: float = 1.0,
        intercept: bool = True,
        class_weight: Mapping[Hashable, float] | None = None,
        max_features: int | None = None,
        max_labels: int | None = None,
        hash_bits: int | None = None,
        hash_seed: int | None = None,
        degree: int = 1,
        interactions: Sequence[tuple[str, str]] | None = None,
        max_pairs: int = MAX_PAIRS,
        missing: str = "skip",
    ) -> None:
        self._configure(RULES.AROW, **arguments(locals()))

    r = kept[float]("The noise of a label.")
