"""Frames in, frames out: what stands between a dataframe and the matrix door of the core.

Any eager frame that narwhals knows (pandas, polars, pyarrow) comes in, and what goes out is of the
same kind, with the same index, as River's own mini-batch models do it.
"""

from __future__ import annotations

import typing

import numpy as np

from streamptron._core import VALUE_LIMIT

if typing.TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import narwhals.stable.v2 as nw


def frame_wrap(X: typing.Any) -> nw.DataFrame[typing.Any]:
    """Wrap a native frame, or raise a TypeError that names X."""
    import narwhals.stable.v2 as nw

    try:
        return nw.from_native(X, eager_only=True)
    except TypeError:
        raise TypeError(
            f"X is a {type(X).__name__}; it must be a dataframe (pandas, polars, pyarrow), "
            "one feature a column"
        ) from None


def frame_matrix(frame: nw.DataFrame[typing.Any]) -> np.ndarray:
    """The frame as float64, every cell checked.

    Raises
    ------
    TypeError
        If a column holds anything but numbers and truth values.
    ValueError
        If a cell is missing, NaN, infinite or too large.
    """
    columns = frame.columns
    matrix = np.empty((len(frame), len(columns)), order="C")
    for j, name in enumerate(columns):
        matrix[:, j] = _column(frame[name], name)
    bad = ~(np.abs(matrix) <= VALUE_LIMIT)
    if bad.any():
        row, j = (int(k) for k in np.argwhere(bad)[0])
        value = float(matrix[row, j])
        if np.isnan(value):
            raise ValueError(
                f"X has no value in row {row}, column {columns[j]!r} (missing or NaN); "
                "drop the row or impute the cell first"
            )
        raise ValueError(
            f"X is {value!r} in row {row}, column {columns[j]!r}; a value must be finite and at "
            f"most {VALUE_LIMIT:g} in size: scale it first"
        )
    return matrix


def _column(series: nw.Series[typing.Any], name: object) -> np.ndarray:
    """One column as float64, with NaN for what is missing."""
    import narwhals.stable.v2 as nw

    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        kind = (
            "text" if series.dtype in (nw.String, nw.Categorical, nw.Object) else str(series.dtype)
        )
        if series.dtype != nw.Object or not _is_numbers(series):
            raise TypeError(
                f"column {name!r} of X holds {kind}, which is no number; for categories use one "
                "column a category with 1 in it (one-hot), or drop the column"
            )
    if series.is_null().any():
        row = series.is_null().to_list().index(True)
        raise ValueError(
            f"X has no value in row {row}, column {name!r} (missing or NaN); "
            "drop the row or impute the cell first"
        )
    values: np.ndarray = np.asarray(series.to_numpy(), dtype=np.float64)
    return values


def _is_numbers(series: nw.Series[typing.Any]) -> bool:
    """Whether an object column holds numbers only, as pandas leaves them at times."""
    import numbers

    return all(
        value is None or isinstance(value, numbers.Real | np.bool_) for value in series.to_list()
    )


def frame_labels(y: typing.Any, n: int) -> tuple[list[typing.Any], typing.Any]:
    """The labels of a series, array or sequence, as a list of n, and the series' name."""
    name = getattr(y, "name", None)
    try:
        labels = y.to_list() if hasattr(y, "to_list") else list(y)
    except TypeError:
        raise TypeError(f"y is a {type(y).__name__}; it must hold one label a row of X") from None
    labels = [label.as_py() if hasattr(label, "as_py") else label for label in labels]
    if len(labels) != n:
        raise ValueError(
            f"y has {len(labels)} labels for the {n} rows of X; it must have one a row"
        )
    return labels, name


def frame_weights(w: typing.Any, n: int) -> list[typing.Any]:
    """One sample weight a row, from a number or from as many numbers as there are rows."""
    if not hasattr(w, "__len__"):
        return [w] * n
    weights = w.to_list() if hasattr(w, "to_list") else list(w)
    if len(weights) != n:
        raise ValueError(
            f"w has {len(weights)} weights; X has {n} rows: give one number, or one a row"
        )
    return weights


def frame_series(
    values: Sequence[typing.Any] | np.ndarray, name: object, like: nw.DataFrame[typing.Any]
) -> typing.Any:
    """A series of the same kind and with the same index as a frame."""
    from river.utils import dataframe

    return dataframe.to_native_series(values, name=name, like=like)  # type: ignore[arg-type]


def frame_columns(
    matrix: np.ndarray, columns: Iterable[typing.Any], like: nw.DataFrame[typing.Any]
) -> typing.Any:
    """A frame of the same kind and with the same index as another."""
    from river.utils import dataframe

    return dataframe.to_native_frame(dict(zip(columns, matrix.T, strict=True)), like=like)
