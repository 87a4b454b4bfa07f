"""What all models have: parameters, weights by name, many rows, and their state for Python."""

from collections.abc import Mapping
from copy import deepcopy
from math import isfinite as is_finite
from sys import getsizeof
from types import SimpleNamespace

cimport cython
from libc.math cimport isfinite
from libc.string cimport memset
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject

from streamptron.doors.desk cimport DEBUG, EventDoor
from streamptron.doors.gate cimport (
    beside, gate_learn_begin, gate_learn_end, gate_read_begin, gate_read_end, gate_wait,
    gc_disable, gc_restore)
from streamptron.doors.batch cimport rows_run
from streamptron.doors.names cimport all_named, key_plain
from streamptron.doors.rows cimport Rows, looked_up
from streamptron.doors.state cimport (
    PairRule, alarms_begin, arrays_look_up, arrays_read, arrays_write, counts_set_state,
    counts_state, learner_begin)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint32_t, uint64_t
from streamptron.engine.events cimport sp_event_bytes, sp_event_free, sp_text_bytes
from streamptron.engine.linear cimport (
    SP_KEPT_CURRENT, sp_block, sp_current_alone, sp_rule, sp_rule_name, sp_serve_overall,
    sp_table_keeps, sp_top)
from streamptron.engine.memory cimport (
    SP_SLOTS_RESERVED, SP_SLOT_INTERCEPT, SP_SLOT_NULL, sp_free, sp_slot_type)
from streamptron.engine.names cimport (
    SP_KEY_OBJECT, sp_index, sp_index_free, sp_index_init, sp_index_insert, sp_index_is_limited,
    sp_index_number, sp_index_place, sp_index_rising, sp_index_stored, sp_key)
from streamptron.engine.path cimport (
    SP_CAN_DRAW, SP_CAN_MAP, SP_CAN_MARGIN, SP_CAN_MERGE, SP_CAN_PAIR, SP_CAN_SET, SP_CAN_START,
    SP_CAN_UNDO_MOVES, SP_CAN_UNDO_SNAPSHOT, SP_CAN_VOTE, SP_HAS_INTERCEPT, sp_answer, sp_learner,
    sp_learner_answer, sp_learner_begin_from, sp_learner_by_label, sp_learner_bytes, sp_learner_can,
    sp_learner_copy, sp_learner_decide, sp_learner_decision, sp_learner_free, sp_learner_init,
    sp_learner_labels, sp_learner_open, sp_learner_resolve, sp_learner_weight, sp_rule_can)
from streamptron.engine.file cimport (
    SP_FROM_FILE, SP_FROM_MAPPED, SP_FROM_PICKLE, sp_file_arrays)

from streamptron.common.names import name_plain, short_repr, type_shown
from streamptron.doors.names import damaged, interned, named
from streamptron.doors.state import Past
from streamptron.common.checks import checked_number
from streamptron.common.parameters import KEPT, class_weight_of, rates_of

cdef list TRUTH = [False, True]


cdef bytes top_buffer(top, Py_ssize_t n):
    """Room for the indices of the `top` largest of n numbers; an error if `top` is invalid."""
    if isinstance(top, bool) or not isinstance(top, int):
        raise TypeError(
            f"top={short_repr(top)}; it must be how many labels, an int of at least 1, or None")
    if top < 1:
        raise ValueError(f"top={short_repr(top)}; it must be at least 1, or None for all labels")
    return PyBytes_FromStringAndSize(NULL, min(top, n) * sizeof(uint32_t))


cdef list largest(const double* numbers, Py_ssize_t n, bytes room):
    """The indices of the largest of n numbers, as many as there is room for, in falling order."""
    cdef uint32_t* places = <uint32_t*> PyBytes_AS_STRING(room)
    cdef Py_ssize_t k, found = sp_top(numbers, n, len(room) // sizeof(uint32_t), places)
    return [places[k] for k in range(found)]


cdef object _rules():
    """The numbers of the rules by their names, for the estimators' constructors."""
    cdef int kind = 0
    rules = SimpleNamespace()
    while sp_rule_name(kind) != NULL:
        setattr(rules, sp_rule_name(kind).decode("ascii"), kind)
        kind += 1
    return rules


RULES = _rules()


# What a learner can do: only engine/machine/machine.c knows which learner can do what.
cdef dict ABILITIES = {
    "undo": SP_CAN_UNDO_MOVES | SP_CAN_UNDO_SNAPSHOT,
    "merge": SP_CAN_MERGE,
    "map": SP_CAN_MAP,
    "start": SP_CAN_START,
    "margin": SP_CAN_MARGIN,
    "pair": SP_CAN_PAIR,
    "draw": SP_CAN_DRAW,
    "vote": SP_CAN_VOTE,
    "set": SP_CAN_SET,
}


cdef class Model(EventDoor):
    """What every learner shares: the learner, its scratch, its parameters and its state."""

    def __cinit__(self):
        cdef sp_rule rule
        memset(&rule, 0, sizeof(sp_rule))
        self._params = {}
        if sp_learner_init(&self.learner, rule, &sp_current_alone, True, 0, 0, 0) < 0:
            raise MemoryError("no memory for an empty model")

    @cython.critical_section
    def _can(self, str what):
        """Whether this kind of learner can do one of ABILITIES."""
        return sp_learner_can(&self.learner, ABILITIES[what])

    def __dealloc__(self):
        PyBuffer_Release(&self._file)

    def _configure(self, int kind, **params):
        """Check and keep the parameters, and start untrained. On an error nothing changes."""
        cdef Model fresh = self._blank(kind)
        fresh._pairing = learner_begin(&fresh.learner, kind, params)
        fresh._class_weight = class_weight_of(params, self._checked_label)
        rates = rates_of(params, self._checked_label)
        fresh._params = {interned(name): interned(value) for name, value in params.items()}
        fresh._kind = kind
        if rates is not None:
            fresh._alarms = {label: i for i, label in enumerate(rates)}
            alarms_begin(&fresh.learner, list(rates.values()))
        self._become(fresh)

    cdef Model _blank(self, int kind):
        """A model of the same kind without parameters; an error if the rule does not suit it."""
        raise NotImplementedError

    @cython.critical_section
    cdef int _become(self, Model other) except -1:
        """Swap contents with a model that has no other owner, once no thread uses this one."""
        gate_wait(&self.gate, True)
        self._exchange(other)
        return 0

    cdef void _exchange(self, Model other) noexcept:
        """No Python code runs here, since the other model still holds what this one gives up."""
        cdef sp_learner learner = self.learner
        self.learner = other.learner
        other.learner = learner
        self._file, other._file = other._file, self._file
        self._arrays, other._arrays = other._arrays, self._arrays
        self._params, other._params = other._params, self._params
        self._pairing, other._pairing = other._pairing, self._pairing
        self._kind, other._kind = other._kind, self._kind
        self._class_weight, other._class_weight = other._class_weight, self._class_weight
        self._alarms, other._alarms = other._alarms, self._alarms
        self._objects, other._objects = other._objects, self._objects
        self._y_name, other._y_name = other._y_name, self._y_name
        self._past, other._past = other._past, self._past
        self._kind_mark, other._kind_mark = other._kind_mark, self._kind_mark
        self._objects_new = False
        sp_event_free(&self.event)

    @cython.critical_section
    def _param(self, str name):
        """A parameter as it was given; an AttributeError if this kind of learner lacks it."""
        if name not in self._params:
            raise AttributeError(f"{type(self).__name__} has no parameter {name}")
        return self._params[name]

    cdef double _step(self, label, w) except -1.0:
        """Sample weight times class weight."""
        cdef double step
        if PyFloat_CheckExact(w) and PyFloat_AS_DOUBLE(w) == 1.0:
            step = 1.0
        else:
            step = checked_number(w, "w", False)
            if step < 0.0:
                raise ValueError(f"w={short_repr(w)}; a sample weight must be at least 0")
        if self._class_weight is not None:
            step *= <double> self._class_weight.get(label, 1.0)
        return step

    @cython.critical_section
    def _checked_step(self, label, w):
        return self._step(label, w)

    # --- What the model holds

    @property
    @cython.critical_section
    def n_seen(self):
        """The number of labelled events seen."""
        self._enter(False)
        return self.learner.n_seen

    @property
    @cython.critical_section
    def n_updates(self):
        """The number of events that changed the weights."""
        self._enter(False)
        return self.learner.n_updates

    @property
    @cython.critical_section
    def n_mistakes(self):
        """The number of events that the current weights got wrong before learning them."""
        self._enter(False)
        return self.learner.n_mistakes

    @property
    @cython.critical_section
    def n_features(self):
        """The number of features with weights (with hash_bits: slots with a nonzero weight)."""
        cdef sp_slot_type slot
        cdef Py_ssize_t output
        cdef size_t n = 0
        self._enter(False)
        if not self.learner.index.bits:
            return self.learner.index.n_slots - SP_SLOTS_RESERVED
        for slot in range(SP_SLOTS_RESERVED, self.learner.index.n_slots):
            for output in range(self.learner.table.n_outputs):
                if sp_learner_weight(&self.learner, sp_index_place(&self.learner.index, slot),
                                     output, SP_KEPT_CURRENT) != 0.0:
                    n += 1
                    break
        return n

    @property
    @cython.critical_section
    def n_evicted(self):
        """The number of features that were evicted (see max_features)."""
        self._enter(False)
        return self.learner.ceiling.n_evicted

    @property
    @cython.critical_section
    def serving(self):
        """The kept vector that has made the fewest mistakes lately, or the one that `serve` names.

        With serve="best" another may answer an event on which it is more confident.
        """
        self._enter(False)
        return KEPT[sp_serve_overall(&self.learner.serve)]

    @property
    def memory_usage(self):
        """The bytes that the model uses, with its scratch memory and names that are objects."""
        names = 0
        with cython.critical_section(self):
            objects = self._objects
        if objects:
            names = getsizeof(objects) + sum(map(getsizeof, list(objects)))
        return self.__sizeof__() + names

    @cython.critical_section
    def __sizeof__(self):
        self._enter(False)
        return (object.__sizeof__(self) + sp_learner_bytes(&self.learner)
                + sp_event_bytes(&self.event) + sp_text_bytes(&self.text))

    @cython.critical_section
    def _check(self):
        """Check everything in the core, for the tests: RuntimeError if something is wrong."""
        self._enter(False)
        self._look()

    @cython.critical_section
    def _growth(self):
        """For the tests: the arrays that grow with the features, {name: (length, in the next)}."""
        cdef sp_block* block = self.learner.table.blocks
        cdef sp_index* index = &self.learner.index
        found = {"runs": (index.tags.of_runs.capacity, index.tags.of_runs.copied),
                 "keys": (index.of_keys.capacity, index.of_keys.copied)}
        if self.learner.table.n_blocks:
            found["chunks"] = block.of_chunks.capacity, block.of_chunks.copied
            found["folds"] = block.of_folds.capacity, block.of_folds.copied
        return found

    def _kept(self, str kind):
        """The number of a kept vector; an error if it is not kept, else no Python code runs."""
        cdef int number = KEPT.index(kind)
        if not sp_table_keeps(&self.learner.table, number):
            need = "average='uniform' or 'exponential'" if kind == "average" else "pocket=True"
            if kind not in self._params:
                raise AttributeError(f"{type(self).__name__} keeps no {kind}")
            raise ValueError(f"this model keeps no {kind}; construct it with {need}")
        return number

    cdef Py_ssize_t _outputs_of(self, labels, Py_ssize_t output, Py_ssize_t* first) except -1:
        """The outputs first .. last - 1 of a label, or of all (-1). Returns last, or raises."""
        cdef Py_ssize_t n = 1
        if labels is not None and sp_learner_by_label(&self.learner):
            n = min(<Py_ssize_t> len(labels), self.learner.table.n_outputs)
        first[0] = max(output, 0)
        if output >= n:
            raise RuntimeError(
                "the model was reset during the call, and no longer knows the label; call again")
        return n if output < 0 else output + 1

    @cython.critical_section
    def _weights(self, str kind, Py_ssize_t output=-1):
        """The labels, and {feature: weight} of one kept vector for one output or all.

        Weights of 0 are left out.
        """
        cdef sp_slot_type slot, i
        cdef sp_slot_type* rising = NULL
        cdef Py_ssize_t first, last
        cdef double weight
        cdef sp_key key
        cdef int number
        cdef dict objects
        cdef bint hashed
        outputs = []
        self._enter(False)
        # No Python code may run until all is read, not even finalizers: it might use the model.
        collecting = gc_disable()
        try:
            number = self._kept(kind)
            labels = self._labels_kept()
            last = self._outputs_of(labels, output, &first)
            hashed = self.learner.index.bits != 0
            objects = {ordinal: name for name, ordinal in self._objects.items()}
            rising = sp_index_rising(&self.learner.index)
            if rising == NULL:
                raise MemoryError("no memory for the weights")
            for output in range(first, last):
                names, weights = [], []
                for i in range(SP_SLOTS_RESERVED, self.learner.index.n_slots):
                    slot = rising[i]
                    weight = sp_learner_weight(
                        &self.learner, sp_index_place(&self.learner.index, slot), output, number)
                    if weight != 0.0:
                        if not isfinite(weight):
                            raise damaged("a weight is not finite")
                        if not hashed:
                            key = sp_index_stored(&self.learner.index, slot)
                        names.append(
                            sp_index_number(&self.learner.index, slot) - SP_SLOTS_RESERVED
                            if hashed else key_plain(&key, objects))
                        weights.append(weight)
                outputs.append((names, weights))
        finally:
            sp_free(rising)
            gc_restore(collecting)
        return labels, [dict(zip(all_named(names), weights)) for names, weights in outputs]

    @cython.critical_section
    def _intercepts(self, str kind, Py_ssize_t output=-1):
        """The labels, and the intercept of one kept vector for one output or for all."""
        cdef Py_ssize_t first, last
        cdef int number
        self._enter(False)
        collecting = gc_disable()
        try:
            number = self._kept(kind)
            labels = self._labels_kept()
            last = self._outputs_of(labels, output, &first)
            intercepts = [sp_learner_weight(&self.learner, SP_SLOT_INTERCEPT, output, number)
                          for output in range(first, last)]
        finally:
            gc_restore(collecting)
        if not all(map(is_finite, intercepts)):
            raise damaged("an intercept is not finite")
        return labels, intercepts

    def _set_weights(self, weights, intercept, Py_ssize_t output):
        """Put weights into an untrained model, whose kept vectors all start from them."""
        cdef Py_ssize_t i, n_new = 0
        if not isinstance(weights, Mapping):
            raise TypeError(
                f"weights is {short_repr(weights)}, {type_shown(weights)}; it must be a dict of "
                "feature to weight")
        if isinstance(intercept, bool):
            raise TypeError(f"intercept={short_repr(intercept)}; give a number to start from")
        bias = checked_number(intercept, "intercept")
        if bias != 0.0 and not self.learner.intercept:
            raise ValueError(f"intercept={short_repr(intercept)}; this model has intercept=False")
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> weights)):
            self._read_items(weights, True, "weights")
            sp_learner_resolve(&self.learner, &self.event)
            for i in range(self.learner.intercept, self.event.n):
                n_new += self.event.slots[i] == SP_SLOT_NULL
            if n_new > self.learner.index.max_slots - self.learner.index.n_slots:
                raise ValueError(
                    f"weights has {n_new} features more than the model, which has "
                    f"max_features={self._params['max_features']}; raise that, or leave out the "
                    "smallest weights")
            if self.learner.index.bits and sp_learner_open(&self.learner, &self.event) < 0:
                raise MemoryError("no memory for the weights")
            for i in range(self.learner.intercept, self.event.n):
                if self.event.slots[i] == SP_SLOT_NULL:
                    self.event.slots[i] = sp_index_insert(
                        &self.learner.index, &self.event.keys[i], self.event.hashes[i])
                    if self.event.slots[i] == SP_SLOT_NULL:
                        raise MemoryError("no memory for the weights")
            if sp_learner_begin_from(&self.learner, &self.event, output, bias) < 0:
                raise MemoryError("no memory for the weights")
            self._settle()
            self.learner.version += 1

    def _explain(self, x, Py_ssize_t output, double sign):
        """Contributions to one output's score, the score, its vector, and the predicted label."""
        cdef sp_answer answer
        cdef list labels, parts = []
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            self._score(x)
            # as in _weights
            collecting = gc_disable()
            try:
                answer = sp_learner_answer(&self.learner, &self.event)
                labels = self._label_list()
                best = answer.verdict.best
                if output < 0:
                    output = best
                if not 0 <= output < self.learner.table.n_outputs:
                    raise RuntimeError(
                        "the model was reset during the call, and no longer knows the label; ask "
                        "again")
                sp_learner_decide(&self.learner, &self.event)
                score = sign * sp_learner_decision(&self.event, answer.kind)[output]
                label = labels[best] if 0 <= best < len(labels) else None
                objects = {ordinal: name for name, ordinal in self._objects.items()}
                self._shares(parts, objects, sign, output, answer.kind)
            finally:
                gc_restore(collecting)
            self._settle()
        return [(named(plain), part) for plain, part in parts], score, KEPT[answer.kind], label

    cdef int _shares(self, list parts, dict objects, double sign, Py_ssize_t output,
                     int kind) except -1:
        """Note what each entry of the event contributes. No Python code runs here."""
        cdef Py_ssize_t i
        cdef double part
        for i in range(self.event.n):
            part = sign * self.event.values[i] * sp_learner_weight(
                &self.learner, self.event.slots[i], output, kind)
            if self.event.slots[i] == SP_SLOT_INTERCEPT:
                parts.append((None, part))
            elif part != 0.0:
                parts.append((key_plain(&self.event.keys[i], objects), part))

    # --- Many rows

    @cython.critical_section
    def _predict_rows(self, Rows X not None, names, predictions, decisions, probabilities,
                      confidences=None, order=None, Py_ssize_t n_jobs=1):
        """Predict rows, as rows_run does."""
        return rows_run(self, X, names, None, None, predictions, decisions, probabilities,
                        confidences, order, None, n_jobs)

    @cython.critical_section
    def _learn_rows(self, Rows X not None, names, labels, numbers, steps, predictions,
                    confidences=None, order=None):
        """Learn rows, as rows_run does.

        Row r has the label labels[numbers[r]], or none if its number is below 0.
        """
        self._enter(True)
        gate_learn_begin(&self.gate)
        try:
            outputs = self._outputs(labels)
            y = numbers if outputs == list(range(len(outputs))) else looked_up(
                outputs, numbers, len(X))
            return rows_run(self, X, names, y, steps, predictions, None, None, confidences, order)
        finally:
            gate_learn_end(&self.gate)
            self._labels_done()

    # --- State: what pickle, copy and deepcopy keep. The same model always gives the same bytes.

    def __getstate__(self):
        cdef Model other = self
        if self.learner.table.borrowed:
            other = self._in_memory()
        state, arrays = other._file_state(True)
        return {"format": 1, "kind": other._kind, "dict": dict(getattr(self, "__dict__", {})),
                **state, "arrays": arrays}

    def __setstate__(self, state):
        """Become the model that a state describes. On an error nothing changes."""
        cdef Model other
        if state["format"] != 1:
            raise ValueError(
                f"a model pickled in format {state['format']} cannot be read by this version")
        attributes = dict(state["dict"])
        own = self.__dict__ if attributes else None
        other = self._blank(state["kind"])
        other._configure(state["kind"], **state["params"])
        for name, (_, data) in state["arrays"].items():
            if type(data) is not bytes:
                raise TypeError(f"the array {name} of a model's state is not bytes")
        other._set_file_state(state, state["arrays"], None, True)
        self._become(other)
        if attributes:
            own.update(attributes)

    def __deepcopy__(self, memo):
        cdef Model other
        if self.learner.table.borrowed:
            memo[id(self)] = other = self._in_memory()
            if getattr(self, "__dict__", None):
                other.__dict__.update(deepcopy(self.__dict__, memo))
            return other
        other = type(self).__new__(type(self))
        memo[id(self)] = other
        sp_learner_free(&other.learner)
        self._copy_into(other)
        if getattr(self, "__dict__", None):
            other.__dict__.update(deepcopy(self.__dict__, memo))
        if DEBUG:
            other._look()
        return other

    @cython.critical_section
    cdef int _copy_into(self, Model other) except -1:
        """Become the content of a new model that has no other owner."""
        self._enter(False)
        collecting = gc_disable()     # a finalizer might change the model during the copy
        try:
            if sp_learner_copy(&other.learner, &self.learner) < 0:
                raise MemoryError("no memory for a copy of the model")
            self._copy_labels(other)
            other._params = self._params    # which never change
            other._pairing = self._pairing
            other._kind = self._kind
            other._class_weight = self._class_weight
            other._alarms = self._alarms
            other._y_name = self._y_name
            other._past = None if self._past is None else self._past.ended(self.learner.n_seen)
            other._objects = dict(self._objects)
        finally:
            gc_restore(collecting)
        return 0

    # --- What kinds of models do differently

    def _checked_label(self, y):
        """A label as it is kept, or an error."""
        raise NotImplementedError

    def _outputs(self, labels):
        """The numbers of checked labels, for _run; new ones are numbered in order of appearance."""
        raise NotImplementedError

    cdef void _put_labels(self) noexcept:
        """Give labels to the outputs that a batch has added so far, as _outputs has prepared."""

    cdef int _labels_done(self) except -1:
        """The batch is over, whether or not it succeeded."""
        return 0

    cdef list _label_list(self):
        """The labels of outputs, as predictions number them. No Python code runs here."""
        return TRUTH

    def _copy_labels(self, other):
        """Give a copy of the model the labels."""

    @cython.critical_section
    def _get_labels(self):
        """The labels that a model file keeps; None: they are truth values."""
        return self._labels_kept()

    cdef list _labels_kept(self):
        """The same, within the model's critical section."""
        return None

    @cython.critical_section
    def _n_objects(self):
        """The number of labels, and of feature names that are objects."""
        return len(self._label_list()), len(self._objects)

    @cython.critical_section
    def _objects_held(self):
        """The labels, and the feature names that are objects."""
        return list(self._label_list()), list(self._objects)

    cdef Py_ssize_t _set_labels(self, labels) except -1:
        """Give an untrained model the labels of _get_labels. Returns the number of its outputs."""
        raise NotImplementedError

    cdef int _empty_index(self, uint64_t seed) except -1:
        """Start with an empty index of the same kind, with another seed."""
        cdef int bits = self.learner.index.bits
        cdef sp_slot_type most = (self.learner.index.max_slots - SP_SLOTS_RESERVED
                                  if sp_index_is_limited(&self.learner.index) else 0)
        sp_index_free(&self.learner.index)
        if sp_index_init(&self.learner.index, bits, seed, most) < 0:
            raise MemoryError("no memory for the model's index")
        return 0

    @cython.critical_section
    def _file_state(self, bint pickled=False):
        """The state for a model file or a pickle: plain values (and, for a file, a Past), and
        ``{name: (shape, buffer)}``.

        Other threads can predict during the call. Learning waits while names and weights are
        copied.
        """
        cdef sp_file_arrays laid
        gate_read_begin(&self.gate)
        collecting = gc_disable()     # a finalizer might teach this model, and wait for itself
        try:
            state = {
                "params": self._params,
                "seed": self.learner.index.seed_number,
                "labels": self._labels_kept(),
                "outputs": self.learner.table.n_outputs,
                "objects": list(self._objects),
                "y_name": interned(self._y_name),
                **counts_state(&self.learner),
            }
            if self._past is not None:
                past = self._past.ended(self.learner.n_seen)
                state["past"] = past.state() if pickled else past
            if state["labels"] is not None and (
                    len(state["labels"]) != sp_learner_labels(&self.learner)):
                raise RuntimeError(
                    "a label is being added to the model; save or pickle it after learn_one has "
                    "returned")
            if self.learner.table.borrowed:
                return state, self._arrays
            arrays = arrays_write(&self.learner, &laid, not pickled)
        finally:
            gate_read_end(&self.gate)
            gc_restore(collecting)
        arrays_look_up(&laid, SP_FROM_PICKLE if pickled else SP_FROM_FILE)
        return state, arrays

    def _set_file_state(self, state, arrays, whole=None, bint pickled=False):
        """Give an untrained model the state that _file_state returned. All of it is checked.

        `whole`: the buffer of the arrays, to use them in place; then the model is read-only.
        `pickled`: names may be nested deeper, and the lookup may be missing. After an error the
        model cannot be used.
        """
        cdef Py_ssize_t n_outputs
        cdef size_t n_objects
        cdef uint64_t seed = state["seed"]
        given = self._params["hash_seed"]
        if given is not None and given != seed:
            raise ValueError("the hash's seed is not the parameter's")
        n_outputs = self._set_labels(state["labels"])
        if state.get("outputs", n_outputs) != n_outputs:    # a file only has the number of labels
            raise ValueError(
                f"there are {n_outputs} labels for {short_repr(state['outputs'])} outputs")
        n_objects = len(state["objects"])
        self._objects = {name: ordinal for ordinal, name in enumerate(state["objects"])}
        if len(self._objects) != <Py_ssize_t> n_objects:
            raise ValueError("a feature name occurs twice")
        if any([name_plain(name)[0] != SP_KEY_OBJECT for name in self._objects]):
            raise ValueError("a feature name is stored as the wrong kind")
        self._y_name = interned(state["y_name"])
        self._empty_index(seed)
        counts_set_state(&self.learner, state)
        if "past" in state:
            past = state["past"]
            self._past = past if type(past) is Past else Past.of(past, self.learner.n_seen)
        if whole is not None:
            PyObject_GetBuffer(whole, &self._file, PyBUF_SIMPLE)
            self._arrays = dict(arrays)
        arrays_read(
            &self.learner, {name: array for name, array in arrays.items() if name != "crc32"},
            n_outputs, n_objects,
            SP_FROM_PICKLE if pickled else SP_FROM_FILE if whole is None else SP_FROM_MAPPED)
        if DEBUG:
            self._look()

    def _in_memory(self):
        """A copy, in memory, of a model used in place in a file. The copy can learn."""
        cdef Model other = type(self).__new__(type(self))
        state, arrays = self._file_state()
        other._configure(self._kind, **state["params"])
        try:
            other._set_file_state(state, arrays)
        except ValueError as error:     # the arrays have not been checked before
            raise damaged(error) from None
        return other
