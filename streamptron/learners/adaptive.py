"""AdaptiveClassifier: the learner that errs least."""

from __future__ import annotations

import typing

from streamptron.common.parameters import MAX_PAIRS, arguments, kept
from streamptron.doors.adaptive import AdaptiveModel
from streamptron.doors.model import RULES
from streamptron.estimator.base import PairEstimator

if typing.TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import Any, Self


class AdaptiveClassifier(AdaptiveModel, PairEstimator):  # type: ignore[misc]  # no **kwargs
    """Online logistic regression with adaptive steps and naive Bayes, for any labels.

    Begin with this learner: it has the fewest errors on most streams, its probabilities are
    calibrated, and there is nothing to tune. Words need no scaling, and columns of numbers may have
    any unit and any mean. A step is proportional to the error of the probability; an event that was
    predicted with confidence only changes counts. It has three ideas:

    * Logistic regression with a step size for each weight, which shrinks as the weight learns
      (AdaGrad). Each value is divided by the feature's usual size, and each event scaled to length
      1 at most, so pixels, words and prices may be mixed. Numbers that vary and that many events
      have are columns, which are centred and scaled. A value that an event lacks is 0 in its column
      (docs/learning.md).
    * Informative features weigh more, by chi^2 of their counts so far.
    * The naive Bayes log-odds of the same counts are one more feature, with a learned weight.

    Labels need not be declared. Two labels, whatever their names, share one score. It is positive
    for the second label seen, or for True (and what equals it) if that is one of the two. From the
    third on each label has its own score. Before the first label the prediction is None; with one
    label it is that label.

    Every labelled event stores its features. A feature costs 32 bytes beside its name. With more
    than two labels it costs 16 more, and up to half of that for growth, for each label that came
    with it or was wrongly expected. A column costs 32 more, and 32 for each label. The time of an
    event depends on the labels of its features, not on all labels (docs/labels.md).

    Parameters
    ----------
    eta
        How far a step goes, from 1e-6 to 1e6; there is rarely a reason to change it.
    forget
        How fast a weight's steps grow long again, from 0 to 1. "auto", the default, is 2**-10 until
        the model errs more than its own probabilities say, by six standard deviations over some 64
        events; then 1, for forty mistakes. On stable streams that never happens, and it equals
        2**-10; if labels suddenly mean the opposite, it is as good as the best number. With 2**-10
        old evidence counts for a third after a thousand mistakes; with .03 after some thirty, but
        up to .7 points more answers are wrong if nothing changes (a9a; hardly any on clean
        streams). 0 never forgets. See docs/choosing.md.
    naive_bayes
        Use the naive Bayes log-odds as one more feature. False saves some time with many labels.
    shape
        What columns of numbers say. "line": a straight line each. "curve": also a curve, of twelve
        places half a standard deviation apart. "auto", the default: each two columns also have a
        surface, of 9 x 9 such places, so two columns together may decide what neither can alone.
        Each curve and surface is multiplied by a learned gate, so that they do not fit noise. Words
        cost the same and get the same answers as without them. Of more than 16 columns the 16 most
        informative have surfaces. A column that is a pair of features has neither curve nor
        surface; with `hash_bits` it has. A surface takes 1.6 kB with two labels, with more 1 kB per
        label; under `max_features` all surfaces together have at most a quarter as many cells
        (docs/learning.md, "Curves and surfaces").
    intercept
        Learn an intercept for each output.
    class_weight
        ``{label: weight}``: scales the sample weights of a label. Labels that are not in it have
        weight 1. Probabilities are then those of a stream in which the label comes that many times
        as often. Divide them by the weights, and by their sum, to get those of the real stream
        (docs/choosing.md).
    false_positive_rate
        ``{label: rate}``: predict a label for at most that share of the events of other labels, in
        the long run. ``{"spam": 0.001}`` takes a ham for spam once in a thousand. A rate is above 0
        and below 1; the label need not have come yet. The label is predicted if it leads all others
        by more than a threshold, which each event of another label moves before it is learned (see
        Notes). None: the most probable label is predicted.
    max_features
        None: every feature that was ever in a labelled event is kept. A number: at most that many,
        as for :class:`Perceptron`; a feature's size is its largest weight of all labels, times how
        informative it is, times the root of how often it has come. Its counts leave with it. Room
        for a quarter of the features costs at most 6 % more errors on the streams of
        docs/choosing.md.
    max_labels
        At most this many labels: one too many is a ValueError, and nothing is learned of its
        event or batch. None: any number.
    hash_bits, hash_seed, degree, interactions, max_pairs, missing
        As for :class:`Perceptron`.

    Attributes
    ----------
    labels
        In the order in which they were first seen.
    weights
        With up to two labels ``{feature: weight}``; with more ``{label: {feature: weight}}``.
        Weights of 0 are left out. The weights apply to scaled values; ``explain_one`` says what
        each feature contributes to an answer, naive Bayes included.
    intercept_
        The intercept; with more than two labels ``{label: intercept}``.
    n_seen, n_updates, n_mistakes, n_features, n_evicted, memory_usage
        As for :class:`Perceptron`; n_mistakes counts the answers that were wrong.

    Notes ----- With two labels ``decision_function_one`` is a rank: the score, reduced if little of
    the event is known. It has the score's sign and sorts events (mail by how likely it is spam,
    say) better than the probability, which depends on the score alone. With more labels it is the
    score of each; the probabilities are the softmax of these times a learned number, which says how
    far the scores should have been trusted so far.

    With `false_positive_rate` the answer need not be the most probable label. Only ``predict_one``,
    and everything that counts answers, uses the threshold; ``predict_proba_one`` does not. At each
    event of another label the threshold falls by half the rate, or rises by a half if the label was
    predicted. So the rate is kept whatever comes, even if the stream drifts, provided that all
    events are learned and not only those that the model was unsure of. It counts events, whatever
    their weights. It takes some thousands of events to keep a rate of one in a thousand; among the
    first few hundred more answers are wrong (docs/mail.md). A rate above the model's own error rate
    finds more events of its label, and makes as many errors as allowed. If all labels have a rate,
    no answer may be able to keep them all.

    ``explain_one`` also lists columns that the event lacks: they count as 0, which may say a lot.

    An event's sample weight times its class weight must be at most 1e30. If it is 0, the event is
    counted in ``n_seen`` and ``n_mistakes`` and changes nothing else; not even a new label becomes
    known.

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

    # The parameters of its own, as they were given.
    eta = kept[float]("How far a step goes.")
    forget = kept[float | str]('How fast a weight\'s steps grow long again; or "auto".')
    naive_bayes = kept[bool]("Whether the naive Bayes log-odds are one more feature.")
    shape = kept[str]('What columns of numbers say: "line", "curve" or "auto".')

    @classmethod
    def from_weights(cls, weights: Any, intercept: Any = None, **params: Any) -> Self:
        """Not for this learner: weights alone do not make a model of it."""
        raise TypeError(
            "AdaptiveClassifier keeps counts beside each weight and cannot start from weights; "
            "save or pickle a model, or start AROW or Perceptron from them"
        )
