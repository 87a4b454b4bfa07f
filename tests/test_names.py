"""Feature names: whatever a dict takes for a key, as a dict takes it."""

import copy
import datetime
import enum
import hashlib
import pickle
import random
import struct
import subprocess
import sys
from collections import ChainMap, Counter, OrderedDict, UserDict, namedtuple
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest

from streamptron import MulticlassPerceptron, Perceptron
from streamptron.common.names import (
    BYTES,
    CANONICAL,
    FLOAT,
    INT,
    OBJECT,
    STR,
    name_decode,
    name_plain,
    type_shown,
)
from tests.support.marks import seeds, slow


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
    """A str that equals no other str."""

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
    (np.float16(0.1), float(np.float16(0.1))),
    (np.float16(-2048), -2048),
    (np.float32(1e20), int(np.float32(1e20))),
    (np.float32("-inf"), float("-inf")),
    (-(2.0**61), -(2**61)),
    (2.0**63, 2**63),
    (-(2.0**64), -(2**64)),
    (1.7976931348623157e308, int(1.7976931348623157e308)),
    (np.int8(-128), -128),
    (np.int16(-300), -300),
    (np.uint16(65_535), 65_535),
    (np.intc(-(2**31)), -(2**31)),
    (np.uint32(2**32 - 1), 2**32 - 1),
    (np.int64(-(2**63)), -(2**63)),
    (np.int64(2**61 - 1), 2**61 - 1),
    (np.longlong(-5), -5),
    (np.ulonglong(5), 5),
    (np.str_("a"), "a"),
    (np.str_("a\0"), "a\0"),
    (np.bytes_(b"a\0"), b"a\0"),
    ((np.float16(0.5), np.bytes_(b"a"), np.True_, 2.0**64), (0.5, b"a", 1, 2**64)),
    ((-0.0, -(2**70), 2**64 - 1, -(2**63)), (0, -(2**70), 2**64 - 1, -(2**63))),
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


@pytest.mark.parametrize(
    ("one", "equal"),
    [
        (Decimal("0.1"), Decimal("0.10")),
        (Decimal("1e3"), Decimal("1000.000")),
        (Decimal("0.5"), Decimal("0.500")),
        (Fraction(1, 3), Fraction(10, 30)),
    ],
)
def test_model_knows_a_number_as_it_was_written_there_whatever_others_wrote(one, equal):
    """Numbers that take long are remembered, by all models: this one must not see that."""
    alone = pickle.loads(pickle.dumps(Perceptron(hash_seed=1)))
    alone.learn_one({one: 1}, True)
    other = Perceptron()
    other.learn_one({equal: 1}, True)
    other.predict_one({one: 1})
    model = Perceptron(hash_seed=1)
    model.learn_one({one: 1}, True)
    assert repr(model.weights) == repr(alone.weights)
    assert pickle.dumps(model) == pickle.dumps(alone)
    assert model.predict_one({equal: 1}) is True
    assert model.n_features == 1


def test_more_numbers_than_are_remembered_stay_features_of_their_own():
    model = Perceptron(average="none", serve="current", intercept=False)
    names = [Decimal(i) / 8 for i in range(40_000)]
    model.learn_one({name: i + 1 for i, name in enumerate(names)}, True)
    assert model.n_features == len(names)
    for i in (0, 1, 7, 20_000, 39_999):
        assert model.decision_function_one({names[i] * Decimal("1.00"): 1}) == i + 1
        assert model.decision_function_one({float(names[i]): 1}) == i + 1


class Proxy:
    """It says that it is of the class of what it stands for, and equals it."""

    def __init__(self, value):
        self.value = value

    @property
    def __class__(self):
        return type(self.value)

    def __str__(self):
        return str(self.value)

    def __int__(self):
        return int(self.value)

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return self.value == other


def test_what_stands_for_a_number_is_that_number():
    model = Perceptron(average="none", serve="current", intercept=False)
    model.learn_one({Proxy(frozenset("a")): 1}, True)
    model.learn_one({Proxy(7): 1}, True)
    assert model.decision_function_one({7: 1}) == 1.0
    assert name_plain(Proxy(7)) == (INT, 7)


class Reversed(tuple):
    """It is given to a loop the wrong way round, and equals what it holds all the same."""

    def __iter__(self):
        return reversed(list(super().__iter__()))


def test_what_compares_like_a_tuple_is_the_tuple_that_it_equals():
    assert name_plain(Reversed("ab")) == name_plain(("a", "b"))
    model = Perceptron()
    model.learn_one({Reversed("ab"): 1}, True)
    assert list(model.weights) == [("a", "b")]


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
@pytest.mark.filterwarnings("ignore:the column .* and a model that learns it cannot be saved")
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


@seeds(5)
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


@seeds(5)
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


# What is read in C, beside name_plain


def kept(model):
    """The keys of a model's names, and the bytes of the long ones, one after the other."""
    arrays = model._file_state(pickled=True)[1]
    keys = bytearray(arrays["keys"][1])[32:]  # the first two slots belong to no name
    for at in range(0, len(keys), 16):
        if keys[at + 8] >> 7:  # a long one says where its bytes are
            keys[at : at + 8] = bytes(8)
    return bytes(keys), bytes(arrays["texts"][1])


def stored(model):
    """What a model keeps of its names: [(kind, value)] as name_plain says it."""
    keys, texts = kept(model)
    names, at = [], 0
    for low, high in struct.iter_unpack("<QQ", keys):
        kind = high >> 4 & 7
        if high >> 7 & 1:
            n = high >> 8
            data, at = texts[at : at + n], at + n
        else:
            data = struct.pack("<QQ", high, low)[16 - (high & 15) :]
        if kind == INT:
            names.append((kind, struct.unpack("<q", struct.pack("<Q", low))[0]))
        elif kind == FLOAT:
            names.append((kind, struct.unpack("<d", struct.pack("<Q", low))[0]))
        elif kind == OBJECT:
            names.append((kind, low))
        else:
            text = data.decode("utf-8", "surrogatepass") if kind == STR else data
            names.append((kind, text))
    assert at == len(texts)
    return names


def said(names):
    """The same of what name_plain says, where mere objects are numbered."""
    plain, n_objects = [], 0
    for kind, value in map(name_plain, names):
        plain.append((kind, n_objects if kind == OBJECT else value))
        n_objects += kind == OBJECT
    return plain


KINDS = (STR, BYTES, INT, FLOAT, CANONICAL, OBJECT)


@pytest.mark.parametrize("name", PLAIN + [name for name, _ in EQUAL], ids=names_id)
def test_name_is_kept_as_name_plain_says_it(name):
    model = counter()
    model.learn_one({name: 1}, True)
    assert stored(model) == [name_plain(name)]


MAPPINGS = [dict, OrderedDict, Counter, UserDict, MappingProxyType, ChainMap]


@pytest.mark.parametrize("mapping", MAPPINGS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("objects", [False, True], ids="objects={}".format)
@seeds(5)
def test_random_names_are_kept_in_order_as_name_plain_says_them(seed, objects, mapping):
    """With mere objects among them, and so some read by Python and some in C, or with none."""
    rng = random.Random(seed)
    kinds = RANDOM_NAMES + RANDOM_OBJECTS * objects
    seen = set()
    for _ in range(30):
        names = {random_name(rng, kinds, depth=3): 1 for _ in range(rng.randrange(1, 40))}
        model = counter()
        model.learn_one(mapping(names), True)
        assert stored(model) == said(names)
        seen.update(kind for kind, _ in stored(model))
    assert seen == set(KINDS) if objects else seen == set(KINDS) - {OBJECT}


@seeds(5)
def test_random_names_of_columns_are_kept_as_name_plain_says_them(seed):
    rng = random.Random(seed)
    for _ in range(30):
        kinds = RANDOM_NAMES + RANDOM_OBJECTS
        names = list({random_name(rng, kinds, depth=3): 1 for _ in range(rng.randrange(1, 40))})
        model = counter()
        model.learn_many(np.ones((1, len(names))), [True], feature_names=names)
        assert stored(model) == said(names)
        assert stored(Perceptron.from_weights(dict.fromkeys(names, 1.0))) == said(names)


# Names as they are kept in pickles and files; their bits must never change.
KEPT_NAMES = [
    "spam",
    "a name of more than fifteen bytes",
    "语言学习",
    "\ud800",
    b"bytes",
    -7,
    2**61 - 1,
    -(2**80),
    1e300,
    -0.5,
    float("inf"),
    None,
    (),
    ("new", "york"),
    (1, -2, 300, 2**64 - 1),
    ("语", b"b", 0.25, None, (True, (2.0**70,))),
    (np.float32(0.1), np.int64(-5), np.str_("x"), np.bytes_(b"y"), np.True_),
    Point("p", 2),
    np.uint64(2**63),
    np.float16(0.1),
]


def test_names_are_kept_in_the_bits_in_which_they_always_were():
    model = counter()
    model.learn_one(dict.fromkeys(KEPT_NAMES, 1), True)
    keys, texts = kept(model)
    assert len(keys) == 16 * len(KEPT_NAMES)
    assert hashlib.sha256(keys + texts).hexdigest() == KEPT_BITS


KEPT_BITS = "bb8bf6e74d41f5c7d9b7363e52c0bae63bda69675ac15bb17aa9cdb1c3d7cbe8"


def nested(depth):
    name = ("a",)
    for _ in range(depth):
        name = (name, 1)
    return name


@pytest.mark.parametrize("depth", [1, 98, 99, 100, 101, 150], ids="depth={}".format)
def test_tuple_in_tuples_is_a_name_however_deep(depth):
    name = nested(depth)
    model = counter()
    model.learn_one({name: 1, (name, "beside"): 2}, True)
    assert stored(model) == said([name, (name, "beside")])
    assert model.weights == {name: 1, (name, "beside"): 2}


@pytest.mark.parametrize(
    "n", slow([300_000], among=[1, 50, 127, 128, 5000, 20_000, 300_000]), ids="n={}".format
)
def test_tuple_is_a_name_however_long(n):
    names = [("a" * n, "b"), ("é" * n, 1), tuple(range(n)), (b"b" * n,) * 3, ((1, "a"),) * n]
    model = counter()
    model.learn_one(dict.fromkeys(names, 1), True)
    assert stored(model) == said(names)


def test_numbers_of_numpy_are_read_also_when_numpy_is_loaded_after_the_first_events():
    code = """
import sys
import numpy
from streamptron import Perceptron

model = Perceptron(margin=1e40, average="none", serve="current", intercept=False)
for there in (None, numpy):
    sys.modules["numpy"] = there
    model.learn_one({(1, frozenset()): 1, "a": 1}, True)
for name in (numpy.int64(3), numpy.str_("b"), (numpy.float32(0.5), 1)):
    model.learn_one({name: numpy.float32(2)}, True)
assert model.weights == {(1, frozenset()): 2, "a": 2, 3: 2, "b": 2, (0.5, 1): 2}, model.weights
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


# repr is for errors


class Silent:
    """Whatever is shown ends the process."""

    def __repr__(self):
        raise SystemExit("somebody asked for the repr")

    __str__ = __format__ = __repr__


class SilentText(Silent, str):
    pass


class SilentInt(Silent, int):
    pass


class SilentFloat(Silent, float):
    pass


class SilentFraction(Silent, Fraction):
    pass


class SilentTuple(Silent, tuple):
    pass


class SilentObject(Silent):
    pass


SILENT_NAMES = [
    SilentText("a"),
    SilentInt(3),
    SilentFloat(0.5),
    SilentFraction(1, 3),
    SilentTuple((1, 2)),
    SilentObject(),
    (SilentText("a"), 1),
    ("b", SilentObject()),
    frozenset([SilentObject()]),
]
SILENT_VALUES = [1, SilentInt(2), SilentFloat(0.5), SilentFraction(1, 2), SilentFraction(0)]


@pytest.mark.parametrize("mapping", MAPPINGS, ids=lambda kind: kind.__name__)
def test_nothing_of_a_good_event_is_ever_shown(mapping):
    for value in SILENT_VALUES:
        model = counter()
        x = mapping(dict.fromkeys(SILENT_NAMES, value))
        model.learn_one(x, True)
        model.learn_one(mapping({"a": 1, "plain": SilentFraction(1, 2)}), True)
        for call in (model.predict_one, model.predict_proba_one, model.explain_one):
            call(x)
        model.test_then_train_one(x, False)
        for name in SILENT_NAMES:
            assert model.n_seen == 3
            assert model.decision_function_one(mapping({name: 1})) is not None
    X = np.ones((2, len(SILENT_NAMES)))
    model = counter()
    model.learn_many(X, [True, True], feature_names=SILENT_NAMES)
    assert model.n_features == len(SILENT_NAMES)
    weights = mapping(dict.fromkeys(SILENT_NAMES, SilentFraction(1, 2)))
    assert Perceptron.from_weights(weights).n_features == len(SILENT_NAMES)


# Entries read by Python beside entries read in C


ODD_NUMBERS = [
    lambda rng: Fraction(rng.randint(-3, 3), 2),
    lambda rng: Decimal(rng.randint(-3, 3)) / 4,
    lambda rng: SilentInt(rng.randint(-3, 3)),
]
NUMBERS = [
    lambda rng: rng.randint(-3, 3),
    lambda rng: rng.randint(-3, 3) / 4,
    lambda rng: rng.random() < 0.5,
    lambda rng: np.float16(rng.randint(-3, 3) / 4),
    lambda rng: np.float32(rng.randint(-3, 3) / 4),
    lambda rng: np.float64(rng.randint(-3, 3) / 4),
    lambda rng: np.int8(rng.randint(-3, 3)),
    lambda rng: np.uint16(rng.randint(0, 3)),
    lambda rng: np.int32(rng.randint(-3, 3)),
    lambda rng: np.uint32(rng.randint(0, 3)),
    lambda rng: np.int64(rng.randint(-3, 3)),
    lambda rng: np.uint64(rng.randint(0, 3)),
    lambda rng: np.bool_(rng.random() < 0.5),
]


@pytest.mark.parametrize("mapping", MAPPINGS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("odd", [0.0, 0.05, 0.5], ids="odd={}".format)
@seeds(5)
def test_events_of_every_mixture_are_learned_as_the_plain_events_that_they_equal(
    seed, odd, mapping
):
    rng = random.Random(seed)
    model, plain = Perceptron(hash_seed=0), Perceptron(hash_seed=0)
    pool = [random_name(rng, RANDOM_NAMES, 2) for _ in range(150)]
    pool += [random_name(rng, RANDOM_OBJECTS, 2) for _ in range(10) if odd]
    pool += [random_text(rng) for _ in range(50)]
    for _ in range(60):
        names = dict.fromkeys(rng.choices(pool, k=rng.randrange(30)))
        x = {
            name: rng.choice(ODD_NUMBERS if rng.random() < odd else NUMBERS)(rng) for name in names
        }
        plain_x = {}
        for name, value in x.items():
            kind, said = name_plain(name)
            plain_x[name_decode(said) if kind == CANONICAL else said] = float(value)
        y = rng.random() < 0.5
        assert model.decision_function_one(mapping(x)) == plain.decision_function_one(plain_x)
        model.learn_one(mapping(x), y)
        plain.learn_one(plain_x, y)
        assert pickle.dumps(model) == pickle.dumps(plain)
    assert plain.n_updates > 10


def test_features_come_in_the_order_of_the_mapping():
    x = OrderedDict((name, 1) for name in ["a", "b", ("c", 1), frozenset("d"), 5, np.int64(6)])
    x.move_to_end("a")
    x.move_to_end(("c", 1), last=False)
    for mapping in (x, MappingProxyType(x), ChainMap(x), UserDict(x)):
        model = counter()
        model.learn_one(mapping, True)
        assert list(model.weights) == list(mapping)


@seeds(5)
def test_chain_of_dicts_is_the_dict_that_it_says_it_is(seed):
    rng = random.Random(seed)
    for _ in range(100):
        maps = [
            {rng.choice([1, True, 1.0, "a", "b", ("c",), 7]): rng.randint(-2, 2) for _ in range(4)}
            for _ in range(rng.randrange(4))
        ]
        x = ChainMap(*maps)
        model, plain = counter(), counter()
        model.learn_one(x, True)
        plain.learn_one(dict(x.items()), True)
        assert pickle.dumps(model) == pickle.dumps(plain)


def test_names_that_a_mapping_gives_twice_are_one_feature():
    class Twice(UserDict):
        def items(self):
            ones = [(1, 1), (True, 2), (np.int64(1), 4), (Decimal(1), 8)]
            return [*ones, (("a", 1), 1), (("a", 1.0), 2)]

    model = counter()
    model.learn_one(Twice(), True)
    assert model.weights == {1: 15, ("a", 1): 3}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        *((5, "an int"), ("a", "a str"), (None, "a NoneType"), (np.zeros(1), "an ndarray")),
        *((object(), "an object"), (UserDict(), "a UserDict"), (Perceptron(), "a Perceptron")),
        (type("", (), {})(), "a "),
    ],
)
def test_type_is_said_with_its_article(value, said):
    assert type_shown(value) == said
