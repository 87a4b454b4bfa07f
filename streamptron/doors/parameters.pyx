"""Parameters as the core takes them: a rule's numbers, class weights, what is paired."""

from collections.abc import Mapping

from libc.string cimport memset
from cpython.object cimport PyObject

from streamptron.doors.entry cimport bytes_data, bytes_size
from libc.stdint cimport uint64_t, uint8_t
from streamptron.engine.events cimport SP_PAIR_FIELDS_MOST, SP_UNFIT_NUMBER
from streamptron.engine.linear cimport SP_RULE_MIRA, SP_RULE_MULTICLASS
from streamptron.engine.memory cimport SP_VALUE_LIMIT, sp_calloc, sp_free
from streamptron.engine.path cimport SP_CAN_PAIR, SP_CAN_WATCH, sp_rule_can

from streamptron.estimator.names import shown
from streamptron.doors.names import interned
from streamptron.estimator.cells import MISSING
from streamptron.estimator.checks import choice, real, truth, whole

MAX_PAIRS = 1_000_000               # of an event, unless the user says otherwise
VIOLATORS = ("best", "uniform", "proportional")


cdef sp_rule rule_of(int kind, dict params, tuple updates) except *:
    """A rule with the parameters that it has; an error if one is invalid. `updates`: its words."""
    cdef sp_rule rule
    given = params.get
    if kind == SP_RULE_MULTICLASS or kind == SP_RULE_MIRA:
        params.setdefault("violators", "best")      # older pickles lack it
    choice("missing", params.setdefault("missing", "skip"), MISSING)    # likewise
    memset(&rule, 0, sizeof(sp_rule))
    rule.kind = kind
    rule.margin = real("margin", given("margin", 0.0), 0.0, "of at least 0")
    rule.C = real("C", given("C", 1.0), 1e-50, "above 0")
    rule.update = choice("update", given("update", "margin"), updates)
    rule.violators = choice("violators", given("violators", "best"), VIOLATORS)
    rule.r = real("r", given("r", 1.0), 1e-50, "above 0")
    rule.eta = real("eta", given("eta", 1.0), 1e-6, "of at least 1e-06", 1e6)
    can_watch = sp_rule_can(kind) & SP_CAN_WATCH != 0
    rule.watches = can_watch and given("forget") == "auto"
    rule.forget = 0.0 if rule.watches else real(
        "forget", given("forget", 0.0), 0.0, "of at least 0" + " (or 'auto')" * can_watch, 1.0)
    rule.naive_bayes = truth("naive_bayes", given("naive_bayes", False))
    rule.intercept = truth("intercept", given("intercept", False))
    rule.bends = truth("bends", given("bends", False))
    return rule


def checked_class_weight(class_weight, checked_label):
    """{label: weight} as learning uses it, or None."""
    if class_weight is None:
        return None
    if not isinstance(class_weight, Mapping):
        raise TypeError(
            f"class_weight={shown(class_weight)}; it must be None or a dict of label to weight "
            "(class frequencies are not known before the stream has been seen)")
    checked = {}
    for label, weight in class_weight.items():
        try:
            label = checked_label(label)
        except (TypeError, ValueError) as error:
            raise type(error)(f"class_weight has an invalid label: {error}") from None
        checked[label] = real(f"class_weight[{shown(label)}]", weight, 0.0, "of at least 0")
    return checked


cdef class PairRule:
    """Which features are paired: the parameters degree, interactions and max_pairs, checked."""

    def __cinit__(self, degree, interactions, max_pairs):
        if isinstance(degree, bool) or not isinstance(degree, int) or not 1 <= degree <= 2:
            kind = ValueError if type(degree) is int else TypeError
            raise kind(
                f"degree={shown(degree)}; it must be 1, for features alone, or 2, for their pairs "
                "too")
        if isinstance(max_pairs, bool) or not isinstance(max_pairs, int):
            raise TypeError(f"max_pairs={shown(max_pairs)}; it must be an int from 1 to {2**31}")
        if not 1 <= max_pairs <= 2**31:
            raise ValueError(f"max_pairs={shown(max_pairs)}; it must be an int from 1 to {2**31}")
        self.interactions = _checked_interactions(interactions)
        if degree == 2 and self.interactions is not None:
            raise ValueError(
                f"degree=2 and interactions={shown(interactions)} are both given; degree=2 pairs "
                "all features: choose one")
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


cdef tuple _checked_interactions(interactions):
    """A tuple of pairs of names, or None."""
    want = "it must be None or a list of pairs of fields, such as [('user', 'ad')]"
    if interactions is None:
        return None
    if not isinstance(interactions, (list, tuple)):
        raise TypeError(f"interactions={shown(interactions)}; {want}")
    pairs = []
    for pair in interactions:
        if not isinstance(pair, (list, tuple)) or not all([isinstance(name, str) for name in pair]):
            raise TypeError(
                f"interactions={shown(interactions)}; {want}, and {shown(pair)} is not one")
        if len(pair) != 2 or not all(pair):
            raise ValueError(
                f"interactions={shown(interactions)}; {want}, and {shown(pair)} is not one")
        pairs.append(tuple([interned(str.__str__(name)) for name in pair]))
    if not pairs:
        raise ValueError(f"interactions={shown(interactions)}; {want}; None is for no pairs")
    if len({frozenset(pair) for pair in pairs}) < len(pairs):
        raise ValueError(f"interactions={shown(interactions)}; a pair of fields occurs twice")
    return tuple(pairs)


class UnfitRow(ValueError):
    """A row whose features cannot be paired: its number, and what it does."""

    def __str__(self):
        return "row {} of X {}".format(*self.args)


cdef str unfit(const sp_event* event):
    """What an event does whose features cannot be paired."""
    if event.unfit == SP_UNFIT_NUMBER:
        return (
            f"makes {event.n_pairs} pairs of features, more than max_pairs={event.most_pairs}; "
            "raise max_pairs, pair only some fields by interactions, or give fewer features")
    return (
        f"makes a pair of features whose product is more than {SP_VALUE_LIMIT:g} in size; "
        "scale the values first")
