"""The perceptron, for two labels and for any number."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from streamptron.common.parameters import MAX_PAIRS, arguments, kept
from streamptron.doors.model import RULES
from streamptron.estimator.base import BinaryEstimator, LabelEstimator


class Averaged:
    """The parameters of learners that keep an average or a pocket next to the current weights."""

    _param: Callable[[str], Any]

    average = kept[str]('Which average is kept: "none", "uniform" or "exponential".')
    half_life = kept[float]("The half-life of the exponential average, in events.")
    pocket = kept[bool]("Whether the weights that made the fewest mistakes are kept, too.")
    serve = kept[str]("Which weights answer.")


class Perceptron(Averaged, BinaryEstimator):  # type: ignore[misc]  # no **kwargs
    """Binary perceptron with a running average and an optional pocket.

    On an event x with label y (+1 for True, -1 for False) and score a = w.x + b: if y a <= margin,
    then w += y x and b += y. A score of 0 is a mistake for either label; the prediction is True if
    the score is above 0.

    Only the current weights learn. The model also keeps their running average and, if asked, a
    pocket; neither ever changes the current weights, so learning can continue at any time. `serve`
    chooses which of these vectors answers.

    Words need no scaling. Features in different units do: put River's ``StandardScaler()`` before
    the learner.

    Parameters
    ----------
    margin
        Update whenever y a <= margin, in units of the score. 0 is the classical perceptron.
    average
        "uniform": the mean of all weight vectors w_0 .. w_T, each weighted by how long it lasted
        (right for a shuffled stream). "exponential": recent ones count more (for a stream that
        drifts). "none": there is no average.
    half_life
        The half-life of the exponential average, in events, from 1 to 1e10: a weight vector of that
        age counts half.
    pocket
        Keep a copy of the weights from when they were best lately.
    serve
        Which weights answer: "current", "average", "pocket", or "best": the kept vector that has
        made the fewest mistakes lately, counted on every labelled event before it is learned.
    intercept
        Learn an intercept, as the weight of a feature that is 1 in every event.
    class_weight
        ``{label: weight}``: scales the steps for a label. Labels that are not in it have weight 1.
    max_features
        None: every feature that was ever in an update keeps its weights. A number: at most that
        many features have weights. A new feature then replaces one that matters little and has not
        come for a long time: of the next 16 in turn that are not in the current event, the one with
        the smallest size^2 / age. Its size is its largest absolute weight over all labels and kept
        vectors; its age is the number of events since it was last in a labelled one, counting only
        events that evicted a feature. An evicted feature is forgotten: if it comes back, it starts
        from 0. If an event has more features than this, the excess ones are dropped at once.
    hash_bits
        None: every feature has its own weights, found by its name. A number b: a feature's hash
        gives it one of 2**b numbers; no names are kept, and features with the same number share
        weights. Memory is used only for numbers that have occurred.
    hash_seed
        Seeds the hash; by default a secret random number, so that others cannot choose features
        that collide. With `hash_bits`, a given seed makes a run repeatable.
    degree
        1: the features of an event. 2: also all pairs of them; each pair is a feature named
        ``Pair(first, second)``, whose value is the product.
    interactions
        Pairs of fields, such as ``[("user", "ad")]``: also the pairs of a feature of one field and
        a feature of the other. The field of a feature, if its name is a str, is the name up to a
        ``:``, ``=`` or ``^``, or the whole name.
    max_pairs
        The largest number of pairs that an event may make, from 1 to 2**31; more are a ValueError.
    missing
        "skip": None, an empty text, pandas' NA and NaT and a frame's null are left out of an event,
        and NaN is an error. "skip_nan": NaN is left out, too. "refuse": all of these are errors.
        See docs/learning.md, "Texts and gaps".

    Attributes
    ----------
    weights, averaged_weights, pocket_weights
        ``{feature: weight}``; features with weight 0 are left out.
    intercept_, averaged_intercept, pocket_intercept
        The weight of the constant 1.
    n_seen, n_updates, n_mistakes, n_features
        The number of labelled events; of events that changed the weights; of events that the
        current weights got wrong; and of features that have weights (a feature gets them in its
        first update).
    n_evicted
        The number of features that were evicted (see `max_features`).
    serving
        The kept vector that answers now.
    memory_usage
        The memory that the model uses, in bytes.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from streamptron import Perceptron

    >>> model = preprocessing.StandardScaler() | Perceptron()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 88.88%

    References
    ----------
    * Rosenblatt, F. (1958). The perceptron. Psychological Review 65(6).
    * Daume III, H. (2017). A Course in Machine Learning, chapter 4, algorithms 5 to 7.
    * Freund, Y. & Schapire, R. (1999). Large margin classification using the perceptron algorithm.
    """

    def __init__(
        self,
        margin: float = 0.0,
        average: str = "uniform",
        half_life: float = 1000,
        pocket: bool = False,
        serve: str = "best",
        intercept: bool = True,
        class_weight: Mapping[Hashable, float] | None = None,
        max_features: int | None = None,
        hash_bits: int | None = None,
        hash_seed: int | None = None,
        degree: int = 1,
        interactions: Sequence[tuple[str, str]] | None = None,
        max_pairs: int = MAX_PAIRS,
        missing: str = "skip",
    ) -> None:
        self._configure(RULES.PERCEPTRON, **arguments(locals()))

    margin = kept[float]("Update whenever the score, or the true label's lead, is at most this.")


class MulticlassPerceptron(Averaged, LabelEstimator):  # type: ignore[misc]  # no **kwargs
    """Multiclass perceptron with running averages and an optional pocket.

    Each label has a weight vector. The best score wins; a tie goes to the label seen first. If the
    true label does not beat the best other label by more than `margin`, its weights gain x and the
    other's lose x; or all labels that are within the margin lose a share of x (see `violators`).
    Labels need not be declared: a new one starts from zero. Before the first label the prediction
    is None, which is not a label: do not use it as a feature of another learner.

    Words need no scaling. Features in different units do: put River's ``StandardScaler()`` before
    the learner.

    Parameters
    ----------
    margin
        Update whenever the true label's lead over the best other one is at most this.
    average, half_life, pocket, serve, intercept, class_weight, max_features, hash_bits, hash_seed,
        degree, interactions, max_pairs, missing
        As for :class:`Perceptron`.
    max_labels
        The largest number of labels. One more is a ValueError, and its event or batch is not
        learned. None: no limit.
    violators
        Which labels lose what the true one gains. "best": only the best other one, which loses x.
        Otherwise, each label that violates the margin, with d_k = w_k.x - w_y.x + margin >= 0,
        loses s_k x. "uniform": s_k = 1 / their number. "proportional": s_k = d_k / the sum of their
        d, or as with "uniform" if that sum is 0. With ``margin=0`` these are the uniform and the
        proportional update of Crammer & Singer; all three have the same bound on mistakes.

    Attributes
    ----------
    labels
        The labels in the order in which they were first seen.
    weights, averaged_weights, pocket_weights
        ``{label: {feature: weight}}``; weights of 0 are left out.
    intercept_, averaged_intercept, pocket_intercept
        ``{label: intercept}``.
    n_seen, n_updates, n_mistakes, n_features, n_evicted, serving, memory_usage
        As for :class:`Perceptron`.

    Examples
    --------
    >>> from streamptron import MulticlassPerceptron

    >>> model = MulticlassPerceptron()
    >>> model.learn_one({"goal": 1, "match": 1}, "sport")
    >>> model.learn_one({"vote": 1, "law": 1}, "politics")
    >>> model.predict_one({"law": 1})
    'politics'

    A third label shares what it gains between the two that scored as much as it did:

    >>> model = MulticlassPerceptron.from_weights(
    ...     {"sport": {}, "politics": {}, "science": {}}, violators="uniform"
    ... )
    >>> model.learn_one({"atom": 1}, "science")
    >>> {label: weights["atom"] for label, weights in model.weights.items()}
    {'sport': -0.5, 'politics': -0.5, 'science': 1.0}

    References
    ----------
    * Crammer, K. & Singer, Y. (2003). Ultraconservative online algorithms for multiclass
      problems. JMLR 3.
    * Collins, M. (2002). Discriminative training methods for hidden Markov models. EMNLP.
    """

    def __init__(
        self,
        margin: float = 0.0,
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
        self._configure(RULES.MULTICLASS, **arguments(locals()))

    margin = kept[float]("Update whenever the score, or the true label's lead, is at most this.")
    violators = kept[str](
        'Which labels lose what the true one gains: "best", "uniform" or "proportional".'
    )
