"""MIRA: the margin-infused relaxed algorithm."""

from __future__ import annotations

import typing

from streamptron.doors.model import RULES
from streamptron.doors.parameters import MAX_PAIRS
from streamptron.estimator.base import LabelEstimator

if typing.TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence


class MIRA(LabelEstimator):
    """MIRA: the smallest step that puts the true label ahead of the best other one by 1.

    With true label y, best other label g and loss = (w_g.x - w_y.x) + 1: tau = min(loss / (2 x.x),
    C), then w_y += tau x and w_g -= tau x. The intercept counts as a feature of value 1 in x.x; an
    event with x.x = 0 teaches nothing. Sample and class weights multiply tau. Before the first
    label the prediction is None, which is not a label: do not use it as a feature of another
    learner.

    Words need no scaling. Features that are measured in different units do: put River's
    ``StandardScaler()`` before the learner.

    Parameters
    ----------
    C
        The largest step, above 0. Small values make noisy labels do less harm.
    update
        "margin": whenever the loss is above 0 (PA-I against the runner-up). "mistake": only when
        the true label does not score above the best other one.
    average, half_life, pocket, serve, intercept, class_weight, max_features, hash_bits, hash_seed,
        degree, interactions, max_pairs
        As for :class:`Perceptron`.
    max_labels
        As for :class:`MulticlassPerceptron`.

    Attributes
    ----------
    labels, weights, averaged_weights, pocket_weights, intercept_, averaged_intercept,
        pocket_intercept
        As for :class:`MulticlassPerceptron`.
    n_seen, n_updates, n_mistakes, n_features, n_evicted, serving, memory_usage
        As for :class:`Perceptron`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from streamptron import MIRA

    >>> model = preprocessing.StandardScaler() | MIRA(C=0.1)
    >>> evaluate.progressive_val_score(datasets.ImageSegments(), model, metrics.Accuracy())
    Accuracy: 89.09%

    References
    ----------
    Crammer, K. & Singer, Y. (2003). Ultraconservative online algorithms for multiclass
        problems. JMLR 3.
    Crammer, K. et al. (2006). Online passive-aggressive algorithms. JMLR 7.
    """

    def __init__(
        self,
        C: float = 1.0,
        update: str = "margin",
        average: str = "uniform",
        half_life: float = 1000,
        pocket: bool = False,
        serve: str = "best",
        intercept: bool = True,
        class_weight: Mapping[Hashable, float] | None = None,
        max_features: int | None = None,
        max_labels: int | None = None,
        hash_bits: int | None = None,
        hash_seed: int | None = None,
        degree: int = 1,
        interactions: Sequence[tuple[str, str]] | None = None,
        max_pairs: int = MAX_PAIRS,
    ) -> None:
        self._configure(
            RULES.MIRA,
            C=C,
            update=update,
            average=average,
            half_life=half_life,
            pocket=pocket,
            serve=serve,
            intercept=intercept,
            class_weight=class_weight,
            max_features=max_features,
            max_labels=max_labels,
            hash_bits=hash_bits,
            hash_seed=hash_seed,
            degree=degree,
            interactions=interactions,
            max_pairs=max_pairs,
        )

    @property
    def C(self) -> float:
        """The largest step."""
        return self._param("C")  # type: ignore[no-any-return]

    @property
    def update(self) -> str:
        """When to update: "margin" or "mistake"."""
        return self._param("update")  # type: ignore[no-any-return]
