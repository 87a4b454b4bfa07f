"""The ranking perceptron, which chooses among candidates."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from streamptron.common.checks import jobs_of
from streamptron.common.parameters import MAX_PAIRS, arguments, kept
from streamptron.doors.model import RULES
from streamptron.doors.ranking import RankModel
from streamptron.estimator.base import OneVector, TopFeatures, summing_to, top_of
from streamptron.estimator.learner import Learner
from streamptron.learners.perceptron import Averaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from streamptron.estimator.batches import Batch


class RankingPerceptron(Averaged, RankModel, OneVector, Learner):
    """Perceptron that chooses among candidates, or ranks them, with one weight vector for all.

    An event is a set of candidates, one of which was chosen: a link that was clicked, the action
    that was right, the best translation. A candidate with features x has the score w.x; the best
    score wins, and the first of equal ones. If the chosen candidate's lead over the best other one
    is at most `margin`: w += x_chosen - x_other. A tie is a mistake. A single candidate teaches
    nothing, but is not an error. There is no intercept, as it would be the same for all candidates.

    ``learn_many`` learns from documents with grades, as in svmlight files with ``qid``.

    Words need no scaling. Features in different units do: pass each candidate through River's
    ``StandardScaler`` first.

    Parameters
    ----------
    update
        The step, a multiple of d = x_chosen - x_other. "perceptron": d itself. "margin": MIRA's
        step, the smallest that makes the lead 1, or C d if that is shorter; it is taken whenever
        the lead is less than 1. "mistake": the same step, taken only at a mistake.
    margin
        For update="perceptron": update whenever the lead is at most this.
    C
        For the other two: the largest step, above 0.
    average, half_life, pocket, serve, max_features, hash_bits, hash_seed
        As for :class:`Perceptron`.
    degree, interactions, max_pairs, missing
        As for :class:`Perceptron`, applied to the features of each candidate.

    Attributes
    ----------
    weights, averaged_weights, pocket_weights
        ``{feature: weight}``; features with weight 0 are left out.
    n_seen, n_updates, n_mistakes, n_features, n_evicted, serving, memory_usage
        As for :class:`Perceptron`. If the chosen candidate wins a tie because it is the first, that
        is not counted in n_mistakes, but it is learned from.

    Examples
    --------
    >>> from streamptron import RankingPerceptron

    >>> model = RankingPerceptron()
    >>> hotels = {"Ritz": {"expensive": 1, "near": 1}, "Inn": {"cheap": 1, "near": 1}}
    >>> model.predict_one(hotels)
    'Ritz'
    >>> model.learn_one(hotels, chosen="Inn")
    >>> model.rank_one({"a": {"expensive": 1}, "b": {"near": 1}, "c": {"cheap": 1}})
    ['c', 'b', 'a']
    >>> model.explain_one(hotels)
    [('cheap', 1.0), ('expensive', 1.0)]

    With texts:

    >>> from streamptron import Tokenizer
    >>> answers = Tokenizer() | RankingPerceptron()
    >>> answers.learn_one(["do not know", "see the manual"], 1)
    >>> answers.predict_one(["I do not", "the manual"])
    1

    References
    ----------
    * Collins, M. (2002). Discriminative training methods for hidden Markov models. EMNLP.
    * Crammer, K. et al. (2006). Online passive-aggressive algorithms. JMLR 7.
    """

    def __init__(
        self,
        update: str = "perceptron",
        margin: float = 0.0,
        C: float = 1.0,
        average: str = "uniform",
        half_life: float = 1000,
        pocket: bool = False,
        serve: str = "best",
        max_features: int | None = None,
        hash_bits: int | None = None,
        hash_seed: int | None = None,
        degree: int = 1,
        interactions: Sequence[tuple[str, str]] | None = None,
        max_pairs: int = MAX_PAIRS,
        missing: str = "skip",
    ) -> None:
        self._configure(RULES.RANKING, **arguments(locals()))

    update = kept[str]('The step: "perceptron", "margin" or "mistake".')
    margin = kept[float]("Update whenever the chosen candidate's lead is at most this.")
    C = kept[float]("The largest step.")

    def _check_one_event(self, what: str) -> None:
        raise TypeError(
            f"{what}: a ticket holds one event, but RankingPerceptron learns from candidates; keep "
            "the candidates until the choice is known"
        )

    @classmethod
    def from_weights(cls, weights: Mapping[Any, float], **params: Any) -> Self:
        """A model that starts from given weights; its average and its pocket start from them too.

        Parameters
        ----------
        weights
            ``{feature: weight}``.
        params
            The parameters of the constructor.

        Examples
        --------
        >>> from streamptron import RankingPerceptron
        >>> RankingPerceptron.from_weights({"a": 1.0}).predict_one([{}, {"a": 1}])
        1
        """
        model = cls(**params)
        model._set_weights(weights, 0.0, 0)
        return model

    # --- Documents with grades

    def learn_many(
        self,
        X: Any,
        grades: Any,
        qid: Any,
        w: Any = 1.0,
        feature_names: Iterable[Hashable] | None = None,
    ) -> None:
        """Learn from the rows of queries, which have grades of relevance.

        Each row in turn is learned against the better rows of its query: of those with a higher
        grade, the one with the lowest score must lead the row, as the chosen candidate must lead
        the best other one in ``learn_one``. So a row without better ones teaches nothing, nor does
        a query whose rows all have the same grade, and only the order of the grades counts. The
        weights become the same, to the last bit, as if ``learn_one`` had chosen each row among
        itself and the rows with a higher grade, in their order, with the signs of all values
        reversed (those of pairs, too), so that the best is the worst. This takes time proportional
        to a query's rows times its nonzero values. Which vector answers (`serve`) is decided by the
        answers before any row of the query is learned: after that, the vectors have seen its
        documents.

        Everything is checked first: after an error, nothing has been learned.

        Parameters
        ----------
        X
            One document per row: anything that ``Perceptron.learn_many`` takes, or a list of
            mappings of features to numbers, whose features are ordered by first appearance.
        grades
            A number per row, the larger the better.
        qid
            The query of each row. The rows of a query must be consecutive.
        w
            The sample weight of all rows, or one weight per row: it scales the row's step.
        feature_names
            As for ``Perceptron.learn_many``.

        Raises
        ------
        TypeError, ValueError
            If X or w is invalid, a grade is not a finite number, a length does not fit, or a qid
            comes again after others. The message names the row.
        MemoryError
            If memory runs out. The message says how many rows have been learned; no later row has
            changed anything.

        Examples
        --------
        >>> import numpy as np
        >>> from streamptron import RankingPerceptron
        >>> model = RankingPerceptron()
        >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
        >>> model.learn_many(X, grades=[2, 0, 1, 0], qid=[7, 7, 8, 8])
        >>> model.decision_function_many(X)
        array([ 1., -1.,  0., -1.])
        """
        from streamptron.estimator.queries import grades_of, queries_of

        batch = self._rows(X, feature_names)
        ends = queries_of(qid, len(batch))
        ranks = grades_of(grades, len(batch))
        steps = self._steps(w, len(batch))
        batch.learned(self._learn_queries, ranks, steps, ends, None)

    def _steps(self, w: Any, n: int) -> NDArray[np.float64] | None:
        """The sample weight of each row, checked; None if all are 1."""
        if type(w) is float and w == 1.0:
            return None
        import numpy as np

        from streamptron.estimator.batches import steps_of

        return steps_of(w, [None], np.zeros(n, dtype=np.intp), self._checked_step)

    def _rows(self, X: Any, feature_names: Iterable[Hashable] | None) -> Batch:
        """Look at X as rows; X may also be a list of mappings."""
        if not isinstance(X, Sequence):
            return self._batch(X, feature_names)
        from streamptron.estimator.queries import batch_of_mappings

        if feature_names is not None:
            raise TypeError("feature_names is given, but X is a list of mappings, which have names")
        return batch_of_mappings(X, self.missing)

    def decision_function_many(
        self,
        X: Any,
        qid: Any = None,
        feature_names: Iterable[Hashable] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Any:
        """The score of each row.

        Parameters
        ----------
        X
            As for ``learn_many``.
        qid
            The query of each row; the rows of a query must be consecutive. Each query is answered
            as by ``decision_function_one``. None: all rows are candidates of one query. This
            matters only if one of two vectors may answer (`serve`).
        feature_names
            As for ``learn_many``.
        n_jobs
            How many threads may share the queries: None is 1, and -1 is one for each core that this
            process may use. The scores are those of one thread, bit for bit.

        Returns
        -------
        A series like the frame, or an array.
        """
        from streamptron.estimator.queries import queries_of

        jobs = jobs_of(n_jobs)
        batch = self._rows(X, feature_names)
        ends = queries_of([0] * len(batch) if qid is None else qid, len(batch))
        return batch.scores(self._scored(batch, ends, jobs), None)

    def predict_many(
        self,
        X: Any,
        qid: Any = None,
        feature_names: Iterable[Hashable] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Any:
        """The same as ``decision_function_many``, under the name that other libraries' rankers use.

        Parameters
        ----------
        X, qid, feature_names, n_jobs
            As for ``decision_function_many``.

        Returns
        -------
        As for ``decision_function_many``.
        """
        return self.decision_function_many(X, qid, feature_names, n_jobs=n_jobs)

    def _scored(self, batch: Batch, ends: NDArray[np.intp], n_jobs: int = 1) -> NDArray[np.float64]:
        scores = batch.numbers(1)
        batch.answered(self._score_queries, scores, ends, n_jobs)
        return scores

    # --- Explanations

    def explain_one(self, candidates: Any, chosen: Any = None) -> list[tuple[Hashable, float]]:
        """What each feature adds to a candidate's lead over the best other one.

        Parameters
        ----------
        candidates
            As for ``learn_one``.
        chosen
            The id of the candidate to explain; by default the best one.

        Returns
        -------
        Pairs of feature and contribution, which is the weight times the difference of the two
        candidates' values, the largest in absolute value first. Features with equal values or a
        weight of 0 are left out. ``math.fsum`` of the contributions is exactly the lead, the
        difference of the scores. (If the lead is very much smaller than all contributions, the sum
        may differ from it in the last bit.) For a single candidate, its own score is explained.

        Examples
        --------
        >>> from streamptron import RankingPerceptron
        >>> model = RankingPerceptron.from_weights({"near": 2.0, "price": -0.5})
        >>> model.explain_one({"a": {"near": 1, "price": 3}, "b": {"price": 1}})
        [('near', 2.0), ('price', -1.0)]
        """
        parts, lead = self._explain_lead(candidates, chosen)
        return summing_to(lead, parts)

    def top_features(self, n: int = 10) -> TopFeatures:
        """The features with the largest weights, by the vector that is best overall (`serving`).

        Parameters
        ----------
        n
            The number of features of each sign.

        Returns
        -------
        ``TopFeatures(positive, negative)``: the n most positive and the n most negative weights,
        each as a list of (feature, weight), the largest in absolute value first.

        Examples
        --------
        >>> from streamptron import RankingPerceptron
        >>> model = RankingPerceptron.from_weights({"near": 2.0, "price": -0.5})
        >>> model.top_features(n=1)
        TopFeatures(positive=[('near', 2.0)], negative=[('price', -0.5)])
        """
        return top_of(n, self._weights(self.serving)[1][0])
