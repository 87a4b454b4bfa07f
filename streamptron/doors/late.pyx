"""What comes together later: an event and its label, and models that learned apart.

Tickets and steps: an event is read, scored and learned by the doors and the path that every event
takes; here it is written down as bytes, and with it what its step has changed
(engine/path/record.h). A step is taken back behind the gate, as an event is learned.

Merges, as the engine sees them: digests, deltas, and all models in one. What they call their labels
and odd names is united in keeping/mergeable.py, with Python code; what is here runs without it, and
the engine (engine/exchange/join.h) without the interpreter's lock. No other thread learns
meanwhile, but all may predict.
"""

from array import array
from operator import is_

cimport cython
from libc.stdint cimport uint32_t, uint64_t, uint8_t
from libc.string cimport memset
from cpython cimport array as c_array
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors._core cimport LabelModel
from streamptron.doors.desk cimport DEBUG
from streamptron.doors.gate cimport (
    beside, gate_come_out, gate_go_inside, gate_learn_begin, gate_learn_end, gate_read_begin,
    gate_read_end, gc_disable, gc_enable)
from streamptron.doors.model cimport Model
from streamptron.doors.names cimport PackedEvent, event_bytes_of
from streamptron.doors.sets cimport SetModel, Targets, targets_again
from streamptron.doors.state cimport (
    array_of, array_start, counts_set_state, counts_state)
from streamptron.engine.events cimport sp_event_forget, sp_event_given
from streamptron.engine.file cimport (
    SP_DELTA_ARRAYS, sp_array, sp_array_kind, sp_delta_kind_of, sp_fault)
from streamptron.engine.memory cimport sp_calloc, sp_free
from streamptron.engine.names cimport sp_index_is_limited
from streamptron.engine.path cimport (
    SP_RECORD_PARTS, SP_UNDO_LOG, sp_learner, sp_learner_abandon, sp_learner_answer,
    sp_learner_expect_outputs, sp_learner_free, sp_learner_labels, sp_learner_score,
    sp_undo_kind_of, sp_undo_record, sp_undo_record_commit, sp_undo_record_fault,
    sp_undo_record_find, sp_undo_record_prepare, sp_undo_record_take_back)
from streamptron.engine.sets cimport sp_sets_best_threshold
from streamptron.engine.exchange cimport (
    SP_MARKS_MEMORY, SP_SHARD_KEY, SP_SHARD_MEMORY, sp_delta, sp_delta_digest, sp_delta_free,
    sp_delta_measure, sp_delta_overlay, sp_delta_shapes, sp_delta_use, sp_delta_words,
    sp_delta_write, sp_joined, sp_learner_has_rows, sp_learner_widen, sp_shard, sp_sides_join)

from streamptron.doors.names import damaged
from streamptron.doors.state import Past, past_mark
from streamptron.common.packed import event_packed

_NO_MEMORY = "no memory to merge the models"
_STRANGE = "the arrays are not those of such a model"


# --- An event as it is predicted

cdef object _label(Model model, Py_ssize_t output):
    cdef list labels = model._label_list()
    return labels[output] if 0 <= output < len(labels) else None


cdef PackedEvent _packed_here(x, str missing):
    """An event with names that only Python code can write."""
    data, n = event_packed(x, missing)
    return PackedEvent(bytes(16) + data, 16, n)


cdef bytes _entries(Model model, x):
    """The bytes of an event that has been scored; None: a name is an object."""
    if type(x) is PackedEvent:
        return (<PackedEvent> x).data[(<PackedEvent> x).start:(<PackedEvent> x).end]
    try:
        return event_bytes_of(&model.event, model.learner.intercept, sp_event_given(&model.event))
    except TypeError:
        model._settle()
        raise


def predicted(Model model, x):
    """The prediction, and the event as bytes: how many entries, and these."""
    cdef Py_ssize_t best, n
    cdef bytes entries
    with cython.critical_section(model, <object> beside(<PyObject*> model, <PyObject*> x)):
        model._score(x)
        entries = _entries(model, x)
        best = sp_learner_answer(&model.learner, &model.event).verdict.best
        n = sp_event_given(&model.event) - model.learner.intercept
        model._settle()
        if entries is not None:
            return _label(model, best), n, entries
    return predicted(model, _packed_here(x, model._gaps()))


# --- A step that can be taken back

def can_undo(Model model):
    """How its steps are kept so that they can be taken back; 0: they cannot."""
    return sp_undo_kind_of(&model.learner)


def check_not_in_a_file(Model model):
    """That a model lies in memory and can learn; RuntimeError if it was opened in place."""
    model._not_in_a_file()


cdef int _not_learned(Model model, const sp_undo_record* taken) except -1:
    what = "step" if taken.how == SP_UNDO_LOG and taken.n_parts == 0 else "update"
    return model._no_memory(f"no memory for the {what}; the model has not learned this event")


cdef list _learn(Model model, Py_ssize_t y, double u, sp_undo_record* taken):
    """Learn an event that has been scored; the parts of its step."""
    cdef int i
    cdef bytes part
    cdef list parts = []
    if sp_undo_record_prepare(taken, &model.learner, &model.event, y, u) < 0:
        _not_learned(model, taken)
    try:
        for i in range(taken.n_parts):
            part = PyBytes_FromStringAndSize(NULL, taken.n[i])
            taken.p[i] = <uint8_t*> PyBytes_AS_STRING(part)
            parts.append(part)
    except MemoryError:
        sp_learner_abandon(&model.learner, &model.event)
        model._settle()
        raise
    if sp_undo_record_commit(taken, &model.learner, &model.event, u) < 0:
        _not_learned(model, taken)
    for i in range(taken.n_parts):      # one may be shorter by now
        part = parts[i]
        if <size_t> len(part) > taken.n[i]:
            parts[i] = part[:taken.n[i]]
    return parts


def learned(Model model, x, y, w):
    """Learn an event, and return what its step was: see tickets.Step.

    (mark, number, changed, label, w, prediction, n, entries, what the step has changed): of that
    the label's place, the outputs, and how many stepped; then its parts.
    """
    cdef sp_undo_record taken
    cdef Targets told = None
    cdef Py_ssize_t output = 0, best = 0, n = 0
    cdef double step, above = 0.0
    cdef bytes entries
    cdef list named, found = None, parts = None
    cdef bint changed = False
    number = 0
    if isinstance(model, SetModel):
        told = model._told(y)
        step = model._weight(w)
    else:
        y = model._checked_label(y)
        step = model._step(y, w)
    named = [y]
    drawn = past_mark()
    with cython.critical_section(model, <object> beside(<PyObject*> model, <PyObject*> x)):
        if told is not None:
            named = (<SetModel> model)._read_told(x, told, "y")
        elif isinstance(model, LabelModel):
            output = (<LabelModel> model)._read_labelled(x, y)
        else:
            output = y
            model._read(x, True)
        # From here on no Python code may run, not even finalizers, until the event is learned.
        collecting = gc_disable()
        try:
            if sp_learner_score(&model.learner, &model.event) < 0:
                model._no_memory("no memory for the scores")
            entries = _entries(model, x)
            if entries is not None:
                past = model._past if model._past is not None else Past()
                mark = past.mark(drawn)
                if told is None:
                    best = sp_learner_answer(&model.learner, &model.event).verdict.best
                else:
                    found = (<SetModel> model)._found()
                    above = sp_sets_best_threshold(&model.learner.sets)
                n = sp_event_given(&model.event) - model.learner.intercept
                number = model.learner.n_seen
                updates = model.learner.n_updates
                parts = _learn(model, output, step, &taken)
                changed = model.learner.n_updates != updates
                model._past = past
            model._settle()
        finally:
            if collecting:
                gc_enable()
            # also if there is no memory for the step that was learned
            if isinstance(model, LabelModel):
                for label in named:
                    (<LabelModel> model)._name_output(label)
        if entries is not None:
            prediction = _label(model, best) if told is None else model._labels_above(found, above)
            if told is not None:
                y = targets_again(told)
            return (mark, number, changed, y, w, prediction, n, entries,
                    (taken.y, taken.outputs, taken.m), parts)
    return learned(model, _packed_here(x, model._gaps()), y, w)


# --- And taken back

def undone(Model model, PackedEvent packed, mark, number, bint changed, int how, numbers,
           list parts):
    """Take a step back. `changed`: it was counted as an update; `numbers`: as `learned` gave them
    of slots' numbers, else None.
    """
    cdef sp_undo_record taken
    cdef const char* wrong
    cdef int i
    cdef bytes part
    memset(&taken, 0, sizeof(sp_undo_record))
    taken.how = how
    if numbers is not None:
        taken.y, taken.outputs, taken.m = numbers
    taken.n_parts = min(len(parts), <int> SP_RECORD_PARTS)
    for i in range(taken.n_parts):
        part = parts[i]
        taken.p[i] = <uint8_t*> PyBytes_AS_STRING(part)
        taken.n[i] = len(part)
    with cython.critical_section(model):
        model._read(packed, True)
        past = model._past
        if past is None or number >= model.learner.n_seen or not past.knows(mark, number):
            model._settle()
            raise ValueError(
                "step is not of this model: another model learned the event, or a copy of this one "
                "did by itself, or this model is from a file or a copy made before the event; "
                "nothing has changed. Give the step to the model that learned the event")
        if past.is_undone(number):
            model._settle()
            raise ValueError("step has been taken back already; nothing has changed")
        if sp_undo_record_find(&model.learner, &model.event) < 0:
            model._no_memory("no memory to take the step back; nothing has changed")
        wrong = sp_undo_record_fault(&taken, &model.learner, &model.event)
        if wrong != NULL:
            model._settle()
            sp_event_forget(&model.event)
            raise ValueError(
                f"step is damaged: {(<bytes> wrong).decode('ascii')}; nothing has changed")
        if sp_undo_record_take_back(&taken, changed, &model.learner, &model.event) < 0:
            model._no_memory("no memory to take the step back; nothing has changed")
        past.undo(number)
        model._settle()
        sp_event_forget(&model.event)


# --- Models that learned apart: what they call things

cdef list _labels_whole(Model model, str then):
    """Its labels at this moment; None: they are truth values."""
    labels = model._labels_kept()
    if labels is not None and len(labels) != sp_learner_labels(&model.learner):
        raise RuntimeError(f"a label is being added to the model; {then} learn_one has returned")
    return labels


@cython.critical_section
def names_of(Model model):
    """What labels and odd names a model has at this moment; no Python code runs."""
    gate_read_begin(&model.gate)
    collecting = gc_disable()
    try:
        return _labels_whole(model, "merge it after"), list(model._objects)
    finally:
        gate_read_end(&model.gate)
        if collecting:
            gc_enable()


cdef bint _still(Model model, its) except -1:
    """Whether a model whose gate has been passed still calls things so."""
    for before, now in zip(its, (model._labels_kept(), list(model._objects))):
        if before is not None and (len(before) != len(now) or not all(map(is_, before, now))):
            return False
    return True


@cython.critical_section
def secret_of(Model model):
    """The seed of a hashed model, else None."""
    return model.learner.index.seed_number if model.learner.index.bits else None


cdef Model _like(Model other, labels, Py_ssize_t* n):
    """A model of the same class and parameters without events; how many outputs it will have."""
    cdef Model model = type(other).__new__(type(other))
    with cython.critical_section(other):
        kind, params, seed = other._kind, other._params, other.learner.index.seed_number
    model._configure(kind, **params)
    n[0] = model._set_labels(labels)
    model._empty_index(seed)
    return model


def untrained(Model like, labels, objects, y_name):
    """The same, which knows labels and odd names, and has what it needs to be filled."""
    cdef Py_ssize_t n = 0
    cdef Model to = _like(like, labels, &n)
    to._objects = dict(objects)
    to._y_name = y_name
    if sp_learner_expect_outputs(&to.learner, n) < 0:
        raise MemoryError(_NO_MEMORY)
    return to


# --- Merged

cdef class Side:
    """A model to be merged or the base, or a delta of it; and its name, for errors."""
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
        """Its own labels are those with these numbers among all, its odd names likewise."""
        cdef c_array.array own = array("I", labels), odd = array("I", objects)
        self.held += [own, odd]
        self.joined.labels = <const uint32_t*> own.data.as_uints
        self.joined.n_labels = len(own)
        self.joined.objects = <const uint32_t*> odd.data.as_uints

    def lay(self, Model base, labels, size_t n_objects, state, dict arrays, int depth):
        """Become a base and a delta, a learner that can only be merged. All of it is checked."""
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
        if "marks" in arrays and not sp_learner_has_rows(learner):
            fault = sp_learner_widen(learner)
            if fault == SP_MARKS_MEMORY:
                raise MemoryError(_NO_MEMORY)
            if fault:
                raise ValueError(_STRANGE)
        counts_set_state(learner, state)
        model._set_once_state(state)
        if learner.n_seen <= base.learner.n_seen:
            raise ValueError("it has seen no events")
        self.held.append(arrays)
        self.delta.n_shapes = "shapes" in arrays    # for what is expected; how many comes below
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
            with nogil:             # others may run: there may be millions of names
                fault = sp_delta_overlay(&self.delta, learner, &base.learner, n_outputs, n_objects,
                                         depth, &self.joined.shard)
            if fault == SP_SHARD_MEMORY:
                raise MemoryError(_NO_MEMORY)
            wrong = sp_delta_words(fault) if fault else NULL
        if wrong != NULL:
            raise ValueError(wrong.decode("ascii"))
        self.laid = True

    def drop(self):
        """Give the memory of a delta back, once it has been merged."""
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

    `calls`: what the models among them are called. Returns what is wrong: SP_WHY_ as a number, and
    words; None if a model calls things otherwise by now. Then nothing has happened.
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
            if collecting:
                gc_enable()
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
    """Let what was merged take the place of a model that is learning. `to` is lost."""
    with cython.critical_section(model):
        to.learner.version = model.learner.version + 1
        to.learner.index.generation = model.learner.index.generation + 1
        gate_go_inside(&model.gate)
        model._exchange(to)
        gate_come_out(&model.gate)
    _drop(to)                       # what the model was


# --- Digests and deltas

@cython.critical_section
def digest_of(Model model, its, bytes text):
    """What tells a model from any other state of it: 32 digits. None if it calls things otherwise.

    `text`: its class, labels and odd names.
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
        if collecting:
            gc_enable()
    if failed:
        raise MemoryError("no memory for the model's digest")
    return f"{h[0]:016x}{h[1]:016x}"


cdef dict _delta_arrays(Side side, Side base):
    """{name: (shape, bytes)} of what a model has that its base has not; None: it did not go on."""
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
    """Labels, odd names, plain values and arrays of a model that went on from another one."""
    cdef Side side = Side(model, ""), base = Side(since, "")
    with cython.critical_section(model, since):
        gate_read_begin(&since.gate)
        try:
            gate_read_begin(&model.gate)
            collecting = gc_disable()
            try:
                labels, objects = _labels_whole(model, "ask again after"), list(model._objects)
                arrays = _delta_arrays(side, base)
                return labels, objects, {
                    **counts_state(&model.learner), **model._once_state()}, arrays
            finally:
                gate_read_end(&model.gate)
                if collecting:
                    gc_enable()
        finally:
            gate_read_end(&since.gate)
