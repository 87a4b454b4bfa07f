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
    any unit and any mean. A step is as large as the error of the probability; an event that was
    answered with confidence only changes counts. It has three ideas:

    * Logistic regression with a step size for each weight, which shrinks as the weight learns
      (AdaGrad). Each value is divided by the feature's usual size, and each event scaled to length
      1 at most, so pixels, words and prices may be mixed. Numbers that many events have and that
      vary are columns: they are centred and scaled. In a column what an event lacks is 0
      (docs/learning.md).
    * Informative features weigh more, by chi^2 of their counts so far.
    * The naive Bayes log-odds of the same counts are one more feature, with a weight that is
      learned.

    Labels need not be declared. Up to two of them, of whatever name, share one score. It is
    positive for the second label seen, or for True (and what equals it) if that is one of the two.
    From the third on each label has its own. Before the first label the prediction is None, then it
    is the one label there is.

    Every labelled event inserts its features. A feature costs 32 bytes beside its name; with more
    than two labels 16 more, and up to half of that for growth, for each label that came with it or
    was wrongly expected. A column costs 32 more, and as much a label again. An event takes as long
    as its features have labels, however many other labels there are (docs/labels.md).

    Parameters
    ----------
    eta
        How far a step goes, from 1e-6 to 1e6; there is rarely a reason to change it.
    forget
        How fast a weight's steps grow long again, from 0 to 1. "auto", the default, is 2**-10 until
        the model errs more than its own probabilities say, by six standard deviations over some 64
        events; then 1, for forty mistakes. On streams that stay as they are that never happens, and
        all is as with 2**-10; where labels suddenly mean the opposite, it is as good as the best
        number. With 2**-10 a thousand mistakes have to pass until old evidence counts for a third;
        with .03 it is some thirty, and up to .7 points more answers are wrong where nothing changes
        (a9a; hardly any on clean streams). 0 never forgets. The curves: docs/choosing.md.
    naive_bayes
        Take the naive Bayes log-odds as one more feature. False saves some time with many labels.
    shape
        What columns of numbers say. "line": a straight line each. "curve": also a curve, of twelve
        places half a standard deviation apart. "auto", the default: each two columns also have a
        surface, of 9 x 9 such places; so two columns may decide together what neither says alone.
        Each curve and surface is multiplied by a gate that is learned too, so that they do not fit
        noise. Words are as without, in answers and time. Of more than 16 columns the 16 that tell
        most have surfaces. A column that is a pair of features has neither curve nor surface; with
        `hash_bits` it has. A surface takes 1.6 kB with two labels, with more 1 kB a label; under
        `max_features` surfaces have at most a quarter as many cells (docs/learning.md, "Curves and
        surfaces").
    intercept
        Learn an intercept for each output.
    class_weight
        ``{label: weight}``: scales the sample weights of a label. Labels that are not in it have
        weight 1. Probabilities are then those of a stream in which a label comes so many times as
        often; divided by the weights, and by their sum, they are those of the stream as it is
        (docs/choosing.md).
    false_positive_rate
        ``{label: rate}``: answer a label in that share of the events of other labels at most, in
        the long run. ``{"spam": 0.001}`` takes a ham for spam once in a thousand. A rate is above
        0 and below 1; a label need not have come yet. The label is answered where it is ahead of
        all others by more than a threshold, which each event of another label moves before it is
        learned (Notes). None: the most probable label is answered.
    max_features
        None: every feature that was ever in a labelled event is kept. A number: at most that many,
        as for :class:`Perceptron`; a feature's size is its largest weight of all labels, times how
        informative it is, times the root of how often it has come. What a feature
        has counted leaves with it. Room for a quarter of the features costs at most 6 % more
        errors on the streams of docs/choosing.md.
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
        ``{feature: weight}`` of the one output of two labels; of more ``{label: {feature:
        weight}}``. Weights of 0 are left out. They are those of scaled values: ``explain_one`` says
        what each feature contributes to an answer, naive Bayes included.
    intercept_
        The intercept; of more than two labels ``{label: intercept}``.
    n_seen, n_updates, n_mistakes, n_features, n_evicted, memory_usage
        As for :class:`Perceptron`; n_mistakes counts the answers that were wrong.

    Notes
    -----
    ``decision_function_one`` of two labels is a rank: the score, less where little of the event is
    known. It has the score's sign and orders events (mail by how likely it is spam, say) better
    than the probability, which depends on the score alone. Of more labels it is the score of each;
    the probabilities are the softmax of that times a number that is learned: how much more, or
    less, the scores should have been believed so far.

    With `false_positive_rate` the answer need not be the most probable label, which
    ``predict_proba_one`` still says: only ``predict_one``, and all that counts answers, goes by the
    threshold. The threshold falls by half the rate at each event of another label, and rises by a
    half if that was answered so. So the rate is kept whatever comes, also where the stream drifts,
    but only where events are learned that the model has not chosen: all of them, not those alone
    that it was unsure of. It counts events, whatever their weights. One in a thousand takes some
    thousands of events to be kept; among the first few hundred more are answered wrongly
    (docs/mail.md). A rate above what the model errs anyway finds more events of its label, and
    errs as often as it may. Where all labels have a rate, these may be less than any answer can
    keep.

    ``explain_one`` lists columns that the event lacks, too: there they are 0, which may say much.

    An event's sample weight times its class weight must be at most 1e30. If it is 0, the event is
    counted in ``n_seen`` and ``n_mistakes`` and changes nothing else: it does not even make a label
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
