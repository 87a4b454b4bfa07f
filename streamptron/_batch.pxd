# The path in a loop over the rows of a matrix.
#
# Columns have become rows of weights before (`rows`, by column), once for the whole batch. With one output a row of the
# matrix is scored and learned where it lies, through rows[column]. Only where the rule makes a step of it and it has features
# without weights is it written as an event, with their names. With several outputs, whose weights cost much more
# than that, it is always written.
#
# Where there is no such table (a few rows of a very wide matrix; or there is a ceiling, under which rows change hands while
# the batch is learned) every row is written as an event of keys, as if a dict had brought it.
#
# A block is checked right before it is used, so that it comes from memory once (batch_next).
#
# Functions in this file: batch_begin, batch_next, batch_row; the rest serve these.

from libc.string cimport memset
from streamptron._types cimport ROW_NULL, row_t, uint32_t, uint64_t
from streamptron._key cimport KEY_INT, Key, key_word
from streamptron._hash cimport key_hash
from streamptron._event cimport (
    Event, Writer, event_begin, event_end, event_settle, event_writer, writer_add)
from streamptron._rule cimport Step, rule_step
from streamptron._learner cimport (
    Learner, learner_commit, learner_commit_row, learner_decision, learner_prediction, learner_probabilities, learner_score,
    learner_score_row, learner_served, learner_several)
from streamptron._matrix cimport (
    Matrix, MatrixRow, matrix_column, matrix_prefetch, matrix_row, matrix_span, matrix_value)

cdef enum:
    BLOCK_VALUES = 2048             # with their columns 24 KiB

cdef struct Batch:
    const Matrix* matrix
    Learner* learner
    Event* event
    MatrixRow row
    row_t* rows                     # by column; NULL: every row is an event of keys
    const Key* keys                 # by column; NULL: column j is the int j
    # what is wanted; NULL where it is not
    const Py_ssize_t* y
    const double* steps             # NULL: 1 for all
    Py_ssize_t* predictions
    double* decisions
    Py_ssize_t n_decisions          # doubles a row
    double* probabilities
    Py_ssize_t n_probabilities
    Py_ssize_t block_rows


cdef inline void batch_begin(Batch* batch, const Matrix* matrix, Learner* learner, Event* event) noexcept nogil:
    """A batch of which nothing is wanted yet."""
    memset(batch, 0, sizeof(Batch))
    batch.matrix = matrix
    batch.learner = learner
    batch.event = event
    batch.block_rows = 1 + matrix.n_rows * BLOCK_VALUES // (matrix.n_values + matrix.n_rows + 1)


cdef inline Py_ssize_t batch_next(const Batch* batch, Py_ssize_t first) noexcept nogil:
    """Where the block that starts at a row ends."""
    return min(batch.matrix.n_rows, first + batch.block_rows)


cdef inline int _write_keys(Batch* batch, Py_ssize_t r) noexcept nogil:
    """A row as an event of keys."""
    cdef const Matrix* m = batch.matrix
    cdef Py_ssize_t k, first, last
    cdef uint64_t column
    cdef double value
    cdef Writer writer
    matrix_span(m, r, &first, &last)
    if event_begin(batch.event, &batch.learner.index, last - first, batch.learner.intercept) < 0:
        return -1
    writer = event_writer(batch.event)
    for k in range(first, last):
        value = matrix_value(m, r, k)
        if value != 0.0:
            column = k if m.dense else <uint64_t> matrix_column(m, k)
            writer_add(&writer, key_word(KEY_INT, column) if batch.keys == NULL else batch.keys[column], value)
    event_end(batch.event, &writer)
    return 0


cdef inline int _write_row(Batch* batch) noexcept nogil:
    """The row at hand as an event whose features are found; those without weights get their names."""
    cdef Event* event = batch.event
    # copies: for all that a compiler knows, every store to rows might change the batch
    cdef const uint32_t* columns = batch.row.columns
    cdef const double* from_ = batch.row.values
    cdef const row_t* row_of = batch.rows
    cdef Py_ssize_t i, at, n = batch.row.n
    cdef row_t* rows
    cdef double* values
    cdef bint missing = False
    if event_begin(event, &batch.learner.index, n, batch.learner.intercept) < 0:
        return -1
    at = event.n
    rows = event.rows + at
    values = event.values + at
    for i in range(n):
        values[i] = from_[i]
        rows[i] = row_of[columns[i]]
        missing |= rows[i] == ROW_NULL
    event.n = event.n_found = at + n
    if missing:
        for i in range(n):
            if rows[i] == ROW_NULL:
                event.keys[at + i] = (key_word(KEY_INT, columns[i]) if batch.keys == NULL
                                      else batch.keys[columns[i]])
                event.hashes[at + i] = key_hash(&batch.learner.index.seed, &event.keys[at + i])
    return 0


cdef inline bint _all_known(const Batch* batch) noexcept nogil:
    """Whether every feature of the row at hand has weights that can be written where they are."""
    cdef const row_t* rows = batch.rows
    cdef const uint32_t* columns = batch.row.columns
    cdef Py_ssize_t i, n = batch.row.n
    cdef bint missing = batch.learner.index.bits or batch.learner.table.zeros == batch.learner.table.blocks[0].chunks[0]
    for i in range(n):
        missing |= rows[columns[i]] == ROW_NULL
    return not missing


cdef inline int batch_row(Batch* batch, Py_ssize_t r, bint zeros) noexcept nogil:
    """Predict a checked row, then learn it, as far as is wanted. Returns -1 without memory."""
    cdef Learner* learner = batch.learner
    cdef Event* event = batch.event
    cdef const MatrixRow* row = &batch.row
    cdef Py_ssize_t i
    cdef row_t n_rows = learner.index.n_rows
    cdef const double* scores
    cdef double step
    cdef Step s
    cdef bint lying = batch.rows != NULL and not learner_several(learner)  # scored where it lies
    if batch.rows != NULL:
        matrix_prefetch(batch.matrix, r, BLOCK_VALUES)
        if matrix_row(batch.matrix, r, zeros, &batch.row) < 0:
            return -1
    if lying:
        if learner_score_row(learner, event, batch.rows, row.columns, row.values, row.n) < 0:
            return -1
    else:
        event.scored_version = 0
        if (_write_keys(batch, r) if batch.rows == NULL else _write_row(batch)) < 0 or (
                learner_score(learner, event) < 0):
            return -1
    if batch.predictions != NULL:
        batch.predictions[r] = learner_prediction(learner, event)
    if batch.decisions != NULL:
        scores = learner_decision(learner, event, learner_served(learner, event))
        for i in range(batch.n_decisions):
            batch.decisions[r * batch.n_decisions + i] = scores[i]
    if batch.probabilities != NULL and batch.n_probabilities:
        learner_probabilities(learner, event, batch.probabilities + r * batch.n_probabilities)
    if batch.y != NULL:
        step = 1.0 if batch.steps == NULL else batch.steps[r]
        if lying:
            s = rule_step(&learner.rule, event.scores, 1, batch.y[r], step, row.values, row.n, learner.intercept)
            if s.n == 0 or _all_known(batch):
                learner_commit_row(
                    learner, event.scores, batch.rows, row.columns, row.values, row.n, batch.y[r], &s)
                return 0
            if _write_row(batch) < 0:
                return -1
        else:
            s = rule_step(&learner.rule, event.scores, learner.table.n_outputs, batch.y[r], step,
                          event.values, event.n, False)
        if learner_commit(learner, event, batch.y[r], &s) < 0:
            return -1
        if batch.rows != NULL and learner.index.n_rows != n_rows:
            for i in range(row.n):
                batch.rows[row.columns[i]] = event.rows[learner.intercept + i]
    if batch.rows == NULL:
        event_settle(event, &learner.index)
    return 0
