"""One event: a mapping's names and values, checked and written into scratch memory.

Names and values of common types are read in C (entry.pxd), without Python code. All checks of an
event come before it is written, and no Python code runs between the gate and that moment.
"""

import sys
from bisect import bisect
from collections import Counter, OrderedDict, defaultdict
from types import MappingProxyType

cimport cython
from libc.math cimport isfinite
from cpython.object cimport PyObject

from streamptron.doors.entry cimport (
    bytes_data, entry_key, entry_key_everyday, entry_know, entry_scalar_is_bare, entry_value,
    entry_value_everyday)
from streamptron.doors.gate cimport (
    FREE_THREADED, gate_come_out, gate_go_inside, gate_learn_begin, gate_learn_end, gate_wait)
from streamptron.doors.names cimport Name, PackedEvent, name_key, name_of, unfit
from streamptron.doors.texts cimport TextEvent, text_event_write
from libc.stdint cimport uint64_t, uint8_t
from streamptron.engine.events cimport (
    sp_event, sp_event_again, sp_event_begin, sp_event_candidate_end, sp_event_candidates,
    sp_event_end, sp_event_free, sp_event_init, sp_event_settle, sp_event_writer, sp_text_free,
    sp_writer, sp_writer_add)
from streamptron.engine.linear cimport SP_KEPT_KINDS, sp_table_keeps
from streamptron.engine.memory cimport SP_SLOT_NULL, sp_arena
from streamptron.engine.names cimport (
    SP_KEY_NONE, SP_KEY_OBJECT, sp_index_find, sp_index_is_limited, sp_key, sp_key_hash,
    sp_key_word)
from streamptron.engine.path cimport (
    sp_learner_decide, sp_learner_decision, sp_learner_fault, sp_learner_free, sp_learner_score)
from streamptron.engine.exchange cimport sp_packed, sp_packed_next

from streamptron.common.names import Pair, name_plain, short_repr
from streamptron.doors.names import damaged
from streamptron.common.cells import check_once, feature_of
from streamptron.common.checks import feature_value
from streamptron.common.items import entries_of, numpy_scalars, refused_object, unwrapped

cdef extern from "desk.h":
    pass

cdef extern from "Python.h":
    bint PyDict_CheckExact(PyObject* o) noexcept
    bint PyDict_Next(PyObject* o, Py_ssize_t* at, PyObject** key, PyObject** value) noexcept
    Py_ssize_t PyDict_GET_SIZE "PyDict_Size" (PyObject* o) noexcept
    PyObject* list_item "PyList_GET_ITEM" (PyObject* o, Py_ssize_t at) noexcept


cdef bint _any_value "sp_any_value" (PyObject* o, double* value) noexcept:
    """entry_value, kept out of the loops, where inlining it would slow down the everyday event."""
    return entry_value(o, value)


cdef type _Items = type({}.items())
cdef list _scalars = []             # numpy's types, to which doors/entry.pxd points; empty at first
cdef object _meeting = object()     # locked while they are registered


cdef int know_numpy "sp_know_numpy" () except -1:
    """Let numpy's scalars be read in C, once numpy has been loaded."""
    cdef list found = []
    cdef bytes bits
    if _scalars or "numpy" not in sys.modules:
        return 0
    for scalar_type, kind, scalar, bits in numpy_scalars():
        if scalar is None or entry_scalar_is_bare(
                <PyObject*> scalar, bytes_data(<PyObject*> bits), len(bits)):
            found.append((scalar_type, kind))
    with cython.critical_section(_meeting):
        if not _scalars:            # no other thread has done it in the meantime
            _scalars.extend(found)
            for scalar_type, kind in found:
                entry_know(<PyObject*> scalar_type, kind)
    return 0


cdef inline bint _is_everyday(x):
    """Whether a mapping can be read without Python code, so that nothing can change it meanwhile.

    In a free-threaded Python the reader of an event has locked it, which has the same effect.
    """
    return PyDict_CheckExact(<PyObject*> x) or type(x) is Counter or type(x) is defaultdict


cdef bint _in_order(x, list entries) except -1:
    """Read the entries of an OrderedDict as those of a dict, if both have the same order.

    They do, unless an entry was moved.
    """
    cdef list names = list(x)
    cdef PyObject* name
    cdef PyObject* value
    cdef Py_ssize_t at = 0, i = 0, n = len(names)
    while PyDict_Next(<PyObject*> x, &at, &name, &value):
        if i == n or list_item(<PyObject*> names, i) != name:
            entries.clear()
            return False
        entries.append(<object> name)
        entries.append(<object> value)
        i += 1
    return i == n


cdef list _entries_everyday(x):
    cdef list entries = []
    cdef PyObject* name
    cdef PyObject* value
    cdef Py_ssize_t at = 0
    while PyDict_Next(<PyObject*> x, &at, &name, &value):
        entries.append(<object> name)
        entries.append(<object> value)
    return entries


cdef list _entries(x, str what):
    """A mapping's names and values, alternating, kept alive; or an error.

    A dict has been locked; one that lies within the mapping is locked here.
    """
    cdef list entries = []
    if type(x) is OrderedDict and _in_order(x, entries):
        return entries
    if _is_everyday(x):
        return _entries_everyday(x)
    inner = unwrapped(x)
    if inner is not x:
        with cython.critical_section(inner):
            return _entries_everyday(inner)
    if type(x) is MappingProxyType:
        items = x.items()
        if type(items) is _Items:   # a dict's, or a subclass's that does not override items
            for pair in items:
                entries.append((<tuple> pair)[0])
                entries.append((<tuple> pair)[1])
            return entries
    return entries_of(x, what)


cdef str _part(name):
    """How an error names a candidate."""
    return f"candidates[{short_repr(name)}]"


cdef inline bint _write_everyday(PyObject* mapping, sp_arena* text, sp_writer* writer) noexcept:
    """Write such a mapping; False if a name or value needs Python code."""
    cdef PyObject* name
    cdef PyObject* value
    cdef PyObject* last = NULL
    cdef Py_ssize_t at = 0
    cdef double rarer, number = 0.0     # the common ones stay in registers
    cdef sp_key rarer_key, key
    while PyDict_Next(mapping, &at, &name, &value):
        if value != last:           # often all values are one object, the int 1
            last = NULL
            if not entry_value_everyday(value, &number):
                if not _any_value(value, &rarer):
                    return False
                number = rarer
            if number == 0.0:
                continue
            last = value
        if not entry_key_everyday(name, &key):
            if not entry_key(text, name, &rarer_key):
                return False
            key = rarer_key
        sp_writer_add(writer, key, number)
    return True


cdef class EventDoor:
    """A learner behind its gate, and the scratch where the current event is written."""

    def __cinit__(self):
        sp_event_init(&self.event)
        self._objects = {}

    def __dealloc__(self):
        sp_learner_free(&self.learner)
        sp_event_free(&self.event)
        sp_text_free(&self.text)

    @cython.critical_section
    cdef int learn_begin(self) except -1:
        """Wait for the model, and keep others out of its weights and scratch memory.

        This holds even without the interpreter's lock, until learn_end, which must be called.
        """
        self._enter(True)
        gate_learn_begin(&self.gate)
        gate_go_inside(&self.gate)
        return 0

    @cython.critical_section
    cdef void learn_end(self) noexcept:
        gate_come_out(&self.gate)
        gate_learn_end(&self.gate)

    cdef int _enter(self, bint learning) except -1:
        """Wait until the learner may be read, or may learn. No Python code runs after the wait."""
        gate_wait(&self.gate, learning)
        return self._not_in_a_file() if learning else 0

    cdef int _not_in_a_file(self) except -1:
        if self.learner.table.borrowed:
            raise RuntimeError(
                "the model was opened read-only, with mmap=True; load it without mmap to learn")
        return 0

    cdef int _read(self, x, bint learning) except -1:
        """Write a mapping into the scratch event. On an error nothing has changed."""
        cdef PyObject* mapping = <PyObject*> x
        cdef sp_writer writer
        if not _is_everyday(x):
            if type(x) is TextEvent:
                return self._read_text(x, learning)
            if type(x) is PackedEvent:
                return self._read_packed(x, learning)
            return self._read_items(x, learning)
        # These types are read without Python code, so nothing changes x or the scratch meanwhile.
        self._enter(learning)
        if sp_event_begin(&self.event, &self.learner.index, PyDict_GET_SIZE(mapping),
                          self.learner.intercept) < 0:
            self._no_memory("no memory for the event")
        writer = sp_event_writer(&self.event)
        if not _write_everyday(mapping, &self.event.text, &writer):
            return self._read_items(x, learning)
        sp_event_end(&self.event, &writer)
        return 0

    cdef int _read_text(self, x, bint learning) except -1:
        """The same for a text, a TextEvent, which is often given twice in a row."""
        cdef sp_event* event = &self.event
        cdef TextEvent text = <TextEvent> x
        self._enter(learning)
        # only a text leaves hashes in the event
        if (event.n_hashed and self._text_read is not None
                and (<TextEvent> self._text_read)._is(text)):
            sp_event_again(event, &self.learner.index, self.learner.intercept)
            return 0
        if text_event_write(&self.text, event, &self.learner.index, self.learner.intercept,
                            text) < 0:
            self._no_memory("no memory for the event")
        self._text_read = text
        return 0

    cdef int _read_packed(self, PackedEvent x, bint learning) except -1:
        """The same for an event in bytes, which has been checked."""
        cdef const uint8_t* p
        cdef const uint8_t* end
        cdef Py_ssize_t i
        cdef sp_packed entry
        cdef sp_writer writer
        if x.names is not None:
            return self._write_read(list(x.names), "x", None, None, learning)
        self._enter(learning)
        if sp_event_begin(&self.event, &self.learner.index, x.n, self.learner.intercept) < 0:
            self._no_memory("no memory for the event")
        writer = sp_event_writer(&self.event)
        p = <const uint8_t*> bytes_data(<PyObject*> x.data)
        end = p + x.end
        p += x.start
        for i in range(x.n):
            p = sp_packed_next(p, end, &entry)
            sp_writer_add(&writer, entry.key, entry.value)
        sp_event_end(&self.event, &writer)
        self._held = x              # long keys point into it
        return 0

    cdef int _read_items(self, x, bint learning, str what="x") except -1:
        """The same for any mapping, names and values; or an error that says what is wrong.

        First the names and values are taken from the mapping and kept alive. Those that need Python
        code are then replaced by its results. That code may be the user's, and may use this very
        model or let another thread use it. So the event is written afterwards, all at once.
        """
        know_numpy()
        return self._write_read(_entries(x, what), what, None, None, learning)

    cdef int _read_candidates(self, list names, list candidates, bint learning) except -1:
        """The same for several mappings, one after the other, of which names[i] is for errors."""
        cdef Py_ssize_t i, n = 0
        cdef list entries = [], ends = []
        cdef sp_writer writer
        if FREE_THREADED:           # there may be more dicts than can be locked at once
            candidates = [dict(x) if _is_everyday(x) else x for x in candidates]
        for x in candidates:
            if not _is_everyday(x):
                break
            n += PyDict_GET_SIZE(<PyObject*> x)
        else:
            self._enter(learning)
            if (sp_event_candidates(&self.event, len(candidates)) < 0
                    or sp_event_begin(&self.event, &self.learner.index, n,
                                      self.learner.intercept) < 0):
                self._no_memory("no memory for the event")
            writer = sp_event_writer(&self.event)
            for i in range(len(candidates)):
                if not _write_everyday(
                        list_item(<PyObject*> candidates, i), &self.event.text, &writer):
                    break
                sp_event_candidate_end(&self.event, i, &writer)
            else:
                sp_event_end(&self.event, &writer)
                return 0
        know_numpy()
        for name, x in zip(names, candidates):
            entries += _entries(x, _part(name))
            ends.append(len(entries))
        return self._write_read(entries, None, names, ends, learning)

    cdef int _write_read(self, list entries, str what, list names, list ends,
                         bint learning) except -1:
        """Write entries that are held here. `what`: what errors call them; of candidates None: they
        call each by its name, and candidate i ends at ends[i].
        """
        cdef list odd, objects = []
        cdef uint64_t n_entries
        cdef double number
        cdef int turn
        cdef Py_ssize_t i, at
        cdef Name name
        odd = self._write(entries, ends, learning)
        if not odd:
            return 0
        if what != "weights":
            self._name_categories(entries, odd, what, names, ends)
        for i in range(len(odd)):
            at = odd[i]
            if not _any_value(list_item(<PyObject*> entries, at + 1), &number):
                part = what if ends is None else _part(names[bisect(ends, at)])
                entries[at + 1] = number = feature_value(entries[at], entries[at + 1], part)
            if number != 0.0:
                entries[at] = name = self._name_of(entries[at], what)
                if name.kind == SP_KEY_OBJECT:
                    objects.append(at)
                    objects.append(name.plain)
        # Hashing an object may run the user's code, too. Other calls that run then drop ordinals
        # that are new, so these are looked up again.
        for turn in range(8):
            n_entries = self.gate.n_entries
            for i in range(0, len(objects), 2):
                at = objects[i]
                entries[at] = self._object_name(objects[i + 1], learning)
            if self._write(entries, ends, learning):
                self._no_memory("no memory for the event")
            if self.gate.n_entries == n_entries + 1:
                return 0
        raise RuntimeError(
            "x has a feature name that uses the model whenever it is hashed; a name's __hash__ "
            "must not use the model")

    cdef int _name_categories(self, list entries, list odd, str what, list names,
                              list ends) except -1:
        """Replace texts among the values by their features, and give gaps the value 0."""
        cdef Py_ssize_t at
        cdef double number
        cdef str missing = self.missing     # the parameter
        cdef dict made = {}             # by candidate; for an event, at 0
        for at in odd:
            if _any_value(list_item(<PyObject*> entries, at + 1), &number):
                continue
            i = 0 if ends is None else bisect(ends, at)
            name, value = feature_of(
                entries[at], entries[at + 1], what if ends is None else _part(names[i]), missing)
            if name is not entries[at]:
                made.setdefault(i, []).append(name)
            entries[at], entries[at + 1] = name, value
        for i, features in made.items():
            if ends is None:
                check_once(features, entries[::2], what)
            else:
                check_once(features, entries[ends[i - 1] if i else 0:ends[i]:2], _part(names[i]))
        return 0

    cdef list _write(self, list entries, list ends, bint learning):
        """Enter, and write names and values into the scratch event, or into several (ends).

        Returns the places of the entries that need Python code first. If there are any, no event
        has been written.
        """
        cdef list odd = []
        cdef PyObject* name
        cdef PyObject* value
        cdef PyObject* last = NULL
        cdef Py_ssize_t at, n = len(entries), i = 0, n_ends = 0 if ends is None else len(ends)
        cdef double number = 0.0
        cdef sp_key key
        cdef sp_writer writer
        self._enter(learning)
        # From here on no Python code runs, so the scratch is ours.
        if sp_event_candidates(&self.event, n_ends) < 0 or sp_event_begin(
                &self.event, &self.learner.index, n // 2, self.learner.intercept) < 0:
            self._no_memory("no memory for the event")
        writer = sp_event_writer(&self.event)
        for at in range(0, n, 2):
            while i < n_ends and at == <Py_ssize_t> ends[i]:
                sp_event_candidate_end(&self.event, i, &writer)
                i += 1
            name = list_item(<PyObject*> entries, at)
            value = list_item(<PyObject*> entries, at + 1)
            if value != last:
                last = NULL
                if not entry_value_everyday(value, &number) and not _any_value(value, &number):
                    odd.append(at)
                    continue
                if number == 0.0:
                    continue
                last = value
            if not entry_key_everyday(name, &key):
                if type(<object> name) is Name:
                    if not name_key(&self.event.text, <Name> name, &key):
                        self._no_memory("no memory for the event")
                elif not entry_key(&self.event.text, name, &key):
                    odd.append(at)
                    continue
            sp_writer_add(&writer, key, number)
        if not odd:
            for i in range(i, n_ends):
                sp_event_candidate_end(&self.event, i, &writer)
            sp_event_end(&self.event, &writer)
            self._held = entries    # long keys point into it
        return odd

    cdef Name _name_of(self, name, str what):
        """The Name of a name that needs Python code, or an error if the model does not take it."""
        if self.learner.pairs != NULL and what != "weights" and isinstance(name, Pair):
            raise TypeError(
                f"x has the feature name {short_repr(name)}, a Pair; with degree=2 or interactions "
                "the learner makes the pairs itself, so this one would count twice: "
                "leave it out, or name the feature by a tuple")
        return name_of(name)

    cdef Name _object_name(self, name, bint learning):
        """The ordinal of a name that is another object; learning gives numbers to new ones."""
        cdef Name made = Name.__new__(Name)
        cdef bint limited = sp_index_is_limited(&self.learner.index)
        if self.learner.index.bits or limited or self.learner.pairs != NULL:
            raise refused_object(name, self.learner.index.bits != 0, limited)
        cdef dict objects = self._objects   # held, since hashing the name may reset the model
        try:
            ordinal = objects.get(name)
        except TypeError:
            name_plain(name)        # raises an error that says it is not hashable
            raise
        if ordinal is None:
            if not learning:
                made.kind, made.plain = SP_KEY_NONE, 0
                return made
            self._not_in_a_file()
            ordinal = objects[name] = len(objects)
            self._objects_new = True
        made.kind, made.plain = SP_KEY_OBJECT, ordinal
        return made

    cdef int _score(self, x) except -1:
        self._read(x, False)
        if sp_learner_score(&self.learner, &self.event) < 0:
            self._no_memory("no memory for the scores")
        return self._check_scores() if self.learner.table.borrowed else 0

    cdef int _check_scores(self) except -1:
        """Check that all kept vectors' scores are finite: weights in a file may not be."""
        cdef Py_ssize_t k
        cdef int kind
        sp_learner_decide(&self.learner, &self.event)
        for kind in range(SP_KEPT_KINDS):
            if sp_table_keeps(&self.learner.table, kind):
                for k in range(self.event.n_scores):
                    if not isfinite(sp_learner_decision(&self.event, kind)[k]):
                        self._settle()
                        raise damaged("a weight is not finite")
        return 0

    cdef int _settle(self) except -1:
        sp_event_settle(&self.event, &self.learner.index)
        self._held = None
        if self._objects_new and not self.gate.learning:
            self._forget_objects()
        if DEBUG:
            self._look()
        return 0

    cdef int _no_memory(self, str what, list names=None) except -1:
        """Raise MemoryError, or the error of features that cannot be paired; nothing has changed.

        `names`: the candidates' names.
        """
        self._held = None
        if self._objects_new and not self.gate.learning:
            self._forget_objects()
        if self.event.unfit:
            part = "x" if names is None else _part(names[self.event.unfit_candidate])
            raise unfit(&self.event, part)
        raise MemoryError(what)

    cdef int _forget_objects(self) except -1:
        """Drop the latest object names if no update has given them a slot."""
        cdef sp_key key
        self._objects_new = False
        while self._objects:
            key = sp_key_word(SP_KEY_OBJECT, <uint64_t> (len(self._objects) - 1))
            if sp_index_find(&self.learner.index, &key,
                             sp_key_hash(&self.learner.index.seed, &key)) != SP_SLOT_NULL:
                break
            self._objects.popitem()
        return 0

    cdef object _column_keys(self, names, bint learning, sp_event* columns):
        """Write the keys of named columns. They point into the list that is returned."""
        cdef sp_key key
        cdef sp_writer writer
        cdef list held = list(names)
        cdef Py_ssize_t i
        know_numpy()
        if sp_event_begin(columns, &self.learner.index, len(held), False) < 0:
            raise MemoryError("no memory for the columns")
        writer = sp_event_writer(columns)
        for i in range(len(held)):
            if not entry_key(&columns.text, <PyObject*> held[i], &key):
                held[i] = name = self._name_of(held[i], "x")
                if (<Name> name).kind == SP_KEY_OBJECT:
                    held[i] = name = self._object_name((<Name> name).plain, learning)
                if not name_key(&columns.text, name, &key):
                    raise MemoryError("no memory for the columns")
            sp_writer_add(&writer, key, 1.0)
        sp_event_end(columns, &writer)
        return held

    # What a kind of model adds: the meaning of its outputs.

    cdef list _label_list(self):
        """The labels, by the numbers of predictions. Runs no Python code."""
        raise NotImplementedError

    cdef void _put_labels(self) noexcept:
        """Name the outputs that a batch has added so far."""

    cdef int _look(self) except -1:
        cdef const char* fault = sp_learner_fault(&self.learner)
        if fault != NULL:
            raise RuntimeError(fault.decode())
        return 0
