"""Feature names: whatever a dict takes for a key, as a dict takes it."""

import copy
import datetime
import enum
import pickle
import random
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from streamptron import MulticlassPerceptron, Perceptron
from streamptron._names import CANONICAL, name_decode, name_plain

seeds = pytest.mark.parametrize("seed", range(5), ids="seed={}".format)


class Text(str):
    pass


class Word(enum.StrEnum):
    SPAM = "spam"


class Number(enum.IntEnum):
    ONE = 1


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Other(str):
    """A str that is no other str's equal."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other


Point = namedtuple("Point", "x y")

# what has no bytes of its own that are the same in every process
OBJECTS = [
    Color.RED,
    Color.BLUE,
    frozenset(),
    frozenset({1, "a"}),
    datetime.date(2020, 2, 29),
    datetime.datetime(2020, 2, 29),
    datetime.timedelta(1),
    Decimal("0.1"),
    Fraction(1, 3),
    1 + 2j,
    range(3),
    int,
    len,
    ...,
    (1, Color.RED),
    ("a", ("b", frozenset())),
]

PLAIN = [
    "1",
    1,
    b"1",
    1.5,
    (1,),
    None,
    # texts that end where the place for short ones does, or hold what would end one in C
    *("a" * n for n in (1, 7, 8, 9, 14, 15, 16, 17, 31, 32, 33, 1000, 100_000)),
    *(b"a" * n for n in (1, 7, 8, 9, 14, 15, 16, 17, 31, 32, 33, 1000)),
    "",
    b"",
    "\0",
    "\0\0",
    b"\0",
    b"\0\0",
    "a\0b",
    "a" * 15 + "\0",
    "a" * 20 + "b",
    "b" + "a" * 20,
    # every width of UTF-8, composed or not, and surrogates that no UTF-8 may hold
    "é",
    "e\u0301",
    "\x7f",
    "\x80",
    "\u07ff",
    "\u0800",
    "ж語🙂",
    "語" * 5,
    "語" * 6,
    "\uffff",
    "\U00010000",
    "\U0010ffff",
    "\ud800",
    "\udfff",
    "\ud83d\ude00",
    "\U0001f600",
    "a name with \udcff in it",
    # ints around the ends of the machine's, and where hashes go round
    0,
    -1,
    -2,
    *(
        sign * (2**power + plus)
        for sign in (1, -1)
        for power in (30, 31, 32, 60, 61, 62, 63, 64, 80, 10_000)
        for plus in (-1, 0, 1)
    ),
    # floats
    0.1,
    -0.1,
    5e-324,
    float("inf"),
    float("-inf"),
    # tuples, and what they might be mistaken for
    (),
    ((),),
    ((), ()),
    (None,),
    ("",),
    (b"",),
    ("1",),
    (b"1",),
    (1.5,),
    ("a", "b"),
    ("ab",),
    (("a",), "b"),
    ("a", ("b",)),
    ("a", None),
    (2**80, "é", "\ud800", 0.5, (None, b"\0")),
    "None",
    "(1,)",
    name_plain((1,))[1],
    name_plain(None)[1],
    name_plain(("a" * 20, "b"))[1],
    name_plain(("a" * 20, "b"))[1].decode(),
]

EQUAL = [
    (True, 1),
    (False, 0),
    (1.0, 1),
    (-0.0, 0),
    (Decimal(1), 1),
    (Fraction(1), 1),
    (1 + 0j, 1),
    (Number.ONE, 1),
    (np.int64(1), 1),
    (np.uint8(1), 1),
    (np.float32(1), 1),
    (np.True_, 1),
    (np.float64(0.1), 0.1),
    (np.float32(0.5), 0.5),
    (Decimal("0.5"), 0.5),
    (Fraction(1, 2), 0.5),
    (0.5 + 0j, 0.5),
    (2.0**70, 2**70),
    (1e300, int(1e300)),
    (Decimal(2**70), 2**70),
    (np.uint64(2**64 - 1), 2**64 - 1),
    (Decimal("inf"), float("inf")),
    (np.str_("a"), "a"),
    (np.str_("é" * 20), "é" * 20),
    (Text("a"), "a"),
    (Word.SPAM, "spam"),
    (np.bytes_(b"a"), b"a"),
    (Point(1, 2), (1, 2)),
    ((True, 2.0), (1, 2)),
    ((np.str_("a"), np.int64(1)), ("a", 1)),
    (("a", Point(1.0, "é")), ("a", (1, "é"))),
    ((2.0**70,), (2**70,)),
]

EQUAL_OBJECTS = [
    (Point(1, Color.RED), (1, Color.RED)),
    ((True, Color.RED), (1, Color.RED)),
    (frozenset({True, "a"}), frozenset({1, Text("a")})),
]

NAN = [float("nan"), np.float32("nan"), Decimal("nan"), ("a", float("nan")), ((float("nan"),),)]


def counter(**params):
    """A model that adds up the values of each feature, as its weight."""
    return Perceptron(
        margin=1e40, average="none", serve="current", intercept=False, hash_seed=0, **params
    )


def names_id(name):
    # the order within a set changes from process to process
    parts = sorted(map(repr, name)) if isinstance(name, frozenset) else repr(name)
    return f"{type(name).__name__} {parts}"[:40]


@pytest.mark.parametrize(("name", "equal"), EQUAL + EQUAL_OBJECTS, ids=names_id)
def test_names_that_are_equal_as_dict_keys_are_one_feature(name, equal):
    assert {name: 1}[equal] == 1
    for first, second in [(name, equal), (equal, name)]:
        model = counter()
        model.learn_one({first: 1}, True)
        model.learn_one({second: 2}, True)
        assert model.weights == {equal: 3}
        assert model.n_features == 1
        for one in (first, second):
            assert model.decision_function_one({one: 1, "other": 1}) == 3


@pytest.mark.parametrize(("name", "equal"), EQUAL, ids=names_id)
def test_names_that_are_equal_as_dict_keys_have_equal_hashes(name, equal):
    model = counter(hash_bits=20)
    model.learn_one({name: 1}, True)
    model.learn_one({equal: 2}, True)
    assert list(model.weights.values()) == [3]


def test_names_that_differ_are_features_of_their_own_and_come_back_as_they_were():
    names = PLAIN + OBJECTS
    weights = {name: i + 1 for i, name in enumerate(names)}
    assert len(weights) == len(names)
    model = counter()
    model.learn_one(weights, True)
    assert model.weights == weights
    assert model.n_features == len(names)
    for name in names:
        assert model.decision_function_one({name: 1}) == weights[name]


@pytest.mark.parametrize("name", PLAIN + OBJECTS, ids=names_id)
def test_name_comes_back_as_it_was_also_from_a_copy(name):
    model = counter()
    model.learn_one({name: 1}, True)
    for same in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        ((back, weight),) = same.weights.items()
        assert (back, type(back), weight) == (name, type(name), 1)
        same.learn_one({name: 1}, True)
        assert same.weights == {name: 2}
        assert same.n_features == 1


def test_name_is_also_found_in_any_mapping_and_after_names_that_are_not_known():
    model = counter()
    names = PLAIN + OBJECTS
    model.learn_one(dict.fromkeys(names, 1), True)
    x = {"unknown": 1, b"unknown, and long": 1, ("unknown",): 1, Other("1"): 1, Other("1"): 1}
    assert model.decision_function_one(x) == 0
    for name in names:
        assert model.decision_function_one({**x, name: 1}) == 1
    assert model.n_features == len(names)


def test_text_that_says_it_differs_from_its_equals_is_a_feature_of_its_own():
    weights = {"a": 1, Other("a"): 2, Other("a"): 3}
    model = counter()
    model.learn_one(weights, True)
    assert model.weights == weights


def test_labels_share_their_features_whatever_the_names():
    weights = {"ham": dict.fromkeys(PLAIN, 1.0), "spam": dict.fromkeys(OBJECTS + PLAIN, 2.0)}
    model = MulticlassPerceptron.from_weights(weights)
    assert pickle.loads(pickle.dumps(model)).weights == weights
    assert model.n_features == len(PLAIN + OBJECTS)


@pytest.mark.parametrize(
    "name",
    [name for name in PLAIN + OBJECTS if not callable(name)],  # which pandas calls
    ids=names_id,
)
def test_column_of_a_frame_is_the_feature_of_its_name_known_or_not(name):
    pd = pytest.importorskip("pandas")
    columns = pd.Index([name, "other"], dtype=object, tupleize_cols=False)
    frame = pd.DataFrame([[2.0, 3.0]], columns=columns)
    x = {name: 2.0, "other": 3.0}
    model = Perceptron(serve="current", margin=1e40)
    model.learn_one({"something else": 1}, True)
    for _ in range(2):
        assert list(model.decision_function_many(frame)) == [model.decision_function_one(x)]
        model.learn_many(frame, [True])
    assert model.weights == {"something else": 1, name: 4, "other": 6}


@pytest.mark.parametrize("name", OBJECTS, ids=names_id)
def test_object_is_no_name_with_hash_bits(name):
    model = counter(hash_bits=10)
    for door in (model.predict_one, lambda x: model.learn_one(x, True)):
        with pytest.raises(TypeError, match="hash_bits"):
            door({"a": 1, name: 1})
    assert model.n_seen == 0
    assert model.weights == {}


@pytest.mark.parametrize("name", PLAIN, ids=names_id)
def test_name_that_is_no_object_is_hashed(name):
    model = counter(hash_bits=10)
    model.learn_one({name: 1}, True)
    assert list(model.weights.values()) == [1]
    assert model.decision_function_one({name: 1}) == 1


@pytest.mark.parametrize("name", NAN, ids=names_id)
@pytest.mark.parametrize("hash_bits", [None, 10])
def test_name_that_is_nan_is_refused(name, hash_bits):
    model = counter(hash_bits=hash_bits)
    for door in (model.predict_one, lambda x: model.learn_one(x, True)):
        with pytest.raises(ValueError, match="NaN"):
            door({"a": 1, name: 1})
    assert model.n_seen == 0
    assert model.weights == {}


def random_text(rng):
    alphabet = rng.choice(["ab", "ab\0", "aé", "a語🙂", "a\ud800\udc00"])
    return "".join(rng.choices(alphabet, k=rng.choice([0, 1, 2, 3, 8, 15, 16, 20])))


RANDOM_NAMES = [
    random_text,
    lambda rng: Text(random_text(rng)),
    lambda rng: np.str_(random_text(rng).rstrip("\0")),  # which numpy does not pickle
    lambda rng: random_text(rng).encode("utf-8", "surrogatepass"),
    lambda rng: rng.randint(-9, 9),
    lambda rng: rng.choice([-1, 1]) * (1 << rng.randrange(100)) + rng.randint(-1, 1),
    lambda rng: rng.randint(-20, 20) / rng.choice([1, 2, 3]),
    lambda rng: float(1 << rng.randrange(100)),
    lambda rng: np.int64(rng.randint(-9, 9)),
    lambda rng: Decimal(2 * rng.randint(-20, 20) + 1) / 4,  # numpy cannot compare a whole one
    lambda rng: Fraction(rng.randint(-20, 20), rng.choice([1, 2, 4])),
    lambda rng: rng.random() < 0.5,
    lambda rng: None,
]
RANDOM_OBJECTS = [
    lambda rng: frozenset(rng.choices([True, 1, 2.0, "a"], k=rng.randrange(4))),
    lambda rng: datetime.date(2020, 1, rng.randint(1, 31)),
    lambda rng: rng.choice(list(Color)),
    lambda rng: Fraction(rng.randint(-20, 20), 3),  # the whole ones are ints
]


def random_tuple(rng, kinds, depth):
    if rng.random() < 0.1:
        return Point(random_name(rng, kinds, depth - 1), random_name(rng, kinds, depth - 1))
    return tuple(random_name(rng, kinds, depth - 1) for _ in range(rng.randrange(5)))


def random_name(rng, kinds, depth):
    if depth > 0 and rng.random() < 0.3:
        return random_tuple(rng, kinds, depth)
    return rng.choice(kinds)(rng)


@seeds
def test_random_names_are_told_apart_as_a_dict_does(seed):
    rng = random.Random(seed)
    model, expected = counter(), {}
    while len(expected) < 10_000:
        names = [random_name(rng, RANDOM_NAMES + RANDOM_OBJECTS, depth=2) for _ in range(20)]
        x = {name: rng.randint(-3, 3) for name in names}
        for name, value in x.items():
            if value != 0:
                expected[name] = expected.get(name, 0) + value
        model.learn_one(x, True)
        if rng.random() < 0.1:
            score = sum(value * expected[name] for name, value in x.items() if value != 0)
            assert model.decision_function_one(x) == score
    assert model.n_features == len(expected)
    expected = {name: weight for name, weight in expected.items() if weight != 0}
    assert model.weights == expected
    assert pickle.loads(pickle.dumps(model)).weights == expected


@seeds
def test_equal_tuples_have_the_same_bytes_and_the_bytes_give_an_equal_tuple(seed):
    rng = random.Random(seed)
    by_name, by_bytes = {}, {}
    for _ in range(2000):
        name = random_tuple(rng, RANDOM_NAMES, depth=4)
        kind, encoded = name_plain(name)
        assert kind == CANONICAL
        decoded = name_decode(encoded)
        assert (decoded, type(decoded), hash(decoded)) == (name, tuple, hash(name))
        assert name_plain(decoded) == (kind, encoded)
        assert by_name.setdefault(name, encoded) == encoded
        assert by_bytes.setdefault(encoded, name) == name


@pytest.mark.parametrize("name", PLAIN, ids=names_id)
def test_plain_name_of_a_plain_name_is_the_same(name):
    kind, value = name_plain(name)
    back = name_decode(value) if kind == CANONICAL else value
    assert (back, type(back)) == (name, type(name))
    assert name_plain(back) == (kind, value)
