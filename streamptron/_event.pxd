# Where other people's Cython code has found engine/event.pxd before.
from streamptron.engine.event cimport *
