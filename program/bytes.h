/* Bytes that grow. The caller may check once, at the end, whether memory ran out. */

#ifndef SPT_PROGRAM_BYTES_H
#define SPT_PROGRAM_BYTES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bytes {
    char *p;
    size_t n;
    size_t room;
    bool failed; /* memory ran out: something could not be added */
} bytes;

/* Room for n more, behind what is there. false: out of memory; the bytes stay as they are. */
bool bytes_room(bytes *b, size_t n);

void bytes_add(bytes *b, const void *p, size_t n);
void bytes_word(bytes *b, const char *word);
void bytes_print(bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Remove the first n. */
void bytes_drop(bytes *b, size_t n);

/* The bytes with a zero behind them, which is not counted. NULL: out of memory, now or earlier. */
const char *bytes_text(bytes *b);

void bytes_free(bytes *b);

#endif
