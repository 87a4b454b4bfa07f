# The gate: who may use a model when, although batches run without the interpreter's lock.
#
# What it gives: any number of readers at once, one learner at a time, and no reader waits longer
# than a learner's turn. What it costs: a few tests of an int on the way in. A single event
# (predict_one, learn_one) holds the interpreter's lock from the gate on, so it only waits until the
# model is free, and marks nothing. A batch releases that lock, so it marks what it is doing:
#
#                   +---------------------------- free ---------------------------+
#                   |  one event predicts or learns       (nothing else runs)     |
#                   +----+--------------------------------------------------+-----+
#        gate_read_begin |                                 gate_learn_begin |
#                        v                                                  v
#             +-------------------+                         +-------------------------------+
#             | read: readers > 0 |                         | learning: getting ready       |
#             | events predict;   |                         | events predict, batches read; |
#             | batches read      |                         | no other thread learns        |
#             +-------------------+                         +---------+---------------------+
#                        | gate_read_end                gate_go_inside|      ^ gate_come_out
#                        v                                            v      |
#                      free                                 +-------------------------------+
#                                                           | inside: the weights change;   |
#                                                           | nothing else reads or learns  |
#                                                           +-------------------------------+
#
#     who                     waits for
#     an event that predicts  inside
#     an event that learns    learning, inside, readers
#     a batch that reads      inside, and any learner that waits for readers; not if it is read by
#                             the thread that learns, which they wait for too
#     a batch that learns     learning, readers; then readers that came in while it got ready
#
# A batch that is learned in place stays inside for at most a millisecond, its turn, while others
# ask to read: between two blocks it lets them in (gate_let_in). One that is learned on a copy of
# the model is inside only while the copy takes the model's place.
#
# All fields change only under the interpreter's lock; `asking` is also read without it. To wait is
# to ask again after a short sleep without the lock. Signals are handled between sleeps, as in
# Python's own locks. A thread that would wait for itself (a label's hash, a finalizer or a signal
# handler that uses the model within its own batch) gets an error instead.
#
# Where the interpreter has no lock, each object has one, and a critical section of an object is
# given up at the same places as the interpreter's lock: where the thread waits, runs Python code or
# releases the interpreter. So each method that passes the gate is a critical section of its model,
# and all that is said of the interpreter's lock holds of this one too. A method that reads a dict
# locks both at once, the model and the dict:
#
#     with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
#
# Only methods that are called from outside do so: a thread that asks for a lock that it holds has
# to be suspended first, which takes time and lets others in. With the interpreter's lock a critical
# section compiles to nothing.
#
# Functions in this file: gate_wait, gate_read_begin, gate_read_end, gate_learn_begin,
# gate_learn_end, gate_go_inside, gate_come_out, gate_let_in, gate_take_turn, gate_is_due. All but
# gate_is_due need the lock.

from cpython.object cimport PyObject

cdef extern from "free.h":
    const bint FREE_THREADED "SP_FREE_THREADED"
    PyObject* beside "sp_beside" (PyObject* model, PyObject* x) noexcept
    bint gc_disable "sp_gc_disable" () noexcept     # whether it was on
    void gc_restore "sp_gc_restore" (bint was_on) noexcept

cdef extern from "clock.h":
    void usleep "sp_usleep" (unsigned int microseconds) noexcept nogil
    double seconds "sp_seconds" () noexcept nogil       # since some fixed moment
    int look "sp_atomic_look" (const int* place) noexcept nogil
    void count "sp_atomic_add" (int* place, int n) noexcept nogil

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    unsigned long PyThread_get_thread_ident() noexcept

cdef struct Gate:
    bint learning                   # a batch is being learned
    bint inside                     # and the model itself is being changed
    int readers                     # batches that are read without the interpreter's lock
    int waiting                     # learners that wait only for readers: new batches come after
    int asking                      # readers that wait: a batch learned in place lets them in
    double turn                     # until when it need not do so
    unsigned long thread            # the one that learns a batch
    unsigned long long n_entries    # how often the gate has been passed


cdef inline double _turn_end() noexcept nogil:
    return seconds() + 0.001


cdef inline int _sleep(int turn) noexcept:
    """Sleep without the interpreter's lock, longer in later turns. Returns the next turn."""
    cdef int us = 10 if turn < 20 else 200
    with nogil:
        usleep(us)
    return turn + 1


cdef inline bint _is_ours(const Gate* gate) noexcept:
    """Whether it is this thread that learns a batch."""
    return gate.learning and gate.thread == PyThread_get_thread_ident()


cdef inline int _not_in_a_batch_of_ours(const Gate* gate) except -1:
    if _is_ours(gate):
        raise RuntimeError(
            "the model is already learning a batch in this thread; code that runs during the batch "
            "(a label's hash, a finalizer, a signal handler) cannot use it")
    return 0


cdef inline int gate_wait(Gate* gate, bint learning) except -1:
    """Wait until an event may be predicted, or learned. No Python code runs after the wait."""
    cdef int turn = 0
    cdef bint first
    while gate.inside or (learning and (gate.learning or gate.readers)):
        _not_in_a_batch_of_ours(gate)
        first = learning and not gate.learning      # only readers are in the way
        gate.waiting += first
        count(&gate.asking, not learning)
        turn = _sleep(turn)
        gate.waiting -= first
        count(&gate.asking, -(not learning))
        PyErr_CheckSignals()
    if learning and turn:
        gate.turn = _turn_end()
    gate.n_entries += 1
    return 0


cdef inline int gate_read_begin(Gate* gate) except -1:
    """Start to read a batch without the interpreter's lock.

    Learners that wait for readers go first; if it is this thread that learns, they wait for it.
    """
    cdef int turn = 0
    gate_wait(gate, False)
    while gate.inside or (gate.waiting and not _is_ours(gate)):
        _not_in_a_batch_of_ours(gate)
        count(&gate.asking, 1)
        turn = _sleep(turn)
        count(&gate.asking, -1)
        PyErr_CheckSignals()
    gate.readers += 1
    return 0


cdef inline void gate_read_end(Gate* gate) noexcept:
    gate.readers -= 1


cdef inline void gate_learn_begin(Gate* gate) noexcept:
    """Learn a batch: call this after gate_wait. Other learners wait, readers may still come in."""
    gate.learning = True
    gate.thread = PyThread_get_thread_ident()


cdef inline void gate_learn_end(Gate* gate) noexcept:
    gate.learning = False


cdef inline void gate_go_inside(Gate* gate) noexcept:
    """While learning: wait for the readers to leave, and keep new ones out. Runs no Python code."""
    cdef int turn = 0
    gate.waiting += 1
    while gate.readers:
        turn = _sleep(turn)
    gate.waiting -= 1
    gate.inside = True


cdef inline void gate_come_out(Gate* gate) noexcept:
    """The model is whole again, and may be read."""
    gate.inside = False


cdef inline bint gate_is_due(const int* asking, double turn) noexcept nogil:
    """Whether a reader is waiting and the learner's turn is over; needs no lock."""
    return look(asking) and seconds() >= turn


cdef inline void gate_let_in(Gate* gate) noexcept:
    """While inside: let waiting readers in. Runs no Python code."""
    cdef int turn = 0
    gate.inside = False
    while gate.asking and turn < 100:
        turn = _sleep(turn)
    gate_go_inside(gate)
    gate.turn = _turn_end()


cdef inline void gate_take_turn(Gate* gate) noexcept:
    """As a batch goes inside: start a turn of its own, unless others are already waiting."""
    if not gate.asking and seconds() >= gate.turn:
        gate.turn = _turn_end()
