# What doors take of engine/multilabel/: MultiLabelClassifier. The headers say what each of it is.

from libc.stdint cimport uint32_t
from streamptron.engine.events cimport sp_event
from streamptron.engine.linear cimport sp_table

cdef extern from "learner/multilabel.h" nogil:
    ctypedef struct sp_multilabel:
        pass


cdef extern from "multilabel/targets.h" nogil:
    double sp_multilabel_best_threshold(const sp_multilabel *s) noexcept
    double sp_multilabel_share(const sp_multilabel *s, const sp_table *table, const sp_event *event,
                         Py_ssize_t k, Py_ssize_t i) noexcept
    int sp_multilabel_set_targets(sp_event *event, const uint32_t *labels, Py_ssize_t n,
                            Py_ssize_t n_there, bint open, Py_ssize_t n_labels) noexcept
