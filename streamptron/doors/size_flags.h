/* Included before all else in doors that are compiled for size. */

#ifndef STREAMPTRON_SMALL_H
#define STREAMPTRON_SMALL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* What Cython would write out at each call of a method, and for each class. */
#define CYTHON_UNPACK_METHODS 0
#define CYTHON_VECTORCALL_TPNEW 0

/* A reference is given up by a call, not by the test and the branch that Python writes out at each
   of some thousand places, most of them on the way out with an error. */
#undef Py_DECREF
#undef Py_XDECREF
#define Py_DECREF(o) Py_DecRef((PyObject *)(o))
#define Py_XDECREF(o) Py_DecRef((PyObject *)(o))

#endif
