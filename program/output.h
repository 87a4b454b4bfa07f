/* The standard output: answers are written together, before each wait. */

#ifndef SPT_PROGRAM_OUTPUT_H
#define SPT_PROGRAM_OUTPUT_H

#include "bytes.h"

typedef enum put {
    PUT_DONE,
    PUT_GONE,   /* the reader is gone */
    PUT_FAILED, /* writing failed: errno says why */
} put;

/* Write everything, and empty `out`. */
put output_flush(bytes *out);

/* Report why it cannot be written. Returns FAILED. */
int output_failed(int system);

/* Write what a command shows, with a line end. Returns the exit code. */
int output_shown(bytes *shown);

#endif
