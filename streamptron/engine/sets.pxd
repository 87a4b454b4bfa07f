# What doors take of engine/sets/: MultiLabelClassifier. The headers say what each of it is.

cdef extern from "sets/state.h" nogil:
    enum:
        SP_SETS_STEPS

    ctypedef struct sp_sets:
        double T
        double m
        double nm
        Py_ssize_t n_labels
        double *there
        double *said
        double positives


cdef extern from "sets/flat.h" nogil:
    enum:
        SP_LABEL_WIDTH


cdef extern from "rows/marks.h" nogil:
    enum:
        SP_MARKS_MEMORY
        SP_MARKS_WIDTH
