"""Columns of a frame that are not all numbers: texts are categories, as common/cells.py says.

Each row of the result has the entries that ``learn_one`` would find in the row as a dict.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from streamptron.common.cells import (
    NAN_HINT,
    REFUSE,
    REFUSED_HINT,
    SKIP_NAN,
    category,
    category_of,
    is_gap,
    is_nan,
)
from streamptron.common.checks import checked_number
from streamptron.common.names import short_repr, type_shown

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Rows(NamedTuple):
    """The parts of a CSR matrix, named as in scipy."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    shape: tuple[int, int]

    def csr(self) -> Any:
        """The matrix of these parts."""
        from scipy.sparse import csr_array

        return csr_array(self[:3], shape=self.shape)


class Column(NamedTuple):
    """What a column has in each row.

    Attributes
    ----------
    features
        The features of the column: each row has one of them, or a gap.
    which
        For each row, the index of its feature; None: all rows have the first one.
    values
        For each row, the feature's value; None: all are 1.
    gaps
        Whether each row has a gap; None: no row has.
    """

    features: list[Hashable]
    which: NDArray[np.integer[Any]] | None
    values: NDArray[np.float64] | None
    gaps: NDArray[np.bool_] | None


def column_of(series: Any, name: Hashable, missing: str) -> Column:
    """Look at a narwhals series.

    Raises
    ------
    TypeError, ValueError
        If a cell is neither a number nor a text, or is missing where `missing` forbids it.
    """
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if hasattr(native, "sparse"):  # pandas' own, of a dtype that narwhals does not know
        series = nw.from_native(native.sparse.to_dense(), series_only=True)
    if series.dtype in (nw.Categorical, nw.Enum):
        return _categories(series, name, missing)
    if series.dtype == nw.String:
        codes, texts = _numbered_texts(series)
        return _named(codes, texts, name, missing, category_of)
    if series.dtype == nw.Object:
        return _objects(series, name, missing)
    gaps = series.is_null().to_numpy()
    if gaps.all():
        _refuse(gaps, name, missing)
        return Column([name], None, np.zeros(len(gaps)), gaps)
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        raise TypeError(
            f"column {short_repr(name)} of X holds {series.dtype}, which is not a number; convert "
            "it to numbers or texts, or drop the column"
        )
    return _numbers(series, gaps, name, missing)


# --- Numbers


def _numbers(series: Any, gaps: NDArray[np.bool_], name: Hashable, missing: str) -> Column:
    if not gaps.any():
        numbers = series.to_numpy()
    elif isinstance(getattr(series.to_native(), "dtype", None), np.dtype):
        numbers, gaps = series.to_numpy(), np.zeros_like(gaps)  # pandas: NaN, not a gap
    else:
        numbers = series.fill_null(False if str(series.dtype) == "Boolean" else 0).to_numpy()
    values: NDArray[np.float64] = np.asarray(numbers, dtype=np.float64)
    nan = np.isnan(values)
    if nan.any():
        if missing != SKIP_NAN:
            raise ValueError(
                f"X has no value in row {np.flatnonzero(nan)[0]}, column {short_repr(name)} (NaN); "
                f"{NAN_HINT}"
            )
        gaps = gaps | nan
        values = np.where(nan, 0.0, values)
    _refuse(gaps, name, missing)
    if numbers.dtype in (np.int64, np.uint64):
        for row in np.flatnonzero(np.abs(values) >= 2**53).tolist():
            if int(numbers[row]) != int(values[row]):
                raise ValueError(
                    f"X has the int {numbers[row]} in row {row}, column {short_repr(name)}, which "
                    "a float64 cannot hold exactly; scale it first, or convert X to float64 if "
                    "that is meant"
                )
    return Column([name], None, values, gaps if gaps.any() else None)


def _refuse(gaps: NDArray[np.bool_], name: Hashable, missing: str) -> None:
    if missing == REFUSE and gaps.any():
        row = np.flatnonzero(gaps)[0]
        raise ValueError(
            f"X has no value in row {row}, column {short_repr(name)} (missing); {REFUSED_HINT}"
        )


# --- Texts


def _categories(series: Any, name: Hashable, missing: str) -> Column:
    """A column declared to hold categories: even a text that reads as a number is one."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        codes, texts = native.cat.codes.to_numpy(), native.cat.categories.to_list()
    elif series.implementation.is_polars():
        codes, texts = _of_polars(native)
    else:
        codes, texts = _of_dictionary(native)

    def named(name: Hashable, text: Any, where: Callable[[], str]) -> str:
        if not isinstance(text, str):
            raise TypeError(
                f"column {short_repr(name)} of X is categorical, but its categories are not texts, "
                f"for example {short_repr(text)}, {type_shown(text)}: they could be numbers or "
                "names; convert the column to numbers (pandas: .astype(float)), or to categories "
                "of text (pandas: .astype(str).astype('category'))"
            )
        if not isinstance(name, str):
            return category_of(name, text, where)
        return category(name, text)

    return _named(codes, texts, name, missing, named)


def _numbered_texts(series: Any) -> tuple[NDArray[Any], list[Any]]:
    """The index of each row's text, -1 if it has none, and the texts."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        codes, texts = native.factorize()
        return codes, list(texts)
    if series.implementation.is_polars():
        found = series.unique(maintain_order=True).drop_nulls()
        texts = found.to_list()
        codes = native.replace_strict(texts, range(len(texts)), default=None, return_dtype=int)
        return codes.fill_null(-1).to_numpy(), texts
    return _of_dictionary(native.dictionary_encode())


def _of_polars(native: Any) -> tuple[NDArray[Any], list[Any]]:
    """The same for a polars categorical, whose codes may come from a larger set of texts."""
    numbers = native.to_physical()
    codes = (numbers.cast(int).fill_null(-1) if native.null_count() else numbers).to_numpy()
    row = np.full(int(numbers.max() or 0) + 2, -1)  # the last is for -1
    row[codes] = np.arange(len(codes))
    there = np.flatnonzero(row[:-1] >= 0)
    texts: list[Any] = [None] * (len(row) - 1)
    for code, text in zip(there, native.gather(row[there]).cast(str).to_list(), strict=True):
        texts[code] = text
    return codes, texts


def _of_dictionary(native: Any) -> tuple[NDArray[Any], list[Any]]:
    """The same for a dictionary-encoded pyarrow column."""
    array = native.unify_dictionaries().combine_chunks()
    codes = array.indices.cast("int64").fill_null(-1) if array.null_count else array.indices
    return codes.to_numpy(zero_copy_only=False), array.dictionary.to_pylist()


def _named(
    codes: NDArray[Any],
    texts: Sequence[Any],
    name: Hashable,
    missing: str,
    named: Callable[[Hashable, Any, Callable[[], str]], str],
) -> Column:
    """Name the categories that occur; a row with code -1 is a gap."""
    place = np.full(len(texts) + 1, -1, dtype=np.int32)
    there = np.zeros(len(texts) + 1, dtype=np.bool_)
    there[codes] = True  # the last is for -1
    features: list[Hashable] = []
    for code in np.flatnonzero(there[:-1]).tolist():
        if texts[code] == "" or texts[code] is None:
            continue
        where = _where(codes, code, name)
        place[code] = len(features)
        features.append(named(name, texts[code], where))
    which = place[codes]
    if len(features) == np.count_nonzero(there):
        return Column(features, which, None, None)
    gaps = which < 0
    _refuse(gaps, name, missing)
    return Column(features or [name], np.maximum(which, 0), None, gaps)


def _where(codes: NDArray[Any], code: int, name: Hashable) -> Callable[[], str]:
    return lambda: _cell(int(np.flatnonzero(codes == code)[0]), name)


# --- Anything


def _objects(series: Any, name: Hashable, missing: str) -> Column:
    """Cell by cell. If all other cells are texts, a NaN is a gap: no computation made it."""
    cells = series.to_list()
    others = [cell for cell in cells if not is_gap(cell) and not is_nan(cell)]
    texts = bool(others) and all(isinstance(cell, str) for cell in others)
    number: dict[Hashable, int] = {name: 0}
    which = np.zeros(len(cells), dtype=np.intp)
    values = np.ones(len(cells))
    gaps = np.zeros(len(cells), dtype=np.bool_)
    for row, cell in enumerate(cells):
        if is_gap(cell) or ((texts or missing == SKIP_NAN) and is_nan(cell)):
            gaps[row] = True
        elif isinstance(cell, str):
            made = category_of(name, str.__str__(cell), partial(_cell, row, name))
            which[row] = number.setdefault(made, len(number))
        else:
            values[row] = checked_number(cell, _cell(row, name))
    _refuse(gaps, name, missing)
    return Column(list(number), which, values, gaps if gaps.any() else None)


def _cell(row: int, name: Hashable) -> str:
    return f"X in row {row}, column {short_repr(name)},"


# --- All columns


def joined(columns: Sequence[Column], n: int) -> tuple[Any, list[Hashable]]:
    """Columns of n rows as a matrix, and the feature of each column of the matrix."""
    names: list[Hashable] = []
    plain = all(column.which is None and column.gaps is None for column in columns)
    if plain:
        matrix = np.empty((n, len(columns)), order="C")
        for j, column in enumerate(columns):
            names += column.features
            matrix[:, j] = column.values
        return matrix, names
    size = n * len(columns)
    kind = np.int32 if size < 2**31 else np.int64
    indices = np.empty((n, len(columns)), dtype=kind)
    named = all(column.values is None for column in columns)
    values = np.ones((n, len(columns)), dtype=np.uint8 if named else np.float64)
    gaps = None
    for j, column in enumerate(columns):
        indices[:, j] = len(names) if column.which is None else column.which + len(names)
        if column.values is not None:
            values[:, j] = column.values
        if column.gaps is not None:
            gaps = np.zeros((n, len(columns)), dtype=np.bool_) if gaps is None else gaps
            gaps[:, j] = column.gaps
        names += column.features
    _check_once(names, columns)
    data, places = values.reshape(-1), indices.reshape(-1)
    starts = np.arange(0, size + 1, len(columns), dtype=kind)
    rows = Rows(data, places, starts, (n, len(names)))
    return (rows if gaps is None else _without(rows, gaps.reshape(-1))), names


def _check_once(names: list[Hashable], columns: Sequence[Column]) -> None:
    if len(set(names)) == len(names):
        return
    for feature in (
        name for column in columns if column.which is not None for name in column.features
    ):
        if names.count(feature) > 1:
            raise ValueError(
                f"X has the feature {short_repr(feature)} twice, as a column and as a category, or "
                "as two categories; drop or rename a column"
            )


# --- NaN in numbers alone


def _without(rows: Rows, gaps: NDArray[np.bool_]) -> Rows:
    """Rows without some of their entries."""
    kept = ~gaps
    before = np.concatenate(([0], np.cumsum(kept)))
    starts = before[rows.indptr].astype(rows.indptr.dtype)
    return Rows(rows.data[kept], rows.indices[kept], starts, rows.shape)


def without_nan(matrix: Any, missing: str) -> Any:
    """An array, or a CSR matrix, without its NaN if the learner leaves them out."""
    dense = isinstance(matrix, np.ndarray)
    values = matrix if dense else matrix.data
    if missing != SKIP_NAN or values.dtype.kind != "f":
        return matrix
    nan = np.isnan(values)
    if not nan.any():
        return matrix
    if not dense:
        return _without(Rows(matrix.data, matrix.indices, matrix.indptr, matrix.shape), nan)
    n, m = matrix.shape
    places = np.tile(np.arange(m, dtype=np.int64), n)
    starts = np.arange(0, n * m + 1, m, dtype=np.int64)
    whole = Rows(np.ascontiguousarray(matrix).reshape(-1), places, starts, (n, m))
    return _without(whole, nan.reshape(-1))
