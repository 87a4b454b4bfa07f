"""Files of sound models in which one number is something odd, with checksums that fit.

Every field that a file has is changed: each of an array's columns (of slots and entries of mixed
types each word, also as the float that it may be), and each number of the header.
"""

import json
import math
import struct

from tests.support.mutations import joined, parts, sealed

DOUBLES = (math.nan, math.inf, -math.inf, 1e308, -1e308, 1e50, 5e-324, 2.0**-126, -1.0, -0.0, 0.0)
FLOATS = (math.nan, math.inf, -math.inf, 3e38, -3e38, 1e-43, -1e-43, 2.0**20, -1.0, -0.0)
WORDS = (0, 1, 2**31, 2**32 - 1)
STEPS = (1, -1, 0x40000000)  # what a word is changed by
NUMBERS = ("counters", "clock", "serve", "ceiling", "adaptive", "many", "voted", "sets")


def arrays(data):
    """Name, type, where it begins in the file, bytes of one row, and how many rows, of each."""
    header = json.loads(parts(data)[0])
    start = 8 + int.from_bytes(data[:8], "little")
    for name, array in header.items():
        if name == "__metadata__":
            continue
        begin, end = array["data_offsets"]
        rows = array["shape"][0]
        if rows:
            yield name, array["dtype"], start + begin, (end - begin) // rows, rows


def changed(data, at, new):
    return sealed(data[:at] + new + data[at + len(new) :])


def in_arrays(data, rng):
    """(what was changed, where, bytes) of each field of each array, in a row drawn at random."""
    for name, dtype, start, size, rows in arrays(data):
        word = 1 if dtype == "U8" else 4
        for at in range(0, size, word):
            row = rng.randrange(rows)
            place = start + row * size + at
            old = data[place : place + word]
            for new in _odd_words(old, dtype, at):
                if new != data[place : place + len(new)]:
                    yield f"{name}[{row}] byte {at}: {old.hex()} to {new.hex()}", place, new


def _odd_words(old, dtype, at):
    if dtype == "U8":
        return [bytes([old[0] ^ 0x41]), b"\0", b"\xff"]
    value = int.from_bytes(old, "little")
    words = [*WORDS, *((value + step) % 2**32 for step in STEPS)]
    new = [word.to_bytes(4, "little") for word in words]
    new += [struct.pack("<f", number) for number in FLOATS]
    if at % 8 == 0 and dtype in ("F64", "U64", "U32"):
        new += [struct.pack("<d", number) for number in DOUBLES]
    return new


def in_header(data):
    """(what was changed, where, number) of each number of the metadata that learning goes by."""
    metadata = json.loads(parts(data)[0])["__metadata__"]
    for name in NUMBERS:
        for path, old in _leaves(json.loads(metadata.get(name, "[]"))):
            for new in _odd_like(old):
                yield f"{name}{list(path)}: {old!r} to {new!r}", (name, *path), new


def renumbered(data, path, new):
    """The file with another number there."""
    header, body = parts(data)
    value = json.loads(header)
    metadata = value["__metadata__"]
    name, *inner = path
    metadata[name] = json.dumps(_put(json.loads(metadata[name]), inner, new))
    text = json.dumps(value, separators=(",", ":")).encode()
    return sealed(joined(text + b" " * (-(8 + len(text)) % 64), body))


def _leaves(value, path=()):
    if isinstance(value, list):
        for i, part in enumerate(value):
            yield from _leaves(part, (*path, i))
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(part, (*path, name))
    else:
        yield path, value


def _put(value, path, new):
    if not path:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = _put(value[path[0]], path[1:], new)
    return copy


def _odd_like(old):
    if isinstance(old, bool) or old is None:
        return [not old, 1, "x"]
    if isinstance(old, int):
        return [-1, 0, old + 1, old - 1, 2**31, 2**63, 2**64]
    if isinstance(old, str):
        return [number.hex() for number in DOUBLES] + ["x"]
    return []


def files(data, rng, share):
    """(what was changed, file): a share of all of them, drawn at random."""
    for what, place, new in in_arrays(data, rng):
        if rng.random() < share:
            yield what, changed(data, place, new)
    for what, path, new in in_header(data):
        if rng.random() < share:
            yield what, renumbered(data, path, new)
