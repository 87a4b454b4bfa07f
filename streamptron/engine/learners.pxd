# A whole learner: a weight of it, how large it is, a second one, one of so many labels.
#
# What each room says of its own part, put together; the path (engine/learner.pxd) does without.
#
# Functions in this file: learner_weight, learner_bytes, learner_copy, learner_expect; learner_fault
# for the tests.

from streamptron.engine.adaptive cimport (
    adaptive_bytes, adaptive_copy, adaptive_expect, adaptive_weight)
from streamptron.engine.index cimport Index
from streamptron.engine.indexes cimport index_copy, index_fault
from streamptron.engine.learner cimport (
    Learner, _split, _split_end, learner_adapts, learner_votes)
from streamptron.engine.rule cimport ANSWER_LABELS, ANSWER_PAIR
from streamptron.engine.table cimport table_read
from streamptron.engine.tables cimport table_copy, table_fault
from streamptron.engine.types cimport SLOT_INTERCEPT, slot_t
from streamptron.engine.voters cimport voters_bytes, voters_copy, voters_fault


cdef inline double learner_weight(const Learner* learner, slot_t slot, Py_ssize_t output,
                                  int kind) noexcept nogil:
    """One weight of one kept vector."""
    if not learner_adapts(learner):
        return table_read(&learner.table, slot, output, kind)
    if slot == SLOT_INTERCEPT:
        return learner.adaptive.w0[output]
    return adaptive_weight(&learner.adaptive, &learner.table, slot, output)


cdef inline size_t learner_bytes(const Learner* learner) noexcept nogil:
    """What a learner holds from the system."""
    cdef const Index* index = &learner.index
    return (index.bytes + index.pool.bytes + index.long_keys.bytes
            + learner.table.bytes + learner.table.pool.bytes + adaptive_bytes(&learner.adaptive)
            + voters_bytes(&learner.voters))


cdef inline int learner_copy(Learner* to, const Learner* other) noexcept nogil:
    """A second learner in the same state. -1 without memory. Call learner_free in either case."""
    cdef int failed
    to[0] = other[0]
    failed = index_copy(&to.index, &other.index)
    # all of it must be the copy's own before anybody frees it
    failed += table_copy(&to.table, &other.table)
    failed += voters_copy(&to.voters, &other.voters)
    return adaptive_copy(&to.adaptive, &other.adaptive) + failed


cdef inline int learner_expect(Learner* learner, Py_ssize_t n, int positive) noexcept nogil:
    """Give an untrained learner of kind ANSWER_PAIR its form with n labels. -1 without memory."""
    learner.two.positive = positive
    learner.two.n = <int> min(n, <Py_ssize_t> 2)
    if learner_adapts(learner):
        learner.answer = ANSWER_LABELS if n > 2 else ANSWER_PAIR
        return adaptive_expect(&learner.adaptive, n, positive)
    if n > 2:
        if _split(learner) < 0:
            return -1
        _split_end(learner, NULL, False)
    return 0


cdef inline const char* learner_fault(const Learner* learner) noexcept nogil:
    """What is wrong with a learner, or NULL. It checks everything."""
    cdef const char* fault = index_fault(&learner.index)
    if fault == NULL:
        fault = table_fault(&learner.table, learner.index.n_slots)
    if fault == NULL and learner_votes(learner):
        fault = voters_fault(&learner.voters, learner.table.n_outputs, learner.index.n_slots)
    return fault
