# What a stranger's Cython code may cimport: the learner and its scratch, behind the Python object.
#
# A learner whose table is `borrowed` lies in a file that was opened read-only (load with mmap=True): score with it, but
# do not learn.

from streamptron.engine.arena cimport Arena
from streamptron.engine.batch cimport Batch
from streamptron.engine.event cimport Event
from streamptron.engine.learner cimport Learner
from streamptron.engine.matrix cimport Matrix
from streamptron.engine.types cimport uint64_t
from streamptron.engine.text cimport Piece, Text, TextRule


cdef class Rows:
    cdef Py_ssize_t n_rows
    cdef Py_ssize_t n_bytes

    cdef void _begin(self, Batch* batch, Learner* learner, Event* event) noexcept
    cdef void _end(self, const Batch* batch) noexcept


cdef class MatrixRows(Rows):
    cdef Matrix matrix
    cdef Py_buffer buffers[3]
    cdef int n_buffers


cdef class TextDoor:
    cdef TextRule rule
    cdef Piece* prefixes
    cdef int n_pieces               # texts an event
    cdef tuple names                # of the fields, or None
    cdef list held                  # what the prefixes point into
    cdef readonly object analyzer, ngram_range, lowercase, separators, min_length, max_length
    cdef readonly object fold_numbers, value, normalize, fields

    cdef object _texts(self, x)
    cdef object _row_texts(self, Py_ssize_t row, x)


cdef class TextEvent:
    cdef TextDoor door
    cdef object text                # str or bytes, with fields a tuple of these
    cdef dict _features

    cdef bint _is(self, TextEvent other)
    cdef dict _dict(self)


cdef class Texts(Rows):
    cdef TextDoor door
    cdef object texts               # what the pieces point into
    cdef readonly object source
    cdef Piece* pieces
    cdef Arena encoded              # UTF-8 of what is neither ASCII nor bytes

    cdef int _room(self, Py_ssize_t n) except -1
    cdef int _take(self, Py_ssize_t n) except -1
    cdef object _text(self, Py_ssize_t row)


cdef class Lines(Texts):
    cdef int kind
    cdef readonly list labels, faults
    cdef readonly object numbers, line_numbers
    cdef readonly Py_ssize_t n_lines, n_blank
    cdef readonly bint replaced


cdef class Model:
    cdef Learner learner
    cdef Event event
    cdef Text text                  # scratch
    cdef TextEvent _text_read       # the last text in scratch
    cdef dict _params
    cdef int _kind                  # of the rule
    cdef dict _objects              # feature names that are mere objects -> ordinal
    cdef bint _objects_new          # some were numbered for the event at hand
    cdef unsigned long long _n_reads
    cdef bint _learning, _inside    # see _core.pyx, "One at a time"
    cdef int _readers, _waiting, _asking
    cdef double _turn
    cdef unsigned long _thread      # that learns a batch
    cdef object _held               # what the keys in scratch point into
    cdef object _class_weight       # {label: weight} or None
    cdef dict _arrays               # of the file that the learner lies in, where it must not learn; None: it does not
    cdef Py_buffer _file
    cdef public object _y_name      # of the last Series learned from

    cdef int _read(self, x, bint learning) except -1
    cdef int _read_text(self, TextEvent x, bint learning) except -1
    cdef int _read_items(self, x, bint learning, str what=*) except -1
    cdef tuple _object_ordinal(self, name, bint learning)
    cdef Model _blank(self, int kind)
    cdef int _become(self, Model other) except -1
    cdef void _exchange(self, Model other) noexcept
    cdef Py_ssize_t _outputs_of(self, labels, Py_ssize_t output, Py_ssize_t* first) except -1
    cdef Py_ssize_t _set_labels(self, labels) except -1
    cdef int _enter(self, bint learning) except -1
    cdef int _wait(self, bint learning) except -1
    cdef int _not_in_a_file(self) except -1
    cdef int _not_in_a_batch_of_ours(self) except -1
    cdef void _go_inside(self) noexcept
    cdef void _let_in(self) noexcept
    cdef int _read_begin(self) except -1
    cdef list _write(self, list entries, bint learning)
    cdef object _column_keys(self, names, bint learning, Event* columns)
    cdef bint _has_room(self, const Batch* batch, bint decisions, bint probabilities) noexcept
    cdef Py_ssize_t _learn_in_place(self, Batch* batch, bint zeros) noexcept
    cdef object _run(self, Rows X, names, y, steps, predictions, decisions, probabilities, confidences)
    cdef void _put_labels(self) noexcept
    cdef list _label_list(self)
    cdef int _labels_done(self) except -1
    cdef int _look(self) except -1
    cdef int _settle(self) except -1
    cdef int _empty_index(self, uint64_t seed) except -1
    cdef int _forget_objects(self) except -1
    cdef int _score(self, x) except -1
    cdef double _step(self, label, w) except -1.0


cdef class BinaryModel(Model):
    pass


cdef class LabelModel(Model):
    cdef list _labels
    cdef dict _label_ids
    cdef list _next_labels          # what they will be after the batch at hand
    cdef dict _next_ids

    cdef Py_ssize_t _read_labelled(self, x, label) except -1
    cdef int _check_room(self, label, Py_ssize_t n_labels) except -1
    cdef int _name_output(self, label) except -1
    cdef object _label_of(self, Py_ssize_t output)


cdef class AdaptiveModel(LabelModel):
    pass
