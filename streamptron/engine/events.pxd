# What doors take of engine/events/: events. The headers say what each of it is.

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from streamptron.engine.linear cimport sp_step
from streamptron.engine.memory cimport sp_arena, sp_slot_type
from streamptron.engine.names cimport sp_characters, sp_index, sp_key, sp_piece

cdef extern from "events/event.h" nogil:
    ctypedef struct sp_event:
        Py_ssize_t n
        Py_ssize_t capacity
        sp_key *keys
        double *values
        sp_slot_type *slots
        uint64_t *hashes
        const uint64_t **starts
        Py_ssize_t n_found
        Py_ssize_t n_hashed
        Py_ssize_t n_known
        uint64_t generation
        sp_arena text
        Py_ssize_t n_candidates
        Py_ssize_t *ends
        bint paired
        Py_ssize_t n_given
        int unfit
        Py_ssize_t unfit_candidate
        uint64_t most_pairs
        uint64_t n_pairs
        sp_arena names
        double *scores
        Py_ssize_t n_scores
        uint64_t scored_version
        Py_ssize_t n_gaps
        bint gapped
        sp_step step

    ctypedef struct sp_writer:
        sp_key *keys
        double *values
        Py_ssize_t n

    void sp_event_again(sp_event *event, const sp_index *index, bint intercept) noexcept
    int sp_event_begin(sp_event *event, const sp_index *index, Py_ssize_t n,
                       bint intercept) noexcept
    void sp_event_forget(sp_event *event) noexcept
    size_t sp_event_bytes(const sp_event *event) noexcept
    void sp_event_candidate_end(sp_event *event, Py_ssize_t i, const sp_writer *writer) noexcept
    int sp_event_candidates(sp_event *event, Py_ssize_t n) noexcept
    void sp_event_end(sp_event *event, const sp_writer *writer) noexcept
    Py_ssize_t sp_event_first(const sp_event *event, Py_ssize_t i) noexcept
    void sp_event_free(sp_event *event) noexcept
    Py_ssize_t sp_event_given(const sp_event *event) noexcept
    void sp_event_init(sp_event *event) noexcept
    Py_ssize_t sp_event_last(const sp_event *event, Py_ssize_t i) noexcept
    void sp_event_settle(sp_event *event, const sp_index *index) noexcept
    sp_writer sp_event_writer(const sp_event *event) noexcept
    void sp_writer_add(sp_writer *writer, sp_key key, double value) noexcept


cdef extern from "events/ahead.h" nogil:
    ctypedef struct sp_ahead_span:
        Py_ssize_t first
        Py_ssize_t n

    ctypedef struct sp_ahead:
        sp_ahead_span *rows
        Py_ssize_t n_rows
        double *values
        uint32_t *words
        Py_ssize_t n
        Py_ssize_t capacity
        sp_key *keys
        uint64_t *hashes
        sp_slot_type *slots
        uint64_t *table
        size_t n_words
        bint asked
        sp_arena text
        uint64_t seed_number
        size_t n_replaced

    int sp_ahead_begin(sp_ahead *ahead, uint64_t seed_number, Py_ssize_t n_rows) noexcept
    void sp_ahead_free(sp_ahead *ahead) noexcept
    void sp_ahead_init(sp_ahead *ahead) noexcept
    void sp_ahead_leave_out(sp_ahead *ahead, Py_ssize_t r) noexcept
    int sp_ahead_put(sp_ahead *ahead, const sp_event *event) noexcept


cdef extern from "events/lines.h" nogil:
    enum:
        SP_LINES_EITHER
        SP_LINES_FASTTEXT
        SP_LINES_LABELLED
        SP_LINES_TEXT
        SP_LINE_BLANK

    ctypedef struct sp_line:
        const uint8_t *p
        const uint8_t *end
        const uint8_t *label
        size_t n_label
        const uint8_t *text
        size_t n_text
        int fault

    size_t sp_line_ends(const uint8_t *p, size_t n) noexcept
    bint sp_line_next(sp_line *line, int kind) noexcept

cdef extern from "events/question.h" nogil:
    enum:
        SP_QUESTION_SPARE

    ctypedef struct sp_question:
        const uint8_t *text
        size_t n_text
        const uint8_t *id
        size_t n_id

    bint sp_question_read(sp_question *line, const uint8_t *p, const uint8_t *end,
                        uint8_t **room) noexcept


cdef extern from "events/matrix.h" nogil:
    enum:
        SP_FAULT_COLUMN
        SP_FAULT_LOSS
        SP_FAULT_STARTS
        SP_MATRIX_FAULTY
        SP_MATRIX_UNSORTED
        SP_MATRIX_ZEROS

    ctypedef struct sp_matrix:
        Py_ssize_t n_rows
        Py_ssize_t n_columns
        bint dense
        int number
        const char *values
        Py_ssize_t n_values
        bint long_columns
        const char *starts
        const char *columns
        Py_ssize_t row_stride
        Py_ssize_t column_stride

    int sp_matrix_check(const sp_matrix *m, Py_ssize_t first, Py_ssize_t last) noexcept
    int64_t sp_matrix_column(const sp_matrix *m, Py_ssize_t k) noexcept
    int sp_matrix_fault(const sp_matrix *m, Py_ssize_t first, Py_ssize_t last, Py_ssize_t *row,
                        Py_ssize_t *entry) noexcept
    double sp_matrix_value(const sp_matrix *m, Py_ssize_t r, Py_ssize_t k) noexcept


cdef extern from "events/pairs.h" nogil:
    enum:
        SP_PAIR_FIELDS_MOST
        SP_UNFIT_NUMBER

    ctypedef struct sp_field:
        const uint8_t *p
        size_t n
        uint64_t partners

    ctypedef struct sp_pairs:
        uint64_t most
        int n_fields
        const sp_field *fields


cdef extern from "events/mail.h" nogil:
    ctypedef struct sp_mail_rule:
        bint headers
        bint text
        bint fold
        size_t bytes


cdef extern from "events/text.h" nogil:
    enum:
        SP_TEXT_CHARACTERS
        SP_TEXT_MAIL

    ctypedef struct sp_text_part:
        Py_ssize_t first
        Py_ssize_t last

    ctypedef struct sp_word:
        const uint8_t *p
        size_t n

    ctypedef struct sp_text:
        uint64_t *bits
        const uint8_t *plain
        sp_word *words
        Py_ssize_t n_words
        sp_text_part *parts
        Py_ssize_t n_parts
        size_t n_bytes
        size_t n_replaced

    ctypedef struct sp_text_rule:
        int analyzer
        int low
        int high
        sp_characters characters
        bint fold
        size_t shortest
        size_t longest
        int value
        bint l2
        sp_mail_rule mail

    size_t sp_text_bytes(const sp_text *text) noexcept
    void sp_text_free(sp_text *text) noexcept
    int sp_text_write(sp_text *text, sp_event *event, const sp_text_rule *rule,
                      const sp_index *index, bint intercept, const sp_piece *prefixes,
                      const sp_piece *pieces, int n_pieces) noexcept


cdef extern from "events/candidates.h" nogil:
    Py_ssize_t sp_event_difference(sp_event *event, Py_ssize_t y, Py_ssize_t guess) noexcept
