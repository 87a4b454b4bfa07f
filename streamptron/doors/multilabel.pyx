"""The door of MultiLabelClassifier, whose events have sets of labels."""

from array import array
from collections.abc import Mapping, Sequence, Set

cimport cython
from libc.stdint cimport uint32_t, uint64_t
from cpython cimport array as c_array
from cpython.object cimport PyObject

from streamptron.doors._core cimport LabelModel
from streamptron.doors.gate cimport beside, gate_learn_begin, gate_learn_end, gc_disable, gc_restore
from streamptron.doors.batch cimport rows_run
from streamptron.doors.model cimport Model, largest, top_buffer
from streamptron.doors.names cimport key_plain
from streamptron.doors.rows cimport Rows, data_of
from streamptron.engine.adaptive cimport SP_U_LIMIT
from streamptron.engine.linear cimport SP_RULE_MULTILABEL
from streamptron.engine.memory cimport sp_calloc, sp_free
from streamptron.engine.path cimport (
    sp_event_probabilities, sp_learner_expect, sp_learner_labels, sp_learner_learn, sp_targets)
from streamptron.engine.multilabel cimport (
    sp_multilabel_best_threshold, sp_multilabel_set_targets, sp_multilabel_share)

from streamptron.doors.names import named
from streamptron.common.names import is_numpy, short_repr, type_shown
from streamptron.common.parameters import threshold_of


class LabelSet(dict):
    """``{label: bool}``; a label that the model has never met is absent."""

    def __missing__(self, label):
        return False


cdef class Targets:
    """Which labels an event has or does not have, checked."""


cdef object targets_again(Targets targets):
    """A tuple of labels, or {label: bool}."""
    if targets.open:
        return {label: there == 1 for label, there in zip(targets.named, targets.there)}
    return tuple(targets.named)


cdef int _truth(value, label) except -1:
    """1 or 0 for a truth value, or an error."""
    if value is True:
        return 1
    if value is False:
        return 0
    if type(value) is int or type(value) is float or is_numpy(value, "generic"):
        if value == 1:
            return 1
        if value == 0:
            return 0
    raise ValueError(
        f"y[{short_repr(label)}]={short_repr(value)}; it must be True if the event has the label, "
        "or False")


cdef class MultiLabelModel(LabelModel):
    """A set of labels for each event; one independent output per label."""

    cdef Model _blank(self, int kind):
        if kind != SP_RULE_MULTILABEL:
            raise ValueError(f"the rule {kind} is not MultiLabelClassifier's")
        return MultiLabelModel.__new__(MultiLabelModel)

    def _configure(self, int kind, **params):
        params["threshold"] = threshold_of(params["threshold"], self._checked_label)
        LabelModel._configure(self, kind, **params)

    cdef Py_ssize_t _set_labels(self, labels) except -1:
        cdef Py_ssize_t n = LabelModel._set_labels(self, labels)
        if sp_learner_expect(&self.learner, n, 0) < 0:
            raise MemoryError("no memory for the labels")
        return n

    # --- The labels of an event

    def _targets_of(self, y):
        """The labels that y names, checked; an error if y is invalid."""
        cdef Targets targets = Targets.__new__(Targets)
        targets.open = isinstance(y, Mapping)
        if targets.open:
            targets.named = [self._checked_label(label) for label in y]
            targets.there = [_truth(y[label], label) for label in y]
        elif isinstance(y, (Set, Sequence)) and not isinstance(y, (str, bytes)):
            targets.named = [self._checked_label(label) for label in y]
            if isinstance(y, Set):      # whose order differs from run to run
                targets.named.sort(key=repr)
            targets.there = [1] * len(targets.named)
        else:
            raise TypeError(
                f"y is {short_repr(y)}, {type_shown(y)}; it must be the labels of the event: "
                "a set or list of them, or {label: True or False}")
        if len(set(targets.named)) < len(targets.named):
            given = targets.named
            twice = next(label for i, label in enumerate(given) if label in given[:i])
            raise ValueError(f"y has the label {short_repr(twice)} twice")
        return targets

    def _target(self, y):
        """y as a step stores it and learn_one takes it again: a tuple of labels, or a dict."""
        return targets_again(self._targets_of(y))

    cdef list _read_targets(self, x, Targets targets):
        """Read an event that is going to be learned, and tell it its labels; those that are new.

        The user's code may run meanwhile, as in _read_labelled.
        """
        cdef uint64_t n_entries
        cdef int turn
        cdef dict ids
        cdef list named
        cdef Py_ssize_t n, n_there, i
        cdef c_array.array numbers, absent
        for turn in range(8):
            self._known_ids()
            self._read(x, True)
            n_entries = self.gate.n_entries
            ids = self._label_ids
            n = len(self._labels)
            named = []
            numbers, absent = array("I"), array("I")
            for label, there in zip(targets.named, targets.there):
                number = ids.get(label)
                if number is None:
                    number = n + len(named)
                    named.append(label)
                (numbers if there else absent).append(number)
            n_there = len(numbers)
            numbers += absent
            if n_entries != self.gate.n_entries:
                continue
            try:
                for i, label in enumerate(named):
                    self._check_room(label, n + i)
                self._expect_names(len(named))
            except (ValueError, MemoryError):
                self._forget_objects()
                raise
            if sp_multilabel_set_targets(&self.event, <const uint32_t*> numbers.data.as_uints,
                                   len(numbers), n_there, targets.open, n) < 0:
                self._no_memory("no memory for the labels; the model has not learned this event")
            return named
        raise RuntimeError(
            "y has a label that uses the model whenever it is hashed; a label's __hash__ "
            "must not use the model")

    cdef int _learn_targets(self, x, Targets targets, double step) except -1:
        """Read an event and learn it."""
        cdef list named = self._read_targets(x, targets)
        if sp_learner_learn(&self.learner, &self.event, 0, step) < 0:
            self._no_memory("no memory for the update; the model has not learned this event")
        self._settle()
        for label in named:
            self._name_output(label)
        return 0

    def _weight(self, w):
        step = self._checked_step(None, w)
        if step > SP_U_LIMIT:
            raise ValueError(f"w={short_repr(w)}; it must be at most {SP_U_LIMIT:g}")
        return step

    def learn_one(self, x, y, w=1.0, undo=False):
        """Learn from one event.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        y
            The labels of the event. A set or list has all labels of the event; all others that the
            model knows count as absent. With ``{label: bool}``, nothing is learned about labels
            that are not in it. New labels are added; an empty set teaches that all known labels are
            absent.
        w
            The sample weight, at least 0: it scales the step.
        undo
            True: return the :class:`~streamptron.Step`, which ``undo`` takes back.

        Raises
        ------
        TypeError, ValueError
            If x, y or w is invalid. The model has not changed then.
        MemoryError
            If memory runs out. The model has not changed then, either.
        """
        if undo is not False:
            return self._learn_undoable(x, y, w, undo)
        cdef Targets targets = self._targets_of(y)
        cdef double step = self._weight(w)
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            self._learn_targets(x, targets, step)

    @cython.critical_section
    def _learn_sets(self, Rows X not None, names, labels, named, ends, there, open, steps,
                    order=None):
        """Learn rows with sets of labels, as rows_run does.

        Row r names the labels labels[named[i]] for i from the end of the row before to ends[r]; it
        has those before there[r], and the others are absent. `open`: for each row, whether nothing
        is known about the labels that it does not name.
        """
        cdef Py_ssize_t r, n = len(X), first = 0
        cdef const Py_ssize_t* end = <const Py_ssize_t*> data_of(ends, n)
        cdef const Py_ssize_t* has = <const Py_ssize_t*> data_of(there, n)
        cdef const Py_ssize_t* says = <const Py_ssize_t*> data_of(open, n)
        cdef Py_ssize_t n_named = len(named)
        cdef const Py_ssize_t* number = <const Py_ssize_t*> data_of(named, n_named)
        cdef sp_targets* targets = <sp_targets*> sp_calloc(n + 1, sizeof(sp_targets))
        cdef uint32_t* numbers = <uint32_t*> sp_calloc(n_named + 1, sizeof(uint32_t))
        self._enter(True)
        gate_learn_begin(&self.gate)
        try:
            if targets == NULL or numbers == NULL:
                raise MemoryError("no memory for the labels")
            outputs = self._outputs(labels)
            for i in range(n_named):
                numbers[i] = outputs[number[i]]
            for r in range(n):
                targets[r].labels = numbers + first
                targets[r].n = <uint32_t> (end[r] - first)
                targets[r].n_there = <uint32_t> (has[r] - first)
                targets[r].open = says[r] != 0
                first = end[r]
            y = array("q", bytes(8 * n))
            return rows_run(
                self, X, names, y, steps, None, None, None, None, order, None, 1, targets)
        finally:
            gate_learn_end(&self.gate)
            sp_free(targets)
            sp_free(numbers)
            self._labels_done()

    # --- Answers

    cdef list _found(self):
        """The probabilities of the labels of a scored event."""
        cdef Py_ssize_t k
        cdef const double* p = sp_event_probabilities(&self.learner, &self.event)
        return [p[k] for k in range(self.event.n_scores)]

    cdef double _above(self, label) except -1.0:
        """The probability above which a label is answered."""
        threshold = self._params["threshold"]
        if type(threshold) is dict:
            return threshold.get(label, 0.5)
        if type(threshold) is str:
            return sp_multilabel_best_threshold(&self.learner.multilabel)
        return threshold

    def _probabilities(self, x):
        """The labels, and the probability of each, at the same moment."""
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            return self._labels_found(x, None)

    cdef tuple _labels_found(self, x, bytes room):
        """The same; with `room`, only the most probable labels."""
        cdef Py_ssize_t k, n
        cdef const double* p
        self._score(x)
        n = sp_learner_labels(&self.learner)
        p = sp_event_probabilities(&self.learner, &self.event)
        collecting = gc_disable()     # a finalizer might use the scratch
        if room is None:
            found = [p[k] for k in range(n)]
            labels = self._labels[:n]
        else:
            places = largest(p, n, room)
            found = [p[k] for k in places]
            labels = [self._labels[k] for k in places]
        gc_restore(collecting)
        self._settle()
        return labels, found

    def predict_proba_one(self, x, top=None):
        """The probability that the event has each label: ``{label: {False: ., True: .}}``.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        top
            The number of labels to return, the most probable first (if equal, the one seen first).
            None: all labels, in the order in which they were seen.
        """
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            room = None if top is None else top_buffer(top, len(self._labels))
            found = self._labels_found(x, room)
        return {label: {False: 1.0 - p, True: p} for label, p in zip(*found)}

    def predict_one(self, x):
        """Whether the event has each label, ``{label: bool}``; {} before the first label.

        The dict also answers False for labels that the model has never met.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            return self._answer(x)

    cdef object _answer(self, x):
        labels, found = self._labels_found(x, None)
        return self._answered(labels, found)

    def _labels_above(self, list found, double best):
        """The labels to answer, from the probabilities of the first ones and the best threshold."""
        threshold = self._params["threshold"]
        if type(threshold) is not dict:
            threshold = best if type(threshold) is str else threshold
            return tuple([y for y, p in zip(self._labels, found) if p > threshold])
        return tuple([y for y, p in zip(self._labels, found) if p > self._above(y)])

    def _answered(self, list labels, list found):
        cdef double above
        if type(self._params["threshold"]) is dict:
            return LabelSet([(label, p > self._above(label)) for label, p in zip(labels, found)])
        above = self._above(None)
        return LabelSet([(label, p > above) for label, p in zip(labels, found)])

    def test_then_train_one(self, x, y, w=1.0):
        """Predict, then learn: returns the prediction made before learning.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        y, w
            As for ``learn_one``.
        """
        cdef Targets targets = self._targets_of(y)
        cdef double step = self._weight(w)
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            prediction = self._answer(x)
            self._learn_targets(x, targets, step)
        return prediction

    @property
    @cython.critical_section
    def best_threshold(self):
        """The threshold that would have given recent answers the best F1."""
        self._enter(False)
        return sp_multilabel_best_threshold(&self.learner.multilabel)

    cdef int _shares(self, list parts, dict objects, double sign, Py_ssize_t output,
                     int kind) except -1:
        cdef Py_ssize_t i
        cdef double part
        parts.append((None, sp_multilabel_share(
            &self.learner.multilabel, &self.learner.table, &self.event, output, -1)))
        for i in range(self.event.n):
            part = sp_multilabel_share(
                &self.learner.multilabel, &self.learner.table, &self.event, output, i)
            if part != 0.0:
                parts.append((key_plain(&self.event.keys[i], objects), part))
        return 0
