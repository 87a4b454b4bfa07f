"""The door of AdaptiveClassifier: what it answers in a way of its own, and its state."""

from array import array

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport fabs, sqrt

from streamptron._core cimport LabelModel, PairModel
from streamptron.doors.model cimport Model
from streamptron.doors.names cimport key_plain
from streamptron.doors.rows cimport Rows
from streamptron.engine.adaptive cimport (
    SP_DRIFT_NUMBERS, SP_G_TAU_MOST, SP_TAU_LEAST, SP_TAU_MOST, SP_U_LIMIT, sp_adaptive,
    sp_adaptive_spread, sp_columns, sp_drift_is_sound, sp_drift_read, sp_drift_write, sp_weighed,
    sp_weighed_entry, sp_weighed_of, sp_weighed_slots)
from streamptron.engine.api cimport (
    sp_adaptive_set_count, sp_adaptive_shares, sp_index_stored)
from streamptron.engine.linear cimport SP_RULE_ADAPTIVE
from streamptron.engine.memory cimport SP_VALUE_LIMIT
from streamptron.engine.names cimport sp_key
from streamptron.engine.whole cimport SP_FLAT_DEPTH

from streamptron.doors.names import named
from streamptron.estimator.names import shown


cdef extern from "Python.h":
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept


cdef tuple _renumbered(chunks):
    """The list of chunks of a model of before there were columns, whose blocks lie between."""
    shape, data = chunks
    numbers = array("I", bytes(data))
    for i in range(0, len(numbers), 3):
        if numbers[i]:
            numbers[i] = 3 + (numbers[i] - 1) // 3 * 4 + (numbers[i] - 1) % 3
    return shape, numbers.tobytes()


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
        earlier = len(state["adaptive"]) < 6
        if earlier:
            arrays = {**arrays, "chunks": _renumbered(arrays["chunks"])}
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
        once = self._once_now()
        return {"adaptive": (*once[:4], *once[6:]) if self._earlier else once}

    cdef tuple _once_now(self):
        cdef sp_adaptive* a = &self.learner.adaptive
        cdef Py_ssize_t k
        cdef double drift[SP_DRIFT_NUMBERS]
        sp_drift_read(&a.drift, drift)
        watch = (tuple([number for number in drift]),) if a.watches else ()
        return (a.T, a.m, a.nm, tuple([
            (a.D[k], a.w0[k], a.G0[k], a.wn[k], a.Gn[k])
            for k in range(max(a.n_labels, <Py_ssize_t> 2))]), a.tau, a.Gtau, *watch)

    def _set_once_state(self, state):
        cdef sp_adaptive* a = &self.learner.adaptive
        cdef Py_ssize_t k
        cdef double D
        cdef double drift[SP_DRIFT_NUMBERS]
        a.T, a.m, a.nm, outputs, *watch = state["adaptive"]
        a.tau = a.Gtau = 1.0        # models of before tau have none
        if len(watch) > 1:
            a.tau, a.Gtau, *watch = watch
        if len(watch) != a.watches:
            raise ValueError("what is kept of all events does not fit the learner's forget")
        for numbers in watch:
            if len(numbers) != SP_DRIFT_NUMBERS:
                raise ValueError("what is kept of recent answers is invalid")
            for k in range(SP_DRIFT_NUMBERS):
                drift[k] = numbers[k]
            if not sp_drift_is_sound(drift):
                raise ValueError("what is kept of recent answers is invalid")
            sp_drift_write(&a.drift, drift)
        if len(outputs) != max(a.n_labels, <Py_ssize_t> 2):
            raise ValueError("what is kept for each label does not fit the labels")
        for k in range(len(outputs)):
            D, a.w0[k], a.G0[k], a.wn[k], a.Gn[k] = outputs[k]
            if not (0.0 <= D <= SP_VALUE_LIMIT and fabs(a.w0[k]) <= SP_VALUE_LIMIT
                    and 0.0 <= a.G0[k] <= SP_VALUE_LIMIT and fabs(a.wn[k]) <= SP_VALUE_LIMIT
                    and 0.0 <= a.Gn[k] <= SP_VALUE_LIMIT):
                raise ValueError("what is kept for a label is invalid")
            sp_adaptive_set_count(a, k, D)
        if not (0.0 <= a.T <= SP_VALUE_LIMIT and 0.0 <= a.m <= SP_VALUE_LIMIT
                and 0.0 <= a.nm <= 1024.0 and SP_TAU_LEAST <= a.tau <= SP_TAU_MOST
                and 1.0 <= a.Gtau <= SP_G_TAU_MOST):
            raise ValueError("what is kept of all events is invalid")

    def _learn_rows(self, Rows X not None, names, labels, numbers, steps, predictions,
                    confidences=None, order=None):
        """As every model; but events of weight 0 make no label known: the others give the order."""
        if steps is not None and len(steps) and not steps.max() <= SP_U_LIMIT:
            row = int(steps.argmax())
            raise ValueError(
                f"w times the class weight is {steps[row]:g} in row {row}; it must be at most "
                f"{SP_U_LIMIT:g}")
        if steps is not None and len(steps) and not steps.all():
            import numpy as np

            numbers = np.asarray(numbers)
            taken = np.where(steps > 0, numbers, -1)
            if order is not None:
                taken = taken[order]
            met, firsts = np.unique(taken[taken >= 0], return_index=True)
            ranked = met[np.argsort(firsts)].tolist()
            ranked += sorted(set(range(len(labels))).difference(ranked))
            places = np.empty(len(labels), dtype=np.intp)
            places[ranked] = np.arange(len(labels))
            numbers = np.where(numbers >= 0, places[numbers], -1)
            labels = [labels[number] for number in ranked]
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
        sp_adaptive_shares(&self.learner, &self.event, output, <double*> share)
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
