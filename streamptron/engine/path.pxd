# What doors take of engine/path/: the path of an event. The headers say what each of it is.

from libc.stdint cimport int32_t, uint32_t, uint64_t, uint8_t
from streamptron.engine.adaptive cimport sp_adaptive
from streamptron.engine.events cimport (
    sp_ahead, sp_event, sp_matrix, sp_pairs, sp_text, sp_text_rule)
from streamptron.engine.linear cimport (
    sp_rule, sp_serve, sp_table, sp_two_labels, sp_vectors, sp_verdict)
from streamptron.engine.memory cimport sp_slot_type
from streamptron.engine.names cimport sp_index, sp_key, sp_piece
from streamptron.engine.multilabel cimport sp_multilabel
from streamptron.engine.voted cimport sp_voters

cdef extern from "learner/ceiling.h" nogil:
    ctypedef struct sp_ceiling:
        uint64_t n_evicted


cdef extern from "learner/learner.h" nogil:
    ctypedef struct sp_answer:
        int kind
        const sp_verdict *verdict

    ctypedef struct sp_learner:
        sp_index index
        sp_ceiling ceiling
        sp_table table
        sp_rule rule
        sp_serve serve
        sp_adaptive adaptive
        sp_voters voters
        sp_multilabel multilabel
        const sp_pairs *pairs
        bint intercept
        sp_two_labels two
        uint64_t n_seen
        uint64_t n_updates
        uint64_t n_mistakes
        uint64_t version

    bint sp_learner_by_label(const sp_learner *learner) noexcept
    const double *sp_learner_decision(const sp_event *event, int kind) noexcept
    Py_ssize_t sp_learner_labels(const sp_learner *learner) noexcept
    bint sp_learner_several(const sp_learner *learner) noexcept


cdef extern from "path/batch.h" nogil:
    ctypedef struct sp_targets:
        const uint32_t *labels
        uint32_t n
        uint32_t n_there
        uint32_t open

    ctypedef struct sp_batch:
        sp_learner *learner
        sp_event *event
        Py_ssize_t n_rows
        const Py_ssize_t *order
        const sp_matrix *matrix
        sp_slot_type *slots
        int32_t *places
        const sp_key *keys
        const sp_text_rule *rule
        const sp_piece *pieces
        const sp_piece *prefixes
        int n_pieces
        sp_ahead *ahead
        sp_text text
        const Py_ssize_t *y
        const double *steps
        const sp_targets *targets
        Py_ssize_t *predictions
        double *decisions
        Py_ssize_t n_decisions
        double *probabilities
        Py_ssize_t n_probabilities
        double *confidences
        Py_ssize_t block_rows
        const Py_ssize_t *ends
        sp_event *query
        Py_ssize_t first

    int sp_batch_columns(sp_batch *batch, bint named, bint learning, sp_event *columns) noexcept
    void sp_batch_free(sp_batch *batch) noexcept
    void sp_batch_matrix(sp_batch *batch, sp_learner *learner, sp_event *event,
                         const sp_matrix *matrix) noexcept
    Py_ssize_t sp_batch_next(const sp_batch *batch, Py_ssize_t first) noexcept
    Py_ssize_t sp_batch_rows(sp_batch *batch, Py_ssize_t first, Py_ssize_t last,
                             bint zeros) noexcept
    void sp_batch_texts(sp_batch *batch, sp_learner *learner, sp_event *event,
                        const sp_text_rule *rule, const sp_piece *prefixes, int n_pieces,
                        const sp_piece *pieces, Py_ssize_t n_rows) noexcept
    Py_ssize_t sp_batch_unfit(sp_batch *batch, Py_ssize_t first) noexcept


cdef extern from "path/record.h" nogil:
    enum:
        SP_UNDO_LOG
        SP_RECORD_PARTS

    ctypedef struct sp_undo_record:
        int how
        int n_parts
        uint8_t *p[SP_RECORD_PARTS]
        size_t n[SP_RECORD_PARTS]
        Py_ssize_t y
        Py_ssize_t outputs
        Py_ssize_t m

    int sp_undo_kind_of(const sp_learner *learner) noexcept
    int sp_undo_record_take_back(const sp_undo_record *taken, bint changed, sp_learner *learner,
                                 sp_event *event) noexcept
    int sp_undo_record_commit(sp_undo_record *taken, sp_learner *learner, sp_event *event,
                              double u) noexcept
    const char *sp_undo_record_fault(const sp_undo_record *taken, const sp_learner *learner,
                                     const sp_event *event) noexcept
    int sp_undo_record_find(sp_learner *learner, sp_event *event) noexcept
    int sp_undo_record_prepare(sp_undo_record *taken, sp_learner *learner, sp_event *event,
                               Py_ssize_t y, double u) noexcept


cdef extern from "learner/can.h" nogil:
    enum:
        SP_CAN_DRAW
        SP_HAS_INTERCEPT
        SP_CAN_MAP
        SP_CAN_MARGIN
        SP_CAN_MERGE
        SP_CAN_UNDO_LOG
        SP_CAN_PAIR
        SP_CAN_UNDO_SNAPSHOT
        SP_CAN_ROWS
        SP_CAN_SET
        SP_CAN_START
        SP_CAN_UNDO_MOVES
        SP_CAN_VOTE
        SP_CAN_WATCH

    bint sp_learner_can(const sp_learner *learner, int what) noexcept
    int sp_rule_can(int kind) noexcept


cdef extern from "path/path.h" nogil:
    sp_answer sp_learner_answer(const sp_learner *learner, sp_event *event) noexcept
    int sp_learner_expect_rows(sp_learner *learner) noexcept
    int sp_learner_ready(sp_learner *learner) noexcept
    size_t sp_learner_bytes(const sp_learner *learner) noexcept
    int sp_learner_copy(sp_learner *to, const sp_learner *other) noexcept
    int sp_learner_expect_outputs(sp_learner *learner, Py_ssize_t n) noexcept
    int sp_learner_begin_from(sp_learner *learner, sp_event *event, Py_ssize_t output,
                              double intercept) noexcept
    int sp_learner_expect(sp_learner *learner, Py_ssize_t n, int positive) noexcept
    const char *sp_learner_fault(const sp_learner *learner) noexcept
    void sp_learner_free(sp_learner *learner) noexcept
    int sp_learner_init(sp_learner *learner, sp_rule rule, const sp_vectors *vectors,
                        bint intercept, sp_slot_type max_features, int hash_bits,
                        uint64_t hash_seed) noexcept
    void sp_learner_abandon(sp_learner *learner, sp_event *event) noexcept
    int sp_learner_commit(sp_learner *learner, sp_event *event, Py_ssize_t y, double u) noexcept
    int sp_learner_learn(sp_learner *learner, sp_event *event, Py_ssize_t y, double u) noexcept
    int sp_learner_prepare(sp_learner *learner, sp_event *event, Py_ssize_t y, double u) noexcept
    void sp_learner_decide(const sp_learner *learner, sp_event *event) noexcept
    int sp_learner_shares(const sp_learner *learner, const sp_event *event, Py_ssize_t output,
                          int kind, double *shares) noexcept
    Py_ssize_t sp_learner_n_shares(const sp_learner *learner, const sp_event *event) noexcept
    int sp_learner_share_key(const sp_learner *learner, const sp_event *event, Py_ssize_t i,
                             sp_key *key) noexcept
    void sp_learner_probabilities(const sp_learner *learner, const sp_event *event,
                                  sp_answer answer, double *p) noexcept
    const double *sp_event_probabilities(const sp_learner *learner, sp_event *event) noexcept
    int sp_learner_open(sp_learner *learner, sp_event *event) noexcept
    void sp_learner_resolve(sp_learner *learner, sp_event *event) noexcept
    int sp_learner_score(sp_learner *learner, sp_event *event) noexcept
    int sp_learner_split(sp_learner *learner, const sp_rule *rule) noexcept
    double sp_learner_weight(const sp_learner *learner, sp_slot_type slot, Py_ssize_t output,
                             int kind) noexcept
