/* A function that must not be inlined into the loop over a dict's entries, and one that is run once
   and may be slow. */

#ifndef STREAMPTRON_DESK_H
#define STREAMPTRON_DESK_H

#include <Python.h>

#if defined(__GNUC__) || defined(__clang__)
static int sp_any_value(PyObject *o, double *value) __attribute__((noinline));
static int sp_know_numpy(void) __attribute__((cold));
#endif

#endif
