"""MIRA: the margin-infused relaxed algorithm."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from streamptron.common.parameters import MAX_PAIRS, arguments, kept
from streamptron.doors.model import RULES
from streamptron.estimator.base import LabelEstimator
from streamptron.learners.perceptron import Averaged


class MIRA(Averaged, LabelEstimator):  # type: ignore[misc]  # no **kwargs
    """MIRA: the smallest step that puts the true label ahead of the best other one by 1.

    With true label y, best other label g and loss = (w_g.x - w_y.x) + 1: tau = min(loss / (2 x.x),
    C), then w_y += tau x and w_g -= tau x. The intercept counts as a feature of value 1 in x.x; an
    event with x.x = 0 teaches nothing. Sample and class weights multiply tau. Before the first
    label the prediction is None, which is not a label: do not use it as a feature of another
    learner. `violators` says which labels share the step. If weights are not averaged
    (``average="none"``), a label's intercept starts at -1; otherwise a new label would be the
    answer to many other events after its first.

    Words need no scaling. Features in different units do: put River's ``StandardScaler()`` before
    the learner.

    Parameters
    ----------
    C
        The largest step, above 0. Small values reduce the harm of noisy labels.
    update
        When to update. "margin": whenever the loss is above 0 (PA-I against the runner-up).
        "mistake": only if the true label does not score above the best other one.
    average, half_life, pocket, serve, intercept, class_weight, max_features, hash_bits, hash_seed,
        degree, interactions, max_pairs, missing
        As for :class:`Perceptron`.
    max_labels
        As for :class:`MulticlassPerceptron`.
    violators
        Which labels lose what the true one gains. "best": only g. Otherwise, all labels against
        which an update is due, each by a share s_k: with "uniform", 1 / their number; with
        "proportional", d_k / the sum of their d, where d_k = (w_k.x - w_y.x) + 1. See the notes.

    Attributes
    ----------
    labels, weights, averaged_weights, pocket_weights
        As for :class:`MulticlassPerceptron`.
    intercept_, averaged_intercept, pocket_intercept
        As for :class:`MulticlassPerceptron`.
    n_seen, n_updates, n_mistakes, n_features, n_evicted, serving, memory_usage
        As for :class:`Perceptron`.

    Notes
    -----
    To put the true label y ahead of every violator k by 1 with the smallest change is a small
    quadratic program, with one constraint per label. The problem solved here has a single
    constraint instead, the mean of these with weights s_k that sum to 1, and therefore a closed
    form::

        min  |W' - W|^2 / 2 + C xi   with   sum_k s_k (w'_y - w'_k).x >= 1 - xi,   xi >= 0

    The left side of the constraint grows fastest along w_y += x, w_k -= s_k x. The squared length
    of this direction is ``|x|^2 (1 + sum_k s_k^2)``, and a step tau along it raises the left side
    by tau times the same number. Before the step the left side was 1 - loss, with
    loss = sum_k s_k d_k. So::

        tau = min(loss / (x.x (1 + sum_k s_k^2)), C)

    After a step below C the mean lead is 1; the leads over single labels may be smaller or larger.
    With s_g = 1 this is the step above, and with ``update="margin"`` it is PA-I of Crammer et al.
    (2006) for that one constraint.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from streamptron import MIRA

    >>> model = preprocessing.StandardScaler() | MIRA(C=0.1)
    >>> evaluate.progressive_val_score(datasets.ImageSegments(), model, metrics.Accuracy())
    Accuracy: 89.09%

    >>> model = MIRA.from_weights({"a": {}, "b": {}, "c": {}}, violators="uniform", intercept=False)
    >>> model.learn_one({"x": 2}, "c")
    >>> {label: round(score, 3) for label, score in model.decision_function_one({"x": 2}).items()}
    {'a': -0.333, 'b': -0.333, 'c': 0.667}

    References
    ----------
    * Crammer, K. & Singer, Y. (2003). Ultraconservative online algorithms for multiclass
      problems. JMLR 3.
    * Crammer, K. et al. (2006). Online passive-aggressive algorithms. JMLR 7.
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
        violators: str = "best",
        degree: int = 1,
        interactions: Sequence[tuple[str, str]] | None = None,
        max_pairs: int = MAX_PAIRS,
        missing: str = "skip",
    ) -> None:
        self._configure(RULES.MIRA, **arguments(locals()))

    C = kept[float]("The largest step.")
    update = kept[str]('When to update: "margin" or "mistake".')
    violators = kept[str](
        'Which labels lose what the true one gains: "best", "uniform" or "proportional".'
    )
