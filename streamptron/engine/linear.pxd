# What doors take of engine/linear/: linear learners. The headers say what each of it is.

from libc.stdint cimport uint32_t, uint64_t
from streamptron.engine.memory cimport sp_places, sp_pool, sp_slot_type

cdef extern from "table/layout.h" nogil:
    enum:
        SP_AVERAGE_NONE

    ctypedef struct sp_layout:
        pass


cdef extern from "events/step.h" nogil:
    ctypedef struct sp_move:
        Py_ssize_t output
        double a
        double second

    ctypedef struct sp_step:
        int n
        Py_ssize_t event
        double r
        sp_move *moves

    int sp_step_reserve(sp_step *step, Py_ssize_t n) noexcept


cdef extern from "table/table.h" nogil:
    enum:
        SP_KEPT_AVERAGE
        SP_KEPT_CURRENT
        SP_KEPT_KINDS
        SP_KEPT_POCKET

    ctypedef struct sp_vectors:
        pass

    const sp_vectors sp_current_alone

    ctypedef struct sp_block:
        double **chunks
        sp_places of_chunks
        sp_places of_folds

    ctypedef struct sp_table:
        sp_layout layout
        int width
        bint borrowed
        Py_ssize_t n_outputs
        Py_ssize_t n_blocks
        sp_block *blocks
        size_t n_chunks
        double c
        double s
        uint32_t fold
        double epoch
        sp_pool pool
        size_t bytes

    bint sp_table_can_write(const sp_table *table, sp_slot_type slot) noexcept
    bint sp_table_keeps(const sp_table *table, int kind) noexcept
    double sp_table_read(const sp_table *table, sp_slot_type slot, Py_ssize_t output,
                         int kind) noexcept


cdef extern from "math/top.h" nogil:
    Py_ssize_t sp_top(const double *numbers, Py_ssize_t n, Py_ssize_t most,
                      uint32_t *places) noexcept


cdef extern from "events/two_labels.h" nogil:
    ctypedef struct sp_two_labels:
        int n
        int positive


cdef extern from "events/verdict.h" nogil:
    ctypedef struct sp_verdict:
        Py_ssize_t best
        double margin
        double size


cdef extern from "learner/serve.h" nogil:
    ctypedef struct sp_serve:
        pass

    int sp_serve_overall(const sp_serve *serve) noexcept


cdef extern from "learner/rule.h" nogil:
    enum:
        SP_ANSWER_CANDIDATES
        SP_ANSWER_LABELS
        SP_ANSWER_TWO
        SP_ANSWER_MULTILABEL
        SP_ANSWER_SIGN
        SP_RULE_ADAPTIVE
        SP_RULE_AROW
        SP_RULE_MIRA
        SP_RULE_MULTICLASS
        SP_RULE_PERCEPTRON
        SP_RULE_RANKING
        SP_RULE_MULTILABEL
        SP_RULE_VOTED

    ctypedef struct sp_rule:
        int kind
        double margin
        double C
        int update
        int violators
        double r
        double eta
        double forget
        bint watches
        bint naive_bayes
        int shape
        bint intercept

    int sp_rule_answer(const sp_rule *rule) noexcept
    const char *sp_rule_name(int kind) noexcept
