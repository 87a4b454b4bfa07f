# What doors and other people's Cython code call: what runs once per event or once per batch.
#
# The engine is compiled once, in the module streamptron.engine.api. The functions here are called
# through it, and their signatures are compared when it is imported. What runs once per entry is
# inline C, and comes from the declarations beside this file (events, names, ...).
#
# Each function is described in its own room's header. Those that return int return -1 without
# memory, unless it says otherwise.

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from streamptron.engine.adaptive cimport sp_adaptive, sp_former
from streamptron.engine.events cimport (
    sp_ahead, sp_event, sp_line, sp_matrix, sp_text, sp_text_rule, sp_writer)
from streamptron.engine.file cimport sp_array_kind, sp_fault, sp_header
from streamptron.engine.linear cimport sp_move, sp_rule, sp_step, sp_table
from streamptron.engine.memory cimport sp_arena, sp_slot_type
from streamptron.engine.names cimport sp_characters, sp_index, sp_key, sp_piece
from streamptron.engine.path cimport (
    sp_answer, sp_batch, sp_kept, sp_kept_once, sp_learner, sp_moment)
from streamptron.engine.sets cimport sp_sets
from streamptron.engine.voted cimport sp_voted, sp_voters
from streamptron.engine.whole cimport sp_delta, sp_flat, sp_packed, sp_shard

cdef bint sp_adaptive_fault(const sp_table *table, sp_slot_type n_slots) noexcept nogil
cdef void sp_adaptive_spread(const sp_table *table, sp_slot_type slot, double *mean,
                             double *variance) noexcept nogil

cdef int sp_ahead_begin(sp_ahead *ahead, uint64_t seed_number, Py_ssize_t n_rows) noexcept nogil
cdef void sp_ahead_free(sp_ahead *ahead) noexcept nogil
cdef int sp_ahead_put(sp_ahead *ahead, const sp_event *event) noexcept nogil

cdef Py_ssize_t sp_event_difference(sp_event *event, Py_ssize_t y, Py_ssize_t guess) noexcept nogil

cdef int sp_event_begin(sp_event *event, const sp_index *index, Py_ssize_t n,
                        bint intercept) noexcept nogil
cdef int sp_event_candidates(sp_event *event, Py_ssize_t n) noexcept nogil
cdef void sp_event_end(sp_event *event, const sp_writer *writer) noexcept nogil
cdef void sp_event_free(sp_event *event) noexcept nogil
cdef void sp_event_init(sp_event *event) noexcept nogil
cdef void sp_event_settle(sp_event *event, const sp_index *index) noexcept nogil
cdef sp_writer sp_event_writer(const sp_event *event) noexcept nogil

cdef bint sp_line_next(sp_line *line, int kind) noexcept nogil

cdef int sp_matrix_check(const sp_matrix *m, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef int sp_matrix_fault(const sp_matrix *m, Py_ssize_t first, Py_ssize_t last, Py_ssize_t *row,
                         Py_ssize_t *entry) noexcept nogil
cdef double sp_matrix_value(const sp_matrix *m, Py_ssize_t r, Py_ssize_t k) noexcept nogil

cdef size_t sp_text_bytes(const sp_text *text) noexcept nogil
cdef void sp_text_free(sp_text *text) noexcept nogil
cdef int sp_text_write(sp_text *text, sp_event *event, const sp_text_rule *rule,
                       const sp_index *index, bint intercept, const sp_piece *prefixes,
                       const sp_piece *pieces, int n_pieces) noexcept nogil

cdef int sp_rule_answer(const sp_rule *rule) noexcept nogil
cdef const char *sp_rule_name(int kind) noexcept nogil

cdef int sp_step_reserve(sp_step *step, Py_ssize_t n) noexcept nogil

cdef int sp_table_add_outputs(sp_table *table, Py_ssize_t n) noexcept nogil
cdef double sp_table_read(const sp_table *table, sp_slot_type slot, Py_ssize_t output,
                          int kind) noexcept nogil
cdef int sp_table_reserve(sp_table *table, const sp_slot_type *slots, Py_ssize_t n,
                          sp_slot_type n_slots, const sp_move *moves, int n_moves) noexcept nogil
cdef int sp_table_reserve_blocks(sp_table *table, const sp_slot_type *slots, Py_ssize_t n,
                                 sp_slot_type n_slots, const uint32_t *blocks,
                                 Py_ssize_t n_blocks) noexcept nogil
cdef void sp_table_write(sp_table *table, sp_slot_type slot, Py_ssize_t output,
                         double w) noexcept nogil

cdef void sp_arena_free(sp_arena *arena) noexcept nogil

cdef sp_slot_type sp_index_find(const sp_index *index, const sp_key *key, uint64_t h) noexcept nogil
cdef void sp_index_free(sp_index *index) noexcept nogil
cdef int sp_index_init(sp_index *index, int bits, uint64_t seed_number,
                       sp_slot_type max_features) noexcept nogil
cdef sp_slot_type sp_index_insert(sp_index *index, const sp_key *key, uint64_t h) noexcept nogil
cdef sp_key sp_index_stored(const sp_index *index, sp_slot_type slot) noexcept nogil

cdef sp_slot_type *sp_index_rising(const sp_index *index) noexcept nogil

cdef void sp_scan_separators(sp_characters *rule) noexcept nogil

cdef int sp_batch_columns(sp_batch *batch, bint named, bint learning,
                          sp_event *columns) noexcept nogil
cdef void sp_batch_free(sp_batch *batch) noexcept nogil
cdef void sp_batch_matrix(sp_batch *batch, sp_learner *learner, sp_event *event,
                          const sp_matrix *matrix) noexcept nogil
cdef Py_ssize_t sp_batch_next(const sp_batch *batch, Py_ssize_t first) noexcept nogil
cdef Py_ssize_t sp_batch_rows(sp_batch *batch, Py_ssize_t first, Py_ssize_t last,
                              bint zeros) noexcept nogil
cdef void sp_batch_texts(sp_batch *batch, sp_learner *learner, sp_event *event,
                         const sp_text_rule *rule, const sp_piece *prefixes, int n_pieces,
                         const sp_piece *pieces, Py_ssize_t n_rows) noexcept nogil
cdef Py_ssize_t sp_batch_unfit(sp_batch *batch, Py_ssize_t first) noexcept nogil

cdef bint sp_learner_can(const sp_learner *learner, int what) noexcept nogil
cdef int sp_rule_can(int kind) noexcept nogil

cdef sp_answer sp_learner_answer(const sp_learner *learner, sp_event *event) noexcept nogil
cdef bint sp_learner_slots_fault(const sp_learner *learner) noexcept nogil
cdef int sp_learner_ready(sp_learner *learner) noexcept nogil
cdef size_t sp_learner_bytes(const sp_learner *learner) noexcept nogil
cdef int sp_learner_copy(sp_learner *to, const sp_learner *other) noexcept nogil
cdef int sp_learner_expect_outputs(sp_learner *learner, Py_ssize_t n) noexcept nogil
cdef int sp_learner_begin_from(sp_learner *learner, sp_event *event, Py_ssize_t output,
                               double intercept) noexcept nogil
cdef int sp_learner_expect(sp_learner *learner, Py_ssize_t n, int positive) noexcept nogil
cdef const char *sp_learner_fault(const sp_learner *learner) noexcept nogil
cdef void sp_learner_free(sp_learner *learner) noexcept nogil
cdef int sp_learner_init(sp_learner *learner, sp_rule rule, int average, double half_life,
                         bint pocket, int serve, bint intercept, sp_slot_type max_features,
                         int hash_bits, uint64_t hash_seed) noexcept nogil
cdef void sp_learner_abandon(sp_learner *learner, sp_event *event) noexcept nogil
cdef int sp_learner_commit(sp_learner *learner, sp_event *event, Py_ssize_t y,
                           double u) noexcept nogil
cdef int sp_learner_prepare(sp_learner *learner, sp_event *event, Py_ssize_t y,
                            double u) noexcept nogil
cdef int sp_learner_learn(sp_learner *learner, sp_event *event, Py_ssize_t y,
                          double u) noexcept nogil
cdef sp_kept_once sp_learner_once(const sp_learner *learner) noexcept nogil
cdef const char *sp_learner_once_read(sp_learner *learner, const double *numbers) noexcept nogil
cdef void sp_learner_once_write(const sp_learner *learner, double *numbers) noexcept nogil
cdef void sp_learner_decide(const sp_learner *learner, sp_event *event) noexcept nogil
cdef int sp_learner_shares(const sp_learner *learner, const sp_event *event, Py_ssize_t output,
                           int kind, double *shares) noexcept nogil
cdef void sp_learner_probabilities(const sp_learner *learner, const sp_event *event,
                                   sp_answer answer, double *p) noexcept nogil
cdef int sp_learner_open(sp_learner *learner, sp_event *event) noexcept nogil
cdef void sp_learner_resolve(sp_learner *learner, sp_event *event) noexcept nogil
cdef int sp_learner_score(sp_learner *learner, sp_event *event) noexcept nogil
cdef int sp_learner_split(sp_learner *learner, const sp_rule *rule) noexcept nogil
cdef double sp_learner_weight(const sp_learner *learner, sp_slot_type slot, Py_ssize_t output,
                              int kind) noexcept nogil

cdef Py_ssize_t sp_kept_width(Py_ssize_t m) noexcept nogil
cdef size_t sp_kept_column_bytes(Py_ssize_t places) noexcept nogil
cdef Py_ssize_t sp_kept_columns_most(const sp_event *event) noexcept nogil
cdef void sp_kept_find(const sp_learner *learner, uint32_t *slots, Py_ssize_t n) noexcept nogil
cdef void sp_kept_numbers(const sp_learner *learner, uint32_t *slots, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t sp_kept_slots(const sp_event *event, uint32_t *slots) noexcept nogil
cdef Py_ssize_t sp_kept_outputs(const sp_event *event, Py_ssize_t *k) noexcept nogil
cdef void sp_kept_fill(const sp_learner *learner, const uint32_t *slots, Py_ssize_t n,
                       Py_ssize_t y, const Py_ssize_t *k, Py_ssize_t m, float *kept,
                       double *means) noexcept nogil
cdef Py_ssize_t sp_kept_places(const sp_learner *learner) noexcept nogil
cdef void sp_kept_once_each(const sp_learner *learner, uint32_t *slots, Py_ssize_t n) noexcept nogil
cdef size_t sp_kept_columns_before(const sp_learner *learner, const sp_event *event,
                                   Py_ssize_t y, uint8_t *columns) noexcept nogil
cdef size_t sp_kept_columns_after(const sp_learner *learner, const sp_event *event,
                                  const uint32_t *slots, Py_ssize_t n, Py_ssize_t y,
                                  uint8_t *columns, size_t bytes) noexcept nogil
cdef bint sp_kept_columns_are_sound(const uint8_t *columns, size_t bytes, Py_ssize_t n,
                                    bint one) noexcept nogil
cdef void sp_kept_bends(const sp_learner *learner, const sp_event *event,
                        uint64_t *bends) noexcept nogil
cdef void sp_kept_leave(const sp_learner *learner, uint32_t *slots, Py_ssize_t first, Py_ssize_t n,
                        const uint64_t *bends, Py_ssize_t n_bends, const uint8_t *columns,
                        size_t bytes) noexcept nogil
cdef int sp_kept_reserve(sp_learner *learner, const sp_kept *kept) noexcept nogil
cdef void sp_kept_take_back(sp_learner *learner, const sp_kept *kept) noexcept nogil
cdef bint sp_kept_is_sound(const float *numbers, Py_ssize_t n, Py_ssize_t m) noexcept nogil
cdef Py_ssize_t sp_once_width(Py_ssize_t m) noexcept nogil
cdef void sp_once_read(const sp_adaptive *a, Py_ssize_t y, const Py_ssize_t *k, Py_ssize_t m,
                       double *once) noexcept nogil
cdef void sp_once_take_back(sp_learner *learner, const sp_kept *kept, const double *before,
                            const double *after) noexcept nogil
cdef size_t sp_noted_most(sp_learner *learner, sp_event *event, Py_ssize_t y,
                          double u) noexcept nogil
cdef void sp_noted_before(const sp_learner *learner, const sp_event *event, double u,
                          uint8_t *data) noexcept nogil
cdef size_t sp_noted_after(const sp_learner *learner, const sp_event *event,
                           uint8_t *data) noexcept nogil
cdef bint sp_noted_is_sound(const sp_learner *learner, const sp_event *event,
                            const uint8_t *data, size_t bytes) noexcept nogil
cdef int sp_noted_take_back(sp_learner *learner, const sp_event *event,
                            const uint8_t *data) noexcept nogil
cdef int sp_undo_reserve(sp_learner *learner, sp_event *event) noexcept nogil
cdef void sp_undo_leave(sp_event *event, const uint32_t *slots) noexcept nogil
cdef void sp_undo_moves(sp_learner *learner, sp_event *event, sp_moment moment) noexcept nogil

cdef void sp_chunks_renumber(uint32_t *chunks, size_t n_chunks) noexcept nogil
cdef const char *sp_flat_words(int fault) noexcept nogil

cdef const char *sp_counts_fault(const sp_learner *learner) noexcept nogil

cdef const sp_array_kind *sp_array_kind_of(int array) noexcept nogil
cdef int sp_contents_check(const uint8_t *file, size_t n, uint64_t size,
                           sp_fault *fault) noexcept nogil
cdef void sp_header_free(sp_header *header) noexcept nogil
cdef int sp_header_read(sp_header *header, const uint8_t *file, size_t n, uint64_t size,
                        sp_fault *fault) noexcept nogil

cdef double sp_sets_best_threshold(const sp_sets *s) noexcept nogil
cdef void sp_sets_flatten(const sp_learner *learner, double *slots, size_t n_slots, uint32_t *marks,
                          double *marked) noexcept nogil
cdef int sp_sets_map(sp_learner *learner, const double *slots, size_t n_slots,
                const uint32_t *marks, size_t n, const double *marked) noexcept nogil
cdef size_t sp_sets_measure(const double *slots, size_t n_slots) noexcept nogil
cdef int sp_sets_read(sp_learner *learner, const uint32_t *marks, size_t n,
                      const double *marked) noexcept nogil
cdef double sp_sets_share(const sp_sets *s, const sp_table *table, const sp_event *event,
                          Py_ssize_t k, Py_ssize_t i) noexcept nogil
cdef int sp_sets_tell(sp_event *event, const uint32_t *labels, Py_ssize_t n, Py_ssize_t n_there,
                      bint open, Py_ssize_t n_labels) noexcept nogil

cdef int sp_voters_flatten(sp_voted *flat, const sp_voters *v, const sp_index *index,
                           Py_ssize_t n_outputs) noexcept nogil
cdef void sp_voters_measure(sp_voted *flat, const sp_voters *v, Py_ssize_t n_outputs) noexcept nogil
cdef int sp_voters_read(sp_voters *v, const sp_voted *flat, Py_ssize_t n_outputs,
                        sp_index *index, sp_table *table) noexcept nogil

cdef void sp_voters_shares(const sp_voters *v, Py_ssize_t output, const sp_slot_type *slots,
                           const double *x, Py_ssize_t n, const double *current, double *parts,
                           uint32_t *seen, double *shares) noexcept nogil

cdef size_t sp_voters_features(const sp_voters *v) noexcept nogil

cdef int sp_delta_digest(const sp_shard *shard, const uint8_t *called, size_t n,
                         uint64_t *h) noexcept nogil
cdef void sp_delta_free(sp_delta *delta) noexcept nogil
cdef sp_key *sp_delta_keys(const sp_delta *delta, const sp_index *base, const sp_index *own,
                           sp_slot_type n_slots, sp_slot_type *first) noexcept nogil
cdef int sp_delta_measure(sp_delta *delta, sp_shard *shard, const sp_shard *base) noexcept nogil
cdef int sp_delta_overlay(const sp_delta *delta, sp_learner *learner, const sp_learner *base,
                          Py_ssize_t n_outputs, size_t n_objects, int depth,
                          sp_slot_type *n_slots) noexcept nogil
cdef void sp_delta_write(const sp_delta *delta, const sp_shard *shard,
                         const sp_shard *base) noexcept nogil

cdef void sp_flat_free(sp_flat *flat) noexcept nogil
cdef void sp_flat_lookup(sp_flat *flat) noexcept nogil
cdef int sp_flat_map(sp_flat *flat, sp_index *index, sp_table *table,
                     Py_ssize_t n_outputs) noexcept nogil
cdef int sp_flat_measure(sp_flat *flat, const sp_index *index, const sp_table *table) noexcept nogil
cdef int sp_flat_read(sp_flat *flat, sp_index *index, sp_table *table, Py_ssize_t n_outputs,
                      size_t n_objects, int depth) noexcept nogil
cdef bint sp_flat_too_deep(const sp_flat *flat, int depth) noexcept nogil
cdef void sp_flat_write(sp_flat *flat, const sp_index *index, const sp_table *table) noexcept nogil

cdef int sp_learners_merge(sp_learner *to, const sp_shard *base, sp_shard *shards, int n,
                           int *culprit) noexcept nogil

cdef const uint8_t *sp_packed_next(const uint8_t *p, const uint8_t *end,
                                   sp_packed *entry) noexcept nogil
cdef Py_ssize_t sp_packed_size(const sp_event *event, Py_ssize_t first,
                               Py_ssize_t last) noexcept nogil
cdef void sp_packed_write(const sp_event *event, Py_ssize_t first, Py_ssize_t last,
                          uint8_t *p) noexcept nogil

cdef bint sp_learner_is_wide(const sp_learner *learner) noexcept nogil
cdef int sp_learner_widen(sp_learner *learner) noexcept nogil
cdef size_t sp_entries_measure(const sp_learner *learner, const sp_flat *flat) noexcept nogil
cdef void sp_entries_write(const sp_learner *learner, sp_flat *flat,
                           uint64_t *entries) noexcept nogil
cdef int sp_entries_read(sp_learner *learner, const uint64_t *entries, size_t n) noexcept nogil
cdef int sp_entries_map(sp_learner *learner, const uint64_t *entries, size_t n) noexcept nogil

cdef bint sp_learner_has_rows(const sp_learner *learner) noexcept nogil
cdef size_t sp_marked_measure(const sp_learner *learner, const sp_flat *flat) noexcept nogil
cdef void sp_marked_write(const sp_learner *learner, sp_flat *flat, uint32_t *marks) noexcept nogil
cdef int sp_marked_read(sp_learner *learner, const uint32_t *marks, size_t n) noexcept nogil
cdef int sp_marked_map(sp_learner *learner, const uint32_t *marks, size_t n) noexcept nogil

cdef int sp_former_measure(sp_former *former) noexcept nogil
cdef void sp_former_free(sp_former *former) noexcept nogil
cdef void sp_former_write(const sp_former *former, double *weights, uint32_t *chunks,
                          uint32_t *marks) noexcept nogil
cdef void sp_former_once(const double *numbers, size_t n_labels, size_t n_more,
                         double *to) noexcept nogil
