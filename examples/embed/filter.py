"""The line filter by ctypes, without the package: filter.py LIBRARY MODEL < texts.

A line may be a JSON object, as log daemons have them: then its "message" is the text, and the
object comes back with "label" and "probability". Exit code 0: the lines have ended; 1: the standard
error says why not; 2: it was called wrongly.
"""

import ctypes
import json
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
        record = json.loads(text) if text.startswith(b"{") else None
        if record is not None:
            text = record["message"].encode()
        check(spt.spt_event_text(event, text, ctypes.c_size_t(len(text)), failed))
        check(spt.spt_predict(model, event, ctypes.byref(answer), failed))
        label = spt.spt_label(model, answer.label, None).decode() if answer.label >= 0 else ""
        said = f"{label}\t{answer.probability:.4f}"
        if record is not None:
            said = json.dumps({**record, "label": label, "probability": answer.probability})
        print(said, flush=True)  # who has written the line waits for it
    spt.spt_event_free(event)
    spt.spt_close(model)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print("usage: filter.py LIBRARY MODEL < texts", file=sys.stderr)
        sys.exit(2)
    main(*sys.argv[1:])
