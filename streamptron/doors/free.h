/* Replaces the interpreter's lock where the interpreter has none. */

#ifndef STREAMPTRON_FREE_H
#define STREAMPTRON_FREE_H

#include <Python.h>

/* What an event's reader locks together with the model: a dict, which another thread may change;
   for any other x the model alone. */
#ifdef Py_GIL_DISABLED
  #define SP_FREE_THREADED 1
  #define sp_beside(model, x) (PyDict_Check(x) ? (x) : (model))
#else
  #define SP_FREE_THREADED 0
  #define sp_beside(model, x) (model)
#endif

/* Without a lock the garbage collector runs in no call of ours: it waits until Python code does.
   Switching it off there could meet another thread that does the same. */
#ifdef Py_GIL_DISABLED
  #define sp_gc_disable() 0
  #define sp_gc_restore(was_on) ((void)(was_on))
#else
  #define sp_gc_disable() PyGC_Disable()
  #define sp_gc_restore(was_on) ((was_on) ? (void)PyGC_Enable() : (void)0)
#endif

/* The length of a table that only grows: a thread that sees it sees the entries, too. */
#if defined(Py_GIL_DISABLED) && (defined(__GNUC__) || defined(__clang__))
  #define sp_acquire(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
  #define sp_release(place, n) __atomic_store_n(place, n, __ATOMIC_RELEASE)
#else
  #define sp_acquire(place) (*(place))
  #define sp_release(place, n) (*(place) = (n))
#endif

#endif
