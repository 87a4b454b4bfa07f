"""A stranger's Cython code, and the setup.py that builds it."""

STRANGER = """\
from streamptron.doors.model cimport Model
from streamptron.engine.api cimport (
    sp_event_begin, sp_event_end, sp_event_settle, sp_event_writer, sp_learner_learn)
from streamptron.engine.events cimport sp_event, sp_writer, sp_writer_add
from streamptron.engine.names cimport SP_KEY_INT, sp_key_word
from streamptron.engine.path cimport sp_learner

def learn(Model model, const long long[:] starts, const long long[:] names,
          const double[:] values, const long long[:] labels):
    cdef sp_learner* learner = &model.learner
    cdef sp_event* event = &model.event
    cdef sp_writer writer
    cdef Py_ssize_t row, i, done = 0
    model.learn_begin()
    with nogil:
        for row in range(labels.shape[0]):
            if sp_event_begin(event, &learner.index, starts[row + 1] - starts[row],
                              learner.intercept):
                break
            writer = sp_event_writer(event)
            for i in range(starts[row], starts[row + 1]):
                sp_writer_add(&writer, sp_key_word(SP_KEY_INT, names[i]), values[i])
            sp_event_end(event, &writer)
            if sp_learner_learn(learner, event, labels[row], 1.0):
                break
            sp_event_settle(event, &learner.index)
            done += 1
    model.learn_end()
    if done < labels.shape[0]:
        raise MemoryError(f"no memory after {done} rows")
"""

SETUP = """\
import streamptron
from Cython.Build import cythonize
from setuptools import Extension, setup

stranger = Extension("stranger", ["stranger.pyx"], include_dirs=streamptron.get_include())
setup(ext_modules=cythonize(stranger, compiler_directives={
    "language_level": 3, "boundscheck": False, "wraparound": False, "cdivision": True}))
"""
