"""Texts in raw bytes: mails, taken apart by engine/mail/mail.h; whole lines, with their labels."""

from array import array

from libc.string cimport memmove
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors.entry cimport bytes_data, bytes_size
from streamptron.doors.rows cimport data_of
from streamptron.doors.texts cimport TextDoor, Texts
from libc.stdint cimport uint64_t, uint8_t
from streamptron.engine.events cimport (
    SP_LINES_EITHER, SP_LINES_FASTTEXT, SP_LINES_LABELLED, SP_LINES_TEXT, SP_LINE_BLANK,
    SP_TEXT_MAIL, sp_ahead_leave_out, sp_line, sp_line_ends, sp_line_next)
from streamptron.engine.memory cimport SP_SLOTS_RESERVED, SP_SLOT_NULL, sp_slot_type
from streamptron.engine.names cimport (
    SP_KEY_BYTES, sp_index, sp_index_find, sp_index_free, sp_index_init, sp_index_insert, sp_key,
    sp_key_hash, sp_key_text, sp_piece)
from streamptron.engine.path cimport sp_batch

from streamptron.estimator.tokens import TEXT_MOST, check_mail, plain_mail


cdef class MailDoor(TextDoor):
    """Mail's part in the core: its parameters, and the rule that follows from them."""

    def _configure(self, headers, text, bytes, fold):
        """Check the parameters, once."""
        check_mail(headers, text, bytes, fold)
        self.rule.mail.headers = headers
        self.rule.mail.text = text
        self.rule.mail.fold = fold
        self.rule.analyzer = SP_TEXT_MAIL
        self.rule.high = 2          # no more features than twice the bytes of a mail
        self.rule.mail.bytes = bytes
        self._take_names()
        self.headers, self.text, self.bytes, self.fold = headers, text, bytes, fold

    cdef object _texts(self, x):
        if type(x) is bytes and len(x) <= TEXT_MOST:
            return x
        return plain_mail(x)


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
