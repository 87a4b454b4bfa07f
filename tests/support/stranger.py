"""A stranger's Cython code, and the setup.py that builds it."""

STRANGER = """\
from streamptron._core cimport Model
from streamptron.engine.api cimport learner_learn
from streamptron.engine.event cimport (
    Event, Writer, event_begin, event_end, event_settle, event_writer, writer_add)
from streamptron.engine.key cimport KEY_INT, key_word
from streamptron.engine.learner cimport Learner

def learn(Model model, const long long[:] starts, const long long[:] names,
          const double[:] values, const long long[:] labels):
    cdef Learner* learner = &model.learner
    cdef Event* event = &model.event
    cdef Writer writer
    cdef Py_ssize_t row, i, done = 0
    with nogil:
        for row in range(labels.shape[0]):
            if event_begin(event, &learner.index, starts[row + 1] - starts[row], learner.intercept):
                break
            writer = event_writer(event)
            for i in range(starts[row], starts[row + 1]):
                writer_add(&writer, key_word(KEY_INT, names[i]), values[i])
            event_end(event, &writer)
            if learner_learn(learner, event, labels[row], 1.0):
                break
            event_settle(event, &learner.index)
            done += 1
    if done < labels.shape[0]:
        raise MemoryError(f"no memory after {done} rows")
"""

# The same with the names of 0.1.0, where the whole path was compiled into the stranger's module.
OLD_STRANGER = STRANGER.replace("engine.api cimport", "_learner cimport")
for room in ("event", "key", "learner"):
    OLD_STRANGER = OLD_STRANGER.replace(f"streamptron.engine.{room} ", f"streamptron._{room} ")

SETUP = """\
from Cython.Build import cythonize
from setuptools import setup

setup(ext_modules=cythonize("stranger.pyx", compiler_directives={
    "language_level": 3, "boundscheck": False, "wraparound": False, "cdivision": True}))
"""
