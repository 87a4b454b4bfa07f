"""The plain-Python twin of pairs of features: a dict with its pairs, as `degree=2` makes them.

It imports nothing of the library. A learner with pairs is held to the twin of the same learner
without, which is given what is made here.
"""

SEPARATORS = (":", "=", "^")


def fields_of(interactions):
    """The fields in the order in which they are named."""
    return list(dict.fromkeys(field for pair in interactions for field in pair))


def field_of(name, fields):
    """The field of a feature, the longest that fits; None: it has none."""
    fitting = [
        field
        for field in fields
        if isinstance(name, str)
        and (name == field or name.startswith(tuple(field + mark for mark in SEPARATORS)))
    ]
    return max(fitting, key=len, default=None)


def pairs_of(x, make, interactions=None):
    """[(name, value)] of the pairs of an event.

    Parameters
    ----------
    x
        The event, a mapping of names to numbers.
    make
        What makes the name of a pair from those of its halves.
    interactions
        The pairs of fields; None: all features are paired with each other.
    """
    features = [(name, float(value)) for name, value in x.items() if value != 0]
    if interactions is None:
        fields, wanted = ["all"], [("all", "all")]
        of = ["all"] * len(features)
    else:
        fields, wanted = fields_of(interactions), interactions
        of = [field_of(name, fields) for name, _ in features]
    pairs = []
    for i, (a, value) in enumerate(features):
        for field in fields:
            if (of[i], field) in wanted or (field, of[i]) in wanted:
                for j in range(i + 1, len(features)):
                    if of[j] == field:
                        pairs.append((make(a, features[j][0]), value * features[j][1]))
    return pairs


def paired(x, make, interactions=None):
    """The event with its pairs behind its features. A pair is never given: it would count twice."""
    pairs = dict(pairs_of(x, make, interactions))
    assert not pairs.keys() & x.keys()
    return {**x, **pairs}


def with_pairs(twin, make, interactions=None):
    """The class of a learner's twin, of one that is given each event with its pairs."""

    class Paired(twin):
        def event(self, x):
            return super().event(paired(x, make, interactions))

    return Paired
