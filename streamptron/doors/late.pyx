"""What is learned later than it was predicted, and what is taken back: tickets and steps.

An event is read, scored and learned by the doors and the path that every event takes; here it is
written down as bytes, and with it what its step has changed (engine/path/taken.h). A step is taken
back behind the gate, as an event is learned.
"""

from libc.string cimport memset
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron._core cimport LabelModel
from streamptron.doors.entry cimport bytes_data
from streamptron.doors.model cimport Model
from streamptron.doors.kept cimport PackedEvent, event_bytes_of
from streamptron.doors.sets cimport SetModel, Told, told_again
from libc.stdint cimport uint8_t
from streamptron.engine.events cimport sp_event_forget, sp_event_given
from streamptron.engine.path cimport (
    SP_KEEPING_NOTES, SP_TAKEN_PARTS, sp_keeping_of, sp_learner_abandon, sp_learner_answer,
    sp_learner_score, sp_taken, sp_taken_back, sp_taken_commit, sp_taken_fault, sp_taken_find,
    sp_taken_prepare)
from streamptron.engine.sets cimport sp_sets_best_threshold

from streamptron.doors.kept import Past, past_mark
from streamptron.estimator.packed import event_packed

cdef extern from "Python.h":
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept


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
    model._score(x)
    cdef bytes entries = _entries(model, x)
    best = sp_learner_answer(&model.learner, &model.event).verdict.best
    n = sp_event_given(&model.event) - model.learner.intercept
    model._settle()
    if entries is None:
        return predicted(model, _packed_here(x, model._gaps()))
    return _label(model, best), n, entries


# --- A step that can be taken back

def can_undo(Model model):
    """How its steps are kept so that they can be taken back; 0: they cannot."""
    return sp_keeping_of(&model.learner)


def check_not_in_a_file(Model model):
    """That a model lies in memory and can learn; RuntimeError if it was opened in place."""
    model._not_in_a_file()


cdef int _not_learned(Model model, const sp_taken* taken) except -1:
    what = "step" if taken.how == SP_KEEPING_NOTES and taken.n_parts == 0 else "update"
    return model._no_memory(f"no memory for the {what}; the model has not learned this event")


cdef list _learn(Model model, Py_ssize_t y, double u, sp_taken* taken):
    """Learn an event that has been scored; the parts of its step."""
    cdef int i
    cdef bytes part = None
    cdef list parts = []
    if sp_taken_prepare(taken, &model.learner, &model.event, y, u) < 0:
        _not_learned(model, taken)
    try:
        for i in range(taken.n_parts):
            part = PyBytes_FromStringAndSize(NULL, taken.n[i])
            taken.p[i] = <uint8_t*> bytes_data(<PyObject*> part)
            parts.append(part)
    except MemoryError:
        sp_learner_abandon(&model.learner, &model.event)
        model._settle()
        raise
    if sp_taken_commit(taken, &model.learner, &model.event, u) < 0:
        _not_learned(model, taken)
    if part is not None:            # the last one may be shorter by now
        parts[taken.n_parts - 1] = part[:taken.n[taken.n_parts - 1]]
    return parts


def learned(Model model, x, y, w):
    """Learn an event, and return what its step was: see tickets.Step.

    (mark, number, changed, label, w, prediction, n, entries, what the step has changed): of that
    the label's place, the outputs, and how many stepped; then its parts.
    """
    cdef sp_taken taken
    cdef Told told = None
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
    if told is not None:
        named = (<SetModel> model)._read_told(x, told, "y")
    elif isinstance(model, LabelModel):
        output = (<LabelModel> model)._read_labelled(x, y)
    else:
        output = y
        model._read(x, True)
    # From here on no Python code may run, not even finalizers, until the event is learned.
    collecting = PyGC_Disable()
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
            PyGC_Enable()
    if entries is None:
        return learned(model, _packed_here(x, model._gaps()), y, w)
    prediction = _label(model, best) if told is None else model._labels_above(found, above)
    if isinstance(model, LabelModel):
        for label in named:
            (<LabelModel> model)._name_output(label)
    return (mark, number, changed, y if told is None else told_again(told), w, prediction, n,
            entries, (taken.y, taken.outputs, taken.m), parts)


# --- And taken back

def undone(Model model, PackedEvent packed, mark, number, bint changed, int how, numbers,
           list parts):
    """Take a step back. `changed`: it was counted as an update; `numbers`: as `learned` gave them
    of slots' numbers, else None.
    """
    cdef sp_taken taken
    cdef const char* wrong
    cdef int i
    cdef bytes part
    memset(&taken, 0, sizeof(sp_taken))
    taken.how = how
    if numbers is not None:
        taken.y, taken.outputs, taken.m = numbers
    taken.n_parts = min(len(parts), <int> SP_TAKEN_PARTS)
    for i in range(taken.n_parts):
        part = parts[i]
        taken.p[i] = <uint8_t*> bytes_data(<PyObject*> part)
        taken.n[i] = len(part)
    model._read(packed, True)
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
    if sp_taken_find(&model.learner, &model.event) < 0:
        model._no_memory("no memory to take the step back; nothing has changed")
    wrong = sp_taken_fault(&taken, &model.learner, &model.event)
    if wrong != NULL:
        model._settle()
        sp_event_forget(&model.event)
        raise ValueError(
            f"step is damaged: {(<bytes> wrong).decode('ascii')}; nothing has changed")
    if sp_taken_back(&taken, changed, &model.learner, &model.event) < 0:
        model._no_memory("no memory to take the step back; nothing has changed")
    past.undo(number)
    model._settle()
    sp_event_forget(&model.event)
