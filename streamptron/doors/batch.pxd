# Many rows at once.

from streamptron.doors.desk cimport EventDoor
from streamptron.doors.rows cimport Rows
from streamptron.engine.path cimport sp_targets


cdef object rows_run(EventDoor desk, Rows X, names, y, steps, predictions, decisions, probabilities,
                     confidences, order=*, ends=*, Py_ssize_t n_jobs=*,
                     const sp_targets* targets=*)
