# Where other people's Cython code has found engine/learner.pxd before.
from streamptron.engine.learner cimport *
