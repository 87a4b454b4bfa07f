# Several threads for one batch that only predicts.
#
#     rows    0 ............. 999 | 1000 .......... 1999 | 2000 .......... 2999
#             the caller           a thread of its own    another one
#
# Each part has an event in scratch of its own, and writes the answers of its own rows; the model,
# the rows and the columns' slots are shared and only read. So the answers are, bit for bit, those
# of one thread. The caller has marked the gate (doors/gate.pxd) and waits for all of them.
#
# A part stops where it cannot go on: at a block with a fault, or out of memory. Then the caller
# goes on from there as if it had been alone, and sees for itself why. A part for which no thread
# can be started is run by the caller too.
#
# The threads are the interpreter's own (pythread.h), which are there on every system, but they run
# no Python code and never ask for its lock.
#
# Functions in this file: workers_begin, workers_run, workers_end; workers_part, the loop over
# checked blocks, which serves one thread too.

from streamptron.engine.events cimport (
    SP_MATRIX_FAULTY, SP_MATRIX_UNSORTED, SP_MATRIX_ZEROS, sp_event, sp_event_free, sp_event_init,
    sp_matrix_check)
from streamptron.engine.memory cimport sp_free, sp_malloc
from streamptron.engine.path cimport sp_batch, sp_batch_free, sp_batch_next, sp_batch_rows

cdef extern from "pythread.h":
    ctypedef void* PyThread_type_lock
    const unsigned long NOT_STARTED "PYTHREAD_INVALID_THREAD_ID"
    unsigned long PyThread_start_new_thread(
        void (*run)(void*) noexcept nogil, void* given) noexcept nogil
    PyThread_type_lock PyThread_allocate_lock() noexcept nogil
    int PyThread_acquire_lock(PyThread_type_lock lock, int wait) noexcept nogil
    void PyThread_release_lock(PyThread_type_lock lock) noexcept nogil
    void PyThread_free_lock(PyThread_type_lock lock) noexcept nogil

cdef enum:
    WORKERS_BAD = SP_MATRIX_FAULTY | SP_MATRIX_UNSORTED  # rows that no batch can use as they are

cdef struct Part:
    sp_batch batch
    sp_event event, query
    Py_ssize_t last                 # where it ends
    Py_ssize_t done                 # where it begins; in the end where it stopped
    PyThread_type_lock running      # held by the thread; NULL: it has none

cdef struct Workers:
    Py_ssize_t n_parts
    Part* parts


cdef inline Py_ssize_t workers_part(sp_batch* batch, Py_ssize_t first, Py_ssize_t last,
                                 int* found) noexcept nogil:
    """Check each block of the rows first .. last - 1 and run over it.

    Rows in an order have been checked before. Returns `last`, or where it stopped; `found` is what
    sp_matrix_check says of the last block it looked at.
    """
    cdef Py_ssize_t r = first, end
    while r < last:
        end = min(sp_batch_next(batch, r), last)
        if batch.matrix != NULL and batch.order == NULL:
            found[0] = sp_matrix_check(batch.matrix, r, end)
            if found[0] & WORKERS_BAD:
                return r
        r = sp_batch_rows(batch, r, end, (found[0] & SP_MATRIX_ZEROS) != 0)
        if r < end:
            return r
    return r


cdef inline void _run(Part* part) noexcept nogil:
    cdef int found = 0
    part.done = workers_part(&part.batch, part.done, part.last, &found)


cdef inline void _run_in_thread(void* given) noexcept nogil:
    cdef Part* part = <Part*> given
    _run(part)
    PyThread_release_lock(part.running)


cdef inline void _begin(Part* part, const sp_batch* batch, Py_ssize_t first,
                        Py_ssize_t last) noexcept nogil:
    """A part of a batch that has not begun yet, with scratch of its own."""
    part.batch = batch[0]
    part.batch.event = &part.event
    sp_event_init(&part.event)
    sp_event_init(&part.query)
    if batch.query != NULL:
        part.batch.query = &part.query
    part.done = first
    part.last = last
    part.running = NULL


cdef inline void _start(Part* part) noexcept nogil:
    """Run what is left of it in a thread, if one can be had."""
    if part.done == part.last:
        return
    part.running = PyThread_allocate_lock()
    if part.running == NULL:
        return
    PyThread_acquire_lock(part.running, 1)
    if PyThread_start_new_thread(_run_in_thread, part) == NOT_STARTED:
        PyThread_free_lock(part.running)
        part.running = NULL


cdef inline void _finish(Part* part) noexcept nogil:
    """Wait for its thread; without one, run it here."""
    if part.running == NULL:
        _run(part)
        return
    PyThread_acquire_lock(part.running, 1)
    PyThread_release_lock(part.running)
    PyThread_free_lock(part.running)
    part.running = NULL


cdef inline void workers_begin(
        Workers* workers, const sp_batch* batch, Py_ssize_t n_parts) noexcept nogil:
    """Part a batch that has not begun yet, into so many parts at most. Without memory into none.

    Call workers_end in either case.
    """
    cdef Py_ssize_t i, first = 0, last, n = batch.n_rows
    n_parts = max(min(n_parts, 2 * n // batch.block_rows), <Py_ssize_t> 1)
    workers.n_parts = 0
    workers.parts = <Part*> sp_malloc(n_parts * sizeof(Part))
    if workers.parts == NULL:
        return
    for i in range(n_parts):
        last = n * (i + 1) // n_parts
        if batch.ends != NULL and last:
            last = batch.ends[last - 1]
        _begin(&workers.parts[i], batch, first, last)
        first = last
    workers.n_parts = n_parts


cdef inline void workers_run(Workers* workers) noexcept nogil:
    """Run all parts, from where each is; how far it came stands in it."""
    cdef Py_ssize_t i
    for i in range(1, workers.n_parts):
        _start(&workers.parts[i])
    for i in range(workers.n_parts):
        _finish(&workers.parts[i])


cdef inline void workers_end(Workers* workers, sp_batch* batch) noexcept nogil:
    """Free the parts; the batch takes over what they have counted."""
    cdef Py_ssize_t i
    cdef Part* part
    for i in range(workers.n_parts):
        part = &workers.parts[i]
        batch.text.n_replaced += part.batch.text.n_replaced
        part.batch.places = NULL            # the batch's own
        sp_batch_free(&part.batch)
        sp_event_free(&part.event)
        sp_event_free(&part.query)
    sp_free(workers.parts)
