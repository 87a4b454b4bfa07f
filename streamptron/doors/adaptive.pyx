"""The door of AdaptiveClassifier: what it answers in a way of its own, and its state."""

from libc.math cimport fabs

from streamptron._core cimport LabelModel, PairModel
from streamptron.doors.model cimport Model
from streamptron.doors.names cimport key_plain
from streamptron.doors.rows cimport Rows
from streamptron.engine.adaptive cimport U_LIMIT, Adaptive
from streamptron.engine.api cimport adaptive_set_count, adaptive_share
from streamptron.engine.rule cimport RULE_ADAPTIVE
from streamptron.engine.types cimport VALUE_LIMIT as LIMIT

from streamptron.estimator.names import shown


cdef class AdaptiveModel(PairModel):
    """Any labels; up to two have one output, for the second of them or for what equals True."""

    cdef Model _blank(self, int kind):
        if kind != RULE_ADAPTIVE:
            raise ValueError(f"the rule {kind} is not AdaptiveClassifier's")
        return AdaptiveModel.__new__(AdaptiveModel)

    cdef void _meet_first(self, bint true) noexcept:
        PairModel._meet_first(self, true)
        self.learner.adaptive.positive = self.learner.two.positive

    cdef double _step(self, label, w) except -1.0:
        cdef double step = LabelModel._step(self, label, w)
        if step > U_LIMIT:
            raise ValueError(
                f"w={shown(w)} times the class weight of {shown(label)} is {step:g}; it must be at "
                f"most {U_LIMIT:g}")
        return step

    def _once_state(self):
        cdef Adaptive* a = &self.learner.adaptive
        return {"adaptive": (a.T, a.m, a.nm, tuple([
            (a.D[k], a.w0[k], a.G0[k], a.wn[k], a.Gn[k])
            for k in range(max(a.n_labels, <Py_ssize_t> 2))]))}

    def _set_once_state(self, state):
        cdef Adaptive* a = &self.learner.adaptive
        cdef Py_ssize_t k
        cdef double D
        a.T, a.m, a.nm, outputs = state["adaptive"]
        if len(outputs) != max(a.n_labels, <Py_ssize_t> 2):
            raise ValueError("what is kept for each label does not fit the labels")
        for k in range(len(outputs)):
            D, a.w0[k], a.G0[k], a.wn[k], a.Gn[k] = outputs[k]
            if not (0.0 <= D <= LIMIT and fabs(a.w0[k]) <= LIMIT and 0.0 <= a.G0[k] <= LIMIT
                    and fabs(a.wn[k]) <= LIMIT and 0.0 <= a.Gn[k] <= LIMIT):
                raise ValueError("what is kept for a label is invalid")
            adaptive_set_count(a, k, D)
        if not (0.0 <= a.T <= LIMIT and 0.0 <= a.m <= LIMIT and 0.0 <= a.nm <= 1024.0):
            raise ValueError("what is kept of all events is invalid")

    def _learn_rows(self, Rows X not None, names, labels, numbers, steps, predictions,
                    confidences=None, order=None):
        """As every model; but events of weight 0 make no label known: the others give the order."""
        if steps is not None and len(steps) and not steps.max() <= U_LIMIT:
            row = int(steps.argmax())
            raise ValueError(
                f"w times the class weight is {steps[row]:g} in row {row}; it must be at most "
                f"{U_LIMIT:g}")
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
        cdef Adaptive* a = &self.learner.adaptive
        cdef Py_ssize_t i
        cdef double part
        if a.intercept or a.naive_bayes:
            parts.append((None, sign * adaptive_share(
                a, &self.learner.table, &self.event.weighed, output, -1, NULL, NULL)))
        for i in range(self.event.n):
            part = sign * adaptive_share(a, &self.learner.table, &self.event.weighed, output, i,
                                         self.event.slots, self.event.values)
            if part != 0.0:
                parts.append((key_plain(&self.event.keys[i], objects), part))
