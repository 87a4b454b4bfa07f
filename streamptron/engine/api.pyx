"""The engine as one compiled module: what doors call."""

from streamptron.engine cimport calls as _calls
from streamptron.engine.memory cimport SP_FAIL, SP_VALUE_LIMIT, sp_heap_fail_at

VALUE_LIMIT = SP_VALUE_LIMIT                 # what a value may be in size
UNICODE = (<bytes> _calls.sp_letters_unicode).decode("ascii")    # whose letters the engine knows


def _fail_at(n, lasts=False):
    """Let the n-th allocation from now find no memory, and if it `lasts` all after it; 0: none.

    Returns how many were still to come before the one set last: 0 or -1 (it lasts) if that was
    reached.
    """
    return sp_heap_fail_at(n, lasts)


if not SP_FAIL:                       # the build is for users
    del globals()["_fail_at"]

cdef bint sp_adaptive_fault(const sp_table *table, sp_slot_type n_slots) noexcept nogil:
    return _calls.sp_adaptive_fault(table, n_slots)


cdef void sp_adaptive_spread(const sp_table *table, sp_slot_type slot, double *mean,
                             double *variance) noexcept nogil:
    _calls.sp_adaptive_spread(table, slot, mean, variance)


cdef int sp_ahead_begin(sp_ahead *ahead, uint64_t seed_number, Py_ssize_t n_rows) noexcept nogil:
    return _calls.sp_ahead_begin(ahead, seed_number, n_rows)


cdef void sp_ahead_free(sp_ahead *ahead) noexcept nogil:
    _calls.sp_ahead_free(ahead)


cdef int sp_ahead_put(sp_ahead *ahead, const sp_event *event) noexcept nogil:
    return _calls.sp_ahead_put(ahead, event)


cdef Py_ssize_t sp_event_difference(sp_event *event, Py_ssize_t y, Py_ssize_t guess) noexcept nogil:
    return _calls.sp_event_difference(event, y, guess)


cdef int sp_event_begin(sp_event *event, const sp_index *index, Py_ssize_t n,
                        bint intercept) noexcept nogil:
    return _calls.sp_event_begin(event, index, n, intercept)


cdef int sp_event_candidates(sp_event *event, Py_ssize_t n) noexcept nogil:
    return _calls.sp_event_candidates(event, n)


cdef void sp_event_end(sp_event *event, const sp_writer *writer) noexcept nogil:
    _calls.sp_event_end(event, writer)


cdef void sp_event_free(sp_event *event) noexcept nogil:
    _calls.sp_event_free(event)


cdef void sp_event_init(sp_event *event) noexcept nogil:
    _calls.sp_event_init(event)


cdef void sp_event_settle(sp_event *event, const sp_index *index) noexcept nogil:
    _calls.sp_event_settle(event, index)


cdef sp_writer sp_event_writer(const sp_event *event) noexcept nogil:
    return _calls.sp_event_writer(event)


cdef bint sp_line_next(sp_line *line, int kind) noexcept nogil:
    return _calls.sp_line_next(line, kind)


cdef int sp_matrix_check(const sp_matrix *m, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    return _calls.sp_matrix_check(m, first, last)


cdef int sp_matrix_fault(const sp_matrix *m, Py_ssize_t first, Py_ssize_t last, Py_ssize_t *row,
                         Py_ssize_t *entry) noexcept nogil:
    return _calls.sp_matrix_fault(m, first, last, row, entry)


cdef double sp_matrix_value(const sp_matrix *m, Py_ssize_t r, Py_ssize_t k) noexcept nogil:
    return _calls.sp_matrix_value(m, r, k)


cdef size_t sp_text_bytes(const sp_text *text) noexcept nogil:
    return _calls.sp_text_bytes(text)


cdef void sp_text_free(sp_text *text) noexcept nogil:
    _calls.sp_text_free(text)


cdef int sp_text_write(sp_text *text, sp_event *event, const sp_text_rule *rule,
                       const sp_index *index, bint intercept, const sp_piece *prefixes,
                       const sp_piece *pieces, int n_pieces) noexcept nogil:
    return _calls.sp_text_write(text, event, rule, index, intercept, prefixes, pieces, n_pieces)


cdef int sp_rule_answer(const sp_rule *rule) noexcept nogil:
    return _calls.sp_rule_answer(rule)


cdef const char *sp_rule_name(int kind) noexcept nogil:
    return _calls.sp_rule_name(kind)


cdef int sp_step_reserve(sp_step *step, Py_ssize_t n) noexcept nogil:
    return _calls.sp_step_reserve(step, n)


cdef int sp_table_add_outputs(sp_table *table, Py_ssize_t n) noexcept nogil:
    return _calls.sp_table_add_outputs(table, n)


cdef double sp_table_read(const sp_table *table, sp_slot_type slot, Py_ssize_t output,
                          int kind) noexcept nogil:
    return _calls.sp_table_read(table, slot, output, kind)


cdef int sp_table_reserve(sp_table *table, const sp_slot_type *slots, Py_ssize_t n,
                          sp_slot_type n_slots, const sp_move *moves, int n_moves) noexcept nogil:
    return _calls.sp_table_reserve(table, slots, n, n_slots, moves, n_moves)


cdef int sp_table_reserve_blocks(sp_table *table, const sp_slot_type *slots, Py_ssize_t n,
                                 sp_slot_type n_slots, const uint32_t *blocks,
                                 Py_ssize_t n_blocks) noexcept nogil:
    return _calls.sp_table_reserve_blocks(table, slots, n, n_slots, blocks, n_blocks)


cdef void sp_table_write(sp_table *table, sp_slot_type slot, Py_ssize_t output,
                         double w) noexcept nogil:
    _calls.sp_table_write(table, slot, output, w)


cdef void sp_arena_free(sp_arena *arena) noexcept nogil:
    _calls.sp_arena_free(arena)


cdef sp_slot_type sp_index_find(const sp_index *index, const sp_key *key,
                                uint64_t h) noexcept nogil:
    return _calls.sp_index_find(index, key, h)


cdef void sp_index_free(sp_index *index) noexcept nogil:
    _calls.sp_index_free(index)


cdef int sp_index_init(sp_index *index, int bits, uint64_t seed_number,
                       sp_slot_type max_features) noexcept nogil:
    return _calls.sp_index_init(index, bits, seed_number, max_features)


cdef sp_slot_type sp_index_insert(sp_index *index, const sp_key *key, uint64_t h) noexcept nogil:
    return _calls.sp_index_insert(index, key, h)


cdef sp_slot_type *sp_index_rising(const sp_index *index) noexcept nogil:
    return _calls.sp_index_rising(index)


cdef sp_key sp_index_stored(const sp_index *index, sp_slot_type slot) noexcept nogil:
    return _calls.sp_index_stored(index, slot)


cdef void sp_scan_separators(sp_characters *rule) noexcept nogil:
    _calls.sp_scan_separators(rule)


cdef int sp_batch_columns(sp_batch *batch, bint named, bint learning,
                          sp_event *columns) noexcept nogil:
    return _calls.sp_batch_columns(batch, named, learning, columns)


cdef void sp_batch_free(sp_batch *batch) noexcept nogil:
    _calls.sp_batch_free(batch)


cdef void sp_batch_matrix(sp_batch *batch, sp_learner *learner, sp_event *event,
                          const sp_matrix *matrix) noexcept nogil:
    _calls.sp_batch_matrix(batch, learner, event, matrix)


cdef Py_ssize_t sp_batch_next(const sp_batch *batch, Py_ssize_t first) noexcept nogil:
    return _calls.sp_batch_next(batch, first)


cdef Py_ssize_t sp_batch_rows(sp_batch *batch, Py_ssize_t first, Py_ssize_t last,
                              bint zeros) noexcept nogil:
    return _calls.sp_batch_rows(batch, first, last, zeros)


cdef void sp_batch_texts(sp_batch *batch, sp_learner *learner, sp_event *event,
                         const sp_text_rule *rule, const sp_piece *prefixes, int n_pieces,
                         const sp_piece *pieces, Py_ssize_t n_rows) noexcept nogil:
    _calls.sp_batch_texts(batch, learner, event, rule, prefixes, n_pieces, pieces, n_rows)


cdef Py_ssize_t sp_batch_unfit(sp_batch *batch, Py_ssize_t first) noexcept nogil:
    return _calls.sp_batch_unfit(batch, first)


cdef bint sp_learner_can(const sp_learner *learner, int what) noexcept nogil:
    return _calls.sp_learner_can(learner, what)


cdef int sp_rule_can(int kind) noexcept nogil:
    return _calls.sp_rule_can(kind)


cdef sp_answer sp_learner_answer(const sp_learner *learner, sp_event *event) noexcept nogil:
    return _calls.sp_learner_answer(learner, event)


cdef size_t sp_learner_bytes(const sp_learner *learner) noexcept nogil:
    return _calls.sp_learner_bytes(learner)


cdef int sp_learner_copy(sp_learner *to, const sp_learner *other) noexcept nogil:
    return _calls.sp_learner_copy(to, other)


cdef int sp_learner_expect_outputs(sp_learner *learner, Py_ssize_t n) noexcept nogil:
    return _calls.sp_learner_expect_outputs(learner, n)


cdef int sp_learner_begin_from(sp_learner *learner, sp_event *event, Py_ssize_t output,
                               double intercept) noexcept nogil:
    return _calls.sp_learner_begin_from(learner, event, output, intercept)


cdef int sp_learner_expect(sp_learner *learner, Py_ssize_t n, int positive) noexcept nogil:
    return _calls.sp_learner_expect(learner, n, positive)


cdef const char *sp_learner_fault(const sp_learner *learner) noexcept nogil:
    return _calls.sp_learner_fault(learner)


cdef void sp_learner_free(sp_learner *learner) noexcept nogil:
    _calls.sp_learner_free(learner)


cdef int sp_learner_init(sp_learner *learner, sp_rule rule, int average, double half_life,
                         bint pocket, int serve, bint intercept, sp_slot_type max_features,
                         int hash_bits, uint64_t hash_seed) noexcept nogil:
    return _calls.sp_learner_init(learner, rule, average, half_life, pocket, serve, intercept,
                                  max_features, hash_bits, hash_seed)


cdef void sp_learner_abandon(sp_learner *learner, sp_event *event) noexcept nogil:
    _calls.sp_learner_abandon(learner, event)


cdef int sp_learner_commit(sp_learner *learner, sp_event *event, Py_ssize_t y,
                           double u) noexcept nogil:
    return _calls.sp_learner_commit(learner, event, y, u)


cdef int sp_learner_prepare(sp_learner *learner, sp_event *event, Py_ssize_t y,
                            double u) noexcept nogil:
    return _calls.sp_learner_prepare(learner, event, y, u)


cdef int sp_learner_learn(sp_learner *learner, sp_event *event, Py_ssize_t y,
                          double u) noexcept nogil:
    return _calls.sp_learner_learn(learner, event, y, u)


cdef sp_kept_once sp_learner_once(const sp_learner *learner) noexcept nogil:
    return _calls.sp_learner_once(learner)


cdef const char *sp_learner_once_read(sp_learner *learner, const double *numbers) noexcept nogil:
    return _calls.sp_learner_once_read(learner, numbers)


cdef void sp_learner_once_write(const sp_learner *learner, double *numbers) noexcept nogil:
    _calls.sp_learner_once_write(learner, numbers)


cdef void sp_learner_decide(const sp_learner *learner, sp_event *event) noexcept nogil:
    _calls.sp_learner_decide(learner, event)


cdef int sp_learner_shares(const sp_learner *learner, const sp_event *event, Py_ssize_t output,
                           int kind, double *shares) noexcept nogil:
    return _calls.sp_learner_shares(learner, event, output, kind, shares)


cdef void sp_learner_probabilities(const sp_learner *learner, const sp_event *event,
                                   sp_answer answer, double *p) noexcept nogil:
    _calls.sp_learner_probabilities(learner, event, answer, p)


cdef int sp_learner_open(sp_learner *learner, sp_event *event) noexcept nogil:
    return _calls.sp_learner_open(learner, event)


cdef void sp_learner_resolve(sp_learner *learner, sp_event *event) noexcept nogil:
    _calls.sp_learner_resolve(learner, event)


cdef int sp_learner_score(sp_learner *learner, sp_event *event) noexcept nogil:
    return _calls.sp_learner_score(learner, event)


cdef int sp_learner_split(sp_learner *learner, const sp_rule *rule) noexcept nogil:
    return _calls.sp_learner_split(learner, rule)


cdef double sp_learner_weight(const sp_learner *learner, sp_slot_type slot, Py_ssize_t output,
                              int kind) noexcept nogil:
    return _calls.sp_learner_weight(learner, slot, output, kind)


cdef Py_ssize_t sp_kept_width(Py_ssize_t m) noexcept nogil:
    return _calls.sp_kept_width(m)


cdef size_t sp_kept_column_bytes(Py_ssize_t places) noexcept nogil:
    return _calls.sp_kept_column_bytes(places)


cdef Py_ssize_t sp_kept_columns_most(const sp_event *event) noexcept nogil:
    return _calls.sp_kept_columns_most(event)


cdef void sp_kept_find(const sp_learner *learner, uint32_t *slots, Py_ssize_t n) noexcept nogil:
    _calls.sp_kept_find(learner, slots, n)


cdef void sp_kept_numbers(const sp_learner *learner, uint32_t *slots, Py_ssize_t n) noexcept nogil:
    _calls.sp_kept_numbers(learner, slots, n)


cdef Py_ssize_t sp_kept_slots(const sp_event *event, uint32_t *slots) noexcept nogil:
    return _calls.sp_kept_slots(event, slots)


cdef Py_ssize_t sp_kept_outputs(const sp_event *event, Py_ssize_t *k) noexcept nogil:
    return _calls.sp_kept_outputs(event, k)


cdef void sp_kept_fill(const sp_learner *learner, const uint32_t *slots, Py_ssize_t n,
                       Py_ssize_t y, const Py_ssize_t *k, Py_ssize_t m, float *kept,
                       double *means) noexcept nogil:
    _calls.sp_kept_fill(learner, slots, n, y, k, m, kept, means)


cdef Py_ssize_t sp_kept_places(const sp_learner *learner) noexcept nogil:
    return _calls.sp_kept_places(learner)


cdef void sp_kept_once_each(const sp_learner *learner, uint32_t *slots,
                            Py_ssize_t n) noexcept nogil:
    _calls.sp_kept_once_each(learner, slots, n)


cdef size_t sp_kept_columns_before(const sp_learner *learner, const sp_event *event,
                                   Py_ssize_t y, uint8_t *columns) noexcept nogil:
    return _calls.sp_kept_columns_before(learner, event, y, columns)


cdef size_t sp_kept_columns_after(const sp_learner *learner, const sp_event *event,
                                  const uint32_t *slots, Py_ssize_t n, Py_ssize_t y,
                                  uint8_t *columns, size_t bytes) noexcept nogil:
    return _calls.sp_kept_columns_after(learner, event, slots, n, y, columns, bytes)


cdef bint sp_kept_columns_are_sound(const uint8_t *columns, size_t bytes, Py_ssize_t n,
                                    bint one) noexcept nogil:
    return _calls.sp_kept_columns_are_sound(columns, bytes, n, one)


cdef void sp_kept_bends(const sp_learner *learner, const sp_event *event,
                        uint64_t *bends) noexcept nogil:
    _calls.sp_kept_bends(learner, event, bends)


cdef void sp_kept_leave(const sp_learner *learner, uint32_t *slots, Py_ssize_t first, Py_ssize_t n,
                        const uint64_t *bends, Py_ssize_t n_bends, const uint8_t *columns,
                        size_t bytes) noexcept nogil:
    _calls.sp_kept_leave(learner, slots, first, n, bends, n_bends, columns, bytes)


cdef int sp_kept_reserve(sp_learner *learner, const sp_kept *kept) noexcept nogil:
    return _calls.sp_kept_reserve(learner, kept)


cdef void sp_kept_take_back(sp_learner *learner, const sp_kept *kept) noexcept nogil:
    _calls.sp_kept_take_back(learner, kept)


cdef bint sp_kept_is_sound(const float *numbers, Py_ssize_t n, Py_ssize_t m) noexcept nogil:
    return _calls.sp_kept_is_sound(numbers, n, m)


cdef Py_ssize_t sp_once_width(Py_ssize_t m) noexcept nogil:
    return _calls.sp_once_width(m)


cdef void sp_once_read(const sp_adaptive *a, Py_ssize_t y, const Py_ssize_t *k, Py_ssize_t m,
                       double *once) noexcept nogil:
    _calls.sp_once_read(a, y, k, m, once)


cdef void sp_once_take_back(sp_learner *learner, const sp_kept *kept, const double *before,
                            const double *after) noexcept nogil:
    _calls.sp_once_take_back(learner, kept, before, after)


cdef size_t sp_noted_most(sp_learner *learner, sp_event *event, Py_ssize_t y,
                          double u) noexcept nogil:
    return _calls.sp_noted_most(learner, event, y, u)


cdef void sp_noted_before(const sp_learner *learner, const sp_event *event, double u,
                          uint8_t *data) noexcept nogil:
    _calls.sp_noted_before(learner, event, u, data)


cdef size_t sp_noted_after(const sp_learner *learner, const sp_event *event,
                           uint8_t *data) noexcept nogil:
    return _calls.sp_noted_after(learner, event, data)


cdef bint sp_noted_is_sound(const sp_learner *learner, const sp_event *event,
                            const uint8_t *data, size_t bytes) noexcept nogil:
    return _calls.sp_noted_is_sound(learner, event, data, bytes)


cdef int sp_noted_take_back(sp_learner *learner, const sp_event *event,
                            const uint8_t *data) noexcept nogil:
    return _calls.sp_noted_take_back(learner, event, data)


cdef int sp_undo_reserve(sp_learner *learner, sp_event *event) noexcept nogil:
    return _calls.sp_undo_reserve(learner, event)


cdef void sp_undo_leave(sp_event *event, const uint32_t *slots) noexcept nogil:
    _calls.sp_undo_leave(event, slots)


cdef void sp_undo_moves(sp_learner *learner, sp_event *event, sp_moment moment) noexcept nogil:
    _calls.sp_undo_moves(learner, event, moment)


cdef void sp_chunks_renumber(uint32_t *chunks, size_t n_chunks) noexcept nogil:
    _calls.sp_chunks_renumber(chunks, n_chunks)


cdef const char *sp_flat_words(int fault) noexcept nogil:
    return _calls.sp_flat_words(fault)


cdef const char *sp_counts_fault(const sp_learner *learner) noexcept nogil:
    return _calls.sp_counts_fault(learner)


cdef const sp_array_kind *sp_array_kind_of(int array) noexcept nogil:
    return _calls.sp_array_kind_of(array)


cdef int sp_contents_check(const uint8_t *file, size_t n, uint64_t size,
                           sp_fault *fault) noexcept nogil:
    return _calls.sp_contents_check(file, n, size, fault)


cdef void sp_header_free(sp_header *header) noexcept nogil:
    _calls.sp_header_free(header)


cdef int sp_header_read(sp_header *header, const uint8_t *file, size_t n, uint64_t size,
                        sp_fault *fault) noexcept nogil:
    return _calls.sp_header_read(header, file, n, size, fault)


cdef double sp_sets_best_threshold(const sp_sets *s) noexcept nogil:
    return _calls.sp_sets_best_threshold(s)


cdef void sp_sets_flatten(const sp_learner *learner, double *slots, size_t n_slots, uint32_t *marks,
                          double *marked) noexcept nogil:
    _calls.sp_sets_flatten(learner, slots, n_slots, marks, marked)


cdef int sp_sets_map(sp_learner *learner, const double *slots, size_t n_slots,
                     const uint32_t *marks, size_t n, const double *marked) noexcept nogil:
    return _calls.sp_sets_map(learner, slots, n_slots, marks, n, marked)


cdef size_t sp_sets_measure(const double *slots, size_t n_slots) noexcept nogil:
    return _calls.sp_sets_measure(slots, n_slots)


cdef int sp_sets_read(sp_learner *learner, const uint32_t *marks, size_t n,
                      const double *marked) noexcept nogil:
    return _calls.sp_sets_read(learner, marks, n, marked)


cdef double sp_sets_share(const sp_sets *s, const sp_table *table, const sp_event *event,
                          Py_ssize_t k, Py_ssize_t i) noexcept nogil:
    return _calls.sp_sets_share(s, table, event, k, i)


cdef int sp_sets_tell(sp_event *event, const uint32_t *labels, Py_ssize_t n, Py_ssize_t n_there,
                      bint open, Py_ssize_t n_labels) noexcept nogil:
    return _calls.sp_sets_tell(event, labels, n, n_there, open, n_labels)


cdef int sp_voters_flatten(sp_voted *flat, const sp_voters *v, const sp_index *index,
                           Py_ssize_t n_outputs) noexcept nogil:
    return _calls.sp_voters_flatten(flat, v, index, n_outputs)


cdef void sp_voters_measure(sp_voted *flat, const sp_voters *v,
                            Py_ssize_t n_outputs) noexcept nogil:
    _calls.sp_voters_measure(flat, v, n_outputs)


cdef int sp_voters_read(sp_voters *v, const sp_voted *flat, Py_ssize_t n_outputs,
                        sp_index *index, sp_table *table) noexcept nogil:
    return _calls.sp_voters_read(v, flat, n_outputs, index, table)


cdef void sp_voters_shares(const sp_voters *v, Py_ssize_t output, const sp_slot_type *slots,
                           const double *x, Py_ssize_t n, const double *current, double *parts,
                           uint32_t *seen, double *shares) noexcept nogil:
    _calls.sp_voters_shares(v, output, slots, x, n, current, parts, seen, shares)


cdef size_t sp_voters_features(const sp_voters *v) noexcept nogil:
    return _calls.sp_voters_features(v)


cdef int sp_delta_digest(const sp_shard *shard, const uint8_t *called, size_t n,
                         uint64_t *h) noexcept nogil:
    return _calls.sp_delta_digest(shard, called, n, h)


cdef void sp_delta_free(sp_delta *delta) noexcept nogil:
    _calls.sp_delta_free(delta)


cdef sp_key *sp_delta_keys(const sp_delta *delta, const sp_index *base, const sp_index *own,
                           sp_slot_type n_slots, sp_slot_type *first) noexcept nogil:
    return _calls.sp_delta_keys(delta, base, own, n_slots, first)


cdef int sp_delta_measure(sp_delta *delta, sp_shard *shard, const sp_shard *base) noexcept nogil:
    return _calls.sp_delta_measure(delta, shard, base)


cdef int sp_delta_overlay(const sp_delta *delta, sp_learner *learner, const sp_learner *base,
                          Py_ssize_t n_outputs, size_t n_objects, int depth,
                          sp_slot_type *n_slots) noexcept nogil:
    return _calls.sp_delta_overlay(delta, learner, base, n_outputs, n_objects, depth, n_slots)


cdef void sp_delta_write(const sp_delta *delta, const sp_shard *shard,
                         const sp_shard *base) noexcept nogil:
    _calls.sp_delta_write(delta, shard, base)


cdef void sp_flat_free(sp_flat *flat) noexcept nogil:
    _calls.sp_flat_free(flat)


cdef void sp_flat_lookup(sp_flat *flat) noexcept nogil:
    _calls.sp_flat_lookup(flat)


cdef int sp_flat_map(sp_flat *flat, sp_index *index, sp_table *table,
                     Py_ssize_t n_outputs) noexcept nogil:
    return _calls.sp_flat_map(flat, index, table, n_outputs)


cdef int sp_flat_measure(sp_flat *flat, const sp_index *index,
                         const sp_table *table) noexcept nogil:
    return _calls.sp_flat_measure(flat, index, table)


cdef int sp_flat_read(sp_flat *flat, sp_index *index, sp_table *table, Py_ssize_t n_outputs,
                      size_t n_objects, int depth) noexcept nogil:
    return _calls.sp_flat_read(flat, index, table, n_outputs, n_objects, depth)


cdef bint sp_flat_too_deep(const sp_flat *flat, int depth) noexcept nogil:
    return _calls.sp_flat_too_deep(flat, depth)


cdef void sp_flat_write(sp_flat *flat, const sp_index *index, const sp_table *table) noexcept nogil:
    _calls.sp_flat_write(flat, index, table)


cdef int sp_learners_merge(sp_learner *to, const sp_shard *base, sp_shard *shards, int n,
                           int *culprit) noexcept nogil:
    return _calls.sp_learners_merge(to, base, shards, n, culprit)


cdef const uint8_t *sp_packed_next(const uint8_t *p, const uint8_t *end,
                                   sp_packed *entry) noexcept nogil:
    return _calls.sp_packed_next(p, end, entry)


cdef Py_ssize_t sp_packed_size(const sp_event *event, Py_ssize_t first,
                               Py_ssize_t last) noexcept nogil:
    return _calls.sp_packed_size(event, first, last)


cdef void sp_packed_write(const sp_event *event, Py_ssize_t first, Py_ssize_t last,
                          uint8_t *p) noexcept nogil:
    _calls.sp_packed_write(event, first, last, p)


cdef bint sp_learner_slots_fault(const sp_learner *learner) noexcept nogil:
    return _calls.sp_learner_slots_fault(learner)


cdef int sp_learner_ready(sp_learner *learner) noexcept nogil:
    return _calls.sp_learner_ready(learner)


cdef bint sp_learner_is_wide(const sp_learner *learner) noexcept nogil:
    return _calls.sp_learner_is_wide(learner)


cdef int sp_learner_widen(sp_learner *learner) noexcept nogil:
    return _calls.sp_learner_widen(learner)


cdef size_t sp_entries_measure(const sp_learner *learner, const sp_flat *flat) noexcept nogil:
    return _calls.sp_entries_measure(learner, flat)


cdef void sp_entries_write(const sp_learner *learner, sp_flat *flat,
                           uint64_t *entries) noexcept nogil:
    _calls.sp_entries_write(learner, flat, entries)


cdef int sp_entries_read(sp_learner *learner, const uint64_t *entries, size_t n) noexcept nogil:
    return _calls.sp_entries_read(learner, entries, n)


cdef int sp_entries_map(sp_learner *learner, const uint64_t *entries, size_t n) noexcept nogil:
    return _calls.sp_entries_map(learner, entries, n)


cdef bint sp_learner_has_rows(const sp_learner *learner) noexcept nogil:
    return _calls.sp_learner_has_rows(learner)


cdef size_t sp_marked_measure(const sp_learner *learner, const sp_flat *flat) noexcept nogil:
    return _calls.sp_marked_measure(learner, flat)


cdef void sp_marked_write(const sp_learner *learner, sp_flat *flat, uint32_t *marks) noexcept nogil:
    _calls.sp_marked_write(learner, flat, marks)


cdef int sp_marked_read(sp_learner *learner, const uint32_t *marks, size_t n) noexcept nogil:
    return _calls.sp_marked_read(learner, marks, n)


cdef int sp_marked_map(sp_learner *learner, const uint32_t *marks, size_t n) noexcept nogil:
    return _calls.sp_marked_map(learner, marks, n)


cdef int sp_former_measure(sp_former *former) noexcept nogil:
    return _calls.sp_former_measure(former)


cdef void sp_former_free(sp_former *former) noexcept nogil:
    _calls.sp_former_free(former)


cdef void sp_former_write(const sp_former *former, double *weights, uint32_t *chunks,
                          uint32_t *marks) noexcept nogil:
    _calls.sp_former_write(former, weights, chunks, marks)


cdef void sp_former_once(const double *numbers, size_t n_labels, size_t n_more,
                         double *to) noexcept nogil:
    _calls.sp_former_once(numbers, n_labels, n_more, to)
