/* The standard output: answers, written together before a wait. */

#ifndef SPT_PROGRAM_OUTPUT_H
#define SPT_PROGRAM_OUTPUT_H

#include "bytes.h"

typedef enum put {
    PUT_DONE,
    PUT_GONE,   /* its reader has gone */
    PUT_FAILED, /* it cannot be written: errno says why */
} put;

/* Write all of it, and leave nothing. */
put output_flush(bytes *out);

/* Say why it cannot be written. Returns FAILED. */
int output_failed(int system);

/* Write what a command shows, with a line end. The code to exit with. */
int output_shown(bytes *shown);

#endif
