"""VotedPerceptron: all weight vectors so far vote."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Self

from streamptron.common.parameters import arguments, kept
from streamptron.doors.adaptive import VotedModel
from streamptron.doors.model import RULES
from streamptron.estimator.base import PairEstimator


class VotedPerceptron(VotedModel, PairEstimator):  # type: ignore[misc]  # no **kwargs
    """Freund & Schapire's voted perceptron: all weight vectors so far vote.

    A perceptron changes only when it errs. Each vector that it has had votes for the label it would
    answer, with one vote for each event that it survived. The average of the same vectors is nearly
    as good and much faster. Use the vote if you need the textbook algorithm, or for its kernel:
    with a `degree` of 2 or more the vectors are polynomials of the features.

    The vote is exact, but takes far less time than scoring all vectors: only updates that share a
    feature with the event move the score, and they are found by feature. With `degree` 1, learning
    takes as long as with :class:`Perceptron`. Every update is kept, at about 16 bytes for each of
    its features.

    Two labels share one score: a vote above 0 is for the second label seen, or for the first if
    that is True. With three or more labels, each has its own perceptron, learned against all
    others; the first two start from the shared one and its negative, a new one from 0. The most
    votes win; a tie goes to the label seen first.

    Parameters
    ----------
    degree
        The degree of the kernel (1 + x.z)^degree, from 1 to 16 (without an intercept (x.z)^degree).
        1 is the plain perceptron. With more, learning an event takes as long as a vote. 2 includes
        the products of all pairs of features, so there is no parameter `interactions`; for the
        pairs of some fields use :class:`Perceptron`.
    budget
        The largest number of updates to keep, for streams that never end; None: all. When there are
        more, the oldest is dropped, and the vectors before it no longer vote. With `degree` 1 the
        later vectors, and the current one, stay as they were. With `degree` above 1 a vector is the
        sum of its updates, so the dropped update is gone from all of them. Features that no vector
        has any more are dropped, too; docs/conventions.md says when.
    intercept
        Learn an intercept, which changes with every update.
    class_weight
        ``{label: weight}``: scales the sample weights of a label. Labels that are not in it have
        weight 1.
    max_labels
        As for :class:`MulticlassPerceptron`.
    hash_bits, hash_seed
        As for :class:`Perceptron`. With `budget` and `hash_bits`, memory is bounded; if `degree` is
        above 1, `budget` alone bounds it.
    missing
        As for :class:`Perceptron`.

    Attributes
    ----------
    labels
        The labels in the order in which they were first seen.
    weights, intercept_
        Those of the current vector, which learns and is one of the voters (`degree` 1 only). With
        up to two labels ``{feature: weight}`` and a number; with more, a dict of these by label.
        ``top_features`` shows them.
    n_updates
        Events that changed a vector.
    n_mistakes
        Events that the current vectors got wrong before they learned them; the vote makes fewer
        mistakes.
    n_kept
        The number of updates that are kept.
    n_seen, n_features, memory_usage
        As for :class:`Perceptron`.

    Notes
    -----
    ``decision_function_one`` is the share of the votes for a label minus the share against it, from
    -1 to 1; with more than two labels there is one number for each. ``predict_proba_one``
    calibrates it online.

    A sample weight scales the step, and counts as that many events: the vector after the event gets
    that many votes. With a weight of 0 there are neither votes nor a step, but the event counts as
    seen and its label becomes known.

    ``explain_one`` divides each vector's votes among the features that agreed with it, in
    proportion to their contribution to its score. The feature None is the intercept; it also gets
    the votes of vectors that know none of the event's features.

    The parameters for a limit on features, an average or a pocket are missing here;
    :class:`Perceptron` has them.

    Examples
    --------
    >>> from streamptron import VotedPerceptron

    >>> model = VotedPerceptron()
    >>> model.learn_one({"win": 1, "prize": 1}, "spam")
    >>> model.learn_one({"lunch": 1, "noon": 1}, "ham")
    >>> model.learn_one({"lunch": 1, "prize": 1}, "ham")
    >>> model.predict_one({"lunch": 1}), model.predict_one({"win": 1})
    ('ham', 'spam')

    A product of two features, which no weights can express:

    >>> model = VotedPerceptron(degree=2)
    >>> xor = [({"a": a, "b": b}, a != b) for a in (1, -1) for b in (1, -1)]
    >>> for x, y in xor * 5:
    ...     model.learn_one(x, y)
    >>> [model.predict_one(x) == y for x, y in xor]
    [True, True, True, True]

    References
    ----------
    * Freund, Y. & Schapire, R. (1999). Large margin classification using the perceptron algorithm.
      Machine Learning 37.
    """

    def __init__(
        self,
        degree: int = 1,
        budget: int | None = None,
        intercept: bool = True,
        class_weight: Mapping[Hashable, float] | None = None,
        max_labels: int | None = None,
        hash_bits: int | None = None,
        hash_seed: int | None = None,
        missing: str = "skip",
    ) -> None:
        self._configure(RULES.VOTED, **arguments(locals()))

    # The parameters that only this learner has, as they were given.
    degree = kept[int]("The degree of the kernel.")
    budget = kept[int | None]("The largest number of updates that are kept.")

    def debug_one(self, x: Mapping[Any, float]) -> str:
        """A table of the features behind the decision, in the form that River's linear models use.

        With a `degree` above 1 a feature has no part of its own, so the table has only the answer.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        if self.degree == 1 or not self.labels:
            return super().debug_one(x)
        return f"{self.predict_one(x)!r} by the vote of a kernel of degree {self.degree}"

    @classmethod
    def from_weights(cls, weights: Any, intercept: Any = None, **params: Any) -> Self:
        """Not supported: weights have no earlier vectors that could vote."""
        raise TypeError(
            "VotedPerceptron needs all earlier vectors and cannot start from weights; "
            "save or pickle a model, or start AROW or Perceptron from them"
        )
