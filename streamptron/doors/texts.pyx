"""Texts, one or many: given by a Tokenizer, split and counted by engine/events/text.h."""

from array import array
from collections.abc import Mapping, Sequence
from operator import index as as_index

cimport cython
from libc.string cimport memmove, memset
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors.arrow cimport Column
from streamptron.doors.entry cimport (
    PyUnicode_CheckExact, PyUnicode_GET_LENGTH, ascii_text, bytes_data, bytes_size, utf8_write)
from streamptron.doors.names cimport key_plain
from streamptron.doors.rows cimport Rows, data_of
from libc.stdint cimport uint32_t, uint64_t, uint8_t
from streamptron.engine.events cimport (
    SP_LINES_EITHER, SP_LINES_FASTTEXT, SP_LINES_LABELLED, SP_LINES_TEXT, SP_LINE_BLANK,
    SP_TEXT_CHARACTERS, sp_ahead, sp_ahead_begin, sp_ahead_free, sp_ahead_init, sp_ahead_leave_out,
    sp_ahead_put, sp_event, sp_event_free, sp_event_init, sp_line, sp_line_ends, sp_line_next,
    sp_text, sp_text_free, sp_text_rule, sp_text_write)
from streamptron.engine.memory cimport (
    SP_SLOTS_RESERVED, SP_SLOT_NULL, sp_arena, sp_arena_free, sp_arena_init, sp_calloc, sp_free,
    sp_malloc, sp_slot_type)
from streamptron.engine.names cimport (
    SP_KEY_BYTES, sp_characters, sp_index, sp_index_find, sp_index_free, sp_index_init,
    sp_index_insert, sp_key, sp_key_hash, sp_key_text, sp_piece, sp_scan_separators, sp_seed)
from streamptron.engine.path cimport sp_batch, sp_batch_texts, sp_learner

from streamptron.doors.arrow import is_arrow
from streamptron.estimator.names import shown, type_shown
from streamptron.estimator.checks import choice, truth

cdef extern from "Python.h":
    const Py_ssize_t SSIZE_MAX "PY_SSIZE_T_MAX"

cdef enum:
    LENGTH_MOST = 1 << 28   # characters or bytes of a text: offsets in its UTF-8 are 32-bit numbers

TEXT_MOST = LENGTH_MOST


cdef bint _piece(sp_piece* piece, object text, sp_arena* scratch) noexcept:
    """Point to the bytes of a str or bytes; a str that is not ASCII is encoded in scratch.

    False without memory.
    """
    cdef PyObject* o = <PyObject*> text
    piece.surrogates = PyUnicode_CheckExact(o)
    if piece.surrogates:
        piece.p = ascii_text(o)
        piece.n = PyUnicode_GET_LENGTH(o)
        if piece.p == NULL:
            piece.p = utf8_write(scratch, o, &piece.n)
    else:
        piece.p = <const uint8_t*> bytes_data(o)
        piece.n = bytes_size(o)
    return piece.p != NULL


cdef int text_event_write(
        sp_text* scratch, sp_event* event, const sp_index* index, bint intercept,
        TextEvent x) noexcept:
    """Write a text's event, as sp_text_write does. Runs no Python code."""
    cdef TextDoor door = x.door
    cdef sp_piece one
    cdef sp_piece* pieces = &one
    cdef sp_arena arena
    cdef int answer = -1
    cdef int i
    sp_arena_init(&arena)
    if door.n_pieces > 1:
        pieces = <sp_piece*> sp_malloc(door.n_pieces * sizeof(sp_piece))
    if pieces != NULL:
        for i in range(door.n_pieces):
            if not _piece(
                    &pieces[i], x.text if door.names is None else (<tuple> x.text)[i], &arena):
                break
        else:
            answer = sp_text_write(
                scratch, event, &door.rule, index, intercept, door.prefixes, pieces, door.n_pieces)
    if pieces != &one:
        sp_free(pieces)
    sp_arena_free(&arena)
    return answer


cdef class TextDoor:
    """Tokenizer's part in the core: its parameters, and the rule that follows from them."""

    def __cinit__(self):
        self.rule.low = self.rule.high = 1

    def __dealloc__(self):
        sp_free(self.rule.characters.separators)
        sp_free(self.prefixes)

    def _configure(
            self, analyzer, ngram_range, lowercase, separators, min_length, max_length,
            fold_numbers, value, normalize, fields):
        """Check the parameters, once."""
        cdef sp_text_rule* rule = &self.rule
        cdef sp_characters* characters = &rule.characters
        rule.analyzer = choice("analyzer", analyzer, ("word", "char"))
        if not (isinstance(ngram_range, tuple) and len(ngram_range) == 2
                and all([type(n) is int for n in ngram_range])
                and 1 <= ngram_range[0] <= ngram_range[1] <= 100):
            raise ValueError(
                f"ngram_range={shown(ngram_range)}; it must be a tuple (low, high) of ints, "
                "1 <= low <= high <= 100")
        rule.low, rule.high = ngram_range
        characters.lowercase = truth("lowercase", lowercase)
        rule.fold = truth("fold_numbers", fold_numbers)
        if isinstance(min_length, bool) or not isinstance(min_length, int) or min_length < 1:
            raise ValueError(f"min_length={shown(min_length)}; it must be an int of at least 1")
        if max_length is not None and (
                isinstance(max_length, bool) or not isinstance(max_length, int)
                or max_length < min_length):
            raise ValueError(
                f"max_length={shown(max_length)}; it must be None or an int of at least "
                f"min_length={min_length}")
        rule.shortest = min(min_length, SSIZE_MAX)
        rule.longest = SSIZE_MAX if max_length is None else min(max_length, SSIZE_MAX)
        rule.value = choice("value", value, ("presence", "count", "log"))
        if normalize is not None and (not isinstance(normalize, str) or normalize != "l2"):
            raise ValueError(f"normalize={shown(normalize)}; it must be None or 'l2'")
        rule.l2 = normalize is not None
        if separators is not None and (not isinstance(separators, str) or not separators):
            raise ValueError(
                f"separators={shown(separators)}; it must be None or a str of characters that "
                "separate words")
        if rule.analyzer == SP_TEXT_CHARACTERS:
            for name, given, default in (
                    ("separators", separators, None), ("fold_numbers", fold_numbers, False),
                    ("min_length", min_length, 1), ("max_length", max_length, 100)):
                if given != default:
                    raise ValueError(
                        f"{name}={shown(given)} applies to words; leave it out with "
                        "analyzer='char'")
        if separators is not None:
            if fold_numbers:
                raise ValueError(
                    "fold_numbers=True needs the default word separators; it cannot be combined "
                    "with separators")
            characters.separated = True
            characters.separators = <uint32_t*> sp_malloc(len(separators) * sizeof(uint32_t))
            if characters.separators == NULL:
                raise MemoryError("no memory for the separators")
            for character in separators:
                characters.separators[characters.n_separators] = ord(character)
                characters.n_separators += 1
            sp_scan_separators(characters)
        self.names = self._checked_fields(fields)
        self._take_names()
        self.analyzer, self.ngram_range, self.lowercase, self.separators = (
            analyzer, ngram_range, lowercase, separators)
        self.min_length, self.max_length, self.fold_numbers = min_length, max_length, fold_numbers
        self.value, self.normalize, self.fields = value, normalize, fields

    cdef int _take_names(self) except -1:
        """Make the prefixes of the fields, once these are known."""
        cdef int i
        self.n_pieces = 1 if self.names is None else len(self.names)
        self.prefixes = <sp_piece*> sp_calloc(self.n_pieces, sizeof(sp_piece))
        if self.prefixes == NULL:
            raise MemoryError("no memory for the fields")
        self.held = [b""] if self.names is None else [
            f"{name}:".encode("utf-8", "surrogatepass") for name in self.names]
        for i in range(self.n_pieces):
            _piece(&self.prefixes[i], self.held[i], NULL)
        return 0

    def _checked_fields(self, fields):
        if fields is None:
            return None
        if not isinstance(fields, (str, tuple, list)):
            raise TypeError(f"fields={shown(fields)}; it must be None, a name, or a tuple of names")
        names = (fields,) if isinstance(fields, str) else tuple(fields)
        if not names or not all([isinstance(name, str) for name in names]):
            raise TypeError(f"fields={shown(fields)}; it must have at least one name, each a str")
        if len(set(names)) < len(names):
            raise ValueError(f"fields={shown(fields)}; a name occurs twice")
        return names

    def transform_one(self, x):
        """The features of a text.

        Parameters
        ----------
        x
            A str; or bytes, which are read as UTF-8, each bad sequence as one U+FFFD. With
            `fields`, a mapping that has such a text in each of them.

        Returns
        -------
        A read-only mapping of tokens to numbers. A streamptron learner reads the text itself: no
        dict is made.
        """
        cdef TextEvent event = TextEvent.__new__(TextEvent)
        event.door = self
        event.text = self._texts(x)
        return event

    cdef object _texts(self, x):
        """The text as an object that cannot change; with fields a tuple of these."""
        if self.names is None:
            if (type(x) is str or type(x) is bytes) and len(x) <= TEXT_MOST:
                return x
            return _plain_text(x, "x")
        if not isinstance(x, Mapping):
            raise TypeError(
                f"x is {shown(x)}, {type_shown(x)}; with fields={shown(self.names)} it must "
                "be a mapping with these keys")
        texts = []
        for name in self.names:
            if name not in x:
                raise ValueError(f"x has no field {name!r}; it has {shown(list(x))}")
            texts.append(_plain_text(x[name], f"x[{name!r}]"))
        return tuple(texts)

    def transform_many(self, X):
        """The features of each text.

        Parameters
        ----------
        X
            A sequence or series of what `transform_one` takes. A column of strings or bytes of
            pyarrow, polars or pandas, or whatever else has Arrow's ``__arrow_c_array__`` or
            ``__arrow_c_stream__``, is read where it lies: no Python object is made for a text.

        Returns
        -------
        A sequence of mappings, which the `..._many` methods of streamptron's learners take. If X is
        a series of pandas or polars, or a ``pyarrow.ChunkedArray``, they answer with one of the
        same kind and with the same index.

        Raises
        ------
        TypeError, ValueError
            If a row is no text, or has none; the error names the row.
        """
        if isinstance(X, (str, bytes, Mapping)):
            raise TypeError(
                f"X is one {type(X).__name__}; transform_many takes a sequence of texts")
        if hasattr(X, "columns"):       # iterating it would give names or columns
            raise TypeError(
                f"X is {type_shown(X)}; transform_many takes a sequence of texts: give it one "
                "column of the frame")
        if self.names is None and is_arrow(X):
            return Texts(self, Column(X), X)
        source = X if hasattr(X, "dtype") and hasattr(X, "name") else None
        return Texts(self, [self._row_texts(row, x) for row, x in enumerate(X)], source)

    cdef object _row_texts(self, Py_ssize_t row, x):
        try:
            return self._texts(x)
        except (TypeError, ValueError) as error:
            raise type(error)(f"in row {row}: {error}") from None


# --- Methods of the pipeline of a tokenizer and a learner, which has the two in _pair

@cython.binding(True)
def text_learn_one(self, x, y=None, **params):
    """Learn from one text."""
    cdef tuple pair = self._pair
    if pair is None or params:
        return self._as_river("learn_one", x, y, **params)
    pair[1].learn_one(pair[0].transform_one(x), y)


@cython.binding(True)
def text_predict_one(self, x, **params):
    """Predict the label of one text."""
    cdef tuple pair = self._pair
    if pair is None or params:
        return self._as_river("predict_one", x, **params)
    return pair[1].predict_one(pair[0].transform_one(x))


@cython.binding(True)
def text_predict_proba_one(self, x, **params):
    """The probability of each label of one text."""
    cdef tuple pair = self._pair
    if pair is None or params:
        return self._as_river("predict_proba_one", x, **params)
    return pair[1].predict_proba_one(pair[0].transform_one(x))


cdef str _too_long(str what, size_t n):
    return f"{what} has a length of {n}; split a text of more than {TEXT_MOST}"


cdef object _plain_text(text, str what):
    if isinstance(text, (str, bytes)):
        if len(text) > TEXT_MOST:
            raise ValueError(_too_long(what, len(text)))
        return str.__str__(text) if isinstance(text, str) else bytes(text)
    raise TypeError(
        f"{what} is {shown(text)}, {type_shown(text)}; it must be a text: a str, or bytes of "
        "UTF-8")


@cython.no_gc           # nothing that it refers to can refer to it
@cython.freelist(8)
cdef class TextEvent:
    """The tokens of a text as a mapping, made by a Tokenizer."""

    cdef bint _is(self, TextEvent other):
        """Whether this is the same text, read in the same way. An equal text may count as new."""
        cdef Py_ssize_t i
        if self.door is not other.door:
            return False
        if self.text is other.text:
            return True
        if self.door.names is None:
            return False
        for i in range(self.door.n_pieces):
            if (<tuple> self.text)[i] is not (<tuple> other.text)[i]:
                return False
        return True

    cdef dict _dict(self):
        """The features by name, made when they are first needed."""
        cdef sp_text scratch
        cdef sp_event event
        cdef sp_index index
        cdef Py_ssize_t i
        if self._features is not None:
            return self._features
        memset(&scratch, 0, sizeof(sp_text))
        sp_event_init(&event)
        memset(&index, 0, sizeof(sp_index))
        try:
            if text_event_write(&scratch, &event, &index, False, self) < 0:
                raise MemoryError("no memory for the features")
            self._features = {
                key_plain(&event.keys[i], None): event.values[i] for i in range(event.n)}
        finally:
            sp_event_free(&event)
            sp_text_free(&scratch)
        return self._features

    def __len__(self):
        return len(self._dict())

    def __iter__(self):
        return iter(self._dict())

    def __getitem__(self, name):
        if name not in self._dict():
            raise KeyError(name)
        return self._dict()[name]

    def __contains__(self, name):
        return name in self._dict()

    def get(self, key, default=None):
        """The value of a feature, or the default if the text does not have it."""
        return self._dict().get(key, default)

    def keys(self):
        """The features, in order of their first occurrence in the text."""
        return self._dict().keys()

    def values(self):
        """The values of the features."""
        return self._dict().values()

    def items(self):
        """The features and their values."""
        return self._dict().items()

    def copy(self):
        """A dict of the features."""
        return dict(self._dict())

    def __eq__(self, other):
        if isinstance(other, TextEvent):
            return self._dict() == (<TextEvent> other)._dict()
        if isinstance(other, Mapping):
            return self._dict() == dict(other)
        return NotImplemented

    __hash__ = None

    def __repr__(self):
        return f"TextEvent({self._dict()!r})"

    def __reduce__(self):
        if self.door.names is None:
            return _text_event, (self.door, self.text)
        return _text_event, (self.door, dict(zip(self.door.names, self.text)))


Mapping.register(TextEvent)


def _text_event(door, x):
    return door.transform_one(x)


cdef class Texts(Rows):
    """Texts, one per row, as a sequence of their events; made by Tokenizer.transform_many.

    Parameters
    ----------
    door
        The tokenizer's part in the core, which reads them.
    texts
        For each row a str or bytes; with fields a tuple of one per field. Or a Column of them.
    source
        The series that they come from: answers are given as such a series. None: as arrays.
    """

    def __cinit__(self, TextDoor door not None, texts, *more):
        sp_arena_init(&self.encoded)
        sp_ahead_init(&self.ahead)
        self.door = door
        self.texts = texts
        if type(texts) is not bytes:    # which come from Lines
            if more:
                self.source, = more
            if type(texts) is Column:
                self._take_column(texts)
            else:
                self._take(len(texts))

    def __dealloc__(self):
        sp_free(self.pieces)
        sp_arena_free(&self.encoded)
        sp_ahead_free(&self.ahead)

    cdef int _room(self, Py_ssize_t n) except -1:
        self.pieces = <sp_piece*> sp_malloc((n * self.door.n_pieces + 1) * sizeof(sp_piece))
        if self.pieces == NULL:
            raise MemoryError("no memory for the texts")
        return 0

    cdef int _take(self, Py_ssize_t n) except -1:
        cdef Py_ssize_t r
        cdef int i
        cdef sp_piece* piece
        self._room(n)
        piece = self.pieces
        for r in range(n):
            text = self.texts[r]
            for i in range(self.door.n_pieces):
                if not _piece(piece, text if self.door.names is None else (<tuple> text)[i],
                              &self.encoded):
                    raise MemoryError("no memory for the texts")
                piece += 1
        self.n_rows = n
        return 0

    cdef int _take_column(self, Column column) except -1:
        cdef Py_ssize_t r, n = len(column)
        self._room(n)
        column.write(self.pieces)
        for r in range(n):
            if self.pieces[r].n > LENGTH_MOST:
                raise ValueError(f"in row {r}: {_too_long('x', self.pieces[r].n)}")
        self.n_rows = n
        return 0

    cdef void _begin(self, sp_batch* batch, sp_learner* learner, sp_event* event) noexcept:
        sp_batch_texts(batch, learner, event, &self.door.rule, self.door.prefixes,
                       self.door.n_pieces, self.pieces, self.n_rows)
        self.ahead.asked = False        # perhaps it is another model's index
        batch.ahead = &self.ahead

    cdef void _write_ahead(self, const sp_seed* seed, uint64_t seed_number) noexcept:
        """Write the events now, without the interpreter's lock; as far as there is memory."""
        cdef int written = 0
        cdef sp_text scratch
        cdef sp_event event
        cdef sp_index index
        if sp_ahead_begin(&self.ahead, seed_number, self.n_rows) < 0:
            return
        memset(&scratch, 0, sizeof(sp_text))
        memset(&index, 0, sizeof(sp_index))    # of which only the seed is asked for
        index.seed = seed[0]
        sp_event_init(&event)
        with nogil:
            while written == 0 and self.ahead.n_rows < self.n_rows:
                written = sp_text_write(&scratch, &event, &self.door.rule, &index, False,
                                        self.door.prefixes,
                                        self.pieces + self.ahead.n_rows * self.door.n_pieces,
                                        self.door.n_pieces)
                if written == 0:
                    written = sp_ahead_put(&self.ahead, &event)
        self.ahead.n_replaced = scratch.n_replaced
        sp_text_free(&scratch)
        sp_event_free(&event)

    cdef object _text(self, Py_ssize_t row):
        if type(self.texts) is Column or type(self.texts) is bytes:
            return PyBytes_FromStringAndSize(<const char*> self.pieces[row].p, self.pieces[row].n)
        return self.texts[row]

    def __getitem__(self, at):
        if isinstance(at, slice):
            return Texts(self.door, [self._text(row) for row in range(*at.indices(self.n_rows))])
        cdef Py_ssize_t row = as_index(at)
        if row < 0:
            row += self.n_rows
        if not 0 <= row < self.n_rows:
            raise IndexError(f"index {at} is out of range for {self.n_rows} texts")
        cdef TextEvent event = TextEvent.__new__(TextEvent)
        event.door = self.door
        event.text = self._text(row)
        return event

    def index(self, value, *bounds):
        """The index of the first event that is equal; a ValueError if there is none."""
        return Sequence.index(self, value, *bounds)

    def count(self, value):
        """The number of events that are equal."""
        return Sequence.count(self, value)

    def __reduce__(self):
        return Texts, (
            self.door, [self._text(row) for row in range(self.n_rows)], self.source)


Sequence.register(Texts)


LINE_FAULTS = (     # LINE_NO_TAB ..
    None, None, "no TAB; write label<TAB>text", "its label is empty",
    "it does not start with __label__",
    "it has several labels, where one is expected; several=True reads them, and "
    "--learner multilabel learns them",
)


class LINES:
    """Where a line has its label, for Lines."""

    LABELLED = SP_LINES_LABELLED
    EITHER = SP_LINES_EITHER
    TEXT = SP_LINES_TEXT
    FASTTEXT = SP_LINES_FASTTEXT


def count_line_ends(bytes block not None):
    """The number of line feeds. bytes.count takes ten times as long if lines are short."""
    return sp_line_ends(
        <const uint8_t*> bytes_data(<PyObject*> block), bytes_size(<PyObject*> block))


cdef class Lines(Texts):
    """The texts of a block of whole lines, and their labels.

    Bad lines are left out and listed in `faults`.

    Parameters
    ----------
    door
        The tokenizer's part in the core, which reads the texts.
    block
        Bytes of whole lines; the last one may lack its end.
    kind
        One of LINES: LABELLED, "label TAB text"; EITHER, the same or, without a TAB, a text; TEXT;
        FASTTEXT, "__label__x text".

    Attributes
    ----------
    labels
        The labels as bytes, in order of appearance.
    numbers
        The number of each text's label, -1 for a text without one.
    line_numbers
        The line of each text in the block, from 0.
    n_lines, n_blank
        All lines, and the blank ones among them, which are left out too.
    faults
        What is wrong with bad lines: (line number, reason).
    replaced
        Whether a text that was read had bytes that are not UTF-8, which count as U+FFFD.
    """

    cdef void _end(self, const sp_batch* batch) noexcept:
        self.replaced |= batch.text.n_replaced > 0 or self.ahead.n_replaced > 0

    def __init__(self, TextDoor door not None, bytes block not None, int kind):
        cdef sp_line line
        cdef sp_key key
        cdef sp_slot_type slot
        cdef uint64_t h
        cdef Py_ssize_t n = 1 + count_line_ends(block)
        cdef sp_index known                # of labels
        if door.names is not None:
            raise ValueError("a line is one text; a Tokenizer with fields cannot read it")
        self.kind = kind
        self._room(n)
        self.numbers = array("q", bytes(8 * n))
        self.line_numbers = array("q", bytes(8 * n))
        self.labels = []
        self.faults = []
        cdef Py_ssize_t* numbers = <Py_ssize_t*> data_of(self.numbers, n)
        cdef Py_ssize_t* line_numbers = <Py_ssize_t*> data_of(self.line_numbers, n)
        line.p = <const uint8_t*> bytes_data(<PyObject*> block)
        line.end = line.p + bytes_size(<PyObject*> block)
        if sp_index_init(&known, 0, 0, 0) < 0:
            sp_index_free(&known)
            raise MemoryError("no memory for the labels")
        try:
            while sp_line_next(&line, kind):
                self.n_lines += 1
                if line.fault == SP_LINE_BLANK:
                    self.n_blank += 1
                    continue
                if line.fault:
                    self.faults.append((self.n_lines - 1, LINE_FAULTS[line.fault]))
                    continue
                numbers[self.n_rows] = -1
                if line.label != NULL:
                    key = sp_key_text(SP_KEY_BYTES, line.label, line.n_label)
                    h = sp_key_hash(&known.seed, &key)
                    slot = sp_index_find(&known, &key, h)
                    if slot == SP_SLOT_NULL:
                        slot = sp_index_insert(&known, &key, h)
                        if slot == SP_SLOT_NULL:
                            raise MemoryError("no memory for the labels")
                        self.labels.append(
                            PyBytes_FromStringAndSize(<const char*> line.label, line.n_label))
                    numbers[self.n_rows] = slot - SP_SLOTS_RESERVED
                line_numbers[self.n_rows] = self.n_lines - 1
                self.pieces[self.n_rows].p = line.text
                self.pieces[self.n_rows].n = line.n_text
                self.pieces[self.n_rows].surrogates = False
                self.n_rows += 1
        finally:
            sp_index_free(&known)

    def leave_out(self, Py_ssize_t row, reason):
        """Make a line that has been read a bad one, for this reason."""
        self.faults.append((self.line_numbers[row], reason))
        self.faults.sort()
        del self.line_numbers[row]
        del self.numbers[row]
        self.n_rows -= 1
        memmove(self.pieces + row, self.pieces + row + 1, (self.n_rows - row) * sizeof(sp_piece))
        sp_ahead_leave_out(&self.ahead, row)

    def __reduce__(self):
        return Lines, (self.door, self.texts, self.kind)
