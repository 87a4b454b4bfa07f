"""Parameters as the core takes them: a rule's numbers, what is paired."""

from libc.string cimport memset
from cpython.object cimport PyObject

from streamptron.doors.entry cimport bytes_data, bytes_size
from libc.stdint cimport uint64_t, uint8_t
from streamptron.engine.events cimport SP_PAIR_FIELDS_MOST, SP_UNFIT_NUMBER
from streamptron.engine.linear cimport SP_RULE_MIRA, SP_RULE_MULTICLASS
from streamptron.engine.memory cimport SP_VALUE_LIMIT, sp_calloc, sp_free
from streamptron.engine.path cimport SP_CAN_PAIR, SP_CAN_WATCH, sp_rule_can

from streamptron.estimator.parameters import MAX_PAIRS, pairs_of
from streamptron.estimator.parameters import rule_of as numbers_of


cdef sp_rule rule_of(int kind, dict params, tuple updates) except *:
    """A rule with the parameters that it has; an error if one is invalid. `updates`: its words."""
    cdef sp_rule rule
    if kind == SP_RULE_MULTICLASS or kind == SP_RULE_MIRA:
        params.setdefault("violators", "best")      # older pickles lack it
    memset(&rule, 0, sizeof(sp_rule))
    rule.kind = kind
    (rule.margin, rule.C, rule.update, rule.violators, rule.r, rule.eta, rule.watches, rule.forget,
     rule.naive_bayes, rule.intercept, rule.bends) = numbers_of(
        params, updates, sp_rule_can(kind) & SP_CAN_WATCH != 0)
    return rule


cdef class PairRule:
    """Which features are paired: the parameters degree, interactions and max_pairs, checked."""

    def __cinit__(self, degree, interactions, max_pairs):
        self.interactions = pairs_of(degree, interactions, max_pairs)
        self.degree = degree
        self.rule.most = max_pairs
        if self.interactions is not None:
            self._take_fields()

    def __dealloc__(self):
        sp_free(self.fields)

    cdef int _take_fields(self) except -1:
        cdef int i, f, g
        names = list(dict.fromkeys([name for pair in self.interactions for name in pair]))
        if len(names) > SP_PAIR_FIELDS_MOST:
            raise ValueError(
                f"interactions has {len(names)} different fields; "
                f"it may have {SP_PAIR_FIELDS_MOST}")
        self.fields = <sp_field*> sp_calloc(len(names), sizeof(sp_field))
        if self.fields == NULL:
            raise MemoryError("no memory for the interactions")
        self.held = [name.encode("utf-8", "surrogatepass") for name in names]
        for i in range(len(names)):
            self.fields[i].p = <const uint8_t*> bytes_data(<PyObject*> self.held[i])
            self.fields[i].n = bytes_size(<PyObject*> self.held[i])
        for first, second in self.interactions:
            f, g = names.index(first), names.index(second)
            self.fields[f].partners |= <uint64_t> 1 << g
            self.fields[g].partners |= <uint64_t> 1 << f
        self.rule.fields = self.fields
        self.rule.n_fields = len(names)
        return 0

    cdef const sp_pairs* pairs(self) noexcept:
        """What the engine takes, as long as this lives; NULL: no pairs."""
        return NULL if self.degree == 1 and self.interactions is None else &self.rule


cdef PairRule pairing_of(int kind, dict params):
    """Which features a learner pairs; a kernel does so by itself."""
    if not sp_rule_can(kind) & SP_CAN_PAIR:
        return PairRule(1, None, MAX_PAIRS)
    # a pickle or a file from before there were pairs has none of these
    pairing = PairRule(params.setdefault("degree", 1), params.setdefault("interactions"),
                       params.setdefault("max_pairs", MAX_PAIRS))
    params["interactions"] = pairing.interactions
    return pairing


cdef str unfit(const sp_event* event):
    """What an event does whose features cannot be paired."""
    if event.unfit == SP_UNFIT_NUMBER:
        return (
            f"makes {event.n_pairs} pairs of features, more than max_pairs={event.most_pairs}; "
            "raise max_pairs, pair only some fields by interactions, or give fewer features")
    return (
        f"makes a pair of features whose product is more than {SP_VALUE_LIMIT:g} in size; "
        "scale the values first")
