"""Tickets, for labels that come later, and steps, which can be taken back.

Events are read, scored and learned in the same way as all others. This module writes an event as
bytes (a ticket), and with it what its step has changed (engine/path/record.h). A step is taken back
behind the gate, as an event is learned.
"""

cimport cython
from libc.stdint cimport uint8_t
from libc.string cimport memset
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors._core cimport OneLabelModel
from streamptron.doors.gate cimport beside, gc_disable, gc_restore
from streamptron.doors.model cimport Model
from streamptron.doors.names cimport PackedEvent, event_bytes_of
from streamptron.doors.multilabel cimport MultiLabelModel, Targets, targets_again
from streamptron.engine.events cimport sp_event_forget, sp_event_given
from streamptron.engine.path cimport (
    SP_RECORD_PARTS, SP_UNDO_LOG, sp_learner_abandon, sp_learner_answer, sp_learner_score,
    sp_undo_kind_of, sp_undo_record, sp_undo_record_commit, sp_undo_record_fault,
    sp_undo_record_find, sp_undo_record_prepare, sp_undo_record_take_back)
from streamptron.engine.multilabel cimport sp_multilabel_best_threshold

from streamptron.doors.names import damaged
from streamptron.doors.state import Past, past_mark
from streamptron.common.packed import event_packed


# --- An event as it is predicted

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


def predicted(OneLabelModel model not None, x):
    """The prediction, the number of the event's entries, and the entries as bytes."""
    cdef Py_ssize_t best, n
    cdef bytes entries
    with cython.critical_section(model, <object> beside(<PyObject*> model, <PyObject*> x)):
        model._score(x)
        entries = _entries(model, x)
        best = sp_learner_answer(&model.learner, &model.event).verdict.best
        n = sp_event_given(&model.event) - model.learner.intercept
        model._settle()
        if entries is not None:
            return model._label_of(best), n, entries
    return predicted(model, _packed_here(x, model.missing))


# --- A step that can be taken back

def can_undo(Model model):
    """How a model's steps can be taken back; 0: they cannot."""
    return sp_undo_kind_of(&model.learner)


def check_not_in_a_file(Model model):
    """Raise a RuntimeError if a model was opened in place, and so cannot learn."""
    model._not_in_a_file()


cdef int _not_learned(Model model, const sp_undo_record* taken) except -1:
    what = "step" if taken.how == SP_UNDO_LOG and taken.n_parts == 0 else "update"
    return model._no_memory(f"no memory for the {what}; the model has not learned this event")


cdef list _learn(Model model, Py_ssize_t y, double u, sp_undo_record* taken):
    """Learn an event that has been scored. Returns the parts of its step."""
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


def learned(OneLabelModel model not None, x, y, w):
    """Learn an event, and return its step, see tickets.Step.

    (mark, number, changed, label, w, prediction, n, entries, numbers, parts), where numbers are the
    index of the label, the outputs, and how many of them stepped.
    """
    cdef sp_undo_record taken
    cdef Targets targets = None
    cdef Py_ssize_t output = 0, best = 0, n = 0
    cdef double step, above = 0.0
    cdef bytes entries
    cdef list named, found = None, parts = None
    cdef bint changed = False
    number = 0
    if isinstance(model, MultiLabelModel):
        targets = model._targets_of(y)
        step = model._weight(w)
    else:
        y = model._checked_label(y)
        step = model._step(y, w)
    named = [y]
    drawn = past_mark()
    with cython.critical_section(model, <object> beside(<PyObject*> model, <PyObject*> x)):
        if targets is not None:
            named = (<MultiLabelModel> model)._read_targets(x, targets)
        else:
            output = model._read_labelled(x, y)
        # From here on no Python code may run, not even finalizers, until the event is learned.
        collecting = gc_disable()
        try:
            if sp_learner_score(&model.learner, &model.event) < 0:
                model._no_memory("no memory for the scores")
            entries = _entries(model, x)
            if entries is not None:
                past = model._past if model._past is not None else Past()
                mark = past.mark(drawn)
                if targets is None:
                    best = sp_learner_answer(&model.learner, &model.event).verdict.best
                else:
                    found = (<MultiLabelModel> model)._found()
                    above = sp_multilabel_best_threshold(&model.learner.multilabel)
                n = sp_event_given(&model.event) - model.learner.intercept
                number = model.learner.n_seen
                updates = model.learner.n_updates
                parts = _learn(model, output, step, &taken)
                changed = model.learner.n_updates != updates
                model._past = past
            model._settle()
        finally:
            gc_restore(collecting)
            # even if memory ran out for the learned step
            for label in named:
                model._name_output(label)
        if entries is not None:
            prediction = (
                model._label_of(best) if targets is None
                else model._labels_above(found, above))
            if targets is not None:
                y = targets_again(targets)
            return (mark, number, changed, y, w, prediction, n, entries,
                    (taken.y, taken.outputs, taken.m), parts)
    return learned(model, _packed_here(x, model.missing), y, w)


# --- And taken back

def undone(Model model, PackedEvent packed, mark, number, bint changed, int how, numbers,
           list parts):
    """Take a step back.

    `changed`: it was counted as an update; `numbers`: as `learned` returned them if the old numbers
    of slots are stored, else None.
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
