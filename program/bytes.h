/* Bytes that grow. Who adds to them may ask once, at the end, whether there was memory. */

#ifndef SPT_PROGRAM_BYTES_H
#define SPT_PROGRAM_BYTES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bytes {
    char *p;
    size_t n;
    size_t room;
    bool failed; /* something could not be added: there was no memory */
} bytes;

/* Room for n more, behind what is there. false: there is no memory; what is there stays. */
bool bytes_room(bytes *b, size_t n);

void bytes_add(bytes *b, const void *p, size_t n);
void bytes_word(bytes *b, const char *word);
void bytes_print(bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Leave out the first n. */
void bytes_drop(bytes *b, size_t n);

/* With a zero behind them, which is not counted. NULL: there is no memory, or was none. */
const char *bytes_text(bytes *b);

void bytes_free(bytes *b);

#endif
