# cython: binding=True
"""The kinds of model, and the doors of one event: predict it, learn it.

An event is checked when it is read, before anything changes; the code below the doors trusts its
arguments. ARCHITECTURE.md describes an event's journey. Only in this file are methods bound, which
Python calls faster.
"""

from copy import deepcopy
from decimal import Decimal
from numbers import Real

cimport cython
from cpython.object cimport PyObject

from streamptron.doors.gate cimport beside, gc_disable, gc_restore
from streamptron.doors.model cimport Model, largest, top_buffer
from libc.stdint cimport uint64_t
from streamptron.engine.adaptive cimport sp_alarms_bind
from streamptron.engine.linear cimport (
    SP_ANSWER_LABELS, SP_ANSWER_TWO, SP_ANSWER_SIGN, sp_rule, sp_rule_answer)
from streamptron.engine.path cimport (
    sp_answer, sp_event_probabilities, sp_learner, sp_learner_answer, sp_learner_by_label,
    sp_learner_decide, sp_learner_decision, sp_learner_expect, sp_learner_expect_outputs,
    sp_learner_labels, sp_learner_learn, sp_learner_score, sp_learner_several, sp_learner_split)

from streamptron.common.names import short_repr
from streamptron.doors.names import interned
from streamptron.common.labels import TRUTHS as _TRUTHS
from streamptron.common.labels import label_of, labels_of, truth_of

# A variable, because for a tuple in the call itself Cython 3.3 writes checks that lose an error.
cdef tuple NUMBERS = (Real, Decimal)
cdef set TRUTH_TYPES = _TRUTHS

cdef extern from "Python.h":
    void Py_SET_SIZE(object, Py_ssize_t)


cdef int _answer_of(int kind) noexcept:
    """The kind of answer that a rule gives."""
    cdef sp_rule rule
    rule.kind = kind
    return sp_rule_answer(&rule)


cdef dict by_label(list labels, list numbers):
    """{label: number}. Hashing an unusual label may run the user's code."""
    cdef Py_ssize_t k
    cdef dict found = {}
    for k in range(min(len(labels), len(numbers))):
        found[labels[k]] = numbers[k]
    return found


# --- One label per event -----------------------------------------------------------------------

cdef class OneLabelModel(Model):
    """Learns and predicts one label of each event."""

    cdef object _checked(self, y):
        """The label as it is kept, or an error."""
        raise NotImplementedError

    def _checked_label(self, y):
        return self._checked(y)

    cdef Py_ssize_t _read_labelled(self, x, label) except -1:
        """Read an event. Returns the number of its checked label; a new label gets the next one."""
        raise NotImplementedError

    cdef int _name_output(self, label) except -1:
        """After learning: give a new output this label."""
        return 0

    cdef object _label_of(self, Py_ssize_t output):
        cdef list labels = self._label_list()
        return labels[output] if 0 <= output < len(labels) else None

    cdef dict _decisions(self):
        """The score of a scored event for each label, by the vector that answers."""
        cdef const double* scores
        cdef Py_ssize_t k
        cdef list decision, labels
        cdef sp_answer answer
        answer = sp_learner_answer(&self.learner, &self.event)
        sp_learner_decide(&self.learner, &self.event)
        scores = sp_learner_decision(&self.event, answer.kind)
        collecting = gc_disable()     # a finalizer might use the scratch
        decision = [scores[k] for k in range(self.learner.table.n_outputs)]
        labels = self._label_list()
        gc_restore(collecting)
        self._settle()
        return by_label(labels, decision)

    def learn_one(self, x, y, w=1.0, undo=False):
        """Learn from one event.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        y
            The label: any hashable; a new one is added. For a Perceptron True or False, or a 1 or 0
            of any type.
        w
            The sample weight, at least 0: it scales the step.
        undo
            True: return a Step, which ``undo`` takes back.

        Raises
        ------
        TypeError, ValueError
            If x, y or w is invalid. The model has not changed then.
        MemoryError
            If memory runs out. The model has not changed then, either.
        """
        if undo is not False:
            return self._learn_undoable(x, y, w, undo)
        label = self._checked(y)
        cdef double step
        cdef Py_ssize_t output
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            step = self._step(label, w)
            output = self._read_labelled(x, label)
            if sp_learner_learn(&self.learner, &self.event, output, step) < 0:
                self._no_memory("no memory for the update; the model has not learned this event")
            self._settle()
            self._name_output(label)

    def predict_one(self, x):
        """Predict the label of one event; None before the first label.

        A Perceptron always answers: True if the decision function is above 0. None is neither a
        label nor a number: do not use it as a feature of another learner.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        cdef Py_ssize_t output
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            self._score(x)
            output = sp_learner_answer(&self.learner, &self.event).verdict.best
            self._settle()
            return self._label_of(output)

    def predict_proba_one(self, x, top=None):
        """The probability of each label seen so far; {} before the first.

        A Perceptron always knows both of its labels.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        top
            The number of labels to return, the most probable first (if equal, the one seen first).
            None: all labels, in the order in which they were seen.
        """
        cdef Py_ssize_t n
        cdef const double* p
        cdef list probabilities, labels
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            room = None if top is None else top_buffer(top, len(self._label_list()))
            self._score(x)
            n = sp_learner_labels(&self.learner)
            p = sp_event_probabilities(&self.learner, &self.event)
            collecting = gc_disable()     # a finalizer might use the scratch
            labels = self._label_list()
            if room is None:
                probabilities = [p[k] for k in range(n)]
            else:
                places = largest(p, n, room)
                probabilities = [p[k] for k in places]
                labels = [labels[k] for k in places]
            gc_restore(collecting)
            self._settle()
            return by_label(labels, probabilities)

    def decision_function_one(self, x):
        """The score of one event, by the vector that answers.

        For two labels this is one number, w.x plus the intercept. For more labels it is one number
        per label, as it always is for MulticlassPerceptron and MIRA.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        cdef double score
        cdef sp_answer answer
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            self._score(x)
            if sp_learner_by_label(&self.learner):
                return self._decisions()
            answer = sp_learner_answer(&self.learner, &self.event)
            score = sp_learner_decision(&self.event, answer.kind)[0]
            self._settle()
            return score

    def test_then_train_one(self, x, y, w=1.0):
        """Predict, then learn, in one pass: returns the prediction made before learning.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        y
            The label, as for `learn_one`.
        w
            The sample weight, at least 0.
        """
        label = self._checked(y)
        cdef double step
        cdef Py_ssize_t output
        cdef Py_ssize_t prediction
        with cython.critical_section(self, <object> beside(<PyObject*> self, <PyObject*> x)):
            step = self._step(label, w)
            output = self._read_labelled(x, label)
            if sp_learner_score(&self.learner, &self.event) < 0:
                self._no_memory("no memory for the scores")
            prediction = sp_learner_answer(&self.learner, &self.event).verdict.best
            if sp_learner_learn(&self.learner, &self.event, output, step) < 0:
                self._no_memory("no memory for the update; the model has not learned this event")
            self._settle()
            self._name_output(label)
            return self._label_of(prediction)


# --- Binary -------------------------------------------------------------------------------------

cdef class BinaryModel(OneLabelModel):
    """One output; labels are truth values."""

    cdef Model _blank(self, int kind):
        if _answer_of(kind) != SP_ANSWER_SIGN:
            raise ValueError(f"the rule {kind} is not for two labels")
        return BinaryModel.__new__(BinaryModel)

    cdef Py_ssize_t _set_labels(self, labels) except -1:
        if labels is not None:
            raise ValueError("a model for two labels keeps no list of them")
        return 1

    cdef object _checked(self, y):
        return bool(_truth_label(y))

    cdef Py_ssize_t _read_labelled(self, x, label) except -1:
        self._read(x, True)
        return label is True

    def _outputs(self, labels):
        return [int(label) for label in labels]


cdef int _truth_label(y) except -1:
    """1 or 0 for a truth value, or an error."""
    if y is True:
        return 1
    if y is False:
        return 0
    if type(y) in TRUTH_TYPES:
        if y == 1:
            return 1
        if y == 0:
            return 0
    return truth_of(y)


# --- Any labels ---------------------------------------------------------------------------------

cdef class LabelModel(OneLabelModel):
    """One output per label; labels are numbered as they appear."""

    def __cinit__(self):
        self._labels = []
        self._label_ids = {}

    cdef Model _blank(self, int kind):
        if _answer_of(kind) != SP_ANSWER_LABELS:
            raise ValueError(f"the rule {kind} is not for any labels")
        return LabelModel.__new__(LabelModel)

    cdef void _exchange(self, Model other) noexcept:
        cdef LabelModel theirs = <LabelModel> other
        self._labels, theirs._labels = theirs._labels, self._labels
        self._label_ids, theirs._label_ids = theirs._label_ids, self._label_ids
        Model._exchange(self, other)

    cdef int _check_room(self, label, Py_ssize_t n_labels) except -1:
        """Raise an error if a label may not be added after n_labels others."""
        most = self._params["max_labels"]
        if most is not None and n_labels >= most:
            raise ValueError(
                f"y={short_repr(label)} is a new label, and the model already has "
                f"max_labels={most}: leave the event out, give it an existing label, "
                "or make a model with a larger max_labels")
        return 0

    @property
    @cython.critical_section
    def labels(self):
        """The labels seen, in the order of their appearance."""
        return self._labels_kept()

    cdef list _labels_kept(self):
        return list(self._labels)

    cdef Py_ssize_t _set_labels(self, labels) except -1:
        self._labels = labels_of(labels, self._params["max_labels"], self._checked_label)
        self._label_ids = {label: i for i, label in enumerate(self._labels)}
        if self._alarms is not None:
            for i, label in enumerate(self._labels):
                self._expect_alarm(self._alarms, label, i)
        return len(self._labels)

    cdef int _expect_alarm(self, dict alarms, label, Py_ssize_t output) except -1:
        """Tell the core which label's false alarms to count; `alarms`: the model's, or None."""
        cdef Py_ssize_t alarm = -1 if alarms is None else alarms.get(label, -1)
        if alarms is not None and alarms is self._alarms:   # no hashing has reset the model
            sp_alarms_bind(&self.learner.adaptive.alarms, alarm, output)
        return 0

    cdef list _label_list(self):
        return self._labels

    def _copy_labels(self, other):
        (<LabelModel> other)._labels = list(self._labels)
        (<LabelModel> other)._label_ids = dict(self._label_ids)

    cdef object _checked(self, y):
        if type(y) is str or type(y) is int or type(y) is bool:
            return y
        if type(y) is tuple:
            for part in <tuple> y:
                if type(part) is not str and type(part) is not int:
                    break
            else:
                return y
        return label_of(y)

    cdef Py_ssize_t _read_labelled(self, x, label) except -1:
        """Read an event. Returns the number of its checked label; a new label gets the next one.

        The user's code runs when an unusual mapping is read or an unusual label is hashed, and it
        may teach this very model. So the number is looked up last, and the event is read again if
        that has touched the scratch.
        """
        cdef uint64_t n_entries
        cdef int turn
        cdef dict ids
        cdef bint true = not self._labels and is_true(label)
        for turn in range(8):
            self._known_ids()
            self._read(x, True)
            n_entries = self.gate.n_entries
            ids = self._label_ids       # held, since hashing the label may reset the model
            known = ids.get(label)
            if n_entries == self.gate.n_entries:
                if known is not None:
                    return known
                if not self._labels:
                    self._meet_first(true)
                try:
                    self._check_room(label, len(self._labels))
                    self._expect_names(1)
                except (ValueError, MemoryError):
                    self._forget_objects()
                    raise
                return len(self._labels)
        raise RuntimeError(
            f"y={short_repr(label)} uses the model whenever it is hashed; a label's __hash__ must "
            "not use the model")

    cdef void _meet_first(self, bint true) noexcept:
        """The first label is about to be learned; `true`: it equals True."""

    cdef dict _known_ids(self):
        """The number of each label: made anew if memory ran out before one was written down."""
        cdef list labels = self._labels     # held, since hashing a label may reset the model
        if len(self._label_ids) == len(labels):
            return self._label_ids
        ids = {label: i for i, label in enumerate(labels)}
        if labels is self._labels:
            self._label_ids = ids
        return self._label_ids

    cdef int _expect_names(self, Py_ssize_t n) except -1:
        """Make room in the list of labels for n more, so that appending them needs no memory.

        They are appended after the model has learned, when nothing may fail any more.
        """
        cdef list labels = self._labels
        cdef Py_ssize_t i, before = len(labels)
        try:
            for i in range(n):
                labels.append(0)            # whose references are not counted
        finally:
            Py_SET_SIZE(labels, before)
        return 0

    cdef int _name_output(self, label) except -1:
        """After learning: give the new output, if there is one, this label.

        There is none if a set of labels had no weight. The list has room (_expect_names), so the
        label gets its name even if there is no memory for its number.
        """
        cdef dict ids = self._label_ids     # held, since hashing the label may reset the model
        cdef dict alarms = self._alarms
        if sp_learner_labels(&self.learner) > len(self._labels):
            try:
                label = interned(label)
            except (MemoryError, SystemError):  # the latter if interning runs out of memory
                pass
            # the list first: hashing an odd label may teach this model another one
            output = len(self._labels)
            self._labels.append(label)
            try:
                ids[label] = output
            except MemoryError:
                pass
            self._expect_alarm(alarms, label, output)
        return 0

    @cython.critical_section
    def _add_label(self, y):
        """Make a label known before anything is learned of it."""
        self._enter(True)
        label = self._checked(y)
        if label in self._known_ids():
            raise ValueError(f"the label {short_repr(label)} occurs twice")
        self._check_room(label, len(self._labels))
        self._expect_names(1)
        if sp_learner_expect_outputs(&self.learner, self.learner.table.n_outputs + 1) < 0:
            raise MemoryError("no memory for the label")
        self.learner.version += 1
        self._name_output(label)

    def _expect_labels(self, labels):
        """Make labels known before anything is learned of them."""
        for label in labels:
            self._add_label(label)

    @cython.critical_section
    def _take_two(self, two, labels):
        """Take over, untrained, what a Perceptron, `two`, has learned, for two labels.

        The second label takes the place of True.
        """
        cdef BinaryModel other = deepcopy(two)
        cdef sp_rule rule = self.learner.rule
        cdef sp_learner untrained
        self._enter(True)
        if sp_learner_split(&other.learner, &rule) < 0:
            raise MemoryError("no memory for the labels")
        self._set_labels(labels)
        untrained = self.learner
        self.learner = other.learner
        self.learner.pairs = untrained.pairs
        other.learner = untrained
        self._objects, other._objects = other._objects, self._objects

    def _outputs(self, labels):
        ids = dict(self._known_ids())
        self._next_labels = list(self._labels)
        outputs = []
        if not self._labels and labels:
            self._meet_first(is_true(labels[0]))
        for label in map(interned, labels):
            outputs.append(ids.setdefault(label, len(self._next_labels)))
            if outputs[len(outputs) - 1] == len(self._next_labels):
                self._check_room(label, len(self._next_labels))
                self._expect_alarm(self._alarms, label, len(self._next_labels))
                self._next_labels.append(label)
        self._expect_names(len(self._next_labels) - len(self._labels))
        return outputs

    cdef int _labels_done(self) except -1:
        self._next_labels = None
        return 0

    cdef void _put_labels(self) noexcept:
        # this needs no memory, so the outputs that were learned always get their labels
        while len(self._labels) < sp_learner_labels(&self.learner):
            self._labels.append(self._next_labels[len(self._labels)])


# --- Any labels, of which two have one output ---------------------------------------------------

cdef bint is_true(label):
    """Whether a label equals True, as a dict's key would."""
    return label is True or (isinstance(label, NUMBERS) and label == 1)


cdef class PairModel(LabelModel):
    """Any labels. Two share one output, whose score is for the second, or for True."""

    cdef Model _blank(self, int kind):
        if _answer_of(kind) != SP_ANSWER_TWO:
            raise ValueError(f"the rule {kind} does not give two labels one output")
        return PairModel.__new__(PairModel)

    cdef Py_ssize_t _set_labels(self, labels) except -1:
        cdef Py_ssize_t n = LabelModel._set_labels(self, labels)
        if sp_learner_expect(&self.learner, n, 0 if n and is_true(self._labels[0]) else 1) < 0:
            raise MemoryError("no memory for the labels")
        return n if n > 2 else 1

    cdef void _meet_first(self, bint true) noexcept:
        self.learner.two.positive = 0 if true else 1

    @cython.critical_section
    def _expect_labels(self, labels):
        """Give an untrained model more than two labels, each with an output."""
        cdef Py_ssize_t n
        self._enter(True)
        n = self._set_labels(labels)
        if sp_learner_expect_outputs(&self.learner, n) < 0:
            raise MemoryError("no memory for the labels")

    @property
    @cython.critical_section
    def _split(self):
        """Whether there is an output per label."""
        return sp_learner_several(&self.learner)

    @property
    @cython.critical_section
    def _positive(self):
        """The index of the label that the score of two labels stands for."""
        return self.learner.two.positive
