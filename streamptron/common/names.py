"""Feature names of every kind: turned into plain names, and back.

The core knows text, bytes, small ints and floats. Every other hashable comes through here on its
way in. It is turned into one of those; or written as *canonical bytes*, which are the same in every
process and can be decoded (``None``, large ints, tuples and pairs of names); or, where neither is
possible, left as an object that the caller has to keep (``OBJECT``).

Names that are equal as dict keys become the same name: ``True``, ``1``, ``1.0``, ``Decimal(1)`` and
``numpy.int64(1)`` are the int 1, and ``numpy.str_("a")`` is ``"a"``.
"""

from __future__ import annotations

import decimal
import functools
import math
import numbers
import struct
import sys
from collections.abc import Hashable, Iterator, Mapping
from operator import itemgetter
from typing import Any, NoReturn

_bytes_of = itemgetter(0)

STR, BYTES, INT, FLOAT, CANONICAL, OBJECT = 1, 2, 3, 4, 5, 6

# Beyond this hash(n) != n, and an int may equal a float that does not look whole.
INT_LIMIT = 2**61 - 1

# Names of types that take "an": they begin with a vowel sound.
_AN = (*"AEIOaeio", "ndarray")

Plain = str | bytes | int | float | Hashable


class Pair:
    """The name of a pair of features, as ``degree=2`` and ``interactions`` make them.

    It is not a tuple, because a tuple may itself be a feature's name. The order of the two names
    does not matter: they are kept in one order, which is the same on every machine.

    Parameters
    ----------
    first, second
        Names of features: a str, bytes, number, None, a tuple of these or a Pair.

    Examples
    --------
    >>> from streamptron import Pair
    >>> Pair("not", "bad")
    Pair('bad', 'not')
    >>> Pair("not", "bad") == Pair("bad", "not"), Pair("bad", "not") == ("bad", "not")
    (True, False)
    >>> str(Pair("not", "bad"))
    'bad * not'
    """

    __slots__ = ("_encoded", "first", "second")

    first: Hashable
    second: Hashable
    _encoded: bytes

    def __init__(self, first: Hashable, second: Hashable) -> None:
        halves = sorted(((_encoded_half(name), name) for name in (first, second)), key=_bytes_of)
        self._keep(halves[0][1], halves[1][1], b"p" + halves[0][0] + halves[1][0])

    def _keep(self, first: Hashable, second: Hashable, encoded: bytes) -> None:
        for name, value in (("first", first), ("second", second), ("_encoded", encoded)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Pair cannot be changed; make another one to change its {name}")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Hashable]:
        return iter((self.first, self.second))

    def __eq__(self, other: object) -> bool:
        return self._encoded == other._encoded if isinstance(other, Pair) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._encoded)

    def __repr__(self) -> str:
        return f"Pair({self.first!r}, {self.second!r})"

    def __str__(self) -> str:
        return f"{self.first} * {self.second}"

    def __reduce__(self) -> tuple[type[Pair], tuple[Hashable, Hashable]]:
        return Pair, (self.first, self.second)


# An object of any other type is not a number, a text, a tuple or a Pair.
_NOT_MERE = (
    *(str, bytes, memoryview, tuple, type(None)),
    *(Pair, numbers.Complex, decimal.Decimal),
)


def interned(value: Any) -> Any:
    """A str interned, so that it is the same object as an equal name in the code; others as is.

    Pickle writes each object once, so without this, equal models could pickle to different bytes.
    """
    return sys.intern(value) if type(value) is str else value


def short_repr(value: object, width: int = 80) -> str:
    """A value as an error message shows it: its repr, cut to a width. It never raises.

    Examples
    --------
    >>> short_repr("a" * 100, 10), short_repr(10**5000)
    ("'aaaaaa...", '<int of 16610 bits>')
    """
    try:
        text = repr(value)
    except Exception:
        bits = f" of {value.bit_length()} bits" if isinstance(value, int) else ""
        return f"<{type(value).__name__}{bits}>"
    return text if len(text) <= width else text[: width - 3] + "..."


def with_article(name: str) -> str:
    """The name of a type with its article.

    Examples
    --------
    >>> with_article("int"), with_article("UserDict"), with_article("ndarray")
    ('an int', 'a UserDict', 'an ndarray')
    """
    return f"{'an' if name.startswith(_AN) else 'a'} {name}"


def type_shown(value: object) -> str:
    """The type of a value as an error message shows it: "a dict", "an int"."""
    return with_article(type(value).__name__)


def is_numpy(value: object, kind: str) -> bool:
    """Whether a value is a numpy scalar; whoever has one has imported numpy, so this does not."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind))


def is_exact(kind: type) -> bool:
    """Whether a type is Decimal or Fraction; without importing `fractions`, which is slow.

    Examples
    --------
    >>> is_exact(decimal.Decimal), is_exact(float)
    (True, False)
    """
    fraction = getattr(sys.modules.get("fractions"), "Fraction", None)
    return kind is decimal.Decimal or kind is fraction


@functools.lru_cache(1024)
def is_mere(kind: type) -> bool:
    """Whether a type's objects have no plain form, and are names only as objects (`OBJECT`).

    Examples
    --------
    >>> is_mere(frozenset), is_mere(bool)
    (True, False)
    """
    if issubclass(kind, _NOT_MERE) or kind is getattr(sys.modules.get("numpy"), "bool_", None):
        return False
    # an object with a __class__ of its own may claim another type, so each one must be asked
    return not any("__class__" in vars(base) for base in kind.__mro__ if base is not object)


def name_plain(name: Hashable) -> tuple[int, Plain]:
    """The ``(kind, value)`` of a name; equal names give equal pairs.

    Raises
    ------
    TypeError
        If the name is not hashable.
    ValueError
        If the name is NaN, which does not equal itself.

    Examples
    --------
    >>> name_plain("a"), name_plain(True), name_plain(0.5)
    ((1, 'a'), (3, 1), (4, 0.5))
    >>> name_plain(("new", "york"))
    (5, b't\\x02s\\x03news\\x04york')
    """
    try:
        hash(name)
    except TypeError:
        raise TypeError(
            f"the feature name {short_repr(name)} is {type_shown(name)}, which is not hashable; "
            "a name must be a str, int, tuple or any other hashable"
        ) from None
    if is_mere(type(name)):
        return OBJECT, name
    if isinstance(name, str):
        return _unwrapped(STR, name, str.__str__(name))
    if isinstance(name, tuple):
        items = tuple(tuple.__iter__(name))  # a named tuple is the tuple that it equals
        if type(name) is tuple or (hash(name) == hash(items) and name == items):
            return _canonical(name, items)
    if isinstance(name, bytes | memoryview):
        return _unwrapped(BYTES, name, bytes(name))
    if isinstance(name, Pair):
        return CANONICAL, name._encoded
    number = _plain_number(name)
    if isinstance(number, int):
        if -INT_LIMIT < number < INT_LIMIT:
            return INT, number
        return CANONICAL, _encode(number)
    if isinstance(number, float):
        return FLOAT, number
    return _canonical(name, None) if name is None else (OBJECT, name)


def name_decode(encoded: bytes) -> Plain:
    """The name that canonical bytes stand for.

    Examples
    --------
    >>> name_decode(name_plain(("new", 1, (None, 2**80)))[1])
    ('new', 1, (None, 1208925819614629174706176))
    """
    name, end = _decode(encoded, 0)
    assert end == len(encoded)
    return name


def _canonical(name: Hashable, plain: tuple[Hashable, ...] | None) -> tuple[int, Plain]:
    encoded = _encode(plain)
    return (OBJECT, name) if encoded is None else (CANONICAL, encoded)


def _unwrapped(kind: int, name: Hashable, value: str | bytes) -> tuple[int, Plain]:
    """The value of a str or bytes, unless a subclass compares or hashes differently."""
    if type(name) is type(value) or (hash(name) == hash(value) and name == value):
        return kind, value
    return OBJECT, name


def _plain_number(name: Hashable) -> int | float | None:
    """The int or float that a number equals, or None."""
    if type(name) is int:
        return name
    if is_numpy(name, "bool_"):
        return 1 if name else 0
    if not isinstance(name, numbers.Complex | decimal.Decimal):
        return None
    if name != name:
        raise ValueError(
            f"the feature name {short_repr(name)} is NaN, which does not equal itself; give the "
            "feature another name"
        )
    if isinstance(name, numbers.Complex) and not isinstance(name, numbers.Real):
        if name.imag != 0:
            return None
        name = name.real
    if is_exact(type(name)):
        return _plain_exact(name)
    for plain in (int, float):
        try:
            if plain(name) == name:
                return plain(name)
        except (OverflowError, TypeError, ValueError):  # an infinity, a timedelta
            pass
    return None


def _plain_exact(name: Any) -> int | float | None:
    """The same for a Decimal or Fraction; if it is small and whole, a float equals it."""
    try:
        value = float(name)
    except OverflowError:  # a large fraction
        value = math.inf
    if value == name:
        return int(value) if value.is_integer() else value
    if abs(value) < 2**53:
        return None
    whole = int(name)
    return whole if whole == name else None


def count_packed(n: int) -> bytes:
    """A number of at least 0, in bytes of seven bits, the lowest bits first."""
    out = bytearray()
    while n > 127:
        out.append(128 | (n & 127))
        n >>= 7
    out.append(n)
    return bytes(out)


def _encode(name: Hashable) -> bytes | None:
    """Canonical bytes of None, an int or a tuple of names; None if a part has to stay an object."""
    if name is None:
        return b"n"
    if type(name) is tuple:
        parts = [b"t" + count_packed(len(name))]
        for part in name:
            encoded = _encode_part(part)
            if encoded is None:
                return None
            parts.append(encoded)
        return b"".join(parts)
    text = format(name, "x").encode()  # not decimal, which Python limits to 4300 digits
    return b"i" + count_packed(len(text)) + text


def _encode_part(part: Hashable) -> bytes | None:
    kind, value = name_plain(part)
    if kind == STR:
        body = value.encode("utf-8", "surrogatepass")  # type: ignore[union-attr]
        return b"s" + count_packed(len(body)) + body
    if kind == BYTES:
        return b"b" + count_packed(len(value)) + value  # type: ignore[arg-type, operator]
    if kind == INT:
        return _encode(value)
    if kind == FLOAT:
        return b"f" + struct.pack("<d", value)
    if kind == CANONICAL:
        return value  # type: ignore[return-value]
    return None


def _encoded_half(name: Hashable) -> bytes:
    encoded = _encode_part(name)
    if encoded is None:
        raise TypeError(
            f"a Pair of {short_repr(name)}, {type_shown(name)}; its halves must be a str, bytes, "
            "number, None, a tuple of these or a Pair"
        )
    return encoded


def count_of(data: bytes, at: int) -> tuple[int, int]:
    """A number that count_packed wrote, and where it ends."""
    n = shift = 0
    while True:
        byte = data[at]
        n |= (byte & 127) << shift
        at += 1
        shift += 7
        if byte < 128:
            return n, at
        if shift > 56:
            raise ValueError("a size is too large")


def _decode(data: bytes, at: int) -> tuple[Plain, int]:
    tag, at = data[at : at + 1], at + 1
    if tag == b"n":
        return None, at
    if tag == b"f":
        return struct.unpack_from("<d", data, at)[0], at + 8
    if tag == b"p":
        first, middle = _decode(data, at)
        second, end = _decode(data, middle)
        pair = Pair.__new__(Pair)
        pair._keep(first, second, data[at - 1 : end])
        return pair, end
    n, at = count_of(data, at)
    if tag == b"t":
        parts = []
        for _ in range(n):
            part, at = _decode(data, at)
            parts.append(part)
        return tuple(parts), at
    body = data[at : at + n]
    if tag == b"s":
        return body.decode("utf-8", "surrogatepass"), at + n
    if tag == b"b":
        return body, at + n
    return int(body, 16), at + n


def value_in(x: Mapping[Any, float], feature: Hashable) -> float:
    """The value of a feature of an event, or of a pair of its features."""
    if isinstance(feature, Pair) and feature not in x:
        return value_in(x, feature.first) * value_in(x, feature.second)
    return float(x[feature]) if feature in x else 1.0  # a category
