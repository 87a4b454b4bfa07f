# Mails as raw bytes.

from streamptron.doors.texts cimport TextDoor


cdef class MailDoor(TextDoor):
    cdef readonly object headers, text, bytes, fold
