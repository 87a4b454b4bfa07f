# What doors take of engine/sets/: MultiLabelClassifier. The headers say what each of it is.

from libc.stdint cimport uint32_t
from streamptron.engine.events cimport sp_event
from streamptron.engine.linear cimport sp_table

cdef extern from "learner/sets.h" nogil:
    ctypedef struct sp_sets:
        pass


cdef extern from "sets/targets.h" nogil:
    double sp_sets_best_threshold(const sp_sets *s) noexcept
    double sp_sets_share(const sp_sets *s, const sp_table *table, const sp_event *event,
                         Py_ssize_t k, Py_ssize_t i) noexcept
    int sp_sets_set_targets(sp_event *event, const uint32_t *labels, Py_ssize_t n,
                            Py_ssize_t n_there, bint open, Py_ssize_t n_labels) noexcept
