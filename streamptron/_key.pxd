# Where other people's Cython code has found engine/key.pxd before.
from streamptron.engine.key cimport *
