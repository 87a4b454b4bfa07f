# The path in a loop over rows: of a matrix, or texts.
#
# The columns' slots are found first (`slots`, by column), once for the whole batch.
# With one output a row of the matrix is scored and learned in place, through slots[column]. Only if
# the rule makes a step of it and it has features without weights, those features are written as an
# event, with their names. With several outputs, whose weights cost much more than that, the whole
# row is always written.
#
# Most of such a row's time goes into finding the weights. If there are few columns, with many
# entries each, their places are found beforehand too: how far each slot lies from the null slot
# (`places`, by column; slots never move). A feature without weights is read at the null slot.
#
# Where finding them first does not pay (a few rows of a very wide matrix), or they would not last
# (under a ceiling slots change hands while the batch is learned), or features are paired, every row
# is written as an event of keys, like a dict.
#
# A text is always written as an event. If it has characters that have not been met (text_page), the
# batch stops until they are.
#
# With `ends` rows are not events but candidates, in queries of consecutive rows. To predict, a
# query is one event. To learn, each of its rows beside which there are rows of a higher grade (y)
# is one: of itself and those it should be the worst. So the values change their signs, for the best
# score to be the worst. A query is written once, and each event is taken from it. The documents of
# a query are learned several times in a row, so who answers is judged by what each vector said
# before it learned any of them.
#
# A block is checked right before it is used, so that it is read from memory once (batch_next).
#
# Rows may come in another order than they lie in, or only some of them (`order`). Then n_rows,
# batch_next and batch_rows count places in the order; labels, weights and answers stay where the
# rows lie. All rows must have been checked before. A query comes whole, its rows as they lie.
#
# Functions in this file: batch_matrix, batch_texts (to begin), batch_columns, batch_next,
# batch_rows, batch_unfit (before the first row is learned), batch_free; the rest serve these.

from libc.stdint cimport int32_t
from streamptron.engine.heap cimport calloc, free, realloc
from libc.string cimport memset
from streamptron.engine.types cimport (
    SLOT_INTERCEPT, SLOT_NULL, SLOTS_RESERVED, prefetch, slot_t, uint32_t, uint64_t)
from streamptron.engine.key cimport KEY_INT, Key, key_word
from streamptron.engine.hash cimport key_hash
from streamptron.engine.index cimport (
    Index, index_is_column, index_is_limited, index_open_columns)
from streamptron.engine.event cimport (
    Event, Writer, event_begin, event_candidate_end, event_candidates, event_end, event_first,
    event_last, event_settle, event_writer, writer_add)
from streamptron.engine.candidates cimport event_take_reversed
from streamptron.engine.table cimport (
    KEPT_KINDS, Entries, Table, table_can_write, table_has_places, table_place)
from streamptron.engine.learner cimport (
    Answer, Learner, learner_adapts, learner_admit, learner_answer, learner_commit,
    learner_commit_row, learner_decision, learner_judge, learner_probabilities, learner_resolve,
    learner_score, learner_score_row, learner_several, learner_step, learner_votes)
from streamptron.engine.matrix cimport (
    Matrix, MatrixScratch, matrix_column, matrix_prefetch, matrix_prefetch_half, matrix_row,
    matrix_scratch_free, matrix_span, matrix_value)
from streamptron.engine.ahead cimport Ahead, ahead_has, ahead_take
from streamptron.engine.pairs cimport pairs_measure
from streamptron.engine.scan cimport Piece
from streamptron.engine.text cimport Text, TextRule, text_free, text_write

cdef enum:
    BLOCK_VALUES = 2048             # with their columns 24 KiB
    BLOCK_TEXTS = 64                # some thousand words
    ORDER_AHEAD = 4                 # rows in an order are fetched a quarter of a block ahead
    PLACE_LEAST = 4                 # entries per column from which finding all places pays,
    PLACE_MOST = 1 << 15            # for up to so many columns: 128 KiB; more new pages cost more

    COLUMNS_MOST = 1 << 22          # columns whose slots a model remembers, in 4 bytes each
    COLUMNS_FEW = 1 << 16           # so many are remembered however little a batch holds

cdef struct Batch:
    Learner* learner
    Event* event
    Py_ssize_t n_rows
    const Py_ssize_t* order         # which row comes when; NULL: as they lie
    const Matrix* matrix            # NULL: texts
    MatrixScratch scratch
    uint32_t* lacking               # columns of a row that are to get weights
    Py_ssize_t lacking_capacity
    slot_t* slots                   # by column; NULL: every row is an event of keys
    int32_t* places                 # of the slots, by column (table_place); NULL: not known
    const Key* keys                 # by column; NULL: column j is the int j
    const TextRule* rule
    const Piece* pieces             # n_pieces for each row
    const Piece* prefixes
    int n_pieces
    Ahead* ahead                    # rows that are written already; NULL: none
    Text text
    Py_ssize_t page                 # 1 + the page that batch_rows stopped for; 0: for memory
    # what is wanted; NULL if it is not
    const Py_ssize_t* y             # below 0: only predict
    const double* steps             # NULL: 1 for all
    Py_ssize_t* predictions
    double* decisions
    Py_ssize_t n_decisions          # doubles per row
    double* probabilities
    Py_ssize_t n_probabilities
    double* confidences             # the probability of what is predicted
    Py_ssize_t block_rows
    const Py_ssize_t* ends          # by row: where its query ends; NULL: rows are events
    Event* query                    # all rows of a query
    Py_ssize_t first                # the first of them


cdef inline void batch_matrix(Batch* batch, Learner* learner, Event* event,
                              const Matrix* matrix) noexcept nogil:
    """Begin a batch of a matrix's rows, with nothing asked for yet."""
    memset(batch, 0, sizeof(Batch))
    batch.learner = learner
    batch.event = event
    batch.matrix = matrix
    batch.n_rows = matrix.n_rows
    batch.block_rows = 1 + matrix.n_rows * BLOCK_VALUES // (matrix.n_values + matrix.n_rows + 1)


cdef inline void batch_texts(Batch* batch, Learner* learner, Event* event, const TextRule* rule,
                             const Piece* prefixes, int n_pieces, const Piece* pieces,
                             Py_ssize_t n_rows) noexcept nogil:
    """Begin a batch of texts, of n_pieces pieces each."""
    memset(batch, 0, sizeof(Batch))
    batch.learner = learner
    batch.event = event
    batch.rule = rule
    batch.prefixes = prefixes
    batch.n_pieces = n_pieces
    batch.pieces = pieces
    batch.n_rows = n_rows
    batch.block_rows = BLOCK_TEXTS


cdef inline void batch_free(Batch* batch) noexcept nogil:
    free(batch.places)
    free(batch.lacking)
    matrix_scratch_free(&batch.scratch)
    text_free(&batch.text)


cdef inline Py_ssize_t batch_next(const Batch* batch, Py_ssize_t first) noexcept nogil:
    """Where the block that starts at a row ends."""
    cdef Py_ssize_t row, last = min(batch.n_rows, first + batch.block_rows)
    if batch.ends == NULL:
        return last
    row = last - 1 if batch.order == NULL else batch.order[last - 1]
    return min(batch.n_rows, last + batch.ends[row] - 1 - row)  # the rest of its query


cdef inline int _find_slots(Batch* batch, bint named, bint learning, Event* columns) noexcept nogil:
    """Find the slot of each column, if it pays; not if features are paired. -1 without memory.

    `columns`: the keys of named columns. Ints are found without hashing if the index has their
    slots by column. Learning makes it so, unless the matrix is very wide and holds little. Learning
    under a ceiling leaves the slots unknown.
    """
    cdef Index* index = &batch.learner.index
    cdef const Matrix* m = batch.matrix
    cdef Py_ssize_t j
    cdef Writer writer
    if batch.ends != NULL or batch.learner.pairs != NULL or (
            learning and index_is_limited(index)):
        batch.keys = columns.keys if named else NULL
        return 0
    if not named:
        if learning and m.n_columns <= COLUMNS_MOST and (
                m.n_columns <= COLUMNS_FEW or m.n_values >= m.n_columns // 4):
            if index_open_columns(index, m.n_columns) < 0:
                return -1
        if <size_t> m.n_columns <= index.n_columns:
            batch.slots = index.columns
            return 0
        if m.n_values // 2 < m.n_columns or m.n_columns > <Py_ssize_t> 1 << 31:
            return 0
        if event_begin(columns, index, m.n_columns, False) < 0:
            return -1
        writer = event_writer(columns)
        for j in range(m.n_columns):
            writer_add(&writer, key_word(KEY_INT, j), 1.0)
        event_end(columns, &writer)
    learner_resolve(batch.learner, columns)
    batch.slots = columns.slots
    batch.keys = columns.keys
    return 0


cdef inline int _forget_places(Batch* batch) noexcept nogil:
    free(batch.places)
    batch.places = NULL
    return 0


cdef inline int _find_places(Batch* batch) noexcept nogil:
    """Find the places of the columns' slots, once these are known, if it pays. -1 without memory.

    In hashed mode a step may make the chunk of any column's slot, so learning looks each time.
    """
    cdef const Matrix* m = batch.matrix
    cdef const slot_t* slots = batch.slots
    cdef const Table* table = &batch.learner.table
    cdef Py_ssize_t j
    if (slots == NULL or learner_votes(batch.learner) or m.n_columns > PLACE_MOST
            or m.n_values // PLACE_LEAST < m.n_columns or not table_has_places(table)
            or (batch.y != NULL and batch.learner.index.bits)):
        return 0
    batch.places = <int32_t*> calloc(m.n_columns + 1, sizeof(int32_t))
    if batch.places == NULL:
        return -1
    if batch.learner.index.n_slots > SLOTS_RESERVED:    # else all columns are new
        if not table_can_write(table, SLOT_INTERCEPT):  # the null slot is going to move
            return _forget_places(batch)
        for j in range(m.n_columns):
            if not table_place(table, slots[j], &batch.places[j]):
                return _forget_places(batch)
    return 0


cdef inline int batch_columns(Batch* batch, bint named, bint learning,
                              Event* columns) noexcept nogil:
    """Find the columns' slots and places; `columns`: the keys of named ones. -1 without memory."""
    if _find_slots(batch, named, learning, columns) < 0:
        return -1
    return _find_places(batch)


cdef inline void _add_keys(const Batch* batch, Py_ssize_t r, Writer* writer) noexcept nogil:
    """A row as entries of keys."""
    cdef const Matrix* m = batch.matrix
    cdef Py_ssize_t k, first, last
    cdef uint64_t column
    cdef double value
    matrix_span(m, r, &first, &last)
    for k in range(first, last):
        value = matrix_value(m, r, k)
        if value != 0.0:
            column = k if m.dense else <uint64_t> matrix_column(m, k)
            writer_add(writer,
                       key_word(KEY_INT, column) if batch.keys == NULL else batch.keys[column],
                       value)


cdef inline int _write_keys(Batch* batch, Py_ssize_t r) noexcept nogil:
    """A row as an event of keys."""
    cdef Py_ssize_t first, last
    cdef Writer writer
    matrix_span(batch.matrix, r, &first, &last)
    if event_begin(batch.event, &batch.learner.index, last - first, batch.learner.intercept) < 0:
        return -1
    writer = event_writer(batch.event)
    _add_keys(batch, r, &writer)
    event_end(batch.event, &writer)
    return 0


cdef inline int _write_query(Batch* batch, Py_ssize_t r) noexcept nogil:
    """The query that starts at a row, as candidates. -1 without memory."""
    cdef Event* query = batch.query
    cdef Py_ssize_t i, first, last, n = 0, end = batch.ends[r]
    cdef Writer writer
    batch.first = r
    for i in range(r, end):
        matrix_span(batch.matrix, i, &first, &last)
        n += last - first
    if event_candidates(query, end - r) < 0 or (
            event_begin(query, &batch.learner.index, n, False) < 0):
        return -1
    writer = event_writer(query)
    for i in range(r, end):
        _add_keys(batch, i, &writer)
        event_candidate_end(query, i - r, &writer)
    event_end(query, &writer)
    return 0


cdef inline Py_ssize_t _take_betters(Batch* batch, Py_ssize_t r, Py_ssize_t* y) noexcept nogil:
    """The event of a row and the rows of higher grade in its query: how many, and where the row is.

    -1 without memory.
    """
    cdef Event* event = batch.event
    cdef Event* query = batch.query
    cdef Py_ssize_t i, n = 0
    learner_resolve(batch.learner, query)
    if event_candidates(event, query.n_candidates) < 0 or (
            event_begin(event, &batch.learner.index, query.n, False) < 0):
        return -1
    for i in range(query.n_candidates):
        if batch.first + i == r:
            y[0] = n
        elif batch.y[batch.first + i] <= batch.y[r]:
            continue
        event_take_reversed(event, n, query, i)
        n += 1
    event.paired = query.paired     # with its pairs, that is
    event.n_given = 0
    return n


cdef inline void _judge_first_answers(Batch* batch, Py_ssize_t r) noexcept nogil:
    """Let each vector be judged by the scores that it gave before the query was learned."""
    cdef Event* event = batch.event
    cdef const Event* query = batch.query
    cdef Py_ssize_t i, kind, n = 0
    for i in range(query.n_candidates):
        if batch.first + i == r or batch.y[batch.first + i] > batch.y[r]:
            for kind in range(KEPT_KINDS):
                event.scores[kind * event.n_scores + n] = -query.scores[
                    kind * query.n_scores + i]
            n += 1
    event.judged = 0
    learner_judge(batch.learner, event)


cdef inline int _candidate(Batch* batch, Py_ssize_t r) noexcept nogil:
    """The same as _row where rows are candidates; a query is predicted at its first row."""
    cdef Learner* learner = batch.learner
    cdef Event* event = batch.event
    cdef Event* query = batch.query
    cdef Py_ssize_t i, n, y = 0
    cdef const double* scores
    if r == 0 or batch.ends[r - 1] == r:
        if _write_query(batch, r) < 0 or learner_score(learner, query) < 0:
            event.unfit = query.unfit
            event.unfit_candidate = query.unfit_candidate
            event.n_pairs = query.n_pairs
            event.most_pairs = query.most_pairs
            return -1
    if batch.y == NULL:
        if batch.first == r:
            scores = learner_decision(learner, query, learner_answer(learner, query).kind)
            for i in range(query.n_candidates):
                batch.decisions[r + i] = scores[i]
        return 0
    n = _take_betters(batch, r, &y)
    if n < 2:
        return -1 if n < 0 else 0
    if learner_score(learner, event) < 0 or learner_step(
            learner, event, NULL, False, y, 1.0 if batch.steps == NULL else batch.steps[r]) < 0:
        return -1
    _judge_first_answers(batch, r)
    if learner_commit(learner, event, y, 1.0 if batch.steps == NULL else batch.steps[r]) < 0:
        return -1
    if event.step.n:
        query.n_found = 0           # there may be new slots
    return 0


cdef inline void _write_name(Batch* batch, uint32_t column, Py_ssize_t at) noexcept nogil:
    """The name of an entry that is going to get a slot."""
    cdef Event* event = batch.event
    cdef const Index* index = &batch.learner.index
    event.keys[at] = key_word(KEY_INT, column) if batch.keys == NULL else batch.keys[column]
    event.hashes[at] = 0 if index_is_column(index, &event.keys[at]) else key_hash(
        &index.seed, &event.keys[at])


cdef inline int _write_row(Batch* batch, const Entries* entries) noexcept nogil:
    """Write the current row as an event of known slots, with names for features without weights."""
    cdef Event* event = batch.event
    # copies: for all the compiler knows, every store to slots might change the batch
    cdef const uint32_t* columns = entries.columns
    cdef const double* from_ = entries.x
    cdef const slot_t* slot_of = batch.slots
    cdef Py_ssize_t i, at, n = entries.n
    cdef slot_t* slots
    cdef double* values
    cdef bint missing = False
    if event_begin(event, &batch.learner.index, n, batch.learner.intercept) < 0:
        return -1
    at = event.n
    slots = event.slots + at
    values = event.values + at
    for i in range(n):
        values[i] = from_[i]
        slots[i] = slot_of[columns[i]]
    for i in range(n):                  # apart, for this loop looks at several at once
        missing |= slots[i] == SLOT_NULL
    event.n = event.n_found = at + n
    if missing:
        for i in range(n):
            if slots[i] == SLOT_NULL:
                _write_name(batch, columns[i], at + i)
    return 0


cdef inline int _lacking_reserve(Batch* batch, Py_ssize_t n) noexcept nogil:
    cdef void* p
    if n <= batch.lacking_capacity:
        return 0
    p = realloc(batch.lacking, (n + n // 2) * sizeof(uint32_t))
    if p == NULL:
        return -1
    batch.lacking = <uint32_t*> p
    batch.lacking_capacity = n + n // 2
    return 0


cdef inline Py_ssize_t _find_lacking(Batch* batch, const Entries* entries) noexcept nogil:
    """List the columns of the current row that have no weights to write to.

    Returns how many; -1 without memory. No branch: which of them are new is as hard to guess as
    what they say.
    """
    cdef const Table* table = &batch.learner.table
    cdef const uint32_t* columns = entries.columns
    cdef const slot_t* slots = batch.slots
    cdef const int32_t* places = batch.places
    cdef uint32_t* lacking
    cdef Py_ssize_t i, n = 0
    if _lacking_reserve(batch, entries.n) < 0:
        return -1
    lacking = batch.lacking
    if places != NULL:
        for i in range(entries.n):
            lacking[n] = columns[i]
            n += places[columns[i]] == 0
    elif batch.learner.index.bits:
        for i in range(entries.n):
            lacking[n] = columns[i]
            n += not table_can_write(table, slots[columns[i]])
    else:
        for i in range(entries.n):
            lacking[n] = columns[i]
            n += slots[columns[i]] == SLOT_NULL
    return n


cdef inline int _admit(Batch* batch, const Entries* entries) noexcept nogil:
    """Make sure that the current row can be written; an event of its new features gets them slots.

    -1 without memory.
    """
    cdef Event* event = batch.event
    cdef Learner* learner = batch.learner
    cdef const uint32_t* lacking
    cdef Py_ssize_t i, at = learner.intercept, n = _find_lacking(batch, entries)
    if n < 0:
        return -1
    if n == 0 and table_can_write(&learner.table, SLOT_INTERCEPT):
        return 0
    lacking = batch.lacking
    if event_begin(event, &learner.index, n, learner.intercept) < 0:
        return -1
    for i in range(n):
        event.slots[at + i] = batch.slots[lacking[i]]
        _write_name(batch, lacking[i], at + i)
    event.n = event.n_found = at + n
    if learner_admit(learner, event) < 0:
        return -1
    for i in range(n):
        batch.slots[lacking[i]] = event.slots[at + i]
        if batch.places != NULL and not table_place(
                &learner.table, event.slots[at + i], &batch.places[lacking[i]]):
            _forget_places(batch)
    return 0


cdef inline int _write(Batch* batch, Py_ssize_t r, const Entries* entries) noexcept nogil:
    """A row as an event. -1 if the batch has to stop."""
    if batch.ahead != NULL and ahead_has(batch.ahead, &batch.learner.index, r):
        return ahead_take(batch.ahead, r, batch.event, &batch.learner.index,
                          batch.learner.intercept,
                          batch.y != NULL and batch.learner.pairs == NULL)
    if batch.matrix == NULL:
        batch.page = text_write(&batch.text, batch.event, batch.rule, &batch.learner.index,
                                batch.learner.intercept, batch.prefixes,
                                batch.pieces + r * batch.n_pieces, batch.n_pieces)
        if batch.page < 0:
            batch.page = 0
            return -1
        return -1 if batch.page else 0
    if batch.slots == NULL:
        return _write_keys(batch, r)
    return _write_row(batch, entries)


cdef inline void _answer(Batch* batch, Py_ssize_t r) noexcept nogil:
    """Store what was asked for about a scored row."""
    cdef Learner* learner = batch.learner
    cdef Event* event = batch.event
    cdef Answer answer
    cdef const double* scores
    cdef double two[2]
    cdef double* p
    cdef Py_ssize_t i, prediction
    if (batch.predictions == NULL and batch.confidences == NULL and batch.decisions == NULL
            and batch.probabilities == NULL):
        return
    answer = learner_answer(learner, event)
    prediction = answer.verdict.best
    if batch.predictions != NULL:
        batch.predictions[r] = prediction
    if batch.confidences != NULL:
        # the fourth of the score vectors is room for them
        p = event.scores + KEPT_KINDS * event.n_scores if learner_several(learner) else two
        batch.confidences[r] = 0.0
        if prediction >= 0:
            learner_probabilities(learner, event, answer, p)
            batch.confidences[r] = p[prediction]
    if batch.decisions != NULL:
        scores = learner_decision(learner, event, answer.kind)
        for i in range(batch.n_decisions):
            batch.decisions[r * batch.n_decisions + i] = scores[i]
    if batch.probabilities != NULL and batch.n_probabilities:
        learner_probabilities(learner, event, answer,
                              batch.probabilities + r * batch.n_probabilities)


cdef inline int _row(Batch* batch, Py_ssize_t r, Py_ssize_t later, bint zeros) noexcept nogil:
    """Predict a checked row, then learn it, as asked.

    `later`: of rows in an order, one whose turn will come; else below 0.

    Returns -1 without memory or if batch.page is missing. Then the row has not been learned.
    """
    cdef Learner* learner = batch.learner
    cdef Event* event = batch.event
    cdef Entries entries
    cdef Py_ssize_t i
    cdef slot_t n_slots = learner.index.n_slots
    cdef double u
    if batch.ends != NULL:
        return _candidate(batch, r)
    # with one output it is scored in place, but not if a third label comes
    cdef bint in_place = (batch.slots != NULL and learner.table.lanes == 1
                          and not learner_adapts(learner) and not learner_votes(learner)
                          and (batch.y == NULL or batch.y[r] <= 1))
    if batch.slots != NULL:
        if later < 0:
            matrix_prefetch(batch.matrix, r, BLOCK_VALUES)
        else:
            matrix_prefetch_half(batch.matrix, later, False)
            if batch.y != NULL:
                prefetch(&batch.y[later])
        entries.n = matrix_row(batch.matrix, r, zeros, &batch.scratch, &entries.columns, &entries.x)
        if entries.n < 0:
            return -1
    if in_place:
        entries.slots = batch.slots
        entries.places = batch.places
        if learner_score_row(learner, event, &entries) < 0:
            return -1
    else:
        event.scored_version = 0
        if _write(batch, r, &entries) < 0 or learner_score(learner, event) < 0:
            return -1
    if batch.slots != NULL and later >= 0:
        matrix_prefetch_half(batch.matrix, later, True)
    _answer(batch, r)
    if batch.y != NULL and batch.y[r] >= 0:
        u = 1.0 if batch.steps == NULL else batch.steps[r]
        if in_place:
            if learner_step(learner, event, &entries, learner.intercept, batch.y[r], u) < 0:
                return -1
            if event.step.n:
                if _admit(batch, &entries) < 0:
                    return -1
                entries.places = batch.places
            learner_commit_row(learner, event, &entries, batch.y[r])
            return 0
        if learner_step(learner, event, NULL, False, batch.y[r], u) < 0:
            return -1
        if learner_commit(learner, event, batch.y[r], u) < 0:
            return -1
        if batch.slots != NULL and learner.index.n_slots != n_slots:
            for i in range(entries.n):
                batch.slots[entries.columns[i]] = event.slots[learner.intercept + i]
    if batch.slots == NULL:
        event_settle(event, &learner.index)
    return 0


cdef inline bint _is_short(const Batch* batch, Py_ssize_t r) noexcept nogil:
    """Whether a text cannot have too many pairs, however its characters make tokens."""
    cdef uint64_t most = 1
    cdef int i
    for i in range(batch.n_pieces):
        most += batch.pieces[r * batch.n_pieces + i].n
    most *= batch.rule.high - batch.rule.low + 1
    return most < <uint64_t> 1 << 31 and most * most // 2 <= batch.learner.pairs.most


cdef inline Py_ssize_t batch_unfit(Batch* batch, Py_ssize_t first) noexcept nogil:
    """The first row from `first` on whose features cannot be paired, or where it stopped; n_rows if
    there is none. Nothing is learned.
    """
    cdef Py_ssize_t r = first, row
    while r < batch.n_rows:
        row = r if batch.order == NULL else batch.order[r]
        if not (batch.matrix == NULL and _is_short(batch, row)) and (
                _write(batch, row, NULL) < 0
                or pairs_measure(batch.learner.pairs, batch.event) != 0):
            break
        r += 1
    return r


cdef inline Py_ssize_t batch_rows(Batch* batch, Py_ssize_t first, Py_ssize_t last,
                                  bint zeros) noexcept nogil:
    """Predict and learn the checked rows first .. last - 1. Returns `last`, or where it stopped."""
    cdef Py_ssize_t r = first, ahead
    if batch.order == NULL:
        while r < last and _row(batch, r, -1, zeros) == 0:
            r += 1
        return r
    ahead = batch.block_rows // ORDER_AHEAD + 1
    while r < last:
        if _row(batch, batch.order[r], batch.order[min(r + ahead, batch.n_rows - 1)], zeros) < 0:
            break
        r += 1
    return r
