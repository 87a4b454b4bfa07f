"""The line filter by ctypes, without the package: filter.py LIBRARY MODEL < texts."""

import ctypes
import sys

MAPPED = 1


class Error(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("code", ctypes.c_int),
        ("system", ctypes.c_int),
        ("words", ctypes.c_char * 512),
    )


class Answer(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("label", ctypes.c_ssize_t),
        ("score", ctypes.c_double),
        ("probability", ctypes.c_double),
    )


def main(library, path):
    spt = ctypes.CDLL(library)
    spt.spt_label.restype = ctypes.c_char_p
    spt.spt_label.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
    error = Error(size=ctypes.sizeof(Error))
    answer = Answer(size=ctypes.sizeof(Answer))
    model, event = ctypes.c_void_p(), ctypes.c_void_p()
    failed = ctypes.byref(error)

    def check(code):
        if code:
            sys.exit(f"filter: {error.words.decode()}")

    check(spt.spt_open(path.encode(), MAPPED, ctypes.byref(model), failed))
    check(spt.spt_event_new(model, ctypes.byref(event), failed))
    for line in sys.stdin.buffer:
        text = line.rstrip(b"\n")
        check(spt.spt_event_text(event, text, ctypes.c_size_t(len(text)), failed))
        check(spt.spt_predict(model, event, ctypes.byref(answer), failed))
        label = spt.spt_label(model, answer.label, None).decode() if answer.label >= 0 else ""
        print(f"{label}\t{answer.probability:.4f}")
    spt.spt_event_free(event)
    spt.spt_close(model)


if __name__ == "__main__":
    main(*sys.argv[1:])
