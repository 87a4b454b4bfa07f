# What doors and other people's Cython code call: the path of an event, compiled once.
#
# The rooms beside this file hold bodies, and whoever cimports a function from them compiles it
# again. The functions here are called through the module streamptron.engine.api, and their
# signatures are compared when it is imported. So a door takes structs, and what runs once per
# entry, from a room; and from here what runs once per event or once per batch. What no event passes
# through (merging) is compiled in the one door that calls it. What keeps something in its module
# (scan_page: the characters met) must be called from here, for any other module has its own copy.
#
# Each function is described in its own room. Those that return int return -1 without memory.

from streamptron.engine.types cimport slot_t, uint8_t, uint32_t, uint64_t
from streamptron.engine.key cimport Key
from streamptron.engine.index cimport Index
from streamptron.engine.event cimport Event
from streamptron.engine.adaptive cimport Adaptive, Weighed
from streamptron.engine.voters cimport Voters
from streamptron.engine.voters_flat cimport Voted
from streamptron.engine.table cimport Table
from streamptron.engine.rule cimport Rule
from streamptron.engine.step cimport Move
from streamptron.engine.learner cimport Answer, Learner
from streamptron.engine.matrix cimport Matrix
from streamptron.engine.scan cimport Characters, Piece
from streamptron.engine.text cimport Text, TextRule
from streamptron.engine.lines cimport Line
from streamptron.engine.batch cimport Batch
from streamptron.engine.flat cimport Flat

cdef int learner_init(Learner* learner, Rule rule, int average, double half_life, bint pocket,
                      int serve, bint intercept, slot_t max_features, int hash_bits,
                      uint64_t hash_seed) noexcept nogil
cdef void learner_free(Learner* learner) noexcept nogil
cdef int learner_copy(Learner* to, const Learner* other) noexcept nogil
cdef size_t learner_bytes(const Learner* learner) noexcept nogil
cdef const char* learner_fault(const Learner* learner) noexcept nogil
cdef void learner_resolve(Learner* learner, Event* event) noexcept nogil
cdef int learner_score(Learner* learner, Event* event) noexcept nogil
cdef Answer learner_answer(const Learner* learner, Event* event) noexcept nogil
cdef void learner_probabilities(const Learner* learner, const Event* event, Answer answer,
                                double* p) noexcept nogil
cdef int learner_learn(Learner* learner, Event* event, Py_ssize_t y, double u) noexcept nogil
cdef Py_ssize_t event_difference(Event* event, Py_ssize_t y, Py_ssize_t guess) noexcept nogil
cdef int learner_expect(Learner* learner, Py_ssize_t n, int positive) noexcept nogil

cdef double learner_weight(const Learner* learner, slot_t slot, Py_ssize_t output,
                           int kind) noexcept nogil

cdef int adaptive_room(Adaptive* a, Py_ssize_t n) noexcept nogil
cdef void adaptive_set_count(Adaptive* a, Py_ssize_t k, double D) noexcept nogil
cdef double adaptive_share(const Adaptive* a, const Table* table, const Weighed* w,
                           Py_ssize_t output, Py_ssize_t i,
                           const slot_t* slots, const double* x) noexcept nogil
cdef bint adaptive_fault(const Table* table, slot_t n_slots) noexcept nogil

cdef void voters_measure(Voted* flat, const Voters* v, Py_ssize_t n_outputs) noexcept nogil
cdef int voters_flatten(Voted* flat, const Voters* v, Py_ssize_t n_outputs) noexcept nogil
cdef int voters_read(Voters* v, const Voted* flat, Py_ssize_t n_outputs,
                     slot_t n_slots) noexcept nogil
cdef void voters_shares(const Voters* v, Py_ssize_t output, const slot_t* slots, const double* x,
                        Py_ssize_t n, const double* current, double* parts, uint32_t* seen,
                        double* shares) noexcept nogil

cdef int index_init(Index* index, int bits, uint64_t seed_number,
                    slot_t max_features) noexcept nogil
cdef void index_free(Index* index) noexcept nogil
cdef slot_t index_find(const Index* index, const Key* key, uint64_t h) noexcept nogil
cdef slot_t index_insert(Index* index, const Key* key, uint64_t h) noexcept nogil
cdef int index_open_columns(Index* index, size_t n) noexcept nogil

cdef int table_add_outputs(Table* table, Py_ssize_t n) noexcept nogil
cdef int table_reserve(Table* table, const slot_t* slots, Py_ssize_t n, slot_t n_slots,
                       const Move* moves, int n_moves) noexcept nogil
cdef double table_read(const Table* table, slot_t slot, Py_ssize_t output, int kind) noexcept nogil
cdef void table_write(Table* table, slot_t slot, Py_ssize_t output, double w) noexcept nogil
cdef bint table_wrote(const Table* table, size_t chunk) noexcept nogil

cdef int flat_measure(Flat* flat, const Index* index, const Table* table) noexcept nogil
cdef void flat_write(Flat* flat, const Index* index, const Table* table) noexcept nogil
cdef void flat_lookup(Flat* flat) noexcept nogil
cdef bint flat_too_deep(const Flat* flat, int depth) noexcept nogil
cdef int flat_read(Flat* flat, Index* index, Table* table, Py_ssize_t n_outputs, size_t n_objects,
                   int depth) noexcept nogil
cdef int flat_map(Flat* flat, Index* index, Table* table, Py_ssize_t n_outputs) noexcept nogil
cdef void flat_free(Flat* flat) noexcept nogil

cdef void batch_matrix(Batch* batch, Learner* learner, Event* event,
                       const Matrix* matrix) noexcept nogil
cdef void batch_texts(Batch* batch, Learner* learner, Event* event, const TextRule* rule,
                      const Piece* prefixes, int n_pieces, const Piece* pieces,
                      Py_ssize_t n_rows) noexcept nogil
cdef int batch_columns(Batch* batch, bint named, bint learning, Event* columns) noexcept nogil
cdef Py_ssize_t batch_next(const Batch* batch, Py_ssize_t first) noexcept nogil
cdef Py_ssize_t batch_unfit(Batch* batch, Py_ssize_t first) noexcept nogil
cdef Py_ssize_t batch_rows(Batch* batch, Py_ssize_t first, Py_ssize_t last,
                           bint zeros) noexcept nogil
cdef void batch_free(Batch* batch) noexcept nogil

cdef int matrix_check(const Matrix* m, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef int matrix_fault(const Matrix* m, Py_ssize_t first, Py_ssize_t last, Py_ssize_t* row,
                      Py_ssize_t* entry) noexcept nogil
cdef double matrix_value(const Matrix* m, Py_ssize_t r, Py_ssize_t k) noexcept nogil

cdef Py_ssize_t text_write(Text* text, Event* event, const TextRule* rule, const Index* index,
                           bint intercept, const Piece* prefixes, const Piece* pieces,
                           int n_pieces) noexcept nogil
cdef size_t text_bytes(const Text* text) noexcept nogil
cdef void text_free(Text* text) noexcept nogil

cdef void scan_separators(Characters* characters) noexcept nogil
cdef void scan_page(uint32_t page, uint32_t* entries) noexcept nogil

cdef size_t line_ends(const uint8_t* p, size_t n) noexcept nogil
cdef bint line_next(Line* line, int kind) noexcept nogil
