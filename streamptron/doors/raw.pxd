# Texts in raw bytes: mails, and blocks of lines.

from streamptron.doors.texts cimport TextDoor, Texts


cdef class MailDoor(TextDoor):
    cdef readonly object headers, text, bytes, fold


cdef class Lines(Texts):
    cdef int kind
    cdef readonly list labels, faults
    cdef readonly object numbers, line_numbers
    cdef readonly Py_ssize_t n_lines, n_blank
    cdef readonly bint replaced
