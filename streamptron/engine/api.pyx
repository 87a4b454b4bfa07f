"""What others take of the engine: limits for Python, functions for Cython code."""

cimport streamptron.engine.events as _events
cimport streamptron.engine.names as _names
cimport streamptron.engine.path as _path
from streamptron.engine.memory cimport SP_FAIL, SP_VALUE_LIMIT, sp_heap_fail_at

VALUE_LIMIT = SP_VALUE_LIMIT                 # what a value may be in size
UNICODE = (<bytes> _names.sp_letters_unicode).decode("ascii")    # whose letters the engine knows


def _fail_at(n, lasts=False):
    """Let the n-th allocation from now find no memory, and if it `lasts` all after it; 0: none.

    Returns how many were still to come before the one set last: 0 or -1 (it lasts) if that was
    reached.
    """
    return sp_heap_fail_at(n, lasts)


if not SP_FAIL:                       # the build is for users
    del globals()["_fail_at"]


cdef int sp_event_begin(sp_event *event, const sp_index *index, Py_ssize_t n,
                        bint intercept) noexcept nogil:
    return _events.sp_event_begin(event, index, n, intercept)


cdef void sp_event_end(sp_event *event, const sp_writer *writer) noexcept nogil:
    _events.sp_event_end(event, writer)


cdef void sp_event_settle(sp_event *event, const sp_index *index) noexcept nogil:
    _events.sp_event_settle(event, index)


cdef sp_writer sp_event_writer(const sp_event *event) noexcept nogil:
    return _events.sp_event_writer(event)


cdef sp_slot_type sp_index_find(const sp_index *index, const sp_key *key,
                                uint64_t h) noexcept nogil:
    return _names.sp_index_find(index, key, h)


cdef sp_answer sp_learner_answer(const sp_learner *learner, sp_event *event) noexcept nogil:
    return _path.sp_learner_answer(learner, event)


cdef bint sp_learner_can(const sp_learner *learner, int what) noexcept nogil:
    return _path.sp_learner_can(learner, what)


cdef void sp_learner_decide(const sp_learner *learner, sp_event *event) noexcept nogil:
    _path.sp_learner_decide(learner, event)


cdef int sp_learner_learn(sp_learner *learner, sp_event *event, Py_ssize_t y,
                          double u) noexcept nogil:
    return _path.sp_learner_learn(learner, event, y, u)


cdef void sp_learner_probabilities(const sp_learner *learner, const sp_event *event,
                                   sp_answer answer, double *p) noexcept nogil:
    _path.sp_learner_probabilities(learner, event, answer, p)


cdef int sp_learner_score(sp_learner *learner, sp_event *event) noexcept nogil:
    return _path.sp_learner_score(learner, event)


cdef double sp_learner_weight(const sp_learner *learner, sp_slot_type slot, Py_ssize_t output,
                              int kind) noexcept nogil:
    return _path.sp_learner_weight(learner, slot, output, kind)
