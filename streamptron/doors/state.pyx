"""A learner as plain values and flat arrays, and back: for pickle, copy and model files.

Whoever wrote the arrays, all of them is checked here. See engine/flat.pxd for what each of them is.
"""

from libc.math cimport isfinite
from libc.string cimport memset
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors.entry cimport bytes_data
from streamptron.engine.api cimport (
    adaptive_fault, flat_free, flat_lookup, flat_map, flat_measure, flat_read, flat_too_deep,
    flat_write, voters_flatten, voters_measure, voters_read)
from streamptron.engine.calibrate cimport Calibrator
from streamptron.engine.flat cimport (
    FLAT_CHUNK, FLAT_DEPTH, FLAT_KEY, FLAT_MEMORY, FLAT_NOBODYS, FLAT_SLOT, FLAT_TEXTS, FLAT_TWICE,
    FLAT_WEIGHT, Flat)
from streamptron.engine.index cimport index_is_limited
from streamptron.engine.key cimport Key
from streamptron.engine.learner cimport Learner, learner_adapts, learner_votes
from streamptron.engine.pool cimport pages_whole
from streamptron.engine.serve cimport Serve
from streamptron.engine.table cimport KEPT_KINDS, Table
from streamptron.engine.voters_flat cimport VOTED_MEMORY, Voted
from streamptron.engine.types cimport SLOT_MAX, SLOTS_RESERVED, uint8_t, uint32_t, uintptr_t

from streamptron.estimator.names import shown

_FAULTS = {
    FLAT_KEY: "a feature name is invalid",
    FLAT_TWICE: "a feature name occurs twice",
    FLAT_TEXTS: "the long names do not fill their place",
    FLAT_SLOT: "the numbers of the stored slots are invalid",
    FLAT_CHUNK: "the list of chunks does not fit the weights",
    FLAT_WEIGHT: "a weight is not finite",
    FLAT_NOBODYS: "there are weights of no feature or no label",
}


VOTED = ("voted_values", "voted_times", "voted_steps", "voted_starts", "voted_slots", "voted_sizes",
         "voted_updates", "voted_turns")


cdef tuple serve_state(const Learner* learner):
    """Scales and calibrators of the kept vectors, tallies, leaders, the pocket's contest."""
    cdef const Serve* serve = &learner.serve
    cdef const Calibrator* fits = &learner.fits[0]
    kinds = [(serve.scale[k].m, serve.scale[k].n, fits[k].A, fits[k].B, fits[k].GA, fits[k].GB,
              fits[k].RA, fits[k].RB) for k in range(KEPT_KINDS)]
    tallies = [(serve.T[k][0], serve.T[k][1], serve.G[k], serve.lead[k]) for k in range(2)]
    return kinds, tallies, (serve.run, serve.record, serve.duel)


cdef int serve_set_state(Learner* learner, state) except -1:
    cdef Serve* serve = &learner.serve
    cdef Calibrator* fit
    cdef bint good
    cdef int k
    kinds, tallies, contest = state
    good = len(kinds) == KEPT_KINDS and len(tallies) == 2
    if good:
        for k in range(KEPT_KINDS):
            fit = &learner.fits[k]
            (serve.scale[k].m, serve.scale[k].n, fit.A, fit.B, fit.GA, fit.GB, fit.RA,
             fit.RB) = kinds[k]
            good &= (isfinite(serve.scale[k].m) and isfinite(serve.scale[k].n) and isfinite(fit.A)
                     and isfinite(fit.B) and isfinite(fit.GA) and isfinite(fit.GB)
                     and isfinite(fit.RA) and isfinite(fit.RB))
        for k in range(2):
            serve.T[k][0], serve.T[k][1], serve.G[k], serve.lead[k] = tallies[k]
            serve.stale[k] = True
            good &= (isfinite(serve.T[k][0]) and isfinite(serve.T[k][1]) and isfinite(serve.G[k])
                     and 0 <= serve.lead[k] <= 1)
        serve.run, serve.record, serve.duel = contest
    if not good:
        raise ValueError("the record of which vector answers is invalid")
    return 0


cdef dict counts_state(const Learner* learner):
    """What a learner has counted, as plain values by name."""
    return {
        "counters": (learner.n_seen, learner.n_updates, learner.n_mistakes),
        "clock": (learner.table.c, learner.table.s, learner.table.fold, learner.table.epoch),
        "serve": serve_state(learner),
        "ceiling": (learner.ceiling.hand, learner.ceiling.clock, learner.ceiling.n_evicted),
    }


cdef int counts_set_state(Learner* learner, state) except -1:
    """Put it back into an untrained learner. All of it is checked but the ceiling's hand."""
    cdef Table* table = &learner.table
    learner.n_seen, learner.n_updates, learner.n_mistakes = state["counters"]
    table.c, table.s, table.fold, table.epoch = state["clock"]
    if not (table.c >= 1.0 and table.s > 0.0 and table.epoch >= 1.0 and isfinite(table.c)
            and isfinite(table.s) and isfinite(table.epoch)):
        raise ValueError("the averages' clock is invalid")
    serve_set_state(learner, state["serve"])
    if index_is_limited(&learner.index):
        (learner.ceiling.hand, learner.ceiling.clock,
         learner.ceiling.n_evicted) = state["ceiling"]
    return 0


cdef tuple array_of(void** start, size_t n, size_t width, size_t item):
    """Room for n rows, or n numbers if width is 0: shape and bytes, which begin at `start`."""
    cdef bytes data = PyBytes_FromStringAndSize(NULL, n * (width or 1) * item)
    start[0] = <void*> bytes_data(<PyObject*> data)
    pages_whole(start[0], len(data))
    cdef tuple shape = (n,)
    if width:
        shape += (width,)
    return shape, data


cdef void* array_start(array, int width, size_t item, size_t* n) except? NULL:
    """Where an array starts, which its owner keeps alive; n is its length.

    `width`: how many numbers a row has; 0: it is not a matrix. An error if the array does not have
    the size that it claims.
    """
    cdef Py_buffer buffer
    shape, data = array
    if width:
        rows, numbers = shape
        if numbers != width:
            raise ValueError(f"a row of an array has {shown(numbers)} numbers instead of {width}")
    else:
        rows, = shape
    n[0] = rows
    PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE)
    PyBuffer_Release(&buffer)
    if (n[0] >= <size_t> 1 << 48 or <size_t> buffer.len != n[0] * (width or 1) * item
            or <uintptr_t> buffer.buf % item):
        raise ValueError(f"an array of {buffer.len} bytes is not of the shape {shown(shape)}")
    return buffer.buf


cdef dict arrays_write(const Learner* learner, Flat* flat):
    """``{name: (shape, bytes)}`` of names and weights, while nobody learns."""
    memset(flat, 0, sizeof(Flat))
    try:
        arrays = _arrays_write(learner, flat)
        return {**arrays, **_voted_write(learner)} if learner_votes(learner) else arrays
    finally:
        flat_free(flat)


cdef dict _arrays_write(const Learner* learner, Flat* flat):
    cdef int fault
    with nogil:
        fault = flat_measure(flat, &learner.index, &learner.table)
    if fault < 0:
        raise MemoryError("no memory for a copy of the model")
    arrays = {"weights": array_of(<void**> &flat.weights, flat.n_weights, learner.table.width, 8),
              "chunks": array_of(<void**> &flat.chunks, flat.n_chunks, 3, 4)}
    if learner.index.bits:
        arrays["rows"] = array_of(<void**> &flat.slots, flat.n_stored, 0, 4)
    else:
        arrays["keys"] = array_of(<void**> &flat.keys, flat.n_keys, 2, 8)
        arrays["texts"] = array_of(<void**> &flat.texts, flat.n_texts, 0, 1)
        arrays["lookup"] = array_of(<void**> &flat.words, flat.n_words, 0, 4)
    if index_is_limited(&learner.index):
        arrays["stamps"] = array_of(<void**> &flat.stamps, flat.n_keys, 0, 4)
    with nogil:
        flat_write(flat, &learner.index, &learner.table)
    return arrays


cdef dict _voted_write(const Learner* learner):
    """The arrays of a VotedPerceptron's updates."""
    cdef Voted flat
    cdef int failed
    cdef Py_ssize_t n = learner.table.n_outputs
    voters_measure(&flat, &learner.voters, n)
    arrays = {
        "voted_values": array_of(<void**> &flat.values, flat.n_mentions, 0, 8),
        "voted_times": array_of(<void**> &flat.times, flat.n_updates, 0, 8),
        "voted_steps": array_of(<void**> &flat.steps, flat.n_turns, 0, 8),
        "voted_starts": array_of(<void**> &flat.starts, n, 0, 8),
        "voted_slots": array_of(<void**> &flat.slots, flat.n_mentions, 0, 4),
        "voted_sizes": array_of(<void**> &flat.sizes, flat.n_updates, 0, 4),
        "voted_updates": array_of(<void**> &flat.updates, flat.n_turns, 0, 4),
        "voted_turns": array_of(<void**> &flat.turns, n, 2, 4),
    }
    with nogil:
        failed = voters_flatten(&flat, &learner.voters, n)
    if failed:
        raise MemoryError("no memory for a copy of the model")
    return arrays


cdef int _voted_read(Learner* learner, dict arrays, Py_ssize_t n_outputs) except -1:
    """Take the arrays of updates out of the others, and read them, after rows and weights."""
    cdef Voted flat
    cdef size_t n, n_same, outputs, outputs_same
    cdef int fault
    flat.values = <double*> array_start(arrays["voted_values"], 0, 8, &flat.n_mentions)
    flat.slots = <uint32_t*> array_start(arrays["voted_slots"], 0, 4, &n)
    if n != flat.n_mentions:
        raise ValueError("the updates' slots and values are not as many")
    flat.times = <double*> array_start(arrays["voted_times"], 0, 8, &flat.n_updates)
    flat.sizes = <uint32_t*> array_start(arrays["voted_sizes"], 0, 4, &n)
    flat.steps = <double*> array_start(arrays["voted_steps"], 0, 8, &flat.n_turns)
    flat.updates = <uint32_t*> array_start(arrays["voted_updates"], 0, 4, &n_same)
    flat.starts = <double*> array_start(arrays["voted_starts"], 0, 8, &outputs)
    flat.turns = <uint32_t*> array_start(arrays["voted_turns"], 2, 4, &outputs_same)
    if not (n == flat.n_updates and n_same == flat.n_turns
            and outputs == outputs_same == <size_t> n_outputs):
        raise ValueError("the arrays of the updates are not as long as each other")
    with nogil:
        fault = voters_read(&learner.voters, &flat, n_outputs, learner.index.n_slots)
    if fault == VOTED_MEMORY:
        raise MemoryError("no memory for the model")
    if fault:
        raise ValueError("the updates contradict themselves")
    return 0


cdef int arrays_look_up(Flat* flat, int depth) except -1:
    """Fill in the lookup of what arrays_write has written. The learner may change again by now.

    An error if names are too deep.
    """
    cdef bint too_deep
    if flat.words == NULL:          # hashed
        return 0
    with nogil:
        flat_lookup(flat)
        too_deep = flat_too_deep(flat, depth)
    if too_deep:
        keeper = ("model file cannot hold; pickle the model instead" if depth == FLAT_DEPTH
                  else "pickle cannot hold")
        raise ValueError(
            f"the model has a feature name that is a tuple nested more than {depth} deep, which a "
            f"{keeper}")
    return 0


cdef int arrays_read(Learner* learner, dict arrays, Py_ssize_t n_outputs, size_t n_objects,
                     bint whole, int depth) except -1:
    """Fill an untrained learner with an empty index. Everything is checked.

    `whole`: use the arrays in place; their owner keeps them alive, and the learner is read-only.
    After an error the learner cannot be used.
    """
    cdef Flat flat
    cdef int fault
    cdef size_t n_stamps
    cdef int bits = learner.index.bits
    cdef bint limited = index_is_limited(&learner.index)
    cdef dict voted = {}
    if learner_votes(learner):
        if whole:
            raise ValueError("a VotedPerceptron cannot be used in place")
        voted = {name: arrays.pop(name) for name in VOTED}
    # a pickle leaves out the lookup; a file that is used in place has its checksum beside them, and
    # perhaps a journal
    if arrays.keys() - {"lookup", "crc32", "journal"} != {"weights", "chunks"} | (
            {"rows"} if bits else {"keys", "texts", "stamps"} if limited else {"keys", "texts"}):
        raise ValueError("the arrays are not those of such a model")
    memset(&flat, 0, sizeof(Flat))
    flat.weights = <double*> array_start(
        arrays["weights"], learner.table.width, 8, &flat.n_weights)
    flat.chunks = <uint32_t*> array_start(arrays["chunks"], 3, 4, &flat.n_chunks)
    if bits:
        flat.slots = <uint32_t*> array_start(arrays["rows"], 0, 4, &flat.n_stored)
    else:
        flat.keys = <Key*> array_start(arrays["keys"], 2, 8, &flat.n_keys)
        flat.texts = <uint8_t*> array_start(arrays["texts"], 0, 1, &flat.n_texts)
        if not SLOTS_RESERVED <= flat.n_keys < SLOT_MAX:
            raise ValueError("the number of names is invalid")
        if whole or "lookup" in arrays:
            flat.words = <uint32_t*> array_start(arrays["lookup"], 0, 4, &flat.n_words)
            if not 0 < flat.n_words < SLOT_MAX:
                raise ValueError("the number of names is invalid")
    if limited:
        flat.stamps = <uint32_t*> array_start(arrays["stamps"], 0, 4, &n_stamps)
        if n_stamps != flat.n_keys or flat.n_keys > learner.index.max_slots or not (
                SLOTS_RESERVED <= learner.ceiling.hand
                < max(flat.n_keys, <size_t> SLOTS_RESERVED + 1)):
            raise ValueError("what is kept for max_features does not fit it")
    if whole:
        fault = flat_map(&flat, &learner.index, &learner.table, n_outputs)
    else:
        with nogil:
            fault = flat_read(&flat, &learner.index, &learner.table, n_outputs, n_objects, depth)
            if not fault and learner_adapts(learner) and adaptive_fault(
                    &learner.table, learner.index.n_slots):
                fault = FLAT_WEIGHT
    flat_free(&flat)
    if fault == FLAT_MEMORY:
        raise MemoryError("no memory for the model")
    if fault:
        raise ValueError(_FAULTS[fault])
    return _voted_read(learner, voted, n_outputs) if voted else 0
