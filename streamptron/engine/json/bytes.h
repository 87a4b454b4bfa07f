/* Bytes that grow while they are written. The caller checks once, at the end, whether memory ran
   out. */

#ifndef STREAMPTRON_JSON_BYTES_H
#define STREAMPTRON_JSON_BYTES_H

#include "memory/compiler.h"

typedef struct sp_bytes {
    uint8_t *p;
    size_t n;
    size_t room;
    bool failed; /* memory ran out: some bytes are missing */
} sp_bytes;

SP_API void sp_bytes_free(sp_bytes *bytes);

/* Room for n more; NULL if out of memory. The caller writes them, and adds to bytes.n. */
SP_PRIVATE uint8_t *sp_bytes_room(sp_bytes *bytes, size_t n);

SP_PRIVATE void sp_bytes_add(sp_bytes *bytes, const void *p, size_t n);
SP_PRIVATE void sp_bytes_word(sp_bytes *bytes, const char *word);
SP_PRIVATE void sp_bytes_number(sp_bytes *bytes, uint64_t number);

#endif
