"""Sets of labels for many rows, in any form, as numbers for the core."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from streamptron.common.names import short_repr, type_shown
from streamptron.doors.multilabel import MultiLabelModel
from streamptron.estimator import frames

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Sets(NamedTuple):
    """Which labels each row has and does not have.

    Attributes
    ----------
    labels
        All labels that rows name, in the order in which they are learned.
    named
        Indices into `labels`, row after row; in each row first the labels that it has.
    ends
        For each row, where its indices end in `named`.
    there
        For each row, where the indices of the labels that it has end.
    open
        For each row, 1 if nothing is known about the labels that it does not name.
    """

    labels: list[Any]
    named: NDArray[np.intp]
    ends: NDArray[np.intp]
    there: NDArray[np.intp]
    open: NDArray[np.intp]


def sets_of(
    model: MultiLabelModel,
    y: Any,
    n: int,
    labels: Iterable[Hashable] | None,
    steps: NDArray[np.float64] | None,
) -> Sets:
    """The labels of n rows, checked; an error begins with the row."""
    frame = frames.frame_or_none(y, "y")
    if frame is not None:
        names = list(frame.columns) if labels is None else labels
        return _of_indicator(model, _numbers(frame), n, names)
    if labels is not None or getattr(y, "ndim", 1) == 2:
        return _of_indicator(model, y, n, labels)
    rows = frames.listed(y, n, "y", "one set of labels")
    targets = []
    for row, each in enumerate(rows):
        try:
            targets.append(model._targets_of(each))
        except (TypeError, ValueError) as error:
            raise type(error)(f"in row {row}: {error}") from None
    number: dict[Any, int] = {}
    # a row of weight 0 introduces no label: labels that only such rows name come last
    taken = [steps is None or bool(steps[row] > 0) for row in range(n)]
    for wanted in (True, False):
        for each, is_taken in zip(targets, taken, strict=True):
            if is_taken == wanted:
                for label in each.named:
                    number.setdefault(label, len(number))
    named: list[int] = []
    ends, there = [], []
    for each in targets:
        pairs = list(zip(each.named, each.there, strict=True))
        named += [number[label] for label, is_there in pairs if is_there]
        there.append(len(named))
        named += [number[label] for label, is_there in pairs if not is_there]
        ends.append(len(named))
    return Sets(
        list(number),
        np.array(named, dtype=np.intp),
        np.array(ends, dtype=np.intp),
        np.array(there, dtype=np.intp),
        np.array([each.open for each in targets], dtype=np.intp),
    )


def _numbers(frame: Any) -> NDArray[Any]:
    """The cells of a frame as an array; an error if one of them is missing."""
    columns = []
    for series in frame.iter_columns():
        gaps = series.is_null().to_numpy()
        if gaps.any():
            raise ValueError(
                f"y has no value in row {gaps.argmax()}, column {short_repr(series.name)}; it must "
                "hold 0 and 1, or False and True"
            )
        columns.append(series.to_numpy())
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def _of_indicator(
    model: MultiLabelModel, Y: Any, n: int, labels: Iterable[Hashable] | None
) -> Sets:
    """The same for a matrix of 0 and 1 with one column per label."""
    if labels is None:
        raise TypeError(
            f"y is {type_shown(Y)} of two dimensions; give the labels of its columns: labels=[...]"
        )
    checked = [model._checked_label(label) for label in labels]
    if len(set(checked)) < len(checked):
        raise ValueError(f"labels={short_repr(checked)} has a label twice")
    rows, columns, shape = entries_of(Y)
    if shape != (n, len(checked)):
        raise ValueError(
            f"y has {shape[0]} rows and {shape[1]} columns; it must have {n} rows, as X has, and "
            f"{len(checked)} columns, one for each label"
        )
    return sets_of_entries(checked, rows, columns, n)


def sets_of_entries(
    labels: list[Any], rows: NDArray[Any], columns: NDArray[Any], n: int, first: int = 0
) -> Sets:
    """The sets of n rows, from the rows and columns of the ones in an indicator matrix.

    `first`: the row that is learned first. It names all labels, so that all are known from then on.
    """
    counts = np.bincount(rows, minlength=n).astype(np.intp)
    there = np.cumsum(counts, dtype=np.intp)
    ends, named = there.copy(), columns.astype(np.intp)
    if n:
        at = there[first]
        absent = np.setdiff1d(np.arange(len(labels)), named[at - counts[first] : at])
        named = np.concatenate([named[:at], absent.astype(np.intp), named[at:]])
        ends[first:] += len(absent)
        there[first + 1 :] += len(absent)
    return Sets(labels, named, ends, there, np.zeros(n, dtype=np.intp))


def entries_of(Y: Any) -> tuple[NDArray[Any], NDArray[Any], tuple[int, ...]]:
    """Rows and columns of the ones in an indicator matrix, row by row, and its shape."""
    if hasattr(Y, "tocsr"):
        matrix = Y.tocsr()
        values, shape = matrix.data, matrix.shape
        rows = np.repeat(np.arange(shape[0]), np.diff(matrix.indptr))
        columns = matrix.indices
    else:
        matrix = np.asarray(Y)
        if matrix.ndim != 2:
            raise ValueError(f"y has {matrix.ndim} dimensions; it must have two: row and label")
        rows, columns = np.nonzero(matrix)
        values, shape = matrix[rows, columns], matrix.shape
    if values.dtype.kind not in "biuf":
        raise TypeError(f"y has dtype {values.dtype}; it must hold 0 and 1, or False and True")
    wrong = np.flatnonzero((values != 0) & (values != 1))
    if len(wrong):
        at = wrong[0]
        raise ValueError(
            f"y has {short_repr(values[at].item())} in row {rows[at]}, column {columns[at]}; it "
            "must hold 0 and 1, or False and True"
        )
    kept = np.flatnonzero(values)
    rows, columns = rows[kept], columns[kept]
    ranked = np.lexsort((columns, rows))
    rows, columns = rows[ranked], columns[ranked]
    twice = np.flatnonzero((rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1]))
    if len(twice):
        raise ValueError(
            f"y has two entries for row {rows[twice[0]]}, column {columns[twice[0]]}; remove one"
        )
    return rows, columns, shape
