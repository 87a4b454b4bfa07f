# What other people's Cython code calls: what runs once per event.
#
# The engine is compiled into the package. The functions here are called through the module
# streamptron.engine.api, and their signatures are compared when it is imported. What runs once per
# entry is inline C, and comes from the declarations beside this file (events, names, ...). All else
# that they declare is for the package's own doors, which are linked with the engine.
#
# Each function is described in its own room's header. Those that return int return -1 without
# memory, unless it says otherwise.

from libc.stdint cimport uint64_t
from streamptron.engine.events cimport sp_event, sp_writer
from streamptron.engine.memory cimport sp_slot_type
from streamptron.engine.names cimport sp_index, sp_key
from streamptron.engine.path cimport sp_answer, sp_learner

cdef int sp_event_begin(sp_event *event, const sp_index *index, Py_ssize_t n,
                        bint intercept) noexcept nogil
cdef void sp_event_end(sp_event *event, const sp_writer *writer) noexcept nogil
cdef void sp_event_settle(sp_event *event, const sp_index *index) noexcept nogil
cdef sp_writer sp_event_writer(const sp_event *event) noexcept nogil

cdef sp_slot_type sp_index_find(const sp_index *index, const sp_key *key, uint64_t h) noexcept nogil

cdef sp_answer sp_learner_answer(const sp_learner *learner, sp_event *event) noexcept nogil
cdef bint sp_learner_can(const sp_learner *learner, int what) noexcept nogil
cdef void sp_learner_decide(const sp_learner *learner, sp_event *event) noexcept nogil
cdef int sp_learner_learn(sp_learner *learner, sp_event *event, Py_ssize_t y,
                          double u) noexcept nogil
cdef void sp_learner_probabilities(const sp_learner *learner, const sp_event *event,
                                   sp_answer answer, double *p) noexcept nogil
cdef int sp_learner_score(sp_learner *learner, sp_event *event) noexcept nogil
cdef double sp_learner_weight(const sp_learner *learner, sp_slot_type slot, Py_ssize_t output,
                              int kind) noexcept nogil
