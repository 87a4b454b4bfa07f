"""The rows that Spark sends to a shard in Arrow's format, converted to what learners read.

id        partition << 33 | row in the frame that is learned, for errors
x         text, a struct of the texts of fields, or a vector: struct<type, size, indices, values>
y         the label
w         the weight, if there are weights
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from streamptron.learners.multilabel import MultiLabelClassifier
from streamptron.learners.perceptron import Perceptron
from streamptron.learners.text import Tokenizer

ROW_BITS = 33  # of monotonically_increasing_id
SPARSE = 0  # the type of a vector; 1: dense


class BadRows(ValueError):
    """Rows of a shard that cannot be learned."""


def parts(model: Any) -> tuple[Tokenizer | None, Any]:
    """A model's tokenizer, None if it has none, and its learner."""
    steps = getattr(model, "steps", None)
    return (None, model) if steps is None else (model[0], model[-1])


def place(row: int) -> str:
    """A row's partition and number, from its id."""
    return f"partition {row >> ROW_BITS}, row {row & ((1 << ROW_BITS) - 1)}"


def learn(tokenizer: Tokenizer | None, learner: Any, batch: pa.RecordBatch) -> None:
    """Learn the rows of a batch.

    Raises
    ------
    BadRows
        If a row has a null or cannot be learned; the message says where.
    """
    ids = batch.column("id")
    for name, what in (("x", "text or vector"), ("y", "label"), ("w", "weight")):
        if name in batch.schema.names:
            columns = [batch.column(name)]
            if name == "x" and tokenizer is not None and tokenizer.fields is not None:
                columns += columns[0].flatten()
            if pa.types.is_list(columns[0].type):  # lists of labels, which may be null, too
                columns.append(_holed(columns[0]))
            nulls = [_first_null(column) for column in columns if column.null_count]
            if nulls:
                raise BadRows(f"the {what} is null in {place(ids[min(nulls)].as_py())}")
    try:
        w = batch.column("w").to_numpy() if "w" in batch.schema.names else 1.0
        learner.learn_many(
            features(tokenizer, batch.column("x")), labels(learner, batch.column("y")), w
        )
    except (TypeError, ValueError) as error:
        raise BadRows(
            f"{error} (among {len(ids)} rows, the first of which is {place(ids[0].as_py())})"
        ) from error


def _first_null(column: pa.Array) -> int:
    return int(column.is_null().to_numpy(zero_copy_only=False).argmax())


def _holed(lists: pa.ListArray) -> pa.Array:
    """An array with one value per list: null if a value of the list is null."""
    holes = lists.value_parent_indices().filter(lists.flatten().is_null())
    return pa.array(np.zeros(len(lists), bool), mask=np.isin(np.arange(len(lists)), holes))


def features(tokenizer: Tokenizer | None, column: pa.Array) -> Any:
    """Texts or vectors in a form that learners read."""
    if tokenizer is None:
        return vectors(column)
    return tokenizer.transform_many(column if tokenizer.fields is None else column.to_pylist())


def labels(learner: Any, column: pa.Array) -> Any:
    """The labels of rows, lists if there are several; a Perceptron's 0 and 1 are truth values."""
    if isinstance(learner, MultiLabelClassifier):
        return column.to_pylist()
    encoded = column.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    if isinstance(learner, Perceptron):
        for value in values:
            if value not in (0, 1):
                raise ValueError(
                    f"the label is {value!r}; a perceptron has the labels False and True, or 0 and "
                    "1: choose another learner for other labels"
                )
        values = [bool(value) for value in values]
    table = np.empty(len(values), object)
    table[:] = values
    found: np.ndarray = table[encoded.indices.to_numpy()]
    return found


def vectors(column: pa.StructArray) -> Any:
    """pyspark.ml's vectors as the rows of a matrix; not copied if all are of the same kind."""
    n = len(column)
    if column.null_count:
        raise ValueError(f"the vector in row {_first_null(column)} is null; leave that row out")
    dense = column.field("type").to_numpy() != SPARSE
    starts, values = _flat(column.field("values"))
    lengths = np.diff(starts)
    sizes = lengths.copy()
    if not dense.all():
        given = column.field("size").fill_null(0).to_numpy()
        sizes = np.where(dense, lengths, given)
    size = int(sizes[0]) if n else 0
    if (sizes != size).any():
        row = int((sizes != size).argmax())
        raise ValueError(f"vectors of {size} and {int(sizes[row])} features; give all one size")
    if dense.all():
        return values.reshape(n, size)
    if dense.any():
        columns = np.empty(len(values), np.int32)
        _, given = _flat(column.field("indices"))
        is_dense = np.repeat(dense, lengths)
        columns[~is_dense] = given
        columns[is_dense] = np.tile(np.arange(size, dtype=np.int32), int(dense.sum()))
    else:
        _, columns = _flat(column.field("indices"))
    return csr_array((values, columns, starts), shape=(n, size))


def _flat(column: pa.ListArray) -> tuple[np.ndarray, np.ndarray]:
    """A column of lists: where each begins, counted from 0, and all entries."""
    starts = column.offsets.to_numpy()
    first, last = int(starts[0]), int(starts[-1])
    entries = column.values.slice(first, last - first).to_numpy()
    return (starts if first == 0 else starts - first), entries
