"""The door of AdaptiveClassifier: what it answers in a way of its own, and its state."""

from array import array

from libc.math cimport sqrt
from libc.stdint cimport uint32_t
from libc.string cimport memset
from cpython cimport array as c_array
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

from streamptron._core cimport LabelModel, PairModel, is_true
from streamptron.doors.model cimport Model
from streamptron.doors.names cimport key_plain
from streamptron.doors.rows cimport Rows
from streamptron.doors.state cimport array_of, array_start
from streamptron.engine.adaptive cimport (
    SP_FORMER_MEMORY, SP_U_LIMIT, sp_adaptive, sp_adaptive_spread, sp_columns, sp_former,
    sp_former_free, sp_former_measure, sp_former_once, sp_former_write, sp_weighed,
    sp_weighed_entry, sp_weighed_of, sp_weighed_slots)
from streamptron.engine.file cimport sp_chunks_renumber
from streamptron.engine.linear cimport SP_RULE_ADAPTIVE
from streamptron.engine.names cimport sp_index_stored, sp_key
from streamptron.engine.path cimport sp_learner_shares
from streamptron.engine.sets cimport SP_MARKS_WIDTH
from streamptron.engine.whole cimport SP_FLAT_DEPTH

from streamptron.doors.names import named
from streamptron.estimator.labels import labels_learned
from streamptron.estimator.names import shown


cdef extern from "Python.h":
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept


cdef tuple _renumbered(chunks):
    """The list of chunks of a model of before there were columns, as it is numbered now."""
    shape, data = chunks
    cdef c_array.array numbers = array("I", bytes(data))
    sp_chunks_renumber(<uint32_t*> numbers.data.as_uints, len(numbers) // 3)
    return shape, numbers.tobytes()


cdef tuple _once_of_rows(once, size_t n_labels):
    """What was kept once with a weight of naive Bayes for each label, as it is kept now."""
    from streamptron.estimator.once import earlier_numbers, state_of
    cdef c_array.array numbers = array("d", earlier_numbers(once, n_labels))
    cdef size_t n_more = len(numbers) - (5 + 5 * n_labels)
    cdef c_array.array now = array("d", bytes(8 * (7 + 3 * n_labels + n_more)))
    sp_former_once(numbers.data.as_doubles, n_labels, n_more, now.data.as_doubles)
    return state_of(now.tolist(), (3, n_labels, 3, 4, n_more))


cdef dict _arrays_of_rows(dict arrays, Py_ssize_t n_labels, int positive):
    """Arrays that have numbers of every label for every feature, as they are now."""
    cdef sp_former former
    cdef size_t n
    cdef double* weights
    cdef uint32_t* chunks
    cdef uint32_t* marks
    cdef int fault
    memset(&former, 0, sizeof(former))
    former.n_labels = n_labels
    former.positive = positive
    former.weights = <const double*> array_start(arrays["weights"], 4, 8, &former.n_weights)
    former.chunks = <const uint32_t*> array_start(arrays["chunks"], 3, 4, &former.n_chunks)
    if "rows" in arrays:
        former.rows = <const uint32_t*> array_start(arrays["rows"], 0, 4, &former.n_rows)
    else:
        array_start(arrays["keys"], 2, 8, &former.n_slots)
    try:
        with nogil:
            fault = sp_former_measure(&former)
        if fault == SP_FORMER_MEMORY:
            raise MemoryError("no memory for the model")
        if fault:
            raise ValueError("the list of chunks does not fit the weights")
        now = {
            **arrays,
            "weights": array_of(<void**> &weights, former.new_weights, 4, 8),
            "chunks": array_of(<void**> &chunks, former.new_chunks, 3, 4),
            "marks": array_of(<void**> &marks, former.new_marks, SP_MARKS_WIDTH, 4),
        }
        with nogil:
            sp_former_write(&former, weights, chunks, marks)
        return now
    finally:
        sp_former_free(&former)


cdef class AdaptiveModel(PairModel):
    """Any labels; up to two have one output, for the second of them or for what equals True."""

    cdef Model _blank(self, int kind):
        if kind != SP_RULE_ADAPTIVE:
            raise ValueError(f"the rule {kind} is not AdaptiveClassifier's")
        return AdaptiveModel.__new__(AdaptiveModel)

    cdef void _meet_first(self, bint true) noexcept:
        PairModel._meet_first(self, true)
        self.learner.adaptive.positive = self.learner.two.positive

    cdef double _step(self, label, w) except -1.0:
        cdef double step = LabelModel._step(self, label, w)
        if step > SP_U_LIMIT:
            raise ValueError(
                f"w={shown(w)} times the class weight of {shown(label)} is {step:g}; it must be at "
                f"most {SP_U_LIMIT:g}")
        return step

    def _set_file_state(self, state, arrays, whole=None, int depth=SP_FLAT_DEPTH):
        """As every model; but blocks of before there were columns have other numbers now."""
        given = arrays
        earlier = len(state.get("adaptive", state)) < 6
        if earlier:
            arrays = {**arrays, "chunks": _renumbered(arrays["chunks"])}
        labels = state["labels"]
        if "adaptive" in state and len(labels) > 2:
            state = {**state, "many": _once_of_rows(state["adaptive"], len(labels))}
            arrays = _arrays_of_rows(arrays, len(labels), 0 if is_true(labels[0]) else 1)
        LabelModel._set_file_state(self, state, arrays, whole, depth)
        if earlier and whole is not None:
            self._earlier = True
            self._arrays = dict(given)

    def _columns(self):
        """{name: (mean, standard deviation)} of each column of numbers, of an exact model."""
        cdef sp_columns* columns = &self.learner.adaptive.columns
        cdef Py_ssize_t i
        cdef double mean, variance
        cdef sp_key key
        found = []
        self._enter(False)
        # No Python code may run until all is read, not even finalizers: it might use the model.
        collecting = PyGC_Disable()
        try:
            objects = {ordinal: name for name, ordinal in self._objects.items()}
            for i in range(columns.n):
                key = sp_index_stored(&self.learner.index, columns.slots[i])
                sp_adaptive_spread(&self.learner.table, columns.slots[i], &mean, &variance)
                found.append((key_plain(&key, objects), mean, sqrt(variance)))
        finally:
            if collecting:
                PyGC_Enable()
        return {named(name): (mean, deviation) for name, mean, deviation in found}

    def _once_state(self):
        state = PairModel._once_state(self)
        if self._earlier:
            once = state["adaptive"]
            state["adaptive"] = *once[:4], *once[6:]
        return state

    def _learn_rows(self, Rows X not None, names, labels, numbers, steps, predictions,
                    confidences=None, order=None):
        """As every model; but events of weight 0 make no label known: the others give the order."""
        labels, numbers = labels_learned(labels, numbers, steps, order, SP_U_LIMIT)
        return LabelModel._learn_rows(self, X, names, labels, numbers, steps, predictions,
                                      confidences, order)

    cdef int _shares(self, list parts, dict objects, double sign, Py_ssize_t output,
                     int kind) except -1:
        cdef sp_adaptive* a = &self.learner.adaptive
        cdef sp_weighed* w = sp_weighed_of(&self.event)
        cdef Py_ssize_t i, entry
        cdef double part, always
        cdef sp_key key
        shares = PyBytes_FromStringAndSize(NULL, 8 * (w.n_unbent + 1))
        cdef const double *share = <const double*> PyBytes_AS_STRING(shares)
        sp_learner_shares(&self.learner, &self.event, output, kind, <double*> share)
        always = sign * share[w.n_unbent]
        features = []
        for i in range(w.n_unbent):
            part = sign * share[i]
            entry = sp_weighed_entry(w, i)
            if entry >= 0:
                key = self.event.keys[entry]
            elif self.learner.index.bits:   # a column that the event lacks, whose name is not kept
                always += part
                continue
            else:
                key = sp_index_stored(&self.learner.index, sp_weighed_slots(w, &self.event)[i])
            if part != 0.0:
                features.append((key_plain(&key, objects), part))
        if a.intercept or a.naive_bayes or always != 0.0:
            parts.append((None, always))
        parts.extend(features)
