"""Arrow columns made by hand: odd and broken ones, which count how often they are released."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE = CFUNCTYPE(None, c_void_p)
Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", c_void_p),
    ("dictionary", POINTER(Schema)),
    ("release", c_void_p),
    ("private_data", c_void_p),
]
Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_char_p)),
    ("children", c_void_p),
    ("dictionary", POINTER(Array)),
    ("release", c_void_p),
    ("private_data", c_void_p),
]
GET_SCHEMA = CFUNCTYPE(c_int, c_void_p, POINTER(Schema))
GET_NEXT = CFUNCTYPE(c_int, c_void_p, POINTER(Array))
GET_ERROR = CFUNCTYPE(c_void_p, c_void_p)
Stream._fields_ = [
    ("get_schema", GET_SCHEMA),
    ("get_next", GET_NEXT),
    ("get_last_error", GET_ERROR),
    ("release", c_void_p),
    ("private_data", c_void_p),
]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = c_void_p
capsule_pointer.argtypes = [c_void_p, c_char_p]


class Made:
    """A column of the given buffers (bytes, or None for NULL), handed out as one array.

    `released` counts calls by what was released: "schema", "array", "stream". A capsule lives until
    it is taken out of `capsules`, since a destructor in Python must not run while an error is on
    its way.
    """

    def __init__(self, format, *buffers, length=1, offset=0, dictionary=None):
        self.released = {"schema": 0, "array": 0, "stream": 0}
        self.length = length
        self.schema = Schema(format=format)
        self.buffers = (c_char_p * max(1, len(buffers)))(*buffers)
        self.array = Array(
            length=length,
            null_count=-1,
            offset=offset,
            n_buffers=len(buffers),
            buffers=self.buffers,
        )
        if dictionary is not None:
            self.dictionary = dictionary
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
            self.array.dictionary = ctypes.pointer(dictionary.array)
        self.releases = {}
        self.capsules = []
        self.schema.release = self.releaser("schema", Schema)
        self.array.release = self.releaser("array", Array)
        self.destructors = {
            name: RELEASE(lambda capsule, name=name, kind=kind: self._dropped(capsule, name, kind))
            for name, kind in (
                (b"arrow_schema", Schema),
                (b"arrow_array", Array),
                (b"arrow_array_stream", Stream),
            )
        }

    def releaser(self, what, kind):
        """A release function, which counts itself."""

        def release(p):
            self.released[what] += 1
            kind.from_address(p).release = None

        self.releases[what] = RELEASE(release)
        return ctypes.cast(self.releases[what], c_void_p).value

    def _dropped(self, capsule, name, kind):
        """What the destructor of a capsule has to do."""
        given = kind.from_address(capsule_pointer(capsule, name))
        if given.release:
            RELEASE(given.release)(ctypes.addressof(given))

    def capsule(self, structure, name):
        destructor = ctypes.cast(self.destructors[name], c_void_p)
        self.capsules.append(new_capsule(ctypes.addressof(structure), name, destructor))
        return self.capsules[-1]

    def __arrow_c_array__(self, requested_schema=None):
        return self.capsule(self.schema, b"arrow_schema"), self.capsule(self.array, b"arrow_array")


class MadeStream:
    """The same column as the chunks of a stream.

    It fails before chunk `fails_at`; -1: before the schema.
    """

    def __init__(self, made, n_chunks=1, fails_at=None, said=b"no more"):
        self.made = made
        self.released = made.released
        self.capsules = made.capsules
        self.left = n_chunks
        said = None if said is None else ctypes.create_string_buffer(said)

        def get_schema(_, out):
            if fails_at == -1:
                return 5
            out[0] = made.schema
            return 0

        def get_next(_, out):
            if n_chunks - self.left == fails_at:
                return 5
            if self.left == 0:
                return 0
            self.left -= 1
            out[0] = made.array
            return 0

        def get_last_error(_):
            return None if said is None else ctypes.addressof(said)

        self.stream = Stream(
            get_schema=GET_SCHEMA(get_schema),
            get_next=GET_NEXT(get_next),
            get_last_error=GET_ERROR(get_last_error),
            release=made.releaser("stream", Stream),
        )

    def __arrow_c_stream__(self, requested_schema=None):
        return self.made.capsule(self.stream, b"arrow_array_stream")
