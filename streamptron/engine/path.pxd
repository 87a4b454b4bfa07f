# What doors take of engine/path/: the path of an event. The headers say what each of it is.

from libc.stdint cimport int32_t, uint32_t, uint64_t, uint8_t
from streamptron.engine.adaptive cimport sp_adaptive
from streamptron.engine.events cimport (
    sp_ahead, sp_event, sp_matrix, sp_pairs, sp_text, sp_text_rule)
from streamptron.engine.linear cimport (
    SP_KEPT_KINDS, sp_calibrator, sp_rule, sp_serve, sp_table, sp_two_labels, sp_verdict)
from streamptron.engine.memory cimport sp_slot_type
from streamptron.engine.names cimport sp_index, sp_key, sp_piece
from streamptron.engine.sets cimport sp_sets
from streamptron.engine.voted cimport sp_voters

cdef extern from "path/ceiling.h" nogil:
    ctypedef struct sp_ceiling:
        sp_slot_type hand
        uint32_t clock
        uint64_t n_evicted


cdef extern from "path/once.h" nogil:
    ctypedef struct sp_kept_once:
        const char *name
        Py_ssize_t n
        Py_ssize_t n_rows
        Py_ssize_t width
        Py_ssize_t n_behind
        Py_ssize_t n_more

    size_t sp_once_numbers(const sp_kept_once *once) noexcept


cdef extern from "path/learner.h" nogil:
    ctypedef struct sp_answer:
        int kind
        const sp_verdict *verdict

    ctypedef struct sp_learner:
        sp_index index
        sp_ceiling ceiling
        sp_table table
        sp_rule rule
        sp_serve serve
        sp_calibrator fits[SP_KEPT_KINDS]
        sp_adaptive adaptive
        sp_voters voters
        sp_sets sets
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
    ctypedef struct sp_told:
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
        const sp_told *told
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


cdef extern from "path/undo.h" nogil:
    enum:
        SP_ONCE_MODEL
        SP_ONCE_OUTPUT
        SP_ONCE_BAYES

    ctypedef struct sp_moment:
        double c
        double s
        uint32_t fold

    ctypedef struct sp_kept:
        bint one
        Py_ssize_t y
        const Py_ssize_t *k
        Py_ssize_t m
        const uint32_t *slots
        Py_ssize_t n
        const float *before
        const float *after
        const double *s_before
        const double *s_after
        const uint8_t *columns
        size_t n_bytes

    sp_moment sp_undo_moment(const sp_learner *learner) noexcept


cdef extern from "path/can.h" nogil:
    enum:
        SP_CAN_DRAW
        SP_CAN_LEAD
        SP_CAN_MAP
        SP_CAN_MARGIN
        SP_CAN_MERGE
        SP_CAN_NOTE
        SP_CAN_PAIR
        SP_CAN_PUT_BACK
        SP_CAN_ROWS
        SP_CAN_SET
        SP_CAN_START
        SP_CAN_TAKE_BACK
        SP_CAN_VOTE
        SP_CAN_WATCH
