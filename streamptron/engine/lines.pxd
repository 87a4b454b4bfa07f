# Lines of text, and their labels.
#
#     LABELLED   label TAB text
#     EITHER     label TAB text, or a text without a TAB
#     TEXT       a text, TABs included
#     FASTTEXT   __label__x text
#
# A line ends with LF or CR LF; the last one may end with the block. Nothing is copied: label and
# text point into the block, at its bytes as they are.
#
# Functions in this file: line_ends (counts them), line_next.

from libc.string cimport memchr, memcmp
from streamptron.engine.types cimport uint8_t

cdef extern from "lines.h":
    size_t line_ends "sp_line_ends" (const uint8_t* p, size_t n) noexcept nogil

cdef enum:
    LINES_LABELLED = 0
    LINES_EITHER = 1
    LINES_TEXT = 2
    LINES_FASTTEXT = 3

    LINE_GOOD = 0
    LINE_BLANK = 1                  # nothing but its line end
    LINE_NO_TAB = 2
    LINE_NO_LABEL = 3
    LINE_NO_PREFIX = 4
    LINE_SEVERAL = 5

cdef struct Line:
    const uint8_t* p                # where the next line starts
    const uint8_t* end              # of the block
    const uint8_t* label            # NULL: the line has none
    size_t n_label
    const uint8_t* text
    size_t n_text
    int fault


cdef inline bint _starts_label(const uint8_t* p, size_t n) noexcept nogil:
    return n >= 9 and memcmp(p, b"__label__", 9) == 0


cdef inline bint line_next(Line* line, int kind) noexcept nogil:
    """Read the next line; False at the end of the block."""
    cdef const uint8_t* p = line.p
    cdef const uint8_t* end
    cdef const uint8_t* tab
    if p == line.end:
        return False
    end = <const uint8_t*> memchr(p, 10, line.end - p)
    if end == NULL:
        end = line.end
        line.p = end
    else:
        line.p = end + 1
    if end > p and (end - 1)[0] == 13:
        end -= 1
    line.label = NULL
    line.n_label = 0
    line.text = p
    line.n_text = end - p
    line.fault = LINE_GOOD
    if end == p:
        line.fault = LINE_BLANK
    elif kind == LINES_LABELLED or kind == LINES_EITHER:
        tab = <const uint8_t*> memchr(p, 9, end - p)
        if tab != NULL:
            line.label = p
            line.n_label = tab - p
            line.text = tab + 1
            line.n_text = end - tab - 1
            if tab == p:
                line.fault = LINE_NO_LABEL
        elif kind == LINES_LABELLED:
            line.fault = LINE_NO_TAB
    elif kind == LINES_FASTTEXT:
        if not _starts_label(p, end - p):
            line.fault = LINE_NO_PREFIX
            return True
        p += 9
        line.label = p
        while p < end and p[0] != 32 and p[0] != 9:
            p += 1
        line.n_label = p - line.label
        while p < end and (p[0] == 32 or p[0] == 9):
            p += 1
        line.text = p
        line.n_text = end - p
        if line.n_label == 0:
            line.fault = LINE_NO_LABEL
        elif _starts_label(p, end - p):
            line.fault = LINE_SEVERAL
    return True
