"""AdaptiveClassifier: the learner that errs least."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self

from streamptron.common.parameters import MAX_PAIRS, arguments, kept
from streamptron.doors.adaptive import AdaptiveModel
from streamptron.doors.model import RULES
from streamptron.estimator.base import PairEstimator


class AdaptiveClassifier(AdaptiveModel, PairEstimator):  # type: ignore[misc]  # no **kwargs
    """Online logistic regression with adaptive steps and naive Bayes, for any labels.

    Start with this learner: it makes the fewest errors on most streams, its probabilities are
    calibrated, and there is nothing to tune. Words need no scaling, and columns of numbers may have
    any unit and any mean. A step is proportional to the error of the probability; an event that was
    predicted with confidence only changes counts. It combines three ideas:

    * Logistic regression with a step size for each weight, which shrinks as the weight learns
      (AdaGrad). Each value is divided by the feature's usual size, and each event is scaled to a
      length of at most 1, so pixels, words and prices may be mixed. A feature whose value varies
      and that many events have is a column, which is centred and scaled. If an event lacks the
      value of a column, it counts as 0 (docs/learning.md).
    * Informative features weigh more, by chi^2 of their counts so far.
    * The naive Bayes log-odds of the same counts are one more feature, with a learned weight.

    Labels need not be declared. Two labels, whatever their names, share one score. It is positive
    for the second label seen, or for True (and what equals it) if that is one of the two. With
    three or more labels, each has its own score. Before the first label the prediction is None;
    with one label it is that label.

    Every labelled event stores its features. A feature costs 32 bytes plus its name. With more than
    two labels it costs another 16 bytes, and up to half of that for growth, for each label that
    came with it or was wrongly expected. A column costs 32 bytes more, and 32 per label. The time
    of an event depends on the labels of its features, not on all labels (docs/labels.md).

    Parameters
    ----------
    eta
        The step size, from 1e-6 to 1e6; there is rarely a reason to change it.
    forget
        How fast a weight's steps become long again, from 0 to 1. "auto", the default, is 2**-10
        until the model errs more than its own probabilities predict, by six standard deviations
        over about 64 events; then it is 1 for forty mistakes. On stable streams that never happens,
        and "auto" equals 2**-10; if labels suddenly mean the opposite, it is as good as the best
        number. With 2**-10, old evidence counts for a third after a thousand mistakes; with .03,
        after about thirty, but up to .7 percentage points more answers are wrong if nothing changes
        (on a9a; hardly any on clean streams). 0 never forgets. See docs/choosing.md.
    naive_bayes
        Use the naive Bayes log-odds as one more feature. False saves some time with many labels.
    shape
        How columns of numbers enter the score. "line": each by a straight line. "curve": also by a
        curve, with twelve knots half a standard deviation apart. "auto", the default: each two
        columns also have a surface, of 9 x 9 such knots, so that two columns together may decide
        what neither can alone. Each curve and surface is multiplied by a learned gate, so that they
        do not fit noise. For words, cost and answers are the same with all three. If there are more
        than 16 columns, the 16 most informative have surfaces. A column that is a pair of features
        has neither curve nor surface, except with `hash_bits`. A surface takes 1.6 kB with two
        labels, and 1 kB per label with more; with `max_features`, all surfaces together have at
        most a quarter of that many cells (docs/learning.md, "Curves and surfaces").
    intercept
        Learn an intercept for each output.
    class_weight
        ``{label: weight}``: scales the sample weights of a label. Labels that are not in it have
        weight 1. Probabilities are then those of a stream in which the label occurs that many times
        as often. To get those of the real stream, divide them by the weights and normalize
        (docs/choosing.md).
    false_positive_rate
        ``{label: rate}``: predict a label for at most that share of the events of other labels, in
        the long run. ``{"spam": 0.001}`` takes a ham for spam once in a thousand. A rate is above 0
        and below 1; the label need not have come yet. The label is predicted if it leads all others
        by more than a threshold, which each event of another label moves before it is learned (see
        Notes). None: the most probable label is predicted.
    max_features
        None: every feature that was ever in a labelled event is kept. A number: at most that many,
        as for :class:`Perceptron`; a feature's size is its largest weight over all labels, times
        how informative it is, times the square root of how often it has come. An evicted feature
        loses its counts, too. Room for a quarter of the features costs at most 6 % more errors on
        the streams of docs/choosing.md.
    max_labels
        The largest number of labels. One more is a ValueError, and its event or batch is not
        learned. None: no limit.
    hash_bits, hash_seed, degree, interactions, max_pairs, missing
        As for :class:`Perceptron`.

    Attributes
    ----------
    labels
        The labels in the order in which they were first seen.
    weights
        With up to two labels ``{feature: weight}``; with more ``{label: {feature: weight}}``.
        Weights of 0 are left out. The weights apply to scaled values; ``explain_one`` says what
        each feature contributes to an answer, naive Bayes included.
    intercept_
        The intercept; with more than two labels ``{label: intercept}``.
    n_seen, n_updates, n_mistakes, n_features, n_evicted, memory_usage
        As for :class:`Perceptron`; n_mistakes counts the answers that were wrong.

    Notes
    -----
    With two labels ``decision_function_one`` is a rank: the score, reduced if little of the event
    is known. It has the sign of the score, and sorts events (for example mails by how likely they
    are spam) better than the probability, which depends on the score alone. With more labels it
    gives the score of each. The probabilities are the softmax of the scores times a learned number,
    which reflects how far the scores could be trusted so far.

    With `false_positive_rate` the answer need not be the most probable label. The threshold is used
    by ``predict_one`` and by everything that counts answers, but not by ``predict_proba_one``. At
    each event of another label the threshold falls by half the rate, and rises by a half if the
    label was predicted. So the rate holds for any stream, even one that drifts, provided that all
    events are learned and not only those that the model was unsure of. All events count the same,
    whatever their weights. It takes thousands of events to reach a rate of one in a thousand; among
    the first few hundred, more answers are wrong (docs/mail.md). With a rate above the model's own
    error rate, more events of the label are found, at the cost of as many errors as the rate
    allows. If all labels have a rate, it may be impossible to keep all of them.

    ``explain_one`` also lists columns that the event lacks: they count as 0, which may matter a
    lot.

    An event's sample weight times its class weight must be at most 1e30. If it is 0, the event is
    counted in ``n_seen`` and ``n_mistakes`` and changes nothing else: it does not even introduce a
    new label.

    Examples
    --------
    >>> from streamptron import AdaptiveClassifier, Tokenizer

    >>> model = Tokenizer() | AdaptiveClassifier()
    >>> model.learn_one("win a free prize now", "spam")
    >>> model.learn_one("lunch at noon?", "ham")
    >>> model.learn_one("free tickets, win now", "spam")
    >>> model.predict_one("a free prize for you")
    'spam'
    >>> model.learn_one("your invoice of May", "bills")
    >>> model.predict_one("the invoice")
    'bills'

    References
    ----------
    * Duchi, J., Hazan, E. & Singer, Y. (2011). Adaptive subgradient methods for online learning and
      stochastic optimization. JMLR 12.
    * Wang, S. & Manning, C. (2012). Baselines and bigrams: simple, good sentiment and topic
      classification. ACL.
    """

    def __init__(
        self,
        eta: float = 1.0,
        forget: float | str = "auto",
        naive_bayes: bool = True,
        shape: str = "auto",
        intercept: bool = True,
        class_weight: Mapping[Hashable, float] | None = None,
        false_positive_rate: Mapping[Hashable, float] | None = None,
        max_features: int | None = None,
        max_labels: int | None = None,
        hash_bits: int | None = None,
        hash_seed: int | None = None,
        degree: int = 1,
        interactions: Sequence[tuple[str, str]] | None = None,
        max_pairs: int = MAX_PAIRS,
        missing: str = "skip",
    ) -> None:
        self._configure(RULES.ADAPTIVE, **arguments(locals()))

    # The parameters that only this learner has, as they were given.
    eta = kept[float]("The step size.")
    forget = kept[float | str]('How fast a weight\'s steps become long again, or "auto".')
    naive_bayes = kept[bool]("Whether the naive Bayes log-odds are one more feature.")
    shape = kept[str]('How columns of numbers enter the score: "line", "curve" or "auto".')

    @classmethod
    def from_weights(cls, weights: Any, intercept: Any = None, **params: Any) -> Self:
        """Not supported: this learner needs more than weights."""
        raise TypeError(
            "AdaptiveClassifier keeps counts with each weight and cannot start from weights; "
            "save or pickle a model, or start AROW or Perceptron from them"
        )
