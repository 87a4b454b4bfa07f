"""The door of models that choose among a set of candidates."""

cimport cython

from streamptron.doors.gate cimport gate_learn_begin, gate_learn_end, gc_disable, gc_restore
from streamptron.doors.batch cimport rows_run
from streamptron.doors.model cimport Model
from streamptron.doors.names cimport key_plain
from streamptron.doors.rows cimport Rows
from streamptron.engine.events cimport sp_event_difference
from streamptron.engine.linear cimport SP_ANSWER_CANDIDATES, sp_rule, sp_rule_answer, sp_table_read
from streamptron.engine.path cimport (
    sp_answer, sp_event_probabilities, sp_learner_answer, sp_learner_decision, sp_learner_learn,
    sp_learner_score)

from streamptron.doors.names import named
from streamptron.common.candidates import candidates_of, place_of


cdef class RankModel(Model):
    """One output; the best-scoring of the given candidates is the answer."""

    cdef Model _blank(self, int kind):
        cdef sp_rule rule
        rule.kind = kind
        if sp_rule_answer(&rule) != SP_ANSWER_CANDIDATES:
            raise ValueError(f"the rule {kind} does not choose among candidates")
        return RankModel.__new__(RankModel)

    cdef Py_ssize_t _set_labels(self, labels) except -1:
        if labels is not None:
            raise ValueError("a model that chooses among candidates keeps no labels")
        return 1

    cdef int _score_all(self, list names, list candidates) except -1:
        self._read_candidates(names, candidates, False)
        if sp_learner_score(&self.learner, &self.event) < 0:
            self._no_memory("no memory for the scores", names)
        return self._check_scores() if self.learner.table.borrowed else 0

    cdef list _decided(self, bint probabilities):
        """The scores, or probabilities, of scored candidates, by the vector that answers."""
        cdef Py_ssize_t k
        cdef sp_answer answer = sp_learner_answer(&self.learner, &self.event)
        cdef const double* scores = sp_learner_decision(&self.event, answer.kind)
        if probabilities and self.event.n_scores:
            scores = sp_event_probabilities(&self.learner, &self.event)
        collecting = gc_disable()     # a finalizer might use the scratch
        decided = [scores[k] for k in range(self.event.n_scores)]
        gc_restore(collecting)
        self._settle()
        return decided

    cdef object _decide(self, candidates, bint probabilities):
        """``{id: score}``, or probabilities; for a list of candidates, a list of these."""
        names, features, own = candidates_of(candidates)
        self._score_all(names, features)
        decided = self._decided(probabilities)
        return dict(zip(names, decided)) if own else decided

    @cython.critical_section
    def learn_one(self, candidates, chosen, w=1.0, undo=False):
        """Learn which candidate is the right one; the weights change only if it does not lead.

        Parameters
        ----------
        candidates
            ``{id: features}``; or a list of features, whose ids are their indices. Features are a
            mapping of names to numbers.
        chosen
            The id of the right candidate.
        w
            The sample weight, at least 0: it scales the step.
        undo
            Not supported: this learner's steps cannot be taken back.

        Raises
        ------
        TypeError, ValueError
            If candidates, chosen or w is invalid. The model has not changed then.
        MemoryError
            If memory runs out. The model has not changed then, either.
        """
        if undo is not False:
            return self._learn_undoable(candidates, chosen, w, undo)
        cdef double step = self._step(None, w)
        cdef Py_ssize_t y
        names, features, own = candidates_of(candidates)
        if not names:
            raise ValueError(
                "candidates is empty; give the candidates that there were, or leave the event "
                "out")
        y = place_of(chosen, names, own)
        self._read_candidates(names, features, True)
        if sp_learner_learn(&self.learner, &self.event, y, step) < 0:
            self._no_memory("no memory for the update; the model has not learned this event", names)
        self._settle()

    @cython.critical_section
    def predict_one(self, candidates):
        """The id of the best candidate (the first of equal ones); None if there are none.

        Parameters
        ----------
        candidates
            As for ``learn_one``.
        """
        cdef Py_ssize_t best
        names, features, _ = candidates_of(candidates)
        self._score_all(names, features)
        best = sp_learner_answer(&self.learner, &self.event).verdict.best
        self._settle()
        return names[best] if best >= 0 else None

    @cython.critical_section
    def rank_one(self, candidates):
        """The ids of all candidates, the best first; equal ones stay in their order.

        Parameters
        ----------
        candidates
            As for ``learn_one``.
        """
        names, features, _ = candidates_of(candidates)
        self._score_all(names, features)
        scores = self._decided(False)
        ranked = sorted([(-score, k) for k, score in enumerate(scores)])
        return [names[k] for _, k in ranked]

    @cython.critical_section
    def decision_function_one(self, candidates):
        """The score of each candidate, w.x, by the vector that answers.

        Parameters
        ----------
        candidates
            As for ``learn_one``.

        Returns
        -------
        ``{id: score}``; for a list of candidates, a list of scores.
        """
        return self._decide(candidates, False)

    @cython.critical_section
    def predict_proba_one(self, candidates):
        """The probability that each candidate is the right one, calibrated online.

        Parameters
        ----------
        candidates
            As for ``learn_one``.

        Returns
        -------
        ``{id: probability}``; for a list of candidates, a list of probabilities.
        """
        return self._decide(candidates, True)

    @cython.critical_section
    def _explain_lead(self, candidates, chosen):
        """Contributions to the lead of a candidate over the best other one, and that lead."""
        cdef sp_answer answer
        cdef const double* scores
        cdef Py_ssize_t i, k, y = -1, rival = -1
        cdef double lead
        names, features, own = candidates_of(candidates)
        if not names:
            raise ValueError("candidates is empty; there is nothing to explain")
        if chosen is not None:
            y = place_of(chosen, names, own)
        self._score_all(names, features)
        answer = sp_learner_answer(&self.learner, &self.event)
        scores = sp_learner_decision(&self.event, answer.kind)
        if y < 0:
            y = answer.verdict.best
        for k in range(self.event.n_scores):
            if k != y and (rival < 0 or scores[k] > scores[rival]):
                rival = k
        lead = scores[y] if rival < 0 else scores[y] - scores[rival]
        if sp_event_difference(&self.event, y, rival) < 0:
            self._no_memory("no memory for the difference")
        # as in Model._weights
        collecting = gc_disable()
        try:
            parts = []
            objects = {ordinal: name for name, ordinal in self._objects.items()}
            for i in range(self.event.n, self.event.ends[self.event.n_candidates]):
                part = self.event.values[i] * sp_table_read(
                    &self.learner.table, self.event.slots[i], 0, answer.kind)
                if part != 0.0:
                    parts.append((key_plain(&self.event.keys[i], objects), part))
        finally:
            gc_restore(collecting)
        self._settle()
        return [(named(plain), part) for plain, part in parts], lead

    # --- Many rows

    @cython.critical_section
    def _score_queries(self, Rows X not None, names, decisions, ends, Py_ssize_t n_jobs):
        """The scores of rows, as rows_run does; ends[r] is where the query of row r ends."""
        return rows_run(
            self, X, names, None, None, None, decisions, None, None, None, ends, n_jobs)

    @cython.critical_section
    def _learn_queries(self, Rows X not None, names, grades, steps, ends, order=None):
        """Learn rows by their grades, whole numbers from 0, as rows_run does."""
        self._enter(True)
        gate_learn_begin(&self.gate)
        try:
            return rows_run(self, X, names, grades, steps, None, None, None, None, order, ends)
        finally:
            gate_learn_end(&self.gate)
