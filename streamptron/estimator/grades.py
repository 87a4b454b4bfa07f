"""Finite data for a RankingPerceptron: choices among candidates, or documents with grades."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from streamptron.estimator import queries
from streamptron.estimator.batches import Batch
from streamptron.estimator.finite import QueryData, asked, error_of, is_read, queries_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def ranked_of(
    data: Any, model: Any, tokenizer: Any = None, name: str = "data"
) -> QueryData | GradedData:
    """Look at finite data as candidates of which one was chosen, or as documents with grades."""
    if not is_read(data) and not (isinstance(data, tuple) and len(data) == 3):
        return queries_of(data, tokenizer, name)
    if tokenizer is not None:
        raise TypeError(
            "model begins with a Tokenizer; fit the RankingPerceptron alone, with what the "
            "Tokenizer's transform_one makes of each text"
        )
    X, grades, qid = _read(data, name) if is_read(data) else data
    batch = asked(name, model._rows, X, None)
    if not len(batch):
        raise ValueError(f"{name} is empty; give at least two rows of one query")
    ends = asked(name, queries.queries_of, qid, len(batch))
    ranks = asked(name, queries.grades_of, grades, len(batch))
    return asked(name, GradedData, X, batch, ranks, ends)  # type: ignore[no-any-return]


def _read(reader: Any, name: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Rows, grades and queries of a file."""
    records = list(reader.records())
    for record in records:
        where = f"{record.file}:{record.line}"
        if record.qid is None:
            raise ValueError(
                f"{name}: {where} has no qid; a RankingPerceptron learns svmlight lines that each "
                "have a query, such as: grade qid:7 1:0.5"
            )
        if not isinstance(record.x, dict) or record.y is None:
            raise error_of(where, ValueError("it has no grade or no features"))
    return [r.x for r in records], [r.y for r in records], [r.qid for r in records]


class GradedData:
    """Documents with grades, learned query by query.

    An order is one of queries. An event is, as for ``learn_many``, a row whose query has rows of a
    higher grade.

    Parameters
    ----------
    X, batch
        The rows, which must not change from now on.
    ranks
        Grades, as whole numbers.
    ends
        For each row, where its query ends.
    """

    def __init__(
        self, X: Any, batch: Batch, ranks: NDArray[np.intp], ends: NDArray[np.intp]
    ) -> None:
        self.labels: list[Any] = []
        self._X = X
        self._batch = batch.ready()
        self._ranks = ranks
        self._ends = ends
        self._lasts = np.unique(ends)
        self._firsts = np.concatenate([[0], self._lasts[:-1]]).astype(np.intp)
        best = np.maximum.reduceat(ranks, self._firsts)
        self._below = ranks < np.repeat(best, self._lasts - self._firsts)
        self.n_events = int(self._below.sum())
        if not self.n_events:
            raise ValueError(
                "no query has rows of different grades, so there is nothing to learn or to rank"
            )

    def __len__(self) -> int:
        return len(self._firsts)

    def weigh(self, model: Any) -> None:
        """Do nothing: documents have no weights."""

    def learn(self, model: Any, order: NDArray[np.intp] | None = None) -> None:
        """Learn the queries in an order; None: in their own."""
        rows = self._rows(order)
        self._batch.learned(model._learn_queries, self._ranks, None, self._ends, rows)

    def _rows(self, order: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
        """The rows of queries in an order."""
        if order is None:
            return None
        firsts, sizes = self._firsts[order], (self._lasts - self._firsts)[order]
        before = np.cumsum(sizes) - sizes  # how many rows come before each query
        rows: NDArray[np.intp] = np.arange(sizes.sum(), dtype=np.intp)
        rows += np.repeat(firsts - before, sizes)
        return rows

    def wrong(self, model: Any, order: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
        """Whether each event is ranked wrongly: some row of a higher grade is not above it.

        If two scores are equal, the first row counts as the worse one, as in ``n_mistakes``.
        """
        assert order is None
        scores = model._scored(self._batch, self._ends)[:, 0]
        rows = np.arange(len(scores))
        place = np.empty_like(rows)  # by query, the worst row first
        place[np.lexsort((rows, scores, self._ends))] = rows
        # Sort by falling grades within a query, and later queries first: as their places are
        # higher, the least place so far is that of the worst row so far in this query.
        sorted_ = np.lexsort((-self._ranks, -self._ends))
        least = np.minimum.accumulate(place[sorted_])
        ends, ranks = self._ends[sorted_], self._ranks[sorted_]
        new = np.concatenate([[True], (ends[1:] != ends[:-1]) | (ranks[1:] != ranks[:-1])])
        start = np.maximum.accumulate(np.where(new, rows, 0))  # the first row of the same grade
        worse = np.empty(len(rows), dtype=bool)
        worse[sorted_] = least[start - 1] < place[sorted_]
        found: NDArray[np.bool_] = worse[self._below]
        return found

    def features(self) -> list[Hashable]:
        """All features that a document may have."""
        names = self._batch.names
        return list(range(self._X.shape[1]) if names is None else names)
