"""Models that learned separately: digests, deltas, and merging.

Labels, and names that are objects, are united in keeping/mergeable.py, which is Python code; this
module runs no Python code, and the engine (engine/exchange/join.h) runs without the interpreter's
lock. No other thread can learn in the meantime, but all can predict.
"""

from array import array
from operator import is_

cimport cython
from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.string cimport memset
from cpython cimport array as c_array

from streamptron.doors.desk cimport DEBUG
from streamptron.doors.gate cimport (
    gate_come_out, gate_go_inside, gate_learn_begin, gate_learn_end, gate_read_begin, gate_read_end,
    gc_disable, gc_restore)
from streamptron.doors.model cimport Model
from streamptron.doors.state cimport (
    array_of, array_start, counts_set_state, counts_state)
from streamptron.engine.file cimport (
    SP_DELTA_ARRAYS, sp_array, sp_array_kind, sp_delta_kind_of, sp_fault)
from streamptron.engine.memory cimport sp_calloc, sp_free
from streamptron.engine.names cimport sp_index_is_limited
from streamptron.engine.path cimport (
    sp_learner, sp_learner_expect_outputs, sp_learner_expect_rows, sp_learner_free,
    sp_learner_labels)
from streamptron.engine.exchange cimport (
    SP_MARKS_MEMORY, SP_SHARD_KEY, SP_SHARD_MEMORY, sp_delta, sp_delta_digest, sp_delta_free,
    sp_delta_measure, sp_delta_overlay, sp_delta_shapes, sp_delta_use, sp_delta_words,
    sp_delta_write, sp_joined, sp_shard, sp_sides_join)

from streamptron.doors.names import damaged

_NO_MEMORY = "no memory to merge the models"
_STRANGE = "the arrays are not those of such a model"


# --- The models' names

cdef list _labels_whole(Model model, str then):
    """A model's labels at this moment; None: they are truth values."""
    labels = model._labels_kept()
    if labels is not None and len(labels) != sp_learner_labels(&model.learner):
        raise RuntimeError(f"a label is being added to the model; {then} learn_one has returned")
    return labels


@cython.critical_section
def names_of(Model model):
    """A model's labels, and names that are objects, at this moment; no Python code runs."""
    gate_read_begin(&model.gate)
    collecting = gc_disable()
    try:
        return _labels_whole(model, "merge it after"), list(model._objects)
    finally:
        gate_read_end(&model.gate)
        gc_restore(collecting)


cdef bint _still(Model model, its) except -1:
    """Whether a model whose gate has been passed still has these names."""
    for before, now in zip(its, (model._labels_kept(), list(model._objects))):
        if before is not None and (len(before) != len(now) or not all(map(is_, before, now))):
            return False
    return True


@cython.critical_section
def secret_of(Model model):
    """The seed of a hashed model, else None."""
    return model.learner.index.seed_number if model.learner.index.bits else None


cdef Model _like(Model other, labels, Py_ssize_t* n):
    """An empty model of the same class and parameters; `n`: how many outputs it will have."""
    cdef Model model = type(other).__new__(type(other))
    with cython.critical_section(other):
        kind, params, seed = other._kind, other._params, other.learner.index.seed_number
    model._configure(kind, **params)
    n[0] = model._set_labels(labels)
    model._empty_index(seed)
    return model


def untrained(Model like, labels, objects, y_name):
    """The same with labels and names that are objects, ready to be filled."""
    cdef Py_ssize_t n = 0
    cdef Model to = _like(like, labels, &n)
    to._objects = dict(objects)
    to._y_name = y_name
    if sp_learner_expect_outputs(&to.learner, n) < 0:
        raise MemoryError(_NO_MEMORY)
    return to


# --- Merged

cdef class Side:
    """A model to merge, the base, or a delta of it; and its name, for errors."""
    cdef sp_joined joined
    cdef sp_delta delta
    cdef Model model
    cdef list held                  # what these point into
    cdef bint laid                  # it is a delta

    def __cinit__(self, Model model, str name):
        cdef bytes encoded = name.encode()
        memset(&self.joined, 0, sizeof(sp_joined))
        memset(&self.delta, 0, sizeof(sp_delta))
        self.model = model
        self.held = [encoded]
        self.joined.name = encoded

    def __dealloc__(self):
        sp_delta_free(&self.delta)

    cdef int look(self) except -1:
        """The model as it is now."""
        cdef size_t n
        cdef sp_shard* shard = &self.joined.shard
        cdef const sp_learner* learner = &self.model.learner
        shard.learner = learner
        shard.n_objects = len(self.model._objects)
        shard.n_slots = shard.first = learner.index.n_slots
        if learner.table.borrowed and sp_index_is_limited(&learner.index):
            stamps = self.model._arrays["stamps"]
            self.held.append(stamps)
            shard.stamps = <const uint32_t*> array_start(stamps, 0, 4, &n)
            if n != shard.n_slots:
                raise damaged("the stamps do not fit the names")
        return 0

    def number(self, labels, objects):
        """Set the numbers of its labels, and of its names that are objects, among all."""
        cdef c_array.array own = array("I", labels), odd = array("I", objects)
        self.held += [own, odd]
        self.joined.labels = <const uint32_t*> own.data.as_uints
        self.joined.n_labels = len(own)
        self.joined.objects = <const uint32_t*> odd.data.as_uints

    def lay(self, Model base, labels, size_t n_objects, state, dict arrays, int depth):
        """Become the base plus a delta: a learner that can only be merged. All of it is checked."""
        cdef sp_array shapes[SP_DELTA_ARRAYS]
        cdef void* p[SP_DELTA_ARRAYS]
        cdef size_t n[SP_DELTA_ARRAYS]
        cdef const sp_array_kind* kind
        cdef const char* wrong
        cdef int i, fault
        cdef Py_ssize_t n_outputs = 0
        cdef Model model = _like(base, labels, &n_outputs)
        cdef sp_learner* learner = &model.learner
        self.model = model
        if "marks" in arrays:
            fault = sp_learner_expect_rows(learner)
            if fault == SP_MARKS_MEMORY:
                raise MemoryError(_NO_MEMORY)
            if fault:
                raise ValueError(_STRANGE)
        counts_set_state(learner, state)
        if learner.n_seen <= base.learner.n_seen:
            raise ValueError("it has seen no events")
        self.held.append(arrays)
        self.delta.n_shapes = "shapes" in arrays    # whether to expect them; how many comes below
        sp_delta_shapes(&self.delta, learner, shapes)
        for i in range(SP_DELTA_ARRAYS):
            kind = sp_delta_kind_of(i)
            part = arrays.get(kind.name.decode("ascii"))
            if (part is not None) != shapes[i].there:
                raise ValueError(_STRANGE)
            p[i] = NULL
            n[i] = 0
            if part is not None:
                p[i] = array_start(part, shapes[i].width, kind.size, &n[i])
        wrong = sp_delta_use(&self.delta, learner, p, n)
        if wrong == NULL:
            with nogil:             # other threads may run: there may be millions of names
                fault = sp_delta_overlay(&self.delta, learner, &base.learner, n_outputs, n_objects,
                                         depth, &self.joined.shard)
            if fault == SP_SHARD_MEMORY:
                raise MemoryError(_NO_MEMORY)
            wrong = sp_delta_words(fault) if fault else NULL
        if wrong != NULL:
            raise ValueError(wrong.decode("ascii"))
        self.laid = True

    def drop(self):
        """Free the memory of a delta that has been merged."""
        with nogil:
            sp_delta_free(&self.delta)
        _drop(self.model)


cdef void _drop(Model model) noexcept:
    """Free what a model no longer needs. That takes long, so other threads may run."""
    cdef sp_learner* learner = &model.learner
    with nogil:
        sp_learner_free(learner)


cdef tuple _joined(Model to, list sides, Py_ssize_t n_labels):
    cdef sp_joined* joined = <sp_joined*> sp_calloc(len(sides), sizeof(sp_joined))
    cdef sp_fault fault
    cdef int failed, k, n = len(sides)
    if joined == NULL:
        raise MemoryError(_NO_MEMORY)
    for k in range(n):
        joined[k] = (<Side> sides[k]).joined
    with nogil:
        failed = sp_sides_join(&to.learner, joined, n, n_labels, &fault)
    sp_free(joined)
    if failed:
        return failed, (<bytes> fault.text[:fault.n]).decode("utf-8", "replace")
    if DEBUG:
        to._look()
    return 0, ""


def join(Model to, list sides, labels, list calls):
    """Fill an untrained model, which has all labels, with what sides have learned since the first.

    `calls`: the labels and names of the models among them. Returns the error, as an SP_WHY_ number
    and words; None, and nothing has happened, if a model has changed its names in the meantime.
    """
    cdef Side side, base = sides[0]
    cdef list entered = []
    try:
        for side in sides:
            with cython.critical_section(side.model):
                gate_read_begin(&side.model.gate)
            entered.append(side)
        collecting = gc_disable()     # a finalizer might teach a model, and wait for itself
        try:
            for side, its in zip(sides, calls):
                if not side.laid:
                    if not _still(side.model, its):
                        return None
                    side.look()
                side.joined.shard.base = &base.model.learner.index
                side.joined.shard.n = <double> (
                    side.model.learner.n_seen - base.model.learner.n_seen)
            return _joined(to, sides, -1 if labels is None else len(labels))
        finally:
            gc_restore(collecting)
    finally:
        for side in entered:
            with cython.critical_section(side.model):
                gate_read_end(&side.model.gate)


def learning(Model model, call):
    """Call something while no other thread can learn."""
    with cython.critical_section(model):
        model._enter(True)
        gate_learn_begin(&model.gate)
    try:
        call()
    finally:
        with cython.critical_section(model):
            gate_learn_end(&model.gate)


def exchange(Model model, Model to):
    """Replace a model, which is learning, by the merged one. `to` is lost."""
    with cython.critical_section(model):
        to.learner.version = model.learner.version + 1
        to.learner.index.generation = model.learner.index.generation + 1
        gate_go_inside(&model.gate)
        model._exchange(to)
        gate_come_out(&model.gate)
    _drop(to)                       # the model's old contents


# --- Digests and deltas

@cython.critical_section
def digest_of(Model model, its, bytes text):
    """32 digits that identify a model's state; None if its names have changed.

    `text`: its class, labels and names that are objects.
    """
    cdef Side side = Side(model, "")
    cdef uint64_t h[2]
    cdef int failed
    cdef const uint8_t* p = <const uint8_t*> <const char*> text
    cdef size_t n = len(text)
    gate_read_begin(&model.gate)
    collecting = gc_disable()
    try:
        if not _still(model, its):
            return None
        side.look()
        with nogil:
            failed = sp_delta_digest(&side.joined.shard, p, n, h)
    finally:
        gate_read_end(&model.gate)
        gc_restore(collecting)
    if failed:
        raise MemoryError("no memory for the model's digest")
    return f"{h[0]:016x}{h[1]:016x}"


cdef dict _delta_arrays(Side side, Side base):
    """{name: (shape, bytes)} of a model's delta; None if it is not a continuation of the base."""
    cdef sp_array shapes[SP_DELTA_ARRAYS]
    cdef void* p[SP_DELTA_ARRAYS]
    cdef size_t n[SP_DELTA_ARRAYS]
    cdef const sp_array_kind* kind
    cdef int i, fault
    cdef dict arrays = {}
    side.look()
    base.look()
    with nogil:
        fault = sp_delta_measure(&side.delta, &side.joined.shard, &base.joined.shard)
    if fault == SP_SHARD_MEMORY:
        raise MemoryError("no memory for a delta")
    if fault == SP_SHARD_KEY:
        raise damaged("a feature name is invalid")
    if fault:
        return None
    sp_delta_shapes(&side.delta, side.joined.shard.learner, shapes)
    for i in range(SP_DELTA_ARRAYS):
        kind = sp_delta_kind_of(i)
        n[i] = shapes[i].n
        p[i] = NULL
        if shapes[i].there:
            arrays[kind.name.decode("ascii")] = array_of(&p[i], n[i], shapes[i].width, kind.size)
    sp_delta_use(&side.delta, side.joined.shard.learner, p, n)
    with nogil:
        sp_delta_write(&side.delta, &side.joined.shard, &base.joined.shard)
    return arrays


def delta_of(Model model, Model since):
    """Labels, names that are objects, plain values and arrays of a continuation of `since`."""
    cdef Side side = Side(model, ""), base = Side(since, "")
    with cython.critical_section(model, since):
        gate_read_begin(&since.gate)
        try:
            gate_read_begin(&model.gate)
            collecting = gc_disable()
            try:
                labels, objects = _labels_whole(model, "call again after"), list(model._objects)
                arrays = _delta_arrays(side, base)
                return labels, objects, counts_state(&model.learner), arrays
            finally:
                gate_read_end(&model.gate)
                gc_restore(collecting)
        finally:
            gate_read_end(&since.gate)
