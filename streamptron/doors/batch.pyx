"""Many rows, predicted and learned in a loop, behind the gate and without the interpreter's lock.

And blocks of lines: texts with their labels, or questions in JSON.
"""

from array import array

cimport cython
from libc.math cimport isfinite
from libc.stdint cimport uint64_t, uint8_t
from libc.string cimport memchr, memcpy, memmove
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

from streamptron.doors.workers cimport (
    WORKERS_BAD, Workers, workers_begin, workers_end, workers_part, workers_run)
from streamptron.doors.desk cimport DEBUG, EventDoor
from streamptron.doors.gate cimport (
    Gate, gate_come_out, gate_go_inside, gate_is_due, gate_let_in, gate_read_begin, gate_read_end,
    gate_take_turn)
from streamptron.doors.names cimport unfit
from streamptron.doors.rows cimport Rows, data_of
from streamptron.doors.texts cimport TextDoor, Texts
from streamptron.engine.events cimport (
    SP_LINES_EITHER, SP_LINES_FASTTEXT, SP_LINES_LABELLED, SP_LINES_TEXT, SP_LINE_BLANK,
    SP_MATRIX_FAULTY, SP_MATRIX_UNSORTED, SP_MATRIX_ZEROS, SP_QUESTION_SPARE,
    sp_ahead_leave_out, sp_event, sp_event_free, sp_event_init, sp_line, sp_line_ends,
    sp_line_next, sp_question, sp_question_read)
from streamptron.engine.file cimport SP_NUMBER_ROOM, sp_share_write
from streamptron.engine.memory cimport (
    SP_SLOTS_RESERVED, SP_SLOT_NULL, sp_free, sp_malloc, sp_slot_type)
from streamptron.engine.names cimport (
    SP_KEY_BYTES, sp_index, sp_index_find, sp_index_free, sp_index_init, sp_index_insert, sp_key,
    sp_key_hash, sp_key_text, sp_piece, sp_seed)
from streamptron.engine.path cimport (
    sp_batch, sp_batch_columns, sp_batch_free, sp_batch_next, sp_batch_rows, sp_batch_unfit,
    sp_learner, sp_learner_bytes, sp_learner_copy, sp_learner_free, sp_learner_labels, sp_targets)

from streamptron.doors.names import damaged
from streamptron.common.parameters import UnfitRow

cdef enum:
    COPY_LEAST = 1 << 20            # bytes of a batch that may be learned on a copy of the model
    COPY_TIMES = 4                  # and at least so many times the model's bytes

UNSORTED = -1                       # what rows_run may return instead of a number of rows
NEW_LABELS = -2


cdef bint _finite(const double* numbers, Py_ssize_t n) noexcept:
    """Whether all n numbers are finite; true for NULL, if none were asked for."""
    cdef Py_ssize_t i
    if numbers == NULL:
        return True
    for i in range(n):
        if not isfinite(numbers[i]):
            return False
    return True


cdef Py_ssize_t _run_checked(sp_batch* batch, Py_ssize_t first, Py_ssize_t last,
                             int* found) noexcept:
    """Check and run the rows first .. last - 1, without the interpreter's lock.

    Returns `last`, or where it stopped; a block that cannot be used is in `found`.
    """
    with nogil:
        first = workers_part(batch, first, last, found)
    return first


cdef Py_ssize_t _run_by_several(sp_batch* batch, Py_ssize_t n_jobs, int* found) noexcept:
    """The same for all rows of a batch that only predicts, by up to n_jobs threads."""
    cdef Workers workers
    cdef Py_ssize_t i, last, done = 0
    workers_begin(&workers, batch, n_jobs)
    with nogil:
        workers_run(&workers)
    for i in range(workers.n_parts):
        last = workers.parts[i].last
        done = _run_checked(batch, workers.parts[i].done, last, found)
        if done < last:
            break
    workers_end(&workers, batch)
    return done


cdef Py_ssize_t _first_unfit(sp_batch* batch) noexcept:
    """The first row whose features cannot be paired; or the number of rows. -1 if out of memory."""
    cdef Py_ssize_t r = 0
    if batch.learner.pairs == NULL:
        return batch.n_rows
    with nogil:
        r = sp_batch_unfit(batch, r)
    return r if r == batch.n_rows or batch.event.unfit else -1


cdef Py_ssize_t _learn_in_place(EventDoor desk, sp_batch* batch, bint zeros) noexcept:
    """Returns the number of rows learned. Waiting readers are let in between blocks."""
    cdef Gate* gate = &desk.gate
    cdef Py_ssize_t r = 0, last = 0, n = batch.n_rows
    cdef double turn
    gate_take_turn(gate)
    while True:
        turn = gate.turn
        with nogil:
            while r < n:
                last = sp_batch_next(batch, r)
                r = sp_batch_rows(batch, r, last, zeros)
                if r < last or gate_is_due(&gate.asking, turn):
                    break
        if r == n or r < last:
            return r
        desk._put_labels()
        if gate_is_due(&gate.asking, gate.turn):
            gate_let_in(gate)


cdef bint _has_room(const sp_learner* learner, const sp_batch* batch, bint decisions,
                    bint probabilities) noexcept:
    """Whether there is room for exactly one score per label."""
    return (not decisions or batch.n_decisions == learner.table.n_outputs) and (
        not probabilities or batch.n_probabilities == sp_learner_labels(learner))


cdef object _outcome(Rows X, const sp_batch* batch, names, int found, Py_ssize_t done, list labels,
                     Py_ssize_t n_labels):
    """The result of rows_run, or the error for faulty rows."""
    if found & SP_MATRIX_FAULTY:
        raise X._fault(names)
    if batch.event.unfit:
        done += batch.event.unfit_candidate
        raise UnfitRow(
            done if batch.order == NULL else batch.order[done], unfit(batch.event, "it"))
    return UNSORTED if found & SP_MATRIX_UNSORTED else done, labels[:n_labels]


cdef object _predict(EventDoor desk, Rows X, sp_batch* batch, sp_event* columns, names,
                     bint decisions, bint probabilities, Py_ssize_t n_jobs):
    """Only predict the rows."""
    cdef Py_ssize_t n = batch.n_rows, done = 0
    cdef int found = 0
    cdef list labels
    cdef Py_ssize_t n_labels
    if batch.order != NULL:
        found = X._look()
        if found & WORKERS_BAD:
            return _outcome(X, batch, names, found, 0, [], 0)
    gate_read_begin(&desk.gate)
    # From here to gate_read_end no Python code runs.
    if not _has_room(&desk.learner, batch, decisions, probabilities):
        gate_read_end(&desk.gate)
        return NEW_LABELS, None
    if batch.matrix == NULL or sp_batch_columns(batch, names is not None, False, columns) == 0:
        if n_jobs > 1:
            done = _run_by_several(batch, n_jobs, &found)
        else:
            done = _run_checked(batch, 0, n, &found)
    # held while no other thread can reset the model; later labels are appended
    labels = desk._label_list()
    n_labels = len(labels)
    gate_read_end(&desk.gate)
    if not found & WORKERS_BAD and desk.learner.table.borrowed and done == n and not (
            _finite(batch.decisions, n * batch.n_decisions)
            and _finite(batch.probabilities, n * batch.n_probabilities)
            and _finite(batch.confidences, n)):
        raise damaged("a weight is not finite")
    return _outcome(X, batch, names, found, done, labels, n_labels)


cdef object _learn(EventDoor desk, Rows X, sp_batch* batch, sp_event* columns, names):
    """Check all rows, then learn them in place."""
    cdef Py_ssize_t done = 0
    cdef int found = X._look()
    cdef list labels
    cdef Py_ssize_t n_labels
    if not found & WORKERS_BAD:
        gate_go_inside(&desk.gate)
        # From here to gate_come_out no Python code runs.
        if batch.matrix == NULL or sp_batch_columns(batch, names is not None, True, columns) == 0:
            done = _first_unfit(batch)
            if done == batch.n_rows:
                done = _learn_in_place(desk, batch, (found & SP_MATRIX_ZEROS) != 0)
            done = max(done, <Py_ssize_t> 0)
        desk._put_labels()
    labels = desk._label_list()
    n_labels = len(labels)
    gate_come_out(&desk.gate)
    return _outcome(X, batch, names, found, done, labels, n_labels)


cdef object _learn_on_a_copy(EventDoor desk, Rows X, sp_batch* batch, sp_event* columns, names):
    """A copy checks and learns the rows block by block, and replaces the model at the end."""
    cdef sp_learner copy
    cdef Py_ssize_t done = 0
    cdef int found = 0
    cdef list labels = None
    cdef Py_ssize_t n_labels
    batch.learner = &copy
    if sp_learner_copy(&copy, &desk.learner) < 0:
        sp_learner_free(&copy)
        return 0, labels
    if sp_batch_columns(batch, names is not None, True, columns) == 0:
        done = _run_checked(batch, 0, batch.n_rows, &found)
    if done < batch.n_rows or found & WORKERS_BAD:
        sp_learner_free(&copy)         # which discards what it has learned
        if not batch.event.unfit:
            done = 0
    else:
        gate_go_inside(&desk.gate)
        sp_learner_free(&desk.learner)
        desk.learner = copy
        desk.event.n_known = 0
        desk.event.scored_version = 0
        desk._put_labels()
    labels = desk._label_list()
    n_labels = len(labels)
    gate_come_out(&desk.gate)
    return _outcome(X, batch, names, found, done, labels, n_labels)


cdef const Py_ssize_t* _order_of(order, Py_ssize_t n_rows) except? NULL:
    """The row numbers of an order, checked."""
    cdef Py_ssize_t i, n = len(order)
    cdef const Py_ssize_t* rows = <const Py_ssize_t*> data_of(order, n)
    for i in range(n):
        if not 0 <= rows[i] < n_rows:
            raise IndexError(f"the order has row {rows[i]} at {i}; there are {n_rows} rows")
    return rows


def write_ahead(EventDoor desk not None, Texts X not None):
    """Write texts as events, with this model's hash, before they are learned or predicted.

    Another thread may do this while the model learns.
    """
    cdef sp_seed seed
    cdef uint64_t number
    with cython.critical_section(desk):
        seed = desk.learner.index.seed
        number = desk.learner.index.seed_number
    X._write_ahead(&seed, number)


cdef object rows_run(EventDoor desk, Rows X, names, y, steps, predictions, decisions, probabilities,
                     confidences, order=None, ends=None, Py_ssize_t n_jobs=1,
                     const sp_targets* targets=NULL):
    """Predict and then learn rows, in a loop over the path of single events.

    `names`: of the columns; None: column j is the int j. `y`: the number of each row's label, below
    0 for none; None: only predict. To learn, call gate_learn_begin first. `steps`: sample weights
    times class weights; None: 1. `predictions`, `decisions`, `probabilities`, `confidences` (of the
    predictions): None if not wanted. `order`: the numbers of the rows to take, in this order; the
    other arguments still have an entry for every row. None: all rows in their own order. `ends`:
    for a model that chooses among candidates, where the query of each row ends; then y are grades,
    an order has whole queries, and only y or `decisions` may be given. `n_jobs`: how many threads
    may predict; one learns. `targets`: the set of labels of each row, for a model that learns sets.

    Returns the number of rows done, and the labels of the outputs at this moment. If fewer rows are
    done than there are, memory has run out. UNSORTED, and nothing has changed, if columns do not
    rise within the rows; NEW_LABELS if `decisions` or `probabilities` do not have room for exactly
    the labels there are.

    A matrix much larger than the model is learned on a copy, and checked as it is learned. Any
    other matrix, and one that has been checked or has an order, is learned in place.
    """
    cdef sp_batch batch
    cdef sp_event columns, event, query
    cdef Py_ssize_t n = X.n_rows
    cdef bint learning = y is not None
    sp_event_init(&columns)
    sp_event_init(&event)
    sp_event_init(&query)
    X._begin(&batch, &desk.learner, &event)
    if order is not None:
        batch.order = _order_of(order, n)
        batch.n_rows = len(order)
    if learning:
        batch.y = <const Py_ssize_t*> data_of(y, n)
        batch.targets = targets
        if steps is not None:
            batch.steps = <const double*> data_of(steps, n)
    if predictions is not None:
        batch.predictions = <Py_ssize_t*> data_of(predictions, n)
    if decisions is not None:
        batch.decisions = <double*> data_of(decisions, n)
        batch.n_decisions = decisions.shape[1]
    if probabilities is not None:
        batch.probabilities = <double*> data_of(probabilities, n)
        batch.n_probabilities = probabilities.shape[1]
    if confidences is not None:
        batch.confidences = <double*> data_of(confidences, n)
    if ends is not None:
        batch.ends = <const Py_ssize_t*> data_of(ends, n)
        batch.query = &query
    held = None                     # what the columns' keys point into
    try:
        if names is not None:
            held = desk._column_keys(names, learning, &columns)
        if not learning:
            return _predict(desk, X, &batch, &columns, names, decisions is not None,
                            probabilities is not None, n_jobs)
        if (batch.matrix != NULL and order is None and X.found < 0 and X.n_bytes > COPY_LEAST
                and <size_t> X.n_bytes // COPY_TIMES > sp_learner_bytes(&desk.learner)):
            return _learn_on_a_copy(desk, X, &batch, &columns, names)
        return _learn(desk, X, &batch, &columns, names)
    finally:
        X._end(&batch)
        sp_batch_free(&batch)
        sp_event_free(&event)
        sp_event_free(&query)
        sp_event_free(&columns)
        if learning and desk._objects_new:
            desk._forget_objects()
        if DEBUG and not desk.gate.inside:
            desk._look()


# --- Whole lines, with their labels

LINE_FAULTS = (     # LINE_NO_TAB ..
    None, None, "no TAB; write label<TAB>text", "its label is empty",
    "it does not start with __label__",
    "it has several labels, but one is expected; several=True reads them, and "
    "--learner multilabel learns them",
)


class LINES:
    """Where a line of Lines has its label."""

    LABELLED = SP_LINES_LABELLED
    EITHER = SP_LINES_EITHER
    TEXT = SP_LINES_TEXT
    FASTTEXT = SP_LINES_FASTTEXT


def count_line_ends(bytes block not None, last=None):
    """The number of line feeds before `last`. bytes.count takes ten times as long."""
    cdef Py_ssize_t n = len(block) if last is None else min(<Py_ssize_t> last, len(block))
    return sp_line_ends(<const uint8_t*> PyBytes_AS_STRING(block), n)


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
        The index of each text's label, -1 for a text without one.
    line_numbers
        The line of each text in the block, from 0.
    n_lines, n_blank
        The number of all lines, and of blank ones, which are left out, too.
    faults
        The bad lines: (line number, reason).
    replaced
        Whether a text that was read had bytes that are not UTF-8, which count as U+FFFD.
    """
    cdef int kind
    cdef readonly list labels, faults
    cdef readonly object numbers, line_numbers
    cdef readonly Py_ssize_t n_lines, n_blank
    cdef readonly bint replaced

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
        line.p = <const uint8_t*> PyBytes_AS_STRING(block)
        line.end = line.p + len(block)
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
        """Mark a line that has been read as bad, with a reason."""
        self.faults.append((self.line_numbers[row], reason))
        self.faults.sort()
        del self.line_numbers[row]
        del self.numbers[row]
        self.n_rows -= 1
        memmove(self.pieces + row, self.pieces + row + 1, (self.n_rows - row) * sizeof(sp_piece))
        sp_ahead_leave_out(&self.ahead, row)

    def __reduce__(self):
        return Lines, (self.door, self.texts, self.kind)


# --- JSON lines with questions

cdef extern from "Python.h":
    char* PyOS_double_to_string(
        double value, char kind, int digits, int flags, int* found) except NULL
    void PyMem_Free(void* p) noexcept
    int Py_DTSF_ADD_DOT_0


cdef struct Question:
    sp_piece id                         # n is 0: none
    Py_ssize_t line                     # counted without blank ones


cdef char* _put(char* to, bytes what) noexcept:
    memcpy(to, PyBytes_AS_STRING(what), len(what))
    return to + len(what)


cdef char* _put_number(char* to, double number) except NULL:
    """Write a number as repr does."""
    cdef size_t n = sp_share_write(number, to)
    cdef char* shown
    if n:
        return to + n
    shown = PyOS_double_to_string(number, b"r", 0, Py_DTSF_ADD_DOT_0, NULL)
    try:
        while shown[n]:
            to[n] = shown[n]
            n += 1
    finally:
        PyMem_Free(shown)
    return to + n


cdef class Questions(Texts):
    """The texts of a block of JSON lines: ``{"text": ...}``, with or without an ``"id"``.

    Parameters
    ----------
    door
        The tokenizer's part in the core, which reads the texts.
    block
        Bytes of whole lines; the last one may lack its end.
    first, last
        Where in the block to begin and to end.
    known
        Ids whose lines are left to the caller.

    Attributes
    ----------
    others
        All other lines, except blank ones; they are left to the caller.
    other_lines
        The indices of these among all lines.
    n_lines
        The number of lines, without blank ones.
    """
    cdef Question* questions
    cdef uint8_t* room                  # of texts that had escapes
    cdef bytes block
    cdef readonly list others, other_lines
    cdef readonly Py_ssize_t n_lines

    def __dealloc__(self):
        sp_free(self.questions)
        sp_free(self.room)

    def __init__(self, TextDoor door not None, bytes block not None, Py_ssize_t first,
                 Py_ssize_t last, known):
        cdef const uint8_t* p = <const uint8_t*> PyBytes_AS_STRING(block) + first
        cdef const uint8_t* end = p + (last - first)
        cdef const uint8_t* line_end
        cdef uint8_t* room
        cdef Py_ssize_t n
        cdef sp_question line
        cdef Question* question
        cdef bint read, some_known = bool(known)
        if door.names is not None:
            raise ValueError("a line is one text; a Tokenizer with fields cannot read it")
        if not 0 <= first <= last <= len(block):
            raise ValueError("first and last are not places in the block")
        n = 1 + sp_line_ends(p, last - first)
        self.block = block
        self._room(n)
        self.others, self.other_lines = [], []
        self.questions = <Question*> sp_malloc(n * sizeof(Question))
        self.room = room = <uint8_t*> sp_malloc(last - first + SP_QUESTION_SPARE)
        if self.questions == NULL or self.room == NULL:
            raise MemoryError("no memory for the lines")
        while p < end:
            line_end = <const uint8_t*> memchr(p, 10, end - p)
            if line_end == NULL:
                line_end = end
            read = sp_question_read(&line, p, line_end, &room)
            if read and some_known and line.id != NULL:
                read = (<bytes> line.id[:line.n_id]).decode() not in known
            if read:
                question = &self.questions[self.n_rows]
                question.id.p, question.id.n = line.id, line.n_id
                question.line = self.n_lines
                self.pieces[self.n_rows].p = line.text
                self.pieces[self.n_rows].n = line.n_text
                self.pieces[self.n_rows].surrogates = False
                self.n_rows += 1
                self.n_lines += 1
            else:
                other = PyBytes_FromStringAndSize(<const char*> p, line_end - p)
                if other.strip():
                    self.others.append(other)
                    self.other_lines.append(self.n_lines)
                    self.n_lines += 1
            p = line_end + 1

    def answered(self, list heads not None, bytes tail not None, outputs, probabilities,
                 list others not None):
        """The answers as lines, in order: ``{"id":...,``, a label's head, a probability, the tail.

        Also returns how many texts have each of the heads.

        Parameters
        ----------
        heads
            One for each output; the last one, without a probability, is for texts without one (-1).
        tail
            The end of each answer.
        outputs, probabilities
            The output and the probability for each text.
        others
            The answers to other lines.
        """
        cdef Py_ssize_t r, at, size, n_others = len(others), other = 0
        cdef Py_ssize_t n_labels = len(heads) - 1
        cdef object counts = array("q", bytes(8 * len(heads)))
        cdef Py_ssize_t* n_answers = <Py_ssize_t*> data_of(counts, len(heads))
        cdef const Py_ssize_t* k = <const Py_ssize_t*> data_of(outputs, self.n_rows)
        cdef const double* p = <const double*> data_of(probabilities, self.n_rows)
        cdef char* to
        cdef bytes text
        if n_others != len(self.others) or n_labels < 0:
            raise ValueError("there is an answer missing")
        size = self.n_rows * (len(tail) + SP_NUMBER_ROOM + 10)
        for r in range(self.n_rows):
            if not -1 <= k[r] < n_labels:
                raise ValueError("there is a label missing")
            at = k[r] if k[r] >= 0 else n_labels
            size += self.questions[r].id.n + len(<bytes> heads[at])
            n_answers[at] += 1
        for text in others:
            size += len(text) + 1
        text = PyBytes_FromStringAndSize(NULL, size)
        to = PyBytes_AS_STRING(text)
        r = 0
        for at in range(self.n_lines):
            if other < n_others and <Py_ssize_t> self.other_lines[other] == at:
                to = _put(to, others[other])
                other += 1
            else:
                to = _put(to, b"{")
                if self.questions[r].id.n:
                    to = _put(to, b'"id":"')
                    memcpy(to, self.questions[r].id.p, self.questions[r].id.n)
                    to = _put(to + self.questions[r].id.n, b'",')
                to = _put(to, <bytes> heads[k[r] if k[r] >= 0 else n_labels])
                if k[r] >= 0:
                    to = _put_number(to, p[r])
                to = _put(to, tail)
                r += 1
            to[0] = 10
            to += 1
        return text[:to - PyBytes_AS_STRING(text)], counts

    def __reduce__(self):
        raise TypeError("questions are of one block, and are not pickled")
