/* Included before all else in doors that are compiled for size. */

#ifndef STREAMPTRON_SMALL_H
#define STREAMPTRON_SMALL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Keep Cython from writing out code at each call of a method, and for each class. */
#define CYTHON_UNPACK_METHODS 0
#define CYTHON_VECTORCALL_TPNEW 0

/* Drop references by a call. Python's macro would write out a test and a branch at some thousand
   places, most of them on the way out with an error. */
#undef Py_DECREF
#undef Py_XDECREF
#define Py_DECREF(o) Py_DecRef((PyObject *)(o))
#define Py_XDECREF(o) Py_DecRef((PyObject *)(o))

#endif
