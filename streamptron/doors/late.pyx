"""What is learned later than it was predicted, and what is taken back: tickets and steps.

An event is read, scored and learned by the doors and the path that every event takes; here it is
written down as bytes, and with it what its step has changed. A step is taken back behind the gate,
as an event is learned.
"""

from hashlib import blake2b
from json import dumps
from struct import Struct

from libc.math cimport fabs
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron._core cimport BinaryModel, LabelModel
from streamptron.doors.desk cimport DEBUG
from streamptron.doors.entry cimport bytes_data
from streamptron.doors.model cimport Model
from streamptron.doors.kept cimport PackedEvent, event_bytes_of
from streamptron.doors.sets cimport SetModel, Told, told_again
from libc.stdint cimport uint32_t, uint64_t, uint8_t
from streamptron.engine.adaptive cimport (
    SP_G_TAU_MOST, SP_TAU_LEAST, SP_TAU_MOST, sp_adaptive_outputs, sp_drift_is_sound)
from streamptron.engine.events cimport sp_event, sp_event_bends, sp_event_given, sp_event_unbend
from streamptron.engine.linear cimport sp_step_reserve
from streamptron.engine.memory cimport SP_SLOT_NULL, SP_VALUE_LIMIT, sp_slot_type
from streamptron.engine.names cimport sp_index_is_limited
from streamptron.engine.path cimport (
    SP_CAN_NOTE, SP_CAN_PUT_BACK, SP_CAN_TAKE_BACK, SP_ONCE_MODEL, SP_ONCE_OUTPUT, sp_kept,
    sp_kept_bends, sp_kept_column_bytes, sp_kept_columns_after, sp_kept_columns_are_sound,
    sp_kept_columns_before, sp_kept_columns_most, sp_kept_fill, sp_kept_find, sp_kept_is_sound,
    sp_kept_leave, sp_kept_numbers, sp_kept_once_each, sp_kept_outputs, sp_kept_places,
    sp_kept_reserve, sp_kept_slots, sp_kept_take_back, sp_kept_width, sp_learner,
    sp_learner_abandon, sp_learner_answer, sp_learner_can, sp_learner_commit, sp_learner_learn,
    sp_learner_open, sp_learner_prepare, sp_learner_score, sp_moment, sp_noted_after,
    sp_noted_before, sp_noted_is_sound, sp_noted_most, sp_noted_take_back, sp_once_read,
    sp_once_take_back, sp_once_width, sp_undo_leave, sp_undo_moment, sp_undo_moves, sp_undo_reserve)
from streamptron.engine.sets cimport sp_sets_best_threshold

from streamptron.doors.kept import Past, past_mark
from streamptron.estimator.names import shown
from streamptron.estimator.packed import event_packed
from streamptron.modelfile.values import encoded_parameters

cdef extern from "Python.h":
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept

cdef enum:
    ADDED = 1                       # how a step is written down: moves and a clock's moment
    KEPT = 2                        # or slots' numbers before it and after it
    NOTED = 3                       # or what the machine writes down of both
    NOTHING = 0                     # or that the event changed no weight

_MOVE = Struct("<Id")
_MOMENT = Struct("<ddI")
_LARGEST = 1e100                    # of a move
_NOT_LEARNED = "no memory for the update; the model has not learned this event"


def kind_mark(Model model):
    """Eight bytes for the kind of a model: its class and its parameters."""
    if model._kind_mark is None:
        parts = [type(model).__name__, _written_alike(model._params)]
        model._kind_mark = blake2b(
            dumps(parts, sort_keys=True).encode(), digest_size=8).digest()
    return model._kind_mark


def _whole(value):
    """True and 1.0 are 1: what is equal is written alike."""
    return int(value) if type(value) in (bool, float) and value == value // 1 else value


def _written_alike(params):
    """Parameters in a form that is the same where they are equal."""
    # what a door leaves out is no matter of the events that it lets in
    params = {name: _whole(value) for name, value in params.items() if name != "missing"}
    weights = params.get("class_weight")
    if weights is not None:
        params["class_weight"] = {_whole(label): _whole(w) for label, w in weights.items()}
    alike = encoded_parameters(params)
    if weights is not None:
        alike["class_weight"] = sorted(alike["class_weight"], key=dumps)
    return alike


# --- An event as it is predicted

cdef object _answered(Model model):
    """The number of the predicted label; the event has been scored."""
    return sp_learner_answer(&model.learner, &model.event).verdict.best


cdef object _label(Model model, Py_ssize_t output):
    cdef list labels = model._label_list()
    return labels[output] if 0 <= output < len(labels) else None


cdef PackedEvent _packed_here(x, str missing):
    """An event with names that only Python code can write."""
    data, n = event_packed(x, missing)
    return PackedEvent(bytes(16) + data, 16, n)


def predicted(Model model, x):
    """The prediction, and the event as bytes: how many entries, and these."""
    cdef Py_ssize_t best, n
    cdef bytes entries
    if type(x) is PackedEvent:
        entries = (<PackedEvent> x).data[(<PackedEvent> x).start:(<PackedEvent> x).end]
    else:
        entries = None
    model._score(x)
    if entries is None:
        try:
            entries = event_bytes_of(
                &model.event, model.learner.intercept, sp_event_given(&model.event))
        except TypeError:
            model._settle()
            raise
    best = _answered(model)
    n = sp_event_given(&model.event) - model.learner.intercept
    model._settle()
    if entries is None:
        return predicted(model, _packed_here(x, model._gaps()))
    return _label(model, best), n, entries


# --- A step that can be taken back

def can_undo(Model model):
    """Whether its steps can be taken back, and how they are written down."""
    if sp_learner_can(&model.learner, SP_CAN_PUT_BACK):
        return KEPT
    if sp_learner_can(&model.learner, SP_CAN_NOTE):
        return NOTED
    return ADDED if sp_learner_can(&model.learner, SP_CAN_TAKE_BACK) else NOTHING


def check_not_in_a_file(Model model):
    """That a model lies in memory and can learn; RuntimeError if it was opened in place."""
    model._not_in_a_file()


cdef class _Kept:
    """Numbers of slots before a step and after it, of AdaptiveClassifier."""
    cdef bytes numbers              # floats: all entries' before, all entries' after
    cdef bytes means                # doubles, likewise
    cdef bytes once                 # doubles, likewise
    cdef bytes slots                # of the entries; 0: none, or not again
    cdef bytes bends                # under a ceiling: what stands for the names of the bends
    cdef bytes columns              # those among the entries that are columns, before and after
    cdef bytes outputs              # that step, as Py_ssize_t
    cdef Py_ssize_t m, n, n_once, n_columns

    cdef int open(self, Py_ssize_t n, Py_ssize_t m) except -1:
        self.n = n
        self.m = m
        self.n_once = sp_once_width(m)
        self.numbers = PyBytes_FromStringAndSize(NULL, 8 * n * sp_kept_width(m))
        self.means = PyBytes_FromStringAndSize(NULL, 16 * n)
        self.once = PyBytes_FromStringAndSize(NULL, 16 * self.n_once)
        self.slots = PyBytes_FromStringAndSize(NULL, 4 * n)
        self.bends = b""
        self.outputs = PyBytes_FromStringAndSize(NULL, m * sizeof(Py_ssize_t))

    cdef float* at(self, bint after) noexcept:
        cdef float* numbers = <float*> bytes_data(<PyObject*> self.numbers)
        return numbers + after * self.n * sp_kept_width(self.m)

    cdef double* means_at(self, bint after) noexcept:
        return <double*> bytes_data(<PyObject*> self.means) + after * self.n

    cdef double* once_at(self, bint after) noexcept:
        return <double*> bytes_data(<PyObject*> self.once) + after * self.n_once

    cdef uint8_t* columns_at(self) noexcept:
        return <uint8_t*> bytes_data(<PyObject*> self.columns)

    cdef uint32_t* slots_at(self) noexcept:
        return <uint32_t*> bytes_data(<PyObject*> self.slots)

    cdef uint64_t* bends_at(self) noexcept:
        return <uint64_t*> bytes_data(<PyObject*> self.bends)

    cdef Py_ssize_t* k(self) noexcept:
        return <Py_ssize_t*> bytes_data(<PyObject*> self.outputs)


cdef _Kept _kept_before(Model model, Py_ssize_t y):
    """What the step for label y, which has been prepared, will change, as it is."""
    cdef sp_learner* learner = &model.learner
    cdef sp_event* event = &model.event
    cdef _Kept kept = _Kept()
    cdef size_t most
    kept.open(sp_kept_slots(event, NULL), sp_kept_outputs(event, NULL))
    sp_kept_outputs(event, kept.k())
    sp_kept_slots(event, kept.slots_at())
    sp_kept_fill(learner, kept.slots_at(), kept.n, y, kept.k(), kept.m, kept.at(False),
                 kept.means_at(False))
    if sp_index_is_limited(&learner.index):
        kept.bends = PyBytes_FromStringAndSize(NULL, 8 * sp_event_bends(event))
    most = sp_kept_columns_most(event) * sp_kept_column_bytes(sp_kept_places(learner))
    kept.columns = PyBytes_FromStringAndSize(NULL, most)
    kept.n_columns = sp_kept_columns_before(learner, event, y, kept.columns_at())
    sp_once_read(&learner.adaptive, y, kept.k(), kept.m, kept.once_at(False))
    return kept


cdef _kept_after(Model model, _Kept kept, Py_ssize_t y):
    """And as it is now; then the slots' numbers are those that have changed, each slot once."""
    cdef sp_learner* learner = &model.learner
    sp_kept_slots(&model.event, kept.slots_at())
    if kept.bends:
        sp_kept_bends(learner, &model.event, kept.bends_at())
    sp_kept_fill(learner, kept.slots_at(), kept.n, y, kept.k(), kept.m, kept.at(True),
                 kept.means_at(True))
    kept.n_columns = sp_kept_columns_after(
        learner, &model.event, kept.slots_at(), kept.n, y, kept.columns_at(), kept.n_columns)
    kept.columns = kept.columns[:kept.n_columns]
    sp_once_read(&learner.adaptive, y, kept.k(), kept.m, kept.once_at(True))
    sp_kept_once_each(learner, kept.slots_at(), kept.n)
    sp_kept_numbers(learner, kept.slots_at(), kept.n)


cdef _Kept _learn_kept(Model model, Py_ssize_t y, double u):
    """Learn an event that has been scored, and keep what that changes."""
    cdef sp_learner* learner = &model.learner
    cdef sp_event* event = &model.event
    cdef _Kept kept
    if sp_learner_prepare(learner, event, y, u) < 0:
        model._no_memory(_NOT_LEARNED)
    try:
        kept = _kept_before(model, y)
    except MemoryError:
        sp_learner_abandon(learner, event)
        model._settle()
        raise
    if sp_learner_commit(learner, event, y, u) < 0:
        model._no_memory(_NOT_LEARNED)
    _kept_after(model, kept, y)
    return kept


def learned(Model model, x, y, w):
    """Learn an event, and return what its step was: see tickets.Step.

    (mark, number, changed, label, w, prediction, n, entries, output, what the step has changed)
    """
    cdef sp_learner* learner = &model.learner
    cdef sp_event* event = &model.event
    cdef int how = can_undo(model)
    cdef Py_ssize_t output, best, n
    cdef sp_moment moment
    cdef _Kept kept = None
    cdef bytes entries, slots = None
    cdef bint changed = False
    cdef int i
    number = 0
    best = n = 0
    label = model._checked_label(y)
    cdef double step = model._step(label, w)
    drawn = past_mark()
    if type(x) is PackedEvent:
        entries = (<PackedEvent> x).data[(<PackedEvent> x).start:(<PackedEvent> x).end]
    else:
        entries = None
    if isinstance(model, LabelModel):
        output = (<LabelModel> model)._read_labelled(x, label)
    else:
        output = label
        model._read(x, True)
    # From here on no Python code may run, not even finalizers, until the event is learned.
    collecting = PyGC_Disable()
    try:
        if sp_learner_score(learner, event) < 0:
            model._no_memory("no memory for the scores")
        if entries is None:
            try:
                entries = event_bytes_of(event, learner.intercept, sp_event_given(&model.event))
            except TypeError:
                model._settle()
                raise
        if entries is not None:
            past = model._past if model._past is not None else Past()
            mark = past.mark(drawn)
            best = _answered(model)
            n = sp_event_given(&model.event) - learner.intercept
            number = learner.n_seen
            moment = sp_undo_moment(learner)
            updates = learner.n_updates
            if how == ADDED and sp_index_is_limited(&learner.index):
                slots = PyBytes_FromStringAndSize(NULL, 4 * event.n)
            if how == KEPT and step != 0.0:
                kept = _learn_kept(model, output, step)
            elif sp_learner_learn(learner, event, output, step) < 0:
                model._no_memory(_NOT_LEARNED)
            if slots is not None:
                for i in range(event.n):
                    (<uint32_t*> bytes_data(<PyObject*> slots))[i] = event.slots[i]
            changed = learner.n_updates != updates
            moves = [(event.step.moves[i].output, event.step.moves[i].a)
                     for i in range(event.step.n)] if how == ADDED else []
            model._past = past
        model._settle()
    finally:
        if collecting:
            PyGC_Enable()
    if entries is None:
        return learned(model, _packed_here(x, model._gaps()), y, w)
    if isinstance(model, LabelModel):
        (<LabelModel> model)._name_output(label)
    prediction = _label(model, best)
    head = mark, number, changed, label, w, prediction, n, entries
    if kept is not None:
        return (*head, output, sp_adaptive_outputs(&learner.adaptive), kept.m, kept.outputs,
                kept.slots + kept.bends, kept.once, kept.numbers, kept.means, kept.columns)
    if not moves:
        return (*head, None)
    return (*head, b"".join([_MOVE.pack(k, a) for k, a in moves])
            + _MOMENT.pack(moment.c, moment.s, moment.fold), slots)


def learned_set(SetModel model not None, x, y, w):
    """The same of a set of labels, whose machine writes down what the step has changed."""
    cdef sp_learner* learner = &model.learner
    cdef sp_event* event = &model.event
    cdef Told told = model._told(y)
    cdef double step = model._weight(w)
    cdef bytes entries = None, noted = None
    cdef bint changed = False
    cdef size_t most
    cdef list found = []
    cdef double best = 0.5
    drawn = past_mark()
    number = n = 0
    if type(x) is PackedEvent:
        entries = (<PackedEvent> x).data[(<PackedEvent> x).start:(<PackedEvent> x).end]
    named = model._read_told(x, told, "y")
    # From here on no Python code may run, not even finalizers, until the event is learned.
    collecting = PyGC_Disable()
    try:
        if sp_learner_score(learner, event) < 0:
            model._no_memory("no memory for the scores")
        if entries is None:
            try:
                entries = event_bytes_of(event, learner.intercept, sp_event_given(&model.event))
            except TypeError:
                model._settle()
                raise
        if entries is not None:
            past = model._past if model._past is not None else Past()
            mark = past.mark(drawn)
            found = model._found()
            best = sp_sets_best_threshold(&learner.sets)
            n = sp_event_given(&model.event) - learner.intercept
            number = learner.n_seen
            updates = learner.n_updates
            if step != 0.0:
                most = sp_noted_most(learner, event, 0, step)
                if most == 0:
                    model._no_memory("no memory for the step; the model has not learned this event")
                noted = PyBytes_FromStringAndSize(NULL, most)
                sp_noted_before(learner, event, step, <uint8_t*> bytes_data(<PyObject*> noted))
            if sp_learner_learn(learner, event, 0, step) < 0:
                model._no_memory("no memory for the update; the model has not learned this event")
            if noted is not None:
                noted = noted[:sp_noted_after(
                    learner, event, <uint8_t*> bytes_data(<PyObject*> noted))]
            changed = learner.n_updates != updates
            model._past = past
        model._settle()
    finally:
        if collecting:
            PyGC_Enable()
    if entries is None:
        return learned_set(model, _packed_here(x, model._gaps()), y, w)
    prediction = model._labels_above(found, best)
    for label in named:
        model._name_output(label)
    return mark, number, changed, told_again(told), w, prediction, n, entries, noted


# --- And taken back

cdef int _begin(Model model, PackedEvent event, mark, number) except -1:
    """Read the event of a step that this model knows, and find its slots."""
    model._read(event, True)
    past = model._past
    if past is None or number >= model.learner.n_seen or not past.knows(mark, number):
        model._settle()
        raise ValueError(
            "step is not of this model: another model learned the event, or a copy of this one did "
            "by itself, or this model is from a file or a copy made before the event; nothing has "
            "changed. Give the step to the model that learned the event")
    if past.is_undone(number):
        model._settle()
        raise ValueError("step has been taken back already; nothing has changed")
    if sp_learner_score(&model.learner, &model.event) < 0:
        model._no_memory("no memory to take the step back; nothing has changed")
    if model.learner.index.bits:    # a model that was saved has no slots for what was zero
        if sp_learner_open(&model.learner, &model.event) < 0:
            model._no_memory("no memory to take the step back; nothing has changed")
    return 0


cdef int _end(Model model, number, bint changed) except -1:
    """The step is taken back."""
    model._past.undo(number)
    if changed and model.learner.n_updates:
        model.learner.n_updates -= 1
    model.learner.version += 1
    _drop(model)
    return 0


cdef int _drop(Model model) except -1:
    """Done with the event: the next one is not compared with it, for slots may be left out."""
    model._settle()
    model.event.n_known = 0
    model.event.n_found = 0
    model.event.scored_version = 0
    return 0


cdef object _damaged(Model model, str why):
    _drop(model)
    return ValueError(f"step is damaged: {why}; nothing has changed")


cdef int _check_slots(Model model, slots) except -1:
    """Leave out what is not there any more; an error if something should be and is not."""
    cdef sp_event* event = &model.event
    cdef Py_ssize_t i
    if slots is not None:
        if len(slots) != 4 * event.n:
            raise _damaged(model, "its slots are not those of its event")
        if sp_index_is_limited(&model.learner.index):
            sp_undo_leave(event, <const uint32_t*> bytes_data(<PyObject*> slots))
            return 0
    if not sp_index_is_limited(&model.learner.index):
        for i in range(event.n):
            if event.slots[i] == SP_SLOT_NULL:
                raise _damaged(model, "it has features that the model has never learned")
    return 0


def undone_nothing(Model model, PackedEvent event, mark, number):
    """Take back a step that changed no weight."""
    _begin(model, event, mark, number)
    _end(model, number, False)


def undone_moves(Model model, PackedEvent packed, mark, number, bytes moves, bytes slots):
    """Take back a step of moves."""
    cdef sp_learner* learner = &model.learner
    cdef sp_event* event = &model.event
    cdef sp_moment moment
    cdef int i, m = <int> ((len(moves) - _MOMENT.size) // _MOVE.size)
    if m < 1 or len(moves) != m * _MOVE.size + _MOMENT.size:
        raise ValueError("step is damaged: its moves were cut off; nothing has changed")
    outputs = [_MOVE.unpack_from(moves, i * _MOVE.size) for i in range(m)]
    moment.c, moment.s, moment.fold = _MOMENT.unpack_from(moves, m * _MOVE.size)
    _begin(model, packed, mark, number)
    before = -1
    for k, a in outputs:
        if not (before < k < learner.table.n_outputs and fabs(a) <= _LARGEST):
            raise _damaged(model, "its moves are invalid")
        before = k
    if not (1.0 <= moment.c <= 1e18 and 1e-78 <= moment.s <= 1.0
            and moment.fold <= learner.table.fold):
        raise _damaged(model, "its moment is invalid")
    _check_slots(model, slots)
    if sp_step_reserve(&event.step, m) < 0:
        model._no_memory("no memory to take the step back; nothing has changed")
    event.step.n = m
    event.step.event = 0
    event.step.r = 0.0
    for i in range(m):
        event.step.moves[i].output, event.step.moves[i].a = outputs[i]
        event.step.moves[i].a = -event.step.moves[i].a
        event.step.moves[i].second = 0.0
    if sp_undo_reserve(learner, event) < 0:
        model._no_memory("no memory to take the step back; nothing has changed")
    sp_undo_moves(learner, event, moment)
    _end(model, number, True)


def undone_kept(Model model, PackedEvent packed, mark, number, bint changed, Py_ssize_t y,
                Py_ssize_t outputs, Py_ssize_t m, bytes strides, bytes slots, bytes once,
                bytes numbers, bytes means, bytes columns):
    """Take back a step of AdaptiveClassifier."""
    cdef sp_learner* learner = &model.learner
    cdef sp_event* event = &model.event
    cdef _Kept kept = _Kept()
    cdef sp_kept all_of_it
    cdef Py_ssize_t i, j, now
    kept.n = len(means) // 16
    slots, kept.bends = slots[:4 * kept.n], slots[4 * kept.n:]
    kept.m = m
    kept.n_once = sp_once_width(m)
    if not (0 <= m <= 2**31 and len(slots) == 4 * kept.n and len(kept.bends) % 8 == 0
            and len(strides) == m * <Py_ssize_t> sizeof(Py_ssize_t)
            and len(numbers) == 8 * kept.n * sp_kept_width(m) and len(means) == 16 * kept.n
            and len(once) == 16 * kept.n_once
            and sp_kept_is_sound(<const float*> bytes_data(<PyObject*> numbers), 2 * kept.n, m)
            and sp_kept_columns_are_sound(<const uint8_t*> bytes_data(<PyObject*> columns),
                                          len(columns), kept.n, outputs == 1)):
        raise ValueError("step is damaged: its numbers are not a step's; nothing has changed")
    kept.numbers, kept.means, kept.once = numbers, means, once
    # copies, in which what is left out is marked
    kept.slots, kept.columns, kept.outputs = bytes(bytearray(slots)), columns, strides
    _begin(model, packed, mark, number)
    sp_event_unbend(event)      # those that it had may be others
    if not sp_learner_can(learner, SP_CAN_PUT_BACK):
        raise _damaged(model, "it is no step of such a model")
    now = sp_adaptive_outputs(&learner.adaptive)
    if not (event.n + len(kept.bends) // 8 <= kept.n
            and (0 <= y < 2 if outputs == 1 else 0 <= y < outputs <= now)):
        raise _damaged(model, "it does not fit its event or the labels")
    for j in range(m):
        if not 0 <= kept.k()[j] < outputs or (j and kept.k()[j] <= kept.k()[j - 1]):
            raise _damaged(model, "its outputs are invalid")
    for i in range(2 * kept.n):
        if not fabs(kept.means_at(False)[i]) <= SP_VALUE_LIMIT:
            raise _damaged(model, "its means are invalid")
    # T, D of the label, m, nm, tau and its G, the watch's; then of each output w0, G0; then wn, Gn
    for i in range(2):
        for j in range(kept.n_once):
            if not (4 <= j < SP_ONCE_MODEL or fabs(kept.once_at(i)[j]) <= 1e40):
                raise _damaged(model, "its numbers are invalid")
        if not sp_drift_is_sound(kept.once_at(i) + 6):
            raise _damaged(model, "its watch for drift is invalid")
        if not (min(kept.once_at(i)[0], kept.once_at(i)[1], kept.once_at(i)[2]) >= 0.0
                and 0.0 <= kept.once_at(i)[3] <= 1024.0
                and SP_TAU_LEAST <= kept.once_at(i)[4] <= SP_TAU_MOST
                and 1.0 <= kept.once_at(i)[5] <= SP_G_TAU_MOST):
            raise _damaged(model, "its counts are invalid")
        for j in range(m):
            if not kept.once_at(i)[SP_ONCE_MODEL + j * SP_ONCE_OUTPUT + 1] >= 0.0:
                raise _damaged(model, "its sums of squares are invalid")
        if m and not kept.once_at(i)[kept.n_once - 1] >= 0.0:
            raise _damaged(model, "its sum of squares is invalid")
    sp_kept_find(learner, kept.slots_at(), kept.n)
    # of an entry without a slot of its own nothing was kept: it has none, or the same as another
    for i in range(event.n):
        if event.slots[i] != kept.slots_at()[i]:
            kept.slots_at()[i] = SP_SLOT_NULL
    sp_kept_leave(learner, kept.slots_at(), event.n, kept.n, kept.bends_at(),
                  len(kept.bends) // 8, kept.columns_at(), len(columns))
    all_of_it = sp_kept(
        outputs == 1, y, kept.k(), m, kept.slots_at(), kept.n, kept.at(False), kept.at(True),
        kept.means_at(False), kept.means_at(True), kept.columns_at(), len(columns))
    if sp_kept_reserve(learner, &all_of_it) < 0:
        model._no_memory("no memory to take the step back; nothing has changed")
    sp_once_take_back(learner, &all_of_it, kept.once_at(False), kept.once_at(True))
    sp_kept_take_back(learner, &all_of_it)
    _end(model, number, changed)


def undone_noted(Model model, PackedEvent packed, mark, number, bint changed, bytes noted):
    """Take back a step that the machine has written down."""
    cdef const uint8_t* data = <const uint8_t*> bytes_data(<PyObject*> noted)
    _begin(model, packed, mark, number)
    if not sp_noted_is_sound(&model.learner, &model.event, data, len(noted)):
        raise _damaged(model, "its numbers are not a step's")
    if sp_noted_take_back(&model.learner, &model.event, data) < 0:
        model._no_memory("no memory to take the step back; nothing has changed")
    _end(model, number, changed)
