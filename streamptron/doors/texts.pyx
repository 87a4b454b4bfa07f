"""Texts, one or many: given by a Tokenizer, split and counted by engine/text.pxd."""

from array import array
from collections.abc import Mapping, Sequence
from operator import index as as_index
from unicodedata import category

cimport cython
from libc.string cimport memmove, memset
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors.arrow cimport Column
from streamptron.doors.entry cimport (
    PyUnicode_CheckExact, PyUnicode_GET_LENGTH, ascii_text, bytes_data, bytes_size, utf8_write)
from streamptron.doors.names cimport key_plain
from streamptron.doors.rows cimport Rows, data_of
from streamptron.engine.ahead cimport (
    Ahead, ahead_begin, ahead_free, ahead_init, ahead_leave_out, ahead_put)
from streamptron.engine.api cimport (
    batch_texts, index_find, index_free, index_init, index_insert, line_ends,
    line_next, scan_page, scan_separators, text_free, text_write)
from streamptron.engine.arena cimport Arena, arena_free, arena_init
from streamptron.engine.batch cimport Batch
from streamptron.engine.event cimport Event, event_free, event_init
from streamptron.engine.hash cimport Seed, key_hash
from streamptron.engine.heap cimport calloc, free, malloc
from streamptron.engine.index cimport Index
from streamptron.engine.key cimport KEY_BYTES, Key, key_text
from streamptron.engine.learner cimport Learner
from streamptron.engine.lines cimport (
    LINE_BLANK, LINES_EITHER, LINES_FASTTEXT, LINES_LABELLED, LINES_TEXT, Line)
from streamptron.engine.scan cimport WORD, Characters, Piece
from streamptron.engine.text cimport TEXT_CHARACTERS, Text, TextRule
from streamptron.engine.types cimport (
    SLOT_NULL, SLOTS_RESERVED, slot_t, uint8_t, uint32_t, uint64_t)

from streamptron.doors.arrow import is_arrow
from streamptron.estimator.names import shown, type_shown
from streamptron.estimator.checks import choice, truth

cdef extern from "Python.h":
    const Py_ssize_t SSIZE_MAX "PY_SSIZE_T_MAX"
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept

cdef enum:
    LENGTH_MOST = 1 << 28   # characters or bytes of a text: offsets in its UTF-8 are 32-bit numbers

TEXT_MOST = LENGTH_MOST


cdef bint page_fill(uint32_t page) noexcept:
    """Fill a page of 256 code points from Python's tables. Runs only C; False without memory."""
    cdef uint32_t* entries
    cdef uint32_t c
    collecting = PyGC_Disable()     # a finalizer might use the model that waits for the page
    try:
        entries = <uint32_t*> malloc(256 * sizeof(uint32_t))
        if entries == NULL:
            return False
        for c in range(256):
            character = chr(page << 8 | c)
            entries[c] = ord(character.lower()[0])
            if character.isalnum() or character == "_" or category(character)[0] == "M":
                entries[c] |= WORD
        scan_page(page, entries)
        return True
    except MemoryError:
        return False
    finally:
        if collecting:
            PyGC_Enable()


cdef bint _piece(Piece* piece, object text, Arena* scratch) noexcept:
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


cdef Py_ssize_t text_event_write(
        Text* scratch, Event* event, const Index* index, bint intercept, TextEvent x) noexcept:
    """Write a text's event, as text_write does. Runs no Python code."""
    cdef TextDoor door = x.door
    cdef Piece one
    cdef Piece* pieces = &one
    cdef Arena arena
    cdef Py_ssize_t answer = -1
    cdef int i
    arena_init(&arena)
    if door.n_pieces > 1:
        pieces = <Piece*> malloc(door.n_pieces * sizeof(Piece))
    if pieces != NULL:
        for i in range(door.n_pieces):
            if not _piece(
                    &pieces[i], x.text if door.names is None else (<tuple> x.text)[i], &arena):
                break
        else:
            answer = text_write(
                scratch, event, &door.rule, index, intercept, door.prefixes, pieces, door.n_pieces)
    if pieces != &one:
        free(pieces)
    arena_free(&arena)
    return answer


cdef class TextDoor:
    """Tokenizer's part in the core: its parameters, and the rule that follows from them."""

    def __cinit__(self):
        self.rule.low = self.rule.high = 1

    def __dealloc__(self):
        free(self.rule.characters.separators)
        free(self.prefixes)

    def _configure(
            self, analyzer, ngram_range, lowercase, separators, min_length, max_length,
            fold_numbers, value, normalize, fields):
        """Check the parameters, once."""
        cdef TextRule* rule = &self.rule
        cdef Characters* characters = &rule.characters
        cdef int i
        rule.analyzer = choice("analyzer", analyzer, ("word", "char"))
        if not (isinstance(ngram_range, tuple) and len(ngram_range) == 2
                and all(type(n) is int for n in ngram_range)
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
        if rule.analyzer == TEXT_CHARACTERS:
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
            characters.separators = <uint32_t*> malloc(len(separators) * sizeof(uint32_t))
            if characters.separators == NULL:
                raise MemoryError("no memory for the separators")
            for character in separators:
                characters.separators[characters.n_separators] = ord(
                    character.lower()[0] if lowercase else character)
                characters.n_separators += 1
            scan_separators(characters)
        self.names = self._checked_fields(fields)
        self.n_pieces = 1 if self.names is None else len(self.names)
        self.prefixes = <Piece*> calloc(self.n_pieces, sizeof(Piece))
        if self.prefixes == NULL:
            raise MemoryError("no memory for the fields")
        self.held = [b""] if self.names is None else [
            f"{name}:".encode("utf-8", "surrogatepass") for name in self.names]
        for i in range(self.n_pieces):
            _piece(&self.prefixes[i], self.held[i], NULL)
        self.analyzer, self.ngram_range, self.lowercase, self.separators = (
            analyzer, ngram_range, lowercase, separators)
        self.min_length, self.max_length, self.fold_numbers = min_length, max_length, fold_numbers
        self.value, self.normalize, self.fields = value, normalize, fields

    def _checked_fields(self, fields):
        if fields is None:
            return None
        if not isinstance(fields, (str, tuple, list)):
            raise TypeError(f"fields={shown(fields)}; it must be None, a name, or a tuple of names")
        names = (fields,) if isinstance(fields, str) else tuple(fields)
        if not names or not all(isinstance(name, str) for name in names):
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

def text_learn_one(self, x, y=None, **params):
    """Learn from one text."""
    cdef tuple pair = self._pair
    if pair is None or params:
        return self._as_river("learn_one", x, y, **params)
    pair[1].learn_one(pair[0].transform_one(x), y)


def text_predict_one(self, x, **params):
    """Predict the label of one text."""
    cdef tuple pair = self._pair
    if pair is None or params:
        return self._as_river("predict_one", x, **params)
    return pair[1].predict_one(pair[0].transform_one(x))


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
        cdef Text scratch
        cdef Event event
        cdef Index index
        cdef Py_ssize_t i, page = 0
        if self._features is not None:
            return self._features
        memset(&scratch, 0, sizeof(Text))
        event_init(&event)
        memset(&index, 0, sizeof(Index))
        try:
            while True:
                page = text_event_write(&scratch, &event, &index, False, self)
                if page == 0:
                    break
                if page < 0 or not page_fill(page - 1):
                    raise MemoryError("no memory for the features")
            self._features = {
                key_plain(&event.keys[i], None): event.values[i] for i in range(event.n)}
        finally:
            event_free(&event)
            text_free(&scratch)
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
        arena_init(&self.encoded)
        ahead_init(&self.ahead)
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
        free(self.pieces)
        arena_free(&self.encoded)
        ahead_free(&self.ahead)

    cdef int _room(self, Py_ssize_t n) except -1:
        self.pieces = <Piece*> malloc((n * self.door.n_pieces + 1) * sizeof(Piece))
        if self.pieces == NULL:
            raise MemoryError("no memory for the texts")
        return 0

    cdef int _take(self, Py_ssize_t n) except -1:
        cdef Py_ssize_t r
        cdef int i
        cdef Piece* piece
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

    cdef void _begin(self, Batch* batch, Learner* learner, Event* event) noexcept:
        batch_texts(batch, learner, event, &self.door.rule, self.door.prefixes, self.door.n_pieces,
                    self.pieces, self.n_rows)
        self.ahead.asked = False        # perhaps it is another model's index
        batch.ahead = &self.ahead

    cdef void _write_ahead(self, const Seed* seed, uint64_t seed_number) noexcept:
        """Write the events now, without the interpreter's lock; as far as there is memory."""
        cdef Py_ssize_t page = 0
        cdef Text scratch
        cdef Event event
        cdef Index index
        if ahead_begin(&self.ahead, seed_number, self.n_rows) < 0:
            return
        memset(&scratch, 0, sizeof(Text))
        memset(&index, 0, sizeof(Index))    # of which only the seed is asked for
        index.seed = seed[0]
        event_init(&event)
        while page >= 0 and self.ahead.n_rows < self.n_rows:
            with nogil:
                while page == 0 and self.ahead.n_rows < self.n_rows:
                    page = text_write(&scratch, &event, &self.door.rule, &index, False,
                                      self.door.prefixes,
                                      self.pieces + self.ahead.n_rows * self.door.n_pieces,
                                      self.door.n_pieces)
                    if page == 0:
                        page = ahead_put(&self.ahead, &event)
            if page > 0:
                page = 0 if page_fill(page - 1) else -1
        self.ahead.n_replaced = scratch.n_replaced
        text_free(&scratch)
        event_free(&event)

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


LINE_FAULTS = (
    None, None, "no TAB; write label<TAB>text", "its label is empty",
    "it does not start with __label__",
    "it has several labels, where one is expected")     # LINE_NO_TAB ..


class LINES:
    """Where a line has its label, for Lines."""

    LABELLED = LINES_LABELLED
    EITHER = LINES_EITHER
    TEXT = LINES_TEXT
    FASTTEXT = LINES_FASTTEXT


def count_line_ends(bytes block not None):
    """The number of line feeds. bytes.count takes ten times as long if lines are short."""
    return line_ends(<const uint8_t*> bytes_data(<PyObject*> block), bytes_size(<PyObject*> block))


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

    cdef void _end(self, const Batch* batch) noexcept:
        self.replaced |= batch.text.n_replaced > 0 or self.ahead.n_replaced > 0

    def __init__(self, TextDoor door not None, bytes block not None, int kind):
        cdef Line line
        cdef Key key
        cdef slot_t slot
        cdef uint64_t h
        cdef Py_ssize_t n = 1 + count_line_ends(block)
        cdef Index known                # of labels
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
        if index_init(&known, 0, 0, 0) < 0:
            index_free(&known)
            raise MemoryError("no memory for the labels")
        try:
            while line_next(&line, kind):
                self.n_lines += 1
                if line.fault == LINE_BLANK:
                    self.n_blank += 1
                    continue
                if line.fault:
                    self.faults.append((self.n_lines - 1, LINE_FAULTS[line.fault]))
                    continue
                numbers[self.n_rows] = -1
                if line.label != NULL:
                    key = key_text(KEY_BYTES, line.label, line.n_label)
                    h = key_hash(&known.seed, &key)
                    slot = index_find(&known, &key, h)
                    if slot == SLOT_NULL:
                        slot = index_insert(&known, &key, h)
                        if slot == SLOT_NULL:
                            raise MemoryError("no memory for the labels")
                        self.labels.append(
                            PyBytes_FromStringAndSize(<const char*> line.label, line.n_label))
                    numbers[self.n_rows] = slot - SLOTS_RESERVED
                line_numbers[self.n_rows] = self.n_lines - 1
                self.pieces[self.n_rows].p = line.text
                self.pieces[self.n_rows].n = line.n_text
                self.pieces[self.n_rows].surrogates = False
                self.n_rows += 1
        finally:
            index_free(&known)

    def leave_out(self, Py_ssize_t row, reason):
        """Make a line that has been read a bad one, for this reason."""
        self.faults.append((self.line_numbers[row], reason))
        self.faults.sort()
        del self.line_numbers[row]
        del self.numbers[row]
        self.n_rows -= 1
        memmove(self.pieces + row, self.pieces + row + 1, (self.n_rows - row) * sizeof(Piece))
        ahead_leave_out(&self.ahead, row)

    def __reduce__(self):
        return Lines, (self.door, self.texts, self.kind)
