"""Rows that are candidates: which query each belongs to, and how good it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamptron.common.cells import feature_of
from streamptron.common.checks import checked_number
from streamptron.common.names import short_repr, type_shown
from streamptron.doors.rows import MatrixRows
from streamptron.estimator import frames
from streamptron.estimator.batches import NUMBER_OF, Batch


def queries_of(qid: Any, n: int) -> np.ndarray:
    """For each of n rows, where its query ends: the row after its last one.

    Raises
    ------
    TypeError, ValueError
        If qid does not hold one hashable id per row, or an id comes again after others.
    """
    ids = frames.listed(_plain(qid), n, "qid", "the query")
    ends = np.full(n, n, dtype=np.intp)
    met: set[Any] = set()
    first = 0
    for row, name in enumerate(ids):
        try:
            again = name in met
            missing = name is None or bool(name != name)
        except (TypeError, ValueError):
            raise TypeError(
                f"qid has {short_repr(name)}, {type_shown(name)}, in row {row}; an id must be "
                "hashable: an int, a str ..."
            ) from None
        if missing:
            raise ValueError(f"qid has {short_repr(name)} in row {row}; give each row its query")
        if row and name == ids[row - 1]:
            continue
        if again:
            raise ValueError(
                f"qid has {short_repr(name)} again in row {row}, after other queries; the rows of "
                "a query must be consecutive: sort them by qid, or give the second part an id of "
                "its own"
            )
        met.add(name)
        ends[first:row] = row
        first = row
    return ends


def grades_of(grades: Any, n: int) -> np.ndarray:
    """The grades of n rows as whole numbers from 0 that have the same order.

    Raises
    ------
    TypeError, ValueError
        If grades does not hold one finite number for each row.
    """
    values = frames.listed(_plain(grades), n, "grades", "a number")
    numbers = [checked_number(grade, f"grades in row {row}") for row, grade in enumerate(values)]
    return np.unique(np.array(numbers, dtype=np.float64), return_inverse=True)[1].astype(np.intp)


def _plain(values: Any) -> Any:
    """An array as a list of Python's own numbers, anything else as it is."""
    return values.tolist() if isinstance(values, np.ndarray) and values.ndim == 1 else values


def batch_of_mappings(X: Sequence[Any], missing: str) -> Batch:
    """Look at mappings as rows; the columns are the features in order of appearance."""
    column: dict[Any, int] = {}
    values: list[float] = []
    columns: list[int] = []
    starts = [0]
    for r, x in enumerate(X):
        if not isinstance(x, Mapping):
            raise TypeError(
                f"X[{r}] is {short_repr(x)}, {type_shown(x)}; it must be a mapping of features to "
                "numbers, such as {'word': 1}"
            )
        row: dict[int, float] = {}
        for given, value in x.items():
            name, number = feature_of(given, value, f"X[{r}]", missing)
            j = column.setdefault(name, len(column))
            row[j] = row.get(j, 0.0) + number
        for j in sorted(row):
            columns.append(j)
            values.append(row[j])
        starts.append(len(columns))
    number = NUMBER_OF[np.dtype(np.float64).str]
    where = np.array(columns, dtype=np.int64), np.array(starts, dtype=np.int64)
    rows = MatrixRows(number, np.array(values, dtype=np.float64), *where, len(column))
    return Batch(rows, list(column))
