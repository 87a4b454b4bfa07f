"""The engine's rooms as one compiled module: what doors call instead of compiling it themselves."""

from streamptron.engine cimport learner as _learner
from streamptron.engine cimport learners as _learners
from streamptron.engine cimport candidates as _candidates
from streamptron.engine cimport adaptive as _adaptive
from streamptron.engine cimport vote as _vote
from streamptron.engine cimport voters_flat as _voters_flat
from streamptron.engine cimport index as _index
from streamptron.engine cimport table as _table
from streamptron.engine cimport flat as _flat
from streamptron.engine cimport batch as _batch
from streamptron.engine cimport matrix as _matrix
from streamptron.engine cimport text as _text
from streamptron.engine cimport scan as _scan
from streamptron.engine cimport lines as _lines
from streamptron.engine.heap cimport FAILS, heap_fail_at
from streamptron.engine.types cimport VALUE_LIMIT as LIMIT

VALUE_LIMIT = LIMIT                 # what a value may be in size


def _fail_at(n, lasts=False):
    """Let the n-th allocation from now find no memory, and if it `lasts` all after it; 0: none.

    Returns how many were still to come before the one set last: 0 or -1 (it lasts) if that was
    reached.
    """
    return heap_fail_at(n, lasts)


if not FAILS:                       # the build is for users
    del globals()["_fail_at"]


cdef int learner_init(Learner* learner, Rule rule, int average, double half_life, bint pocket,
                      int serve, bint intercept, slot_t max_features, int hash_bits,
                      uint64_t hash_seed) noexcept nogil:
    return _learner.learner_init(learner, rule, average, half_life, pocket, serve, intercept,
                                 max_features, hash_bits, hash_seed)


cdef void learner_free(Learner* learner) noexcept nogil:
    _learner.learner_free(learner)


cdef int learner_copy(Learner* to, const Learner* other) noexcept nogil:
    return _learners.learner_copy(to, other)


cdef size_t learner_bytes(const Learner* learner) noexcept nogil:
    return _learners.learner_bytes(learner)


cdef const char* learner_fault(const Learner* learner) noexcept nogil:
    return _learners.learner_fault(learner)


cdef void learner_resolve(Learner* learner, Event* event) noexcept nogil:
    _learner.learner_resolve(learner, event)


cdef int learner_score(Learner* learner, Event* event) noexcept nogil:
    return _learner.learner_score(learner, event)


cdef Answer learner_answer(const Learner* learner, Event* event) noexcept nogil:
    return _learner.learner_answer(learner, event)


cdef void learner_probabilities(const Learner* learner, const Event* event, Answer answer,
                                double* p) noexcept nogil:
    _learner.learner_probabilities(learner, event, answer, p)


cdef int learner_learn(Learner* learner, Event* event, Py_ssize_t y, double u) noexcept nogil:
    return _learner.learner_learn(learner, event, y, u)


cdef Py_ssize_t event_difference(Event* event, Py_ssize_t y, Py_ssize_t guess) noexcept nogil:
    return _candidates.event_difference(event, y, guess)


cdef double learner_weight(const Learner* learner, slot_t slot, Py_ssize_t output,
                           int kind) noexcept nogil:
    return _learners.learner_weight(learner, slot, output, kind)


cdef int adaptive_room(Adaptive* a, Py_ssize_t n) noexcept nogil:
    return _adaptive.adaptive_room(a, n)


cdef void adaptive_set_count(Adaptive* a, Py_ssize_t k, double D) noexcept nogil:
    _adaptive.adaptive_set_count(a, k, D)


cdef double adaptive_share(const Adaptive* a, const Table* table, const Weighed* w,
                           Py_ssize_t output, Py_ssize_t i,
                           const slot_t* slots, const double* x) noexcept nogil:
    return _adaptive.adaptive_share(a, table, w, output, i, slots, x)


cdef bint adaptive_fault(const Table* table, slot_t n_slots) noexcept nogil:
    return _adaptive.adaptive_fault(table, n_slots)


cdef int learner_expect(Learner* learner, Py_ssize_t n, int positive) noexcept nogil:
    return _learners.learner_expect(learner, n, positive)


cdef void voters_measure(Voted* flat, const Voters* v, Py_ssize_t n_outputs) noexcept nogil:
    _voters_flat.voters_measure(flat, v, n_outputs)


cdef int voters_flatten(Voted* flat, const Voters* v, Py_ssize_t n_outputs) noexcept nogil:
    return _voters_flat.voters_flatten(flat, v, n_outputs)


cdef int voters_read(Voters* v, const Voted* flat, Py_ssize_t n_outputs,
                     slot_t n_slots) noexcept nogil:
    return _voters_flat.voters_read(v, flat, n_outputs, n_slots)


cdef void voters_shares(const Voters* v, Py_ssize_t output, const slot_t* slots, const double* x,
                        Py_ssize_t n, const double* current, double* parts, uint32_t* seen,
                        double* shares) noexcept nogil:
    _vote.voters_shares(v, output, slots, x, n, current, parts, seen, shares)


cdef int index_init(Index* index, int bits, uint64_t seed_number,
                    slot_t max_features) noexcept nogil:
    return _index.index_init(index, bits, seed_number, max_features)


cdef void index_free(Index* index) noexcept nogil:
    _index.index_free(index)


cdef slot_t index_find(const Index* index, const Key* key, uint64_t h) noexcept nogil:
    return _index.index_find(index, key, h)


cdef slot_t index_insert(Index* index, const Key* key, uint64_t h) noexcept nogil:
    return _index.index_insert(index, key, h)


cdef int index_open_columns(Index* index, size_t n) noexcept nogil:
    return _index.index_open_columns(index, n)


cdef int table_add_outputs(Table* table, Py_ssize_t n) noexcept nogil:
    return _table.table_add_outputs(table, n)


cdef int table_reserve(Table* table, const slot_t* slots, Py_ssize_t n, slot_t n_slots,
                       const Move* moves, int n_moves) noexcept nogil:
    return _table.table_reserve(table, slots, n, n_slots, moves, n_moves)


cdef double table_read(const Table* table, slot_t slot, Py_ssize_t output, int kind) noexcept nogil:
    return _table.table_read(table, slot, output, kind)


cdef void table_write(Table* table, slot_t slot, Py_ssize_t output, double w) noexcept nogil:
    _table.table_write(table, slot, output, w)


cdef bint table_wrote(const Table* table, size_t chunk) noexcept nogil:
    return _table.table_wrote(table, chunk)


cdef int flat_measure(Flat* flat, const Index* index, const Table* table) noexcept nogil:
    return _flat.flat_measure(flat, index, table)


cdef void flat_write(Flat* flat, const Index* index, const Table* table) noexcept nogil:
    _flat.flat_write(flat, index, table)


cdef void flat_lookup(Flat* flat) noexcept nogil:
    _flat.flat_lookup(flat)


cdef bint flat_too_deep(const Flat* flat, int depth) noexcept nogil:
    return _flat.flat_too_deep(flat, depth)


cdef int flat_read(Flat* flat, Index* index, Table* table, Py_ssize_t n_outputs, size_t n_objects,
                   int depth) noexcept nogil:
    return _flat.flat_read(flat, index, table, n_outputs, n_objects, depth)


cdef int flat_map(Flat* flat, Index* index, Table* table, Py_ssize_t n_outputs) noexcept nogil:
    return _flat.flat_map(flat, index, table, n_outputs)


cdef void flat_free(Flat* flat) noexcept nogil:
    _flat.flat_free(flat)


cdef void batch_matrix(Batch* batch, Learner* learner, Event* event,
                       const Matrix* matrix) noexcept nogil:
    _batch.batch_matrix(batch, learner, event, matrix)


cdef void batch_texts(Batch* batch, Learner* learner, Event* event, const TextRule* rule,
                      const Piece* prefixes, int n_pieces, const Piece* pieces,
                      Py_ssize_t n_rows) noexcept nogil:
    _batch.batch_texts(batch, learner, event, rule, prefixes, n_pieces, pieces, n_rows)


cdef int batch_columns(Batch* batch, bint named, bint learning, Event* columns) noexcept nogil:
    return _batch.batch_columns(batch, named, learning, columns)


cdef Py_ssize_t batch_next(const Batch* batch, Py_ssize_t first) noexcept nogil:
    return _batch.batch_next(batch, first)


cdef Py_ssize_t batch_unfit(Batch* batch, Py_ssize_t first) noexcept nogil:
    return _batch.batch_unfit(batch, first)


cdef Py_ssize_t batch_rows(Batch* batch, Py_ssize_t first, Py_ssize_t last,
                           bint zeros) noexcept nogil:
    return _batch.batch_rows(batch, first, last, zeros)


cdef void batch_free(Batch* batch) noexcept nogil:
    _batch.batch_free(batch)


cdef int matrix_check(const Matrix* m, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    return _matrix.matrix_check(m, first, last)


cdef int matrix_fault(const Matrix* m, Py_ssize_t first, Py_ssize_t last, Py_ssize_t* row,
                      Py_ssize_t* entry) noexcept nogil:
    return _matrix.matrix_fault(m, first, last, row, entry)


cdef double matrix_value(const Matrix* m, Py_ssize_t r, Py_ssize_t k) noexcept nogil:
    return _matrix.matrix_value(m, r, k)


cdef Py_ssize_t text_write(Text* text, Event* event, const TextRule* rule, const Index* index,
                           bint intercept, const Piece* prefixes, const Piece* pieces,
                           int n_pieces) noexcept nogil:
    return _text.text_write(text, event, rule, index, intercept, prefixes, pieces, n_pieces)


cdef size_t text_bytes(const Text* text) noexcept nogil:
    return _text.text_bytes(text)


cdef void text_free(Text* text) noexcept nogil:
    _text.text_free(text)


cdef void scan_separators(Characters* characters) noexcept nogil:
    _scan.scan_separators(characters)


cdef void scan_page(uint32_t page, uint32_t* entries) noexcept nogil:
    _scan.scan_page(page, entries)


cdef size_t line_ends(const uint8_t* p, size_t n) noexcept nogil:
    return _lines.line_ends(p, n)


cdef bint line_next(Line* line, int kind) noexcept nogil:
    return _lines.line_next(line, kind)
