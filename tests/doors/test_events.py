"""An event is any mapping. It stays the caller's: it is neither changed nor kept."""

import gc
import pickle
import random
import sys
import weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict
from decimal import Decimal
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from streamptron import Perceptron
from tests.support.doors import CALLS, MANY_CALLS, NAN, Pairs, every_call, refused, trained
from tests.support.marks import in_turn
from tests.support.streams import random_events
from tests.support.variants import (
    LEARNERS,
    every_learner,
    labels_for,
    learned,
    make,
)

# Events


NO_MAPPINGS = {
    "list": [("a", 1)],
    "str": "a",
    "bytes": b"a",
    "None": None,
    "set": {"a"},
    "int": 1,
    "bool": True,
    "array": np.ones(2),
    "Series": pd.Series({"a": 1.0}),
    "DataFrame": pd.DataFrame({"a": [1.0]}),
    "generator": (pair for pair in [("a", 1)]),
    "items": {"a": 1}.items(),
    "type": dict,
}


@pytest.mark.parametrize(("kind", "call", "learner"), in_turn(NO_MAPPINGS, CALLS, LEARNERS))
def test_event_that_is_no_mapping_is_refused(learner, kind, call):
    x = NO_MAPPINGS[kind]
    message = refused(
        trained(learner),
        lambda model: CALLS[call](model, x, labels_for(learner)[0]),
        "x is",
        type(x).__name__,
        error=TypeError,
    )
    assert "mapping" in message


MAPPINGS = {
    "Counter": Counter,
    "defaultdict": lambda x: defaultdict(int, x),
    "OrderedDict": OrderedDict,
    "MappingProxyType": MappingProxyType,
    "UserDict": UserDict,
    "ChainMap": ChainMap,
    "dict subclass": type("Mine", (dict,), {}),
    "Mapping": lambda x: Pairs(*x.items()),
}


@pytest.mark.parametrize("kind", MAPPINGS)
@every_learner
def test_mapping_of_every_kind_is_the_dict_that_it_equals(learner, kind):
    model, plain = make(learner), make(learner)
    events = random_events(
        random.Random(3), n=60, keys="mixed", values="real", labels=labels_for(learner)
    )
    for x, y, _ in events:
        mapping = MAPPINGS[kind](x)
        for call in CALLS.values():
            assert call(model, mapping, y) == call(plain, x, y)
        assert dict(mapping) == x
    assert learned(model) == learned(plain)


def test_dict_subclass_is_asked_for_its_items():
    class Doubled(dict):
        def items(self):
            return [(name, 2 * value) for name, value in super().items()]

    assert Perceptron.from_weights({"a": 1.0}).decision_function_one(Doubled(a=3)) == 6.0


@pytest.mark.parametrize("name", [["k"], {"k": 1}, {"k"}, bytearray(b"k"), ("t", ["k"])], ids=repr)
@every_call
@every_learner
def test_unhashable_name_is_refused(learner, call, name):
    x = Pairs(("good", 1), (name, 1))
    refused(
        trained(learner),
        lambda model: CALLS[call](model, x, labels_for(learner)[0]),
        repr(name),
        error=TypeError,
    )


@pytest.mark.parametrize("name", [NAN, np.float32("nan"), Decimal("NaN"), ("a", NAN)], ids=repr)
@every_call
@every_learner
def test_name_that_equals_nothing_is_refused(learner, call, name):
    x = {"good": 1, name: 1}
    message = refused(
        trained(learner),
        lambda model: CALLS[call](model, x, labels_for(learner)[0]),
        error=ValueError,
    )
    assert "nan" in message.lower()


@every_call
@every_learner
def test_name_that_has_no_hash_of_its_own_is_refused_by_a_hashed_model(learner, call):
    refused(
        trained(learner, hash_bits=10),
        lambda model: CALLS[call](model, {frozenset("a"): 1}, labels_for(learner)[0]),
        "frozenset({'a'})",
        "hash_bits",
        error=TypeError,
    )


# The event stays the caller's


def fresh_names():
    """Names of every kind without another owner."""
    i = random.randrange(10**6, 10**7)
    return [
        f"short {i}",
        f"a name of more than fifteen bytes {i}",
        f"ж {i}",
        f"語 {i} and more of it, so that it is long",
        b"bytes %d" % i,
        b"more than fifteen bytes %d" % i,
        i + 2**40,
        i + 2**100,
        i + 0.5,
        ("new", "york", i),
        (f"a part of more than fifteen bytes {i}", i, (None,)),
    ]


@pytest.mark.parametrize("mapping", [dict, OrderedDict], ids=["dict", "OrderedDict"])
@pytest.mark.parametrize("params", [{}, {"hash_bits": 10}], ids=["exact", "hashed"])
@every_learner
def test_event_is_neither_changed_nor_kept(learner, params, mapping):
    model = trained(learner, **params)
    y = labels_for(learner)
    names = fresh_names()
    values = [float(f"{i}.25") for i in range(1, len(names) + 1)]
    x = mapping(zip(names, values, strict=True))
    before = dict(x)

    def references():
        return [sys.getrefcount(thing) for thing in (x, *names, *values)]

    # several times each: the scratch remembers the last event
    counts = references()
    for _ in range(3):
        for name, call in CALLS.items():
            call(model, x, y[1])
            call(model, x, y[0])
            assert references() == counts, name
    assert dict(x) == before
    assert list(x) == names

    x["bad"] = NAN
    counts = references()
    for call in CALLS.values():
        with pytest.raises(ValueError, match="bad"):
            call(model, x, y[0])
    gc.collect()
    assert references() == counts


@every_learner
def test_names_that_are_objects_are_kept_only_once_learned(learner):
    class Name:
        pass

    model = trained(learner)
    before = pickle.dumps(model)
    name = Name()
    gone = weakref.ref(name)
    x = UserDict({name: 1, "a": 1})
    for call in CALLS:
        if "learn" not in call and "train" not in call:
            CALLS[call](model, x, None)
            model.predict_many(pd.DataFrame({"a": [1.0]}))
    del name, x
    gc.collect()
    assert gone() is None
    assert pickle.dumps(model) == before


@every_learner
def test_frame_is_neither_changed_nor_kept(learner):
    class Column(str):
        """A name that can be watched."""

        __slots__ = ("__weakref__",)

    model = trained(learner)
    names = [Column("a"), Column("a name of more than fifteen bytes")]
    watched = [weakref.ref(name) for name in names]
    X = pd.DataFrame(np.eye(2), columns=pd.Index(names, dtype=object))
    before = X.copy()
    for call in MANY_CALLS.values():
        call(model, X, labels_for(learner)[:2])
    pd.testing.assert_frame_equal(X, before)
    del X, before, names
    gc.collect()
    assert [ref() for ref in watched] == [None, None]


def test_defaultdict_gains_no_features():
    x = defaultdict(float, a=1.0)
    model = Perceptron.from_weights({"a": 1.0, "b": 2.0})
    for call in CALLS.values():
        call(model, x, True)
    assert x == {"a": 1.0}
