/* An event as bytes, to be learned later.

   The entries follow each other in the event's order: a head of one byte, the name, the value.

       head     [value 1 bit | kind 3 bits | length 4 bits]; the kinds of names/key.h
       length   of the name, 0 to 14; 15: it follows, seven bits a byte, the lowest first
       name     STR, BYTES, CANONICAL   its bytes
                INT                     its zigzag (0, -1, 1, -2 ..), little-endian, without zeros
                FLOAT                   its eight bytes
                OBJECT                  JSON that Python code has written (common/packed.py)
       value    bit 0: it is 1, and takes no byte. Else a byte of 0 to 253: that number;
                254: a float32 follows, 255: a float64

       {"spam": 1, "eggs": 2}    14 s p a m   94 e g g s 02        11 bytes

   So a word costs one byte more than its length. Reading trusts nothing: each name must be one that
   a model could have stored, each value finite and not 0. */

#ifndef STREAMPTRON_EXCHANGE_PACKED_H
#define STREAMPTRON_EXCHANGE_PACKED_H

#include "events/event.h"
#include "names/key.h"

enum {
    SP_PACKED_LENGTH = 15, /* in a head: the length follows */
    SP_PACKED_BEFORE = 16, /* bytes that must exist before the entries, see sp_key_text */
    SP_PACKED_FLOAT32 = 254,
    SP_PACKED_FLOAT64 = 255,

    SP_PACKED_OBJECT = -1, /* why an event cannot be packed */
    SP_PACKED_DEEP = -2,
};

/* an entry as read */
typedef struct sp_packed {
    int kind;
    sp_key key;
    double value;
    const uint8_t *name; /* where its bytes are */
    size_t n;
} sp_packed;

/* The bytes that these entries take. SP_PACKED_OBJECT: a name is an object, which only Python
   knows; SP_PACKED_DEEP: a name has tuples nested too deeply. */
SP_API ptrdiff_t sp_packed_size(const sp_event *event, ptrdiff_t first, ptrdiff_t last);

/* Write them; `p` has room for sp_packed_size bytes. */
SP_API void sp_packed_write(const sp_event *event, ptrdiff_t first, ptrdiff_t last, uint8_t *p);

/* Read the entry at p. Returns where the next one starts; NULL: it is invalid.

   SP_PACKED_BEFORE bytes before the first entry may be read, too. */
SP_API const uint8_t *sp_packed_next(const uint8_t *p, const uint8_t *end, sp_packed *entry);

#endif
