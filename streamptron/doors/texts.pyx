"""Texts, one or many, from a Tokenizer, which engine/events/text.h splits and counts.

Also mails, as raw bytes.
"""

from collections.abc import Mapping, Sequence
from operator import index as as_index

cimport cython
from libc.string cimport memset
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors.entry cimport (
    PyUnicode_CheckExact, PyUnicode_GET_LENGTH, ascii_text, bytes_data, bytes_size, utf8_write)
from streamptron.doors.names cimport key_plain
from streamptron.doors.rows cimport Column, Rows
from libc.stdint cimport uint32_t, uint64_t, uint8_t
from streamptron.engine.events cimport (
    SP_TEXT_MAIL, sp_ahead_begin, sp_ahead_free, sp_ahead_init, sp_ahead_put, sp_event,
    sp_event_free, sp_event_init, sp_text, sp_text_free, sp_text_rule, sp_text_write)
from streamptron.engine.memory cimport (
    sp_arena, sp_arena_free, sp_arena_init, sp_calloc, sp_free, sp_malloc)
from streamptron.engine.names cimport sp_characters, sp_index, sp_piece, sp_scan_separators, sp_seed
from streamptron.engine.path cimport sp_batch, sp_batch_texts, sp_learner

from streamptron.engine.api import UNICODE as _UNICODE
from streamptron.doors.rows import is_arrow
from streamptron.doors.state import parameters_listed
from streamptron.common.tokens import (
    TEXT_MOST, check_mail, check_texts, frame_texts, names_of, plain_fields, plain_mail, plain_text,
    rule_of, too_long)

cdef size_t _MOST = TEXT_MOST
# The default parameters for a Tokenizer's words.
cdef dict _START = {
    "separators": None, "fold_numbers": False,
    **{line[0]: int(line[5]) for line in parameters_listed()[0] if line[0].endswith("_length")}}


cdef bint _piece(sp_piece* piece, object text, sp_arena* scratch) noexcept:
    """Point to the bytes of a str or bytes; a str that is not ASCII is encoded in scratch.

    False if out of memory.
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

    _unicode = _UNICODE  # the version of Unicode by which it splits

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
        (rule.analyzer, rule.low, rule.high, characters.lowercase, rule.fold, rule.shortest,
         rule.longest, rule.value, rule.l2) = rule_of(
            analyzer, ngram_range, lowercase, separators, min_length, max_length, fold_numbers,
            value, normalize, _START)
        if separators is not None:
            self._take_separators(separators)
        self.names = names_of(fields)
        self._take_names()
        self.analyzer, self.ngram_range, self.lowercase = analyzer, tuple(ngram_range), lowercase
        self.separators, self.fold_numbers, self.fields = separators, fold_numbers, fields
        self.min_length, self.max_length = min_length, max_length
        self.value, self.normalize = value, normalize

    cdef int _take_separators(self, str separators) except -1:
        cdef sp_characters* characters = &self.rule.characters
        cdef Py_UCS4 character
        characters.separated = True
        characters.separators = <uint32_t*> sp_malloc(len(separators) * sizeof(uint32_t))
        if characters.separators == NULL:
            raise MemoryError("no memory for the separators")
        for character in separators:
            characters.separators[characters.n_separators] = character
            characters.n_separators += 1
        sp_scan_separators(characters)
        return 0

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

    def transform_one(self, x):
        """The features of a text.

        Parameters
        ----------
        x
            A str; or bytes, which are read as UTF-8, each invalid sequence as one U+FFFD. With
            `fields`, a mapping with such a text under each of them.

        Returns
        -------
        A read-only mapping of tokens to numbers. A streamptron learner reads the text itself,
        without making a dict.
        """
        cdef TextEvent event = TextEvent.__new__(TextEvent)
        event.door = self
        event.text = self._texts(x)
        return event

    cdef object _texts(self, x):
        """The text as an object that cannot change; with fields a tuple of these."""
        if self.names is None:
            if (type(x) is str or type(x) is bytes) and <size_t> len(x) <= _MOST:
                return x
            return plain_text(x, "x")
        return plain_fields(x, self.names)

    def transform_many(self, X):
        """The features of each text.

        Parameters
        ----------
        X
            A sequence or series of what `transform_one` takes; with `fields`, also a frame with
            these columns. A column of strings or bytes from pyarrow, polars or pandas, or any other
            object with Arrow's ``__arrow_c_array__`` or ``__arrow_c_stream__``, is read in place:
            no Python object is made for a text.

        Returns
        -------
        A sequence of mappings, which the ``..._many`` methods of streamptron's learners take. If X
        is a series of pandas or polars, or a ``pyarrow.ChunkedArray``, they answer with one of the
        same kind and with the same index.

        Raises
        ------
        TypeError, ValueError
            If a row is not a text, or has none; the error names the row.
        """
        if self.names is not None and hasattr(type(X), "columns"):
            rows, source = frame_texts(X, self.names)
            return Texts(self, [self._row_texts(row, x) for row, x in enumerate(rows)], source)
        check_texts(X)
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

    @cython.critical_section
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
        The series that they come from; answers are series of the same kind. None: arrays.
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
            if self.pieces[r].n > _MOST:
                raise ValueError(f"in row {r}: {too_long('x', self.pieces[r].n)}")
        self.n_rows = n
        return 0

    cdef void _begin(self, sp_batch* batch, sp_learner* learner, sp_event* event) noexcept:
        sp_batch_texts(batch, learner, event, &self.door.rule, self.door.prefixes,
                       self.door.n_pieces, self.pieces, self.n_rows)
        self.ahead.asked = False        # it may be another model's index
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
        memset(&index, 0, sizeof(sp_index))    # only its seed is used
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
        """The index of the first event that equals a value; a ValueError if there is none."""
        return Sequence.index(self, value, *bounds)

    def count(self, value):
        """The number of events that equal a value."""
        return Sequence.count(self, value)

    def __reduce__(self):
        return Texts, (
            self.door, [self._text(row) for row in range(self.n_rows)], self.source)


Sequence.register(Texts)


# --- Mails, which engine/events/mail.h parses

cdef class MailDoor(TextDoor):
    """Mail's part in the core: its parameters, and the rule that follows from them."""
    cdef readonly object headers, text, bytes, fold

    def _configure(self, headers, text, bytes, fold):
        """Check the parameters, once."""
        check_mail(headers, text, bytes, fold)
        self.rule.mail.headers = headers
        self.rule.mail.text = text
        self.rule.mail.fold = fold
        self.rule.analyzer = SP_TEXT_MAIL
        self.rule.high = 2          # at most twice as many features as a mail has bytes
        self.rule.mail.bytes = bytes
        self._take_names()
        self.headers, self.text, self.bytes, self.fold = headers, text, bytes, fold

    cdef object _texts(self, x):
        if type(x) is bytes and len(x) <= TEXT_MOST:
            return x
        return plain_mail(x)
