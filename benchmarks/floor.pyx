# The least that a dict door can do: step through a dict in C and read its values.
# bench_events.py compiles it into a folder that is thrown away.

from cpython.object cimport PyObject

cdef extern from "Python.h":
    bint PyDict_Next(PyObject* x, Py_ssize_t* at, PyObject** key, PyObject** value) noexcept
    bint PyLong_CheckExact(PyObject* o) noexcept
    bint PyFloat_CheckExact(PyObject* o) noexcept
    double PyLong_AsDouble(PyObject* o) except? -1.0
    double PyFloat_AS_DOUBLE(PyObject* o) noexcept
    double PyFloat_AsDouble(PyObject* o) except? -1.0


cdef inline double value_sum(PyObject* x) except? -1.0:
    cdef Py_ssize_t at = 0
    cdef PyObject* key
    cdef PyObject* value
    cdef double total = 0.0
    while PyDict_Next(x, &at, &key, &value):
        if PyLong_CheckExact(value):
            total += PyLong_AsDouble(value)
        elif PyFloat_CheckExact(value):
            total += PyFloat_AS_DOUBLE(value)
        else:
            total += PyFloat_AsDouble(value)
    return total


def iterate_one(dict x not None):
    """One event a call, as predict_one is called."""
    return value_sum(<PyObject*> x)


def iterate_chunk(list chunk not None):
    """All events of a chunk, [(x, y)], in one call: nothing but the iteration."""
    cdef tuple event
    cdef double total = 0.0
    for event in chunk:
        total += value_sum(<PyObject*> event[0])
    return total
