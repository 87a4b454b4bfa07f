"""The door of VotedPerceptron: its parameters, what its votes are made of, and its state."""

from array import array

from cpython cimport array as c_array

from streamptron._core cimport LabelModel, PairModel
from streamptron.doors.model cimport Model
from streamptron.doors.names cimport key_plain
from libc.stdint cimport uint32_t
from streamptron.engine.linear cimport SP_KEPT_CURRENT, SP_RULE_VOTED, sp_table_read
from streamptron.engine.voted cimport (
    SP_DEGREE_MOST, sp_voters, sp_voters_features, sp_voters_shares, sp_voters_updates)

from streamptron.estimator.checks import whole


cdef class VotedModel(PairModel):
    """Any labels; up to two have one output, for the second of them or for what equals True."""

    cdef Model _blank(self, int kind):
        if kind != SP_RULE_VOTED:
            raise ValueError(f"the rule {kind} is not VotedPerceptron's")
        return VotedModel.__new__(VotedModel)

    def _configure(self, int kind, **params):
        degree = whole("degree", params["degree"], 1, SP_DEGREE_MOST, "an int")
        budget = params["budget"]
        budget = 0 if budget is None else whole("budget", budget, 1, 2**31)
        PairModel._configure(self, kind, **params)
        self.learner.voters.degree = degree
        self.learner.voters.budget = budget

    @property
    def n_kept(self):
        """Updates that are kept, whose vectors vote."""
        self._enter(False)
        return sp_voters_updates(&self.learner.voters)

    @property
    def n_features(self):
        """Features that have been in an update (with hash_bits: slots that have a weight)."""
        if self.learner.index.bits and self.learner.voters.degree > 1:
            self._enter(False)
            return sp_voters_features(&self.learner.voters)
        return Model.n_features.__get__(self)

    @property
    def serving(self):
        """The vote answers, always."""
        return "vote"

    def _kept(self, str kind):
        if kind == "vote":              # top_features: the vote has no weights
            kind = "current"
        if kind == "current" and self.learner.voters.degree > 1:
            raise ValueError(
                f"degree={self.learner.voters.degree}: a kernel has no weights; its vectors are "
                "sums over events. Ask for predictions, or take degree=1")
        return Model._kept(self, kind)

    def _explain(self, x, Py_ssize_t output, double sign):
        if self.learner.voters.degree > 1:
            raise ValueError(
                f"degree={self.learner.voters.degree}: a kernel's score has no part that is one "
                "feature's alone, so there is nothing to explain; take degree=1 for explanations")
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
