/* What entry.pxd reads from Python's objects. */

#ifndef STREAMPTRON_ENTRY_H
#define STREAMPTRON_ENTRY_H

#include <Python.h>

#include "free.h"
#include "memory/compiler.h"

/* The value of an int below 2^61 - 1 in size, without a call if it is small. Larger ints, and the
   floats that equal them, no longer hash to the int itself; see common/names.py. */
static inline int sp_int_word(PyObject *o, long long *value)
{
    int overflow;
#if PY_VERSION_HEX >= 0x030C0000
    if (PyUnstable_Long_IsCompact((PyLongObject *)o)) {
        *value = (long long)PyUnstable_Long_CompactValue((PyLongObject *)o);
        return 1;
    }
#else
    Py_ssize_t size = Py_SIZE(o);
    if (size >= -1 && size <= 1) {
        *value = size == 0 ? 0 : size * (long long)((PyLongObject *)o)->ob_digit[0];
        return 1;
    }
#endif
    *value = PyLong_AsLongLongAndOverflow(o, &overflow);
    return !overflow && *value > -0x1FFFFFFFFFFFFFFFLL && *value < 0x1FFFFFFFFFFFFFFFLL;
}

/* Sign and size of an int of up to 64 bits. */
static inline int sp_int_parts(PyObject *o, int *negative, uint64_t *size)
{
    int overflow, same;
    PyObject *back;
    long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    *negative = value < 0;
    *size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (!overflow) return 1;
    if (overflow < 0) return 0;
    /* PyLong_AsUnsignedLongLong would create an exception, which may run a finalizer */
    *negative = 0;
    *size = PyLong_AsUnsignedLongLongMask(o);
    back = PyLong_FromUnsignedLongLong(*size);
    same = back ? PyObject_RichCompareBool(back, o, Py_EQ) : -1;
    Py_XDECREF(back);
    if (same < 0) PyErr_Clear();
    return same == 1;
}

/* Whether an object has the hash and the comparison of a builtin type that it is a kind of. Then it
   equals the object of the builtin type with the same contents, as a named tuple does, whatever
   else its own type may do. */
static inline int sp_is_like(PyObject *o, PyTypeObject *type)
{
    PyTypeObject *own = Py_TYPE(o);
    return own->tp_hash == type->tp_hash && own->tp_richcompare == type->tp_richcompare;
}
static inline int sp_is_tuple(PyObject *o)
{
    return PyTuple_CheckExact(o) || (PyTuple_Check(o) && sp_is_like(o, &PyTuple_Type));
}
static inline int sp_is_str(PyObject *o)
{
    return PyUnicode_CheckExact(o) || (PyUnicode_Check(o) && sp_is_like(o, &PyUnicode_Type));
}

/* The text of an ASCII str, which follows its header; NULL for any other str. */
static inline const uint8_t *sp_ascii_text(PyObject *o)
{
    return PyUnicode_IS_COMPACT_ASCII(o) ? (const uint8_t *)((PyASCIIObject *)o + 1) : NULL;
}

/* numpy's types, the most frequent first. */
#define SP_SCALARS 32
static struct { PyTypeObject *type; int kind; } sp_scalars[SP_SCALARS];
static int sp_n_scalars;

static inline int sp_scalar_kind(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    int n = sp_acquire(&sp_n_scalars);
    for (int i = 0; i < n; i++)
        if (sp_scalars[i].type == type) return sp_scalars[i].kind;
    return 0;
}
static inline void sp_scalar_know(PyObject *type, int kind)
{
    if (sp_n_scalars == SP_SCALARS) return;
    sp_scalars[sp_n_scalars].type = (PyTypeObject *)type;
    sp_scalars[sp_n_scalars].kind = kind;
    sp_release(&sp_n_scalars, sp_n_scalars + 1);
}
#define sp_scalar_data(o) ((const char *)(o) + sizeof(PyObject))

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  #define sp_half(p) PyFloat_Unpack2(p, 0)
#else
  #define sp_half(p) PyFloat_Unpack2(p, 1)
#endif

#endif
