"""Frames in, frames out: from a dataframe to a batch of rows, and back.

Any eager frame that narwhals knows (pandas, polars, pyarrow) is accepted. The answers are of the
same kind and have the same index, as with River's own mini-batch models.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from streamptron.common.cells import SKIP
from streamptron.common.names import short_repr, type_shown
from streamptron.estimator.columns import column_of, joined, without_nan

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


def frame_wrap(X: Any) -> nw.DataFrame[Any]:
    """Wrap a native frame, or raise a TypeError that names X."""
    import narwhals.stable.v2 as nw

    try:
        return nw.from_native(X, eager_only=True)
    except TypeError:
        raise TypeError(
            f"X is {type_shown(X)}; it must be a frame (pandas, polars, pyarrow), a numpy "
            "array of two dimensions or a scipy sparse matrix, with one event per row and one "
            "feature per column. Convert dicts by pandas.DataFrame(X).fillna(0), lists by "
            "numpy.array(X), texts by Tokenizer().transform_many(X)"
        ) from None


def frame_or_none(X: Any, what: str) -> nw.DataFrame[Any] | None:
    """Wrap a native frame; None for anything else, found out quickly."""
    if not hasattr(type(X), "columns"):
        return None
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(X, pass_through=True)
    except Exception as error:  # two columns with the same name
        raise ValueError(f"{what}: {' '.join(str(error).split())}") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{what} is {type_shown(X)}, which is lazy; give {what}.collect()")
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_of_series(X: Any) -> nw.DataFrame[Any] | None:
    """A native series as a frame of one column; None if narwhals does not know its kind."""
    import narwhals.stable.v2 as nw

    series = nw.from_native(X, series_only=True, pass_through=True)
    return series.to_frame() if isinstance(series, nw.Series) else None


def frame_matrix(frame: nw.DataFrame[Any], missing: str = SKIP) -> tuple[Any, list[Any]]:
    """The frame as a 2-d array, not copied if possible, or as a sparse matrix if it must be one.

    And the feature of each column of the result; a column of texts has one for each category.

    Raises
    ------
    TypeError
        If a column holds anything but numbers, truth values and texts.
    ValueError
        If a cell is missing where `missing` forbids it, or is an int that no float64 equals.
    """
    names: list[Any] = list(frame.columns)
    if len(frame) == 0:  # whatever its dtypes: an empty pandas column holds objects
        return np.empty(frame.shape), names
    if frame.implementation.is_pandas_like():
        native = frame.to_native()
        kinds = set(native.dtypes)
        if len(kinds) == 1:
            kind = kinds.pop()
            if isinstance(kind, np.dtype) and kind.kind in "biuf":
                return without_nan(native.to_numpy(copy=False), missing), names
            if getattr(kind, "fill_value", None) == 0 and hasattr(native, "sparse"):
                with contextlib.suppress(ImportError):  # without scipy the frame becomes dense
                    return without_nan(native.sparse.to_coo().tocsr(), missing), names
    columns = zip(frame.iter_columns(), names, strict=True)
    return joined([column_of(series, name, missing) for series, name in columns], len(frame))


def listed(values: Any, n: int, name: str, each: str) -> list[Any]:
    """A series, array or sequence as a list of n plain values, or an error that names it."""
    odd = isinstance(values, str | bytes | Mapping | Set) or hasattr(type(values), "columns")
    try:
        if odd:
            raise TypeError
        plain = values.to_list() if hasattr(values, "to_list") else list(values)
    except TypeError:
        raise TypeError(f"{name} is {type_shown(values)}; give {each} for each row of X") from None
    if len(plain) != n:
        raise ValueError(f"{name} has {len(plain)} entries; X has {n} rows: give {each} for each")
    return [value.as_py() if hasattr(value, "as_py") else value for value in plain]


def frame_can_hold(labels: Iterable[Any], frame: nw.DataFrame[Any]) -> None:
    """Raise a TypeError if a series of this kind of frame cannot hold all of these labels."""
    import narwhals.stable.v2 as nw

    labels = list(labels)
    try:
        nw.new_series("labels", labels, backend=nw.get_native_namespace(frame))
    except Exception as error:
        raise TypeError(
            f"the predictions may be any of {short_repr(labels, 200)}, and a "
            f"{frame.implementation.value} series cannot hold them all ({error}); use learn_many, "
            "or labels of one type"
        ) from None


def frame_series(values: Sequence[Any] | np.ndarray, name: object, like: nw.DataFrame[Any]) -> Any:
    """A series of the same kind and with the same index as a frame."""
    import narwhals.stable.v2 as nw

    if like.implementation.is_pandas_like() and any(value is None for value in values):
        # without this, pandas turns ints beside None into floats
        objects = np.empty(len(values), dtype=object)
        for row, value in enumerate(values):
            objects[row] = value
        values = objects
    series = nw.new_series(name, values, backend=nw.get_native_namespace(like))  # type: ignore
    return _indexed(series.to_native(), like)


def frame_columns(matrix: np.ndarray, columns: Iterable[Any], like: nw.DataFrame[Any]) -> Any:
    """A frame of the same kind and with the same index as another."""
    import narwhals.stable.v2 as nw

    columns = names = list(columns)
    if not like.implementation.is_pandas_like():
        names = list(map(str, columns))
    if len(set(names)) < len(columns):
        raise ValueError(
            f"the labels {short_repr(columns, 200)} are not all different as text, as the column "
            f"names of a {like.implementation.value} frame must be; use a pandas frame"
        )
    data = dict(zip(names, matrix.T, strict=True))
    return _indexed(nw.from_dict(data, backend=like.implementation).to_native(), like)


def _indexed(made: Any, like: nw.DataFrame[Any]) -> Any:
    """A native series or frame with the index of a frame, if that has one."""
    import narwhals.stable.v2 as nw

    if (index := nw.maybe_get_index(like)) is not None:
        made.index = index
    return made
