"""Batches in, answers out: arrays, sparse matrices and frames, and the labels that come with them.

Anything that holds events as rows becomes a `Batch`: the core's view of its numbers, the names of
its columns, and the form that answers should take. Labels are numbered here, many at a time.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from streamptron.common.cells import SKIP
from streamptron.common.checks import are_weights
from streamptron.common.names import INT_LIMIT, OBJECT, name_plain, short_repr, type_shown
from streamptron.common.values import encode
from streamptron.doors.batch import NEW_LABELS, UNSORTED
from streamptron.doors.rows import NUMBERS, MatrixRows, Rows, number_small
from streamptron.doors.texts import Texts
from streamptron.estimator import frames
from streamptron.estimator.columns import without_nan

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    from numpy.typing import NDArray


# The dtypes that the core reads as they are: of values, and of a CSR matrix's indices.
NUMBER_OF = {np.dtype(kind).str: number for number, kind in enumerate(NUMBERS)}
WORDS = {np.dtype(kind).str for kind in ("i4", "i8")}

Said = TypeVar("Said")


class Batch:
    """Events as rows.

    Parameters
    ----------
    rows
        The numbers, in the caller's memory where possible.
    names
        The feature of each column; None: that of column j is the int j.
    frame
        X, if it was a frame: answers are of the same kind. None: answers are arrays.
    source
        A sparse matrix's values, columns, starts and shape.
    series
        X, if it was a series; then `frame` is made when needed.
    """

    __slots__ = ("_frame", "_series", "names", "rows", "source")

    def __init__(
        self,
        rows: Rows,
        names: Sequence[Hashable] | None,
        frame: nw.DataFrame[Any] | None = None,
        source: tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]] | None = None,
        series: Any = None,
    ) -> None:
        self.rows = rows
        self.names = names
        self.source = source
        self._frame = frame
        self._series = series

    @property
    def frame(self) -> nw.DataFrame[Any] | None:
        """A frame of the kind of the answers; made from the series when first needed."""
        if self._series is not None:
            self._frame = frames.frame_of_series(self._series)
            self._series = None
        return self._frame

    def __len__(self) -> int:
        return len(self.rows)

    def ready(self) -> Batch:
        """The same, checked and sorted: its rows can be learned many times, in any order."""
        if isinstance(self.rows, MatrixRows) and not self.rows.check(self.names):
            return self.sorted().ready()
        return self

    def sorted(self) -> Batch:
        """The same with the columns of each row in order, repeated ones summed, as scipy does."""
        from scipy.sparse import csr_array  # installed: the matrix came from it

        assert self.source is not None
        assert isinstance(self.rows, MatrixRows)
        self.rows.check(self.names)  # scipy does not
        values, columns, starts, shape = self.source
        matrix = csr_array((values.copy(), columns.copy(), starts.copy()), shape=shape)
        matrix.sum_duplicates()
        return _sparse_batch(matrix, self.names, self.frame)

    def learned(self, learn: Callable[..., tuple[int, Said]], *given: Any) -> Said:
        """Let a model learn the rows; `given` are its other arguments. Returns what it returns.

        The last of `given` is the order of rows; None: all rows, in their own order.
        """
        done, said = learn(self.rows, self.names, *given)
        if done == UNSORTED:
            return self.sorted().learned(learn, *given)
        order = given[-1]
        wanted = len(self.rows) if order is None else len(order)
        if done < wanted:
            raise MemoryError(f"no memory after {done} of {wanted} rows; those are learned")
        return said

    def answered(
        self, answer: Callable[..., tuple[int, list[Any]]], *given: Any, order: Any = None
    ) -> list[Any] | None:
        """Let a model answer the rows; its labels, or None if the arrays are too small for them."""
        done, labels = answer(self.rows, self.names, *given)
        if done == UNSORTED:
            return self.sorted().answered(answer, *given, order=order)
        if 0 <= done < len(self.rows if order is None else order):
            raise MemoryError("no memory for the scores")
        return None if done == NEW_LABELS else labels

    def outputs(self) -> NDArray[np.intp]:
        """An array for one output per row."""
        return np.empty(len(self), dtype=np.intp)

    def numbers(self, n: int) -> NDArray[np.float64]:
        """An array for n numbers per row."""
        return np.empty((len(self), n))

    def numbered(self, y: Any, check: Callable[[Any], Any]) -> tuple[list[Any], NDArray[np.intp]]:
        """The distinct labels of y, checked, in order of appearance, and each row's number."""
        labels, firsts, numbers = numbered(y, len(self))
        checked = [
            _row_checked(row, check, label) for row, label in zip(firsts, labels, strict=True)
        ]
        return checked, numbers

    def can_hold(self, labels: set[Any]) -> None:
        """Raise a TypeError if a series like the frame cannot hold these labels."""
        if self.frame is not None:
            frames.frame_can_hold(labels, self.frame)

    def labels(self, outputs: np.ndarray, labels: Sequence[Hashable], name: object) -> Any:
        """The labels of outputs (-1: None), as a series like the frame, or as an array."""
        if self.frame is None:
            table = label_array(labels)
            if (outputs < 0).any():
                return np.array([*table.astype(object), None], dtype=object)[outputs]
            return table[outputs]
        found = [None if output < 0 else labels[output] for output in outputs]
        return frames.frame_series(found, name, self.frame)

    def scores(self, values: np.ndarray, labels: Sequence[Hashable] | None) -> Any:
        """Numbers per row and label, or per row if there are no labels: array, frame or series."""
        if self.frame is None:
            return values if labels is not None else values[:, 0]
        if labels is None:
            return frames.frame_series(values[:, 0], None, self.frame)
        return frames.frame_columns(values, labels, self.frame)


def batch_of(X: Any, feature_names: Iterable[Hashable] | None, missing: str = SKIP) -> Batch:
    """Look at X as rows, or raise an error that names X or feature_names.

    `missing`: the learner's parameter.
    """
    if isinstance(X, np.ndarray):
        array = without_nan(_plain(X), missing)
        return _batch(array, _checked_names(feature_names, array.shape[1]))
    if isinstance(X, Texts):
        if feature_names is not None:
            raise TypeError(
                "feature_names is given, but X are texts, whose tokens are the features"
            )
        return Batch(X, None, series=X.source)
    sparse = sys.modules.get("scipy.sparse")  # a caller that has a sparse matrix has imported it
    if sparse is not None and sparse.issparse(X):
        shape = X.shape
        if len(shape) != 2:
            raise _dimensions(len(shape))
        if shape[1] > INT_LIMIT:  # the largest int that the core keeps in a word
            raise ValueError(f"X has {shape[1]} columns; it can have at most {INT_LIMIT}")
        names = _checked_names(feature_names, shape[1])
        return _sparse_batch(without_nan(X if X.format == "csr" else X.tocsr(), missing), names)
    frame = frames.frame_wrap(X)
    if feature_names is not None:
        raise TypeError(
            "feature_names is given, but X is a frame, whose columns have names; leave it out, or "
            "rename the columns"
        )
    matrix, names = frames.frame_matrix(frame, missing)
    _doubt(names)
    return _batch(matrix, names, frame)


def _doubt(names: list[Hashable]) -> None:
    """Warn of column names that can be learned but not saved: at the save it would be too late."""
    for name in names:
        if type(name) is not str and name_plain(name)[0] == OBJECT:
            try:
                encode(name)
            except TypeError:
                warnings.warn(
                    f"the column {short_repr(name)} of X is {type_shown(name)}, and a model that "
                    "learns it cannot be saved, only pickled; name the columns by text: X.columns "
                    "= X.columns.astype(str)",
                    stacklevel=4,
                )
                return


def _batch(
    matrix: Any, names: Sequence[Hashable] | None, frame: nw.DataFrame[Any] | None = None
) -> Batch:
    """An array, or a CSR matrix, as rows."""
    if not isinstance(matrix, np.ndarray):
        return _sparse_batch(matrix, names, frame)
    number, values = _numbers(matrix, lambda at: divmod(at, matrix.shape[1]))
    return Batch(MatrixRows(number, values), names, frame)


def _dimensions(n: int) -> ValueError:
    hint = "; one event is X[None, :]" if n == 1 else ""
    return ValueError(
        f"X has {n} dimension{'' if n == 1 else 's'}; it must have two, one event per row and one "
        f"feature per column{hint}"
    )


def _plain(X: np.ndarray) -> np.ndarray:
    """An array of two dimensions without masks."""
    if X.ndim != 2:
        raise _dimensions(X.ndim)
    if np.ma.isMaskedArray(X):
        mask = np.ma.getmaskarray(X)
        if mask.any():
            row, column = np.argwhere(mask)[0]
            raise ValueError(
                f"X has no value in row {row}, column {column} (masked); drop the row or impute "
                "the cell first"
            )
    return np.asarray(X)


def _sparse_batch(
    matrix: Any, names: Sequence[Hashable] | None, frame: nw.DataFrame[Any] | None = None
) -> Batch:
    """A CSR matrix, which is copied only where its dtypes do not fit."""
    values, columns, starts, shape = matrix.data, matrix.indices, matrix.indptr, matrix.shape
    if len(starts) != shape[0] + 1 or starts[0] != 0:
        raise ValueError(
            f"X is not a CSR matrix: its indptr has {len(starts)} entries and starts with "
            f"{starts[0] if len(starts) else 'nothing'}; with {shape[0]} rows it must have "
            f"{shape[0] + 1} and start with 0. Rebuild it with scipy.sparse.csr_array"
        )
    number, kind = NUMBER_OF.get(values.dtype.str), starts.dtype.str
    if number is not None and kind in WORDS and kind == columns.dtype.str:
        try:
            rows = MatrixRows(number, values, columns, starts, shape[1])
            return Batch(rows, names, frame, (values, columns, starts, shape))
        except BufferError:  # the numbers are not contiguous
            pass

    def place(at: int) -> tuple[int, int]:
        return int(np.searchsorted(starts, at, side="right")) - 1, int(columns[at])

    number, plain = _numbers(values, place)
    if kind not in WORDS or kind != columns.dtype.str:
        columns = _as_int64(columns, "indices")
        starts = _as_int64(starts, "indptr")
    plain, columns, starts = (np.array(a, order="C") for a in (plain, columns, starts))
    rows = MatrixRows(number, plain, columns, starts, shape[1])
    # scipy adds truth values up to truth values
    summed = values if values.dtype.kind == "b" else plain
    return Batch(rows, names, frame, (summed, columns, starts, shape))


def _as_int64(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind not in "iu":
        raise TypeError(f"X.{name} has dtype {array.dtype}; it must be int32 or int64")
    return array.astype(np.int64)


def _numbers(values: np.ndarray, place: Callable[[int], tuple[int, int]]) -> tuple[int, np.ndarray]:
    """Which of NUMBERS the values are, and the values in that type: not copied if possible.

    `place` turns the position of a value into its row and column, for the error.
    """
    if not values.flags.aligned:  # almost all are
        values = values.copy()
    number = NUMBER_OF.get(values.dtype.str)
    if number is not None:
        return number, values
    if values.dtype.kind not in "biuf":
        kinds = {"O": "objects", "U": "text", "S": "bytes", "c": "complex numbers"}
        kind = kinds.get(values.dtype.kind, "other things")
        raise TypeError(
            f"X has dtype {values.dtype}, which holds {kind}; it must hold real numbers: convert "
            "it with X.astype(float) if that is meant"
        )
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    elif values.dtype.kind == "f" and values.dtype.itemsize == 2:
        values = values.astype(np.float32)
    elif values.dtype.kind == "f" and values.dtype.itemsize > 8:
        exact = values
        with np.errstate(over="ignore", under="ignore"):
            values = values.astype(np.float64)
        lost = np.flatnonzero((values != exact) & ~np.isnan(values))
        if len(lost):
            row, column = place(int(lost[0]))
            raise ValueError(
                f"X has in row {row}, column {column} the {exact.dtype} {exact.flat[lost[0]]!s}, "
                "which a float64 cannot hold exactly; convert X to float64 if that is meant"
            )
    return NUMBER_OF[values.dtype.str], values


def _checked_names(names: Iterable[Hashable] | None, n: int) -> list[Hashable] | None:
    if names is None:
        return None
    if isinstance(names, str | bytes | Mapping | Set) or not isinstance(names, Iterable):
        raise TypeError(
            f"feature_names is {type_shown(names)}; give a list of one name per column of X"
        )
    names = list(names)
    if len(names) != n:
        raise ValueError(
            f"feature_names has {len(names)} entries; X has {n} columns: give each column a name"
        )
    first: dict[Hashable, int] = {}
    for column, name in enumerate(names):
        try:
            other = first.setdefault(name, column)
        except TypeError:  # not hashable: the core says so
            continue
        if other != column:
            raise ValueError(
                f"feature_names has {short_repr(name)} twice, for columns {other} and {column}; "
                "give each column a name of its own"
            )
    return names


# --- Labels and weights


def _row_checked(row: int, check: Callable[..., Any], *values: Any) -> Any:
    """The result of a check; its error begins with the row."""
    try:
        return check(*values)
    except (TypeError, ValueError) as error:
        raise type(error)(f"in row {row}: {error}") from None


FEW = 16  # up to so many labels are numbered faster one by one
FIRST = np.zeros(1, dtype=np.intp)  # the numbers of a single label


def label_array(labels: Sequence[Hashable]) -> np.ndarray:
    """Labels as an array: of truth values, ints or floats if all are such, else of objects."""
    for kind, code in ((bool, "b"), (int, "i"), (float, "f")):
        if labels and all(type(label) is kind for label in labels):
            array = np.array(labels)
            if array.dtype.kind == code:  # ints that are too large get another dtype
                return array
    array = np.empty(len(labels), dtype=object)
    for at, label in enumerate(labels):
        array[at] = label
    return array


def numbered(y: Any, n: int) -> tuple[list[Any], list[int], NDArray[np.intp]]:
    """The distinct labels of y in order of appearance, their first rows, and each row's number.

    Raises
    ------
    TypeError, ValueError
        If y does not hold one label for each of n rows.
    """
    array = _array(y, "y")
    if isinstance(array, np.ndarray) and array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if isinstance(array, np.ndarray) and array.shape == (n,) and array.dtype.kind in "biufUSO":
        small = _small_ints(array) if n > FEW and array.dtype.kind in "biuf" else None
        if small is not None:
            low, ints = small
            firsts, numbers = number_small(ints, low, int(ints.max()) - low + 1)
            return [array[first].item() for first in firsts], firsts, numbers
        values = array.tolist()
    else:
        values = frames.listed(array, n, "y", "one label")
    if n == 1:
        return values, [0], FIRST
    try:
        # backwards, so that the first row of equal labels remains
        first = dict(zip(reversed(values), range(n - 1, -1, -1), strict=True))
        firsts = sorted(first.values())
        number_of = {values[row]: number for number, row in enumerate(firsts)}
        numbers = np.fromiter(map(number_of.__getitem__, values), dtype=np.intp, count=n)
    except TypeError:  # not hashable or not comparable: checking each label will raise the error
        firsts, numbers = list(range(n)), np.arange(n)
    return [values[row] for row in firsts], firsts, numbers


def steps_of(
    w: Any, labels: list[Any], numbers: NDArray[np.intp], step: Callable[[Any, Any], float]
) -> NDArray[np.float64] | None:
    """Sample weight times class weight of each row, checked; None if all are 1.

    `step` computes it from a label and a sample weight, or raises.
    """
    n = len(numbers)
    if not hasattr(w, "__len__"):
        one = [_row_checked(0, step, label, w) for label in labels]
        return None if all(number == 1.0 for number in one) else np.array(one)[numbers]
    array = _array(w, "w")
    if isinstance(array, np.ndarray) and array.dtype.kind in "biuf" and array.shape == (n,):
        weights: NDArray[np.float64] = np.asarray(array, dtype=np.float64)
        if are_weights(weights).all():
            by_label = np.array([step(label, 1.0) for label in labels])
            return np.multiply(weights, by_label[numbers]) if n else weights
    each = frames.listed(w, n, "w", "one weight")
    return np.array(
        [
            _row_checked(row, step, labels[number], weight)
            for row, (number, weight) in enumerate(zip(numbers, each, strict=True))
        ]
    )


def _array(values: Any, name: str) -> Any:
    """A series as an array, anything else as it is."""
    if type(values) is np.ndarray:
        return values
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        row = np.argwhere(np.ma.getmaskarray(values))[0][0]
        raise ValueError(f"{name} has no value in row {row} (masked); drop the row")
    if hasattr(values, "to_numpy") and hasattr(values, "dtype"):
        array = values.to_numpy()
        # a series with gaps stays: to_numpy makes NaN of them, and floats of its ints
        return values if array.dtype.kind == "f" and np.isnan(array).any() else array
    return values


def _small_ints(array: np.ndarray) -> tuple[int, NDArray[np.int64]] | None:
    """The smallest label, and all as int64, if they are whole numbers from a small range."""
    if array.dtype.kind == "f" and not (np.abs(array.astype(np.float64)) < 2**31).all():
        return None
    low, high = int(array.min()), int(array.max())
    if high - low >= 1 << 16 or high >= 1 << 62:
        return None
    ints = np.ascontiguousarray(array, dtype=np.int64)
    if array.dtype.kind == "f" and (ints != array).any():
        return None
    return low, ints
