"""Mails as raw bytes: given by a Mail, taken apart by engine/mail/mail.h."""

from streamptron.doors.texts cimport TextDoor
from streamptron.engine.events cimport SP_TEXT_MAIL

from streamptron.doors.texts import TEXT_MOST
from streamptron.estimator.checks import truth
from streamptron.estimator.names import shown, type_shown


cdef class MailDoor(TextDoor):
    """Mail's part in the core: its parameters, and the rule that follows from them."""

    def _configure(self, headers, text, bytes, fold):
        """Check the parameters, once."""
        self.rule.mail.headers = truth("headers", headers)
        self.rule.mail.text = truth("text", text)
        self.rule.mail.fold = truth("fold", fold)
        if isinstance(bytes, bool) or not isinstance(bytes, int) or not (
                bytes == 0 or 4 <= bytes <= TEXT_MOST):
            raise ValueError(
                f"bytes={shown(bytes)}; it must be 0, for none, or an int from 4 to {TEXT_MOST}")
        if not (headers or text or bytes):
            raise ValueError(
                "headers=False, text=False and bytes=0 leave nothing of a mail; turn one of them "
                "on")
        self.rule.analyzer = SP_TEXT_MAIL
        self.rule.high = 2          # no more features than twice the bytes of a mail
        self.rule.mail.bytes = bytes
        self._take_names()
        self.headers, self.text, self.bytes, self.fold = headers, text, bytes, fold

    cdef object _texts(self, x):
        if type(x) is bytes and len(x) <= TEXT_MOST:
            return x
        if not isinstance(x, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"x is {shown(x)}, {type_shown(x)}; a mail is the bytes of its file, as "
                "open(path, 'rb').read() gives them")
        if memoryview(x).nbytes > TEXT_MOST:
            raise ValueError(
                f"x has {memoryview(x).nbytes} bytes; a mail has at most {TEXT_MOST}")
        return bytes(x)
