"""A learner as plain values and flat arrays, and back: for pickle, copy and model files.

All arrays are checked here, whoever wrote them; engine/table/arrays.h describes them. The module
also has the parameters as the core takes them, and a model's past.
"""

import os
from array import array
from bisect import bisect_left, insort
from numbers import Real

from libc.math cimport INFINITY
from libc.string cimport memset, strchr
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.float cimport PyFloat_CheckExact
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize

from streamptron.doors.entry cimport bytes_data, bytes_size
from libc.stdint cimport uint32_t, uint64_t, uint8_t, uintptr_t
from streamptron.engine.adaptive cimport sp_alarms, sp_alarms_begin
from streamptron.engine.events cimport SP_PAIR_FIELDS_MOST, sp_field
from streamptron.engine.file cimport (
    SP_ARRAYS, SP_ARRAY_WEIGHTS, SP_COUNTS, SP_DELTA_ARRAYS, SP_FROM_FILE, SP_FROM_MAPPED,
    SP_WHY_FOREIGN, SP_WHY_MEMORY, sp_array, sp_array_kind_of, sp_bytes, sp_bytes_free,
    sp_class_letter, sp_class_name, sp_contents_check, sp_counts_name, sp_counts_read,
    sp_counts_write, sp_delta_header_read, sp_delta_kind_of, sp_fault, sp_file_arrays,
    sp_file_arrays_lay_out, sp_file_arrays_look_through, sp_file_arrays_look_up,
    sp_file_arrays_open, sp_header, sp_header_begin, sp_header_finish, sp_header_free,
    sp_header_put, sp_header_read, sp_kind_of, sp_parameters, sp_parameters_conflict,
    sp_parameters_default, sp_part, sp_part_free, sp_part_of)
from streamptron.engine.linear cimport sp_rule
from streamptron.engine.memory cimport sp_calloc, sp_free, sp_pages_whole
from streamptron.engine.path cimport (
    SP_CAN_PAIR, SP_HAS_INTERCEPT, sp_learner, sp_learner_free, sp_learner_init,
    sp_rule_can)

from streamptron.common.errors import ParameterError, ParameterTypeError, contradiction
from streamptron.common.names import short_repr
from streamptron.common.parameters import MAX_PAIRS, interactions_of

cdef extern from "parameters.h" nogil:
    enum:
        IS_NUMBER
        IS_SPAN
        IS_TRUTH
        IS_WORD
        IS_COUNT
        IS_COUNT_OR_NONE
        IS_SEED
        IS_NUMBER_OR_WORD
        N_PARAMETERS
        N_TOKENS

    ctypedef struct parameter:
        const char *name
        const char *of
        const char *called
        int kind
        size_t to
        double low
        double high
        double start
        const char *want
        const char *needs
        const char *about

    const parameter *PARAMETERS
    const parameter *TOKENS


def header_read(bytes beginning not None, uint64_t size, bint whole):
    """Check the header of a model file of this size; `beginning` is the whole header.

    `whole`: also check what it says about the model. C programs open files with it, too, so nothing
    has to be checked again in Python.

    Returns the arrays, ``{name: (shape, start, end)}``, and their checksum. If something is wrong,
    returns a message, and whether the file is one that this version cannot read (otherwise it is
    damaged).
    """
    cdef sp_header header
    cdef sp_fault fault
    cdef const uint8_t* start = <const uint8_t*> bytes_data(<PyObject*> beginning)
    cdef size_t n = len(beginning)
    cdef int wrong
    with nogil:
        wrong = sp_header_read(&header, start, n, size, &fault)
    try:
        if wrong == SP_WHY_MEMORY:
            raise MemoryError("no memory for the file's header")
        if whole and not wrong:
            with nogil:
                wrong = sp_contents_check(&header, &fault)
            if wrong == SP_WHY_MEMORY:
                raise MemoryError("no memory for the model")
        if wrong:
            return _said(&fault)
        return _found(&header, sp_array_kind_of, SP_ARRAYS), header.arrays_crc32
    finally:
        sp_header_free(&header)


def delta_read(bytes data not None, size_t at):
    """Check the delta that begins at an offset in some bytes.

    Returns its arrays, as header_read does, its header's bytes, and the length of the whole. If
    something is wrong, returns a message, and whether it is one that this version cannot read.
    """
    cdef sp_header header
    cdef sp_fault fault
    cdef const uint8_t* start = <const uint8_t*> bytes_data(<PyObject*> data) + at
    cdef size_t n = len(data) - at, size = 0
    cdef int wrong
    with nogil:
        wrong = sp_delta_header_read(&header, start, n, &size, &fault)
    try:
        if wrong == SP_WHY_MEMORY:
            raise MemoryError("no memory for the delta's header")
        if wrong:
            return _said(&fault)
        arrays = _found(&header, sp_delta_kind_of, SP_DELTA_ARRAYS)
        return arrays, data[at:at + header.size], size
    finally:
        sp_header_free(&header)


cdef dict _found(const sp_header* header, sp_kind_of kind_of, int n):
    """{name: (shape, start, end)} of a header's arrays."""
    cdef const sp_array* array
    cdef dict arrays = {}
    cdef int i
    for i in range(n):
        array = &header.arrays[i]
        if array.there:
            shape = [array.n, array.width] if array.width else [array.n]
            arrays[kind_of(i).name.decode("ascii")] = tuple(shape), array.start, array.end
    return arrays


def header_write(dict texts not None, dict arrays not None, uint32_t crc32, bint delta):
    """The header of a file or a delta, with format and version, then its texts by name.

    `arrays`: {name: (shape, bytes)} of all, `crc32` their checksum. A ValueError if it is too long.
    """
    cdef sp_array shapes[SP_ARRAYS]
    cdef sp_kind_of kind_of = sp_delta_kind_of if delta else sp_array_kind_of
    cdef sp_array* array
    cdef sp_bytes to
    cdef sp_fault fault
    cdef size_t at = 0
    cdef Py_ssize_t size
    cdef int i, wrong, n = SP_DELTA_ARRAYS if delta else SP_ARRAYS
    cdef const char* called
    cdef const char* start
    memset(shapes, 0, sizeof(shapes))
    for i in range(n):
        found = arrays.get(kind_of(i).name.decode("ascii"))
        if found is not None:
            array = &shapes[i]
            shape, data = found
            array.there = True
            array.n = shape[0]
            array.width = shape[1] if len(shape) > 1 else 0
            array.start = at
            array.end = at = at + array.n * (shape[1] if len(shape) > 1 else 1) * kind_of(i).size
    memset(&to, 0, sizeof(to))
    try:
        sp_header_begin(&to, delta)
        for name, text in texts.items():
            called = PyUnicode_AsUTF8AndSize(<str?> name, NULL)
            start = PyUnicode_AsUTF8AndSize(<str?> text, &size)
            with nogil:             # what a service remembers may take megabytes
                sp_header_put(&to, called, start, size)
        with nogil:
            wrong = sp_header_finish(&to, crc32, shapes, kind_of, n, &fault)
        if wrong == SP_WHY_MEMORY:
            raise MemoryError("no memory for the file's header")
        if wrong:
            raise ValueError(_said(&fault)[0])
        return (<char*> to.p)[:to.n]
    finally:
        sp_bytes_free(&to)


cdef tuple _said(const sp_fault* fault):
    """The message, and whether the file is one that this version cannot read."""
    return (<bytes> fault.text[:fault.n]).decode("utf-8", "replace"), fault.kind == SP_WHY_FOREIGN


cdef int alarms_begin(sp_learner* learner, list rates) except -1:
    """Give an untrained learner the rates of false_positive_rate, before it has any labels."""
    cdef sp_alarms* alarms = &learner.adaptive.alarms
    cdef Py_ssize_t i
    if sp_alarms_begin(alarms, len(rates)) < 0:
        raise MemoryError("no memory for an empty model")
    for i in range(alarms.n):
        alarms.of[i].rate = rates[i]
    return 0


cdef dict counts_state(const sp_learner* learner):
    """A learner's counters and single numbers: the engine's texts, by name."""
    cdef sp_bytes text
    cdef const char* name
    cdef dict state = {}
    cdef int i
    memset(&text, 0, sizeof(text))
    try:
        for i in range(SP_COUNTS):
            name = sp_counts_name(learner, i)
            if name == NULL:
                continue
            text.n = 0
            sp_counts_write(learner, i, &text)
            if text.failed:
                raise MemoryError("no memory for a copy of the model")
            state[name.decode("ascii")] = (<char*> text.p)[:text.n].decode("ascii")
    finally:
        sp_bytes_free(&text)
    return state


cdef int counts_set_state(sp_learner* learner, state) except -1:
    """Restore them in an untrained learner that has its labels. All of it is checked."""
    cdef sp_part parts[SP_COUNTS]
    cdef sp_fault fault
    cdef const char* name
    cdef int i, wrong = 0
    memset(parts, 0, sizeof(parts))
    try:
        for i in range(SP_COUNTS):
            name = sp_counts_name(learner, i)
            if name != NULL and not wrong:
                text = (<str?> state[name.decode("ascii")]).encode()
                wrong = sp_part_of(&parts[i], bytes_data(<PyObject*> text), len(text), &fault)
        if not wrong:
            wrong = sp_counts_read(parts, learner, &fault)
        if wrong == SP_WHY_MEMORY:
            raise MemoryError("no memory for the model")
        if wrong:
            raise ValueError(_said(&fault)[0])
    finally:
        for i in range(SP_COUNTS):
            sp_part_free(&parts[i])
    return 0


cdef tuple array_of(void** start, size_t n, size_t width, size_t item):
    """Room for n rows, or n numbers if width is 0: the shape, and the bytes from `start`."""
    cdef bytes data = PyBytes_FromStringAndSize(NULL, n * (width or 1) * item)
    start[0] = <void*> bytes_data(<PyObject*> data)
    sp_pages_whole(start[0], len(data))
    cdef tuple shape = (n,)
    if width:
        shape += (width,)
    return shape, data


cdef void* array_start(array, int width, size_t item, size_t* n) except? NULL:
    """Where an array starts, which its owner keeps alive; n is its length.

    `width`: how many numbers a row has; 0: it is not a matrix. An error if the array does not have
    the size that it claims.
    """
    cdef Py_buffer buffer
    shape, data = array
    if width:
        rows, numbers = shape
        if numbers != width:
            raise ValueError(
                f"a row of an array has {short_repr(numbers)} numbers instead of {width}")
    else:
        rows, = shape
    n[0] = rows
    PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE)
    PyBuffer_Release(&buffer)
    if (n[0] >= <size_t> 1 << 48 or <size_t> buffer.len != n[0] * (width or 1) * item
            or <uintptr_t> buffer.buf % item):
        raise ValueError(f"an array of {buffer.len} bytes is not of the shape {short_repr(shape)}")
    return buffer.buf


def array_names():
    """The names of all arrays that a file and a delta can have, in their order."""
    return ([sp_array_kind_of(i).name.decode("ascii") for i in range(SP_ARRAYS)],
            [sp_delta_kind_of(i).name.decode("ascii") for i in range(SP_DELTA_ARRAYS)])


cdef list _NAMES_OF_ARRAYS = array_names()[0]
cdef frozenset _SET_OF_ARRAYS = frozenset(_NAMES_OF_ARRAYS)


cdef void* _room(void* whose, int i, const sp_array* shape) noexcept with gil:
    """Bytes for an array, kept with the others."""
    cdef void* start = NULL
    try:
        (<dict> whose)[_NAMES_OF_ARRAYS[i]] = array_of(
            &start, shape.n, shape.width, sp_array_kind_of(i).size)
    except MemoryError:
        return NULL
    return start


cdef dict arrays_write(const sp_learner* learner, sp_file_arrays* laid, bint looked_up):
    """``{name: (shape, bytes)}`` of all that is kept, while no thread learns.

    `looked_up`: with the lookup, which only a file that is used in place needs.
    """
    cdef dict arrays = {}
    cdef int failed
    with nogil:
        failed = sp_file_arrays_lay_out(learner, looked_up, _room, <void*> arrays, laid)
    if failed:
        raise MemoryError("no memory for a copy of the model")
    return arrays


cdef int arrays_look_up(sp_file_arrays* laid, int source) except -1:
    """Fill in the lookup for what arrays_write has written. The learner may change again by now.

    An error if names are nested too deeply.
    """
    cdef bint too_deep
    with nogil:
        too_deep = sp_file_arrays_look_up(laid, source)
    if too_deep:
        depth, keeper = ((100, "model file cannot hold; pickle the model instead")
                         if source == SP_FROM_FILE else (1000, "pickle cannot hold"))
        raise ValueError(
            f"the model has a feature name that is a tuple nested more than {depth} deep, which a "
            f"{keeper}")
    return 0


cdef int arrays_read(sp_learner* learner, dict arrays, Py_ssize_t n_outputs, size_t n_objects,
                     int source) except -1:
    """Fill an untrained learner with an empty index. Everything is checked.

    In place, the owner of the arrays keeps them alive, and the learner is read-only. After an error
    the learner cannot be used.
    """
    cdef sp_file_arrays found
    cdef sp_array* shape
    cdef sp_fault fault
    cdef int i, wrong
    memset(&found, 0, sizeof(found))
    if not arrays.keys() <= _SET_OF_ARRAYS:
        raise ValueError("the arrays are not those of such a model")
    for i in range(SP_ARRAYS):
        array = arrays.get(_NAMES_OF_ARRAYS[i])
        if array is not None:
            shape = &found.shapes[i]
            shape.there = True
            shape.width = (len(array[0]) > 1 and array[0][1] if i == SP_ARRAY_WEIGHTS
                           else sp_array_kind_of(i).width)
            found.start[i] = array_start(array, shape.width, sp_array_kind_of(i).size, &shape.n)
    with nogil:
        wrong = sp_file_arrays_open(&found, learner, n_outputs, n_objects, source, &fault)
        if not wrong and source == SP_FROM_MAPPED:
            wrong = sp_file_arrays_look_through(&found, learner, &fault)
    if wrong == SP_WHY_MEMORY:
        raise MemoryError("no memory for the model")
    if wrong:
        raise ValueError(_said(&fault)[0])
    return 0


# --- Parameters

cdef tuple _words(const parameter* p):
    """The words that a line of the table allows for a parameter."""
    cdef str want = p.want.decode("ascii")
    if p.kind == IS_WORD:
        return tuple(want.split("|"))
    return tuple(want.split("|")[1:])


cdef list _NAMES = [PARAMETERS[i].name.decode("ascii") for i in range(N_PARAMETERS)]
cdef list _WORDS = [_words(&PARAMETERS[i]) for i in range(N_PARAMETERS)]


def parameters_listed():
    """All lines of the table: names, letters of their owners, kinds, bounds, defaults and so on.

    And the name of each owner's class by its letter.
    """
    lines = [_listed(&PARAMETERS[i]) for i in range(N_PARAMETERS)]
    kinds = range(max([len(line[1]) for line in lines]))      # all learners have hash_bits
    classes = {chr(sp_class_letter(kind)): sp_class_name(kind).decode("ascii") for kind in kinds}
    lines += [_listed(&TOKENS[i]) for i in range(N_TOKENS)]
    return lines, {**classes, "T": "Tokenizer", "E": "Mail"}


cdef tuple _listed(const parameter* p):
    return (
        p.name.decode("ascii"), p.of.decode("ascii"), p.called.decode("ascii"), p.low, p.high,
        p.start, _words(p), _wanted(p), p.needs.decode("ascii"), p.about.decode("ascii"))


cdef str _wanted(const parameter* p):
    """What a parameter must be, in words."""
    words = [repr(word) for word in _words(p)]
    if p.kind == IS_WORD:
        return f"one of {', '.join(words)}"
    return ", or ".join([p.want.decode("ascii").partition("|")[0], *words])


cdef int _refuse(int i, value, bint typed) except -1:
    """Raise the error for a parameter; `typed`: its type is right, but not its value."""
    raise (ParameterTypeError if typed else ParameterError)(
        _NAMES[i], value, _wanted(&PARAMETERS[i]))


cdef double _number(int i, value) except? -1.0:
    cdef double number
    if not PyFloat_CheckExact(value) and (
            isinstance(value, bool) or not isinstance(value, Real)):
        _refuse(i, value, True)
    try:
        number = float(value)
    except OverflowError:
        number = INFINITY
    if not PARAMETERS[i].low <= number <= PARAMETERS[i].high:
        _refuse(i, value, False)
    return number


cdef uint64_t _count(int i, value) except? 0:
    if isinstance(value, bool) or not isinstance(value, int):
        _refuse(i, value, True)
    if not PARAMETERS[i].low <= value <= PARAMETERS[i].high:
        _refuse(i, value, False)
    return value


cdef int _word(int i, value) except -1:
    if not isinstance(value, str) or value not in _WORDS[i]:
        _refuse(i, value, False)
    return _WORDS[i].index(value)


cdef bint _truth(int i, value) except -1:
    if not isinstance(value, bool):
        _refuse(i, value, True)
    return value is True


cdef int _forget(int i, sp_rule* rule, value) except -1:
    rule.watches = isinstance(value, str) and value in _WORDS[i]
    rule.forget = 0.0 if rule.watches else _number(i, value)
    return 0


cdef int _parameters_read(sp_parameters* p, int kind, dict params) except -1:
    """The parameters of a learner, checked, as the engine takes them.

    Parameters by label, and a set's threshold, are checked in common/parameters.py;
    _parameters_agree checks whether all fit together.
    """
    cdef int i
    cdef char letter = sp_class_letter(kind)
    cdef char* to
    sp_parameters_default(p, kind)
    for i in range(N_PARAMETERS):
        if strchr(PARAMETERS[i].of, letter) == NULL or _NAMES[i] not in params:
            continue
        value = params[_NAMES[i]]
        to = <char*> p + PARAMETERS[i].to
        if PARAMETERS[i].kind in (IS_NUMBER, IS_SPAN):
            (<double*> to)[0] = _number(i, value)
        elif PARAMETERS[i].kind == IS_TRUTH:
            to[0] = _truth(i, value)
        elif PARAMETERS[i].kind == IS_WORD:
            (<int*> to)[0] = _word(i, value)
        elif PARAMETERS[i].kind == IS_COUNT:
            (<uint64_t*> to)[0] = _count(i, value)
        elif PARAMETERS[i].kind == IS_COUNT_OR_NONE:
            (<uint64_t*> to)[0] = 0 if value is None else _count(i, value)
        elif PARAMETERS[i].kind == IS_SEED:
            if value is None:
                value = int.from_bytes(os.urandom(8), "little")
            elif isinstance(value, int) and value >> 64:    # no double says where that is
                _refuse(i, value, False)
            p.hash_seed = _count(i, value)
        elif PARAMETERS[i].kind == IS_NUMBER_OR_WORD and _NAMES[i] == "forget":
            _forget(i, &p.rule, value)
    return 0


cdef int _parameters_agree(sp_parameters* p, dict params) except -1:
    """An error if two parameters contradict each other."""
    p.interactions = params.get("interactions") is not None
    cdef const char* sentence = sp_parameters_conflict(p)
    if sentence != NULL:
        raise contradiction((<bytes> sentence).decode("ascii"), params)
    return 0


cdef class PairRule:
    """Which features are paired: the parameters degree, interactions and max_pairs, checked."""

    def __cinit__(self, degree, interactions, max_pairs):
        self.interactions = interactions_of(interactions)
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


cdef PairRule _pairing_of(int kind, dict params):
    """Which features a learner pairs; none for a kernel, which has its own pairs."""
    if not sp_rule_can(kind) & SP_CAN_PAIR:
        return PairRule(1, None, MAX_PAIRS)
    pairing = PairRule(params["degree"], params["interactions"], params["max_pairs"])
    params["interactions"] = pairing.interactions
    return pairing


cdef PairRule learner_begin(sp_learner* learner, int kind, dict params):
    """Turn an empty learner into an untrained one with these parameters. Returns what it pairs."""
    cdef sp_parameters p
    cdef bint intercept
    _parameters_read(&p, kind, params)
    cdef PairRule pairing = _pairing_of(kind, params)
    _parameters_agree(&p, params)
    intercept = p.rule.intercept and sp_rule_can(kind) & SP_HAS_INTERCEPT
    sp_learner_free(learner)
    if sp_learner_init(
            learner, p.rule, &p.vectors, intercept, p.max_features, p.hash_bits, p.hash_seed) < 0:
        raise MemoryError("no memory for an empty model")
    learner.pairs = pairing.pairs()
    return pairing


# --- Which steps a model has taken

# A model gives each step the number of its event and the mark of a segment: a random number that is
# drawn for the segment's first step. A copy, a pickle or a file has the segments so far, each with
# the number at which it ended there, and its next step starts a new segment. So only the
# continuations of the model that took a step know the step; a copy that has learned something else
# does not. Each time a model is loaded, a segment costs a few bytes; each step that is taken back
# costs some bytes for good.

_BITS = 48                      # of a mark: every JSON reader can hold such numbers
_PIECE = 1000                   # numbers of steps that are written as text at once


def past_mark():
    """A mark for a segment that may begin. Drawing one lets other threads run."""
    return int.from_bytes(os.urandom(_BITS // 8), "little")


cdef class Past:
    """The segments of a model's past, and the steps that were taken back.

    It is compiled so that no other thread runs in the middle of a call; the caller of `mark` has
    passed the gate to learn.
    """
    cdef dict segments          # mark -> the number at which it ended
    cdef object undone          # numbers of events, rising: an array, as there may be a million
    cdef object own             # the mark of the segment that continues here, or None

    def __cinit__(self):
        self.segments = {}
        self.undone = array("Q")

    def mark(self, drawn):
        """The mark of the step about to be taken; `drawn` if a segment begins with it."""
        if self.own is None:
            self.own = drawn
        return self.own

    def knows(self, mark, number):
        """Whether the step is one of this model's."""
        return mark == self.own or number < self.segments.get(mark, 0)

    def is_undone(self, number):
        at = bisect_left(self.undone, number)
        return at < len(self.undone) and self.undone[at] == number

    def undo(self, number):
        insort(self.undone, number)

    def ended(self, n_seen):
        """The past of a copy: all segments have ended, the last one at this number."""
        cdef Past past = Past()
        past.segments = dict(self.segments)
        if self.own is not None:
            past.segments[self.own] = n_seen
        past.undone = self.undone[:]
        return past

    def state(self):
        """Plain values; all segments must have ended."""
        return tuple(self.segments.items()), tuple(self.undone)

    def text(self):
        """The same as JSON, made in pieces: a million numbers as Python's ints are 40 MB."""
        segments = ",".join([f"[{mark},{end}]" for mark, end in self.segments.items()])
        pieces = []
        for at in range(0, len(self.undone), _PIECE):
            pieces += ",", ",".join(map(str, self.undone[at:at + _PIECE]))
        return "".join(["[[", segments, "],[", *pieces[1:], "]]"])

    @classmethod
    def of(cls, state, n_seen):
        """The Past with this state; ValueError if it contradicts itself."""
        cdef Past past = Past()
        segments, undone = state
        past.segments = dict(segments)
        if not (len(past.segments) == len(segments) and len(set(undone)) == len(undone)
                and all([_is_below(mark, 1 << _BITS) for mark in past.segments])
                and all([_is_below(end, n_seen + 1) for end in past.segments.values()])
                and all([_is_below(number, n_seen) for number in undone])):
            raise ValueError("the record of steps that can be taken back is invalid")
        past.undone = array("Q", sorted(undone))
        return past


cdef bint _is_below(number, limit) except -1:
    return type(number) is int and 0 <= number < limit
