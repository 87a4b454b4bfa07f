"""The doors of AdaptiveClassifier and VotedPerceptron: their own answers, and their state."""

from array import array

cimport cython
from libc.math cimport sqrt
from libc.stdint cimport uint32_t
from cpython cimport array as c_array
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

from streamptron.doors._core cimport LabelModel, PairModel
from streamptron.doors.gate cimport gc_disable, gc_restore
from streamptron.doors.model cimport Model
from streamptron.doors.names cimport key_plain
from streamptron.doors.rows cimport Rows
from streamptron.engine.adaptive cimport (
    SP_HATS, SP_PATCH_CELLS, SP_U_LIMIT, sp_adaptive, sp_adaptive_spread, sp_columns, sp_shape,
    sp_shape_met, sp_shapes)
from streamptron.engine.linear cimport (
    SP_KEPT_CURRENT, SP_RULE_ADAPTIVE, SP_RULE_VOTED, sp_table_read)
from streamptron.engine.names cimport sp_index_stored, sp_key
from streamptron.engine.path cimport (
    sp_learner_n_shares, sp_learner_share_key, sp_learner_shares)
from streamptron.engine.voted cimport (
    SP_DEGREE_MOST, sp_voters, sp_voters_features, sp_voters_shares, sp_voters_updates)

from streamptron.doors.names import named
from streamptron.common.checks import whole as whole_number
from streamptron.common.labels import labels_learned
from streamptron.common.names import short_repr



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
                f"w={short_repr(w)} times the class weight of {short_repr(label)} is {step:g}; it "
                f"must be at most {SP_U_LIMIT:g}")
        return step

    @cython.critical_section
    def _columns(self):
        """``{name: (mean, standard deviation, mean size)}`` of the columns of numbers.

        The model must not be hashed. The size is below 0, or -0.0, if a value was negative.
        """
        cdef sp_columns* columns = &self.learner.adaptive.columns
        cdef Py_ssize_t i
        cdef double mean, variance, size
        cdef sp_key key
        found = []
        self._enter(False)
        # No Python code may run until all is read, not even finalizers: it might use the model.
        collecting = gc_disable()
        try:
            objects = {ordinal: name for name, ordinal in self._objects.items()}
            for i in range(columns.n):
                key = sp_index_stored(&self.learner.index, columns.slots[i])
                sp_adaptive_spread(
                    &self.learner.table, columns.slots[i], &mean, &variance, &size)
                found.append((key_plain(&key, objects), mean, sqrt(variance), size))
        finally:
            gc_restore(collecting)
        return {named(name): tuple(spread) for name, *spread in found}

    @cython.critical_section
    def _shapes(self):
        """Curves and surfaces, ``[(a, b, gate, [met])]``; and tau of lines, curves and surfaces.

        The model must not be hashed. A curve has the same column as a and b; `met` is the number of
        events that met each hat or cell.
        """
        cdef sp_shapes* shapes = &self.learner.adaptive.shapes
        cdef Py_ssize_t i, k
        cdef int layer
        cdef sp_key a, b
        cdef sp_shape* part
        found, taus = [], [self.learner.adaptive.tau]
        self._enter(False)
        # No Python code may run until all is read, not even finalizers: it might use the model.
        collecting = gc_disable()
        try:
            objects = {ordinal: name for name, ordinal in self._objects.items()}
            for layer in range(shapes.n_layers):
                taus.append(shapes.of[layer].tau)
                for i in range(shapes.of[layer].n):
                    part = &shapes.of[layer].parts[i]
                    a = sp_index_stored(&self.learner.index, part.a)
                    b = sp_index_stored(&self.learner.index, part.b)
                    met = [sp_shape_met(shapes, layer, i, k)
                           for k in range(SP_PATCH_CELLS if layer else SP_HATS)]
                    found.append((key_plain(&a, objects), key_plain(&b, objects),
                                  <double> part.gate.value, met))
        finally:
            gc_restore(collecting)
        return [(named(one), named(other), *rest) for one, other, *rest in found], taus

    def _learn_rows(self, Rows X not None, names, labels, numbers, steps, predictions,
                    confidences=None, order=None):
        """As for every model, but rows of weight 0 introduce no labels."""
        labels, numbers = labels_learned(labels, numbers, steps, order, SP_U_LIMIT)
        return LabelModel._learn_rows(self, X, names, labels, numbers, steps, predictions,
                                      confidences, order)

    def _explain(self, x, Py_ssize_t output, double sign):
        parts, score, kind, label = PairModel._explain(self, x, output, sign)
        if self.learner.pairs != NULL:      # a pair of columns may have a weight and a surface
            total = {}
            for name, part in parts:
                total[name] = total.get(name, 0.0) + part
            parts = list(total.items())
        return parts, score, kind, label

    cdef int _shares(self, list parts, dict objects, double sign, Py_ssize_t output,
                     int kind) except -1:
        cdef sp_adaptive* a = &self.learner.adaptive
        cdef Py_ssize_t i, n = sp_learner_n_shares(&self.learner, &self.event)
        cdef double part, always
        cdef sp_key key
        cdef int has_name
        shares = PyBytes_FromStringAndSize(NULL, 8 * (n + 1))
        cdef const double *share = <const double*> PyBytes_AS_STRING(shares)
        sp_learner_shares(&self.learner, &self.event, output, kind, <double*> share)
        always = sign * share[n]
        features = []
        for i in range(n):
            part = sign * share[i]
            has_name = sp_learner_share_key(&self.learner, &self.event, i, &key)
            if has_name < 0:
                raise MemoryError("no memory for a name")
            if not has_name:        # hashed: a column that the event lacks has no stored name
                always += part
            elif part != 0.0:
                features.append((key_plain(&key, objects), part))
        if a.intercept or a.naive_bayes or always != 0.0:
            parts.append((None, always))
        parts.extend(features)


cdef class VotedModel(PairModel):
    """Any labels; up to two have one output, for the second of them or for what equals True."""

    cdef Model _blank(self, int kind):
        if kind != SP_RULE_VOTED:
            raise ValueError(f"the rule {kind} is not VotedPerceptron's")
        return VotedModel.__new__(VotedModel)

    def _configure(self, int kind, **params):
        degree = whole_number("degree", params["degree"], 1, SP_DEGREE_MOST, "an int")
        budget = params["budget"]
        budget = 0 if budget is None else whole_number("budget", budget, 1, 2**31)
        PairModel._configure(self, kind, **params)
        with cython.critical_section(self):
            self.learner.voters.degree = degree
            self.learner.voters.budget = budget

    @property
    @cython.critical_section
    def n_kept(self):
        """The number of updates that are kept, whose vectors vote."""
        self._enter(False)
        return sp_voters_updates(&self.learner.voters)

    @property
    def n_features(self):
        """The number of features that were in an update (with hash_bits: slots with a weight)."""
        with cython.critical_section(self):
            if self.learner.index.bits and self.learner.voters.degree > 1:
                self._enter(False)
                return sp_voters_features(&self.learner.voters)
        return Model.n_features.__get__(self)

    @property
    def serving(self):
        """Always "vote": the vote answers."""
        return "vote"

    def _kept(self, str kind):
        if kind == "vote":              # top_features: the vote has no weights
            kind = "current"
        if kind == "current" and self.learner.voters.degree > 1:
            raise ValueError(
                f"degree={self.learner.voters.degree}: a kernel has no weights; its vectors are "
                "sums over events. Use predictions only, or take degree=1")
        return Model._kept(self, kind)

    def _explain(self, x, Py_ssize_t output, double sign):
        if self.learner.voters.degree > 1:
            raise ValueError(
                f"degree={self.learner.voters.degree}: no part of a kernel's score is due to one "
                "feature alone, so there is nothing to explain; take degree=1 for explanations")
        parts, score, _, label = PairModel._explain(self, x, output, sign)
        return parts, score, "vote", label

    cdef int _shares(self, list parts, dict objects, double sign, Py_ssize_t output,
                     int kind) except -1:
        cdef sp_voters* v = &self.learner.voters
        cdef Py_ssize_t i, first = self.learner.intercept, n = self.event.n - first
        cdef c_array.array current = array("d", bytes(8 * (n + 1)))
        cdef c_array.array scratch = array("d", bytes(8 * (n + 1)))
        cdef c_array.array shares = array("d", bytes(8 * (n + 1)))
        cdef c_array.array seen = array("I", bytes(4 * (n + 1)))
        cdef double part
        for i in range(n):
            current.data.as_doubles[i] = self.event.values[first + i] * sp_table_read(
                &self.learner.table, self.event.slots[first + i], output, SP_KEPT_CURRENT)
        sp_voters_shares(v, output, self.event.slots + first, self.event.values + first, n,
                         current.data.as_doubles, scratch.data.as_doubles,
                         <uint32_t*> seen.data.as_uints, shares.data.as_doubles)
        part = sign * shares.data.as_doubles[n]
        if self.learner.intercept or part != 0.0:
            parts.append((None, part))
        for i in range(n):
            part = sign * shares.data.as_doubles[i]
            if part != 0.0:
                parts.append((key_plain(&self.event.keys[first + i], objects), part))
        return 0
