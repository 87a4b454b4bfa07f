#include "json/bytes.h"

#include "json/numbers.h"
#include "memory/heap.h"

#include <string.h>

SP_API void sp_bytes_free(sp_bytes *bytes)
{
    sp_free(bytes->p);
    memset(bytes, 0, sizeof(*bytes));
}

SP_PRIVATE uint8_t *sp_bytes_room(sp_bytes *bytes, size_t n)
{
    if (bytes->failed)
        return NULL;
    if (bytes->room - bytes->n < n || bytes->p == NULL) {
        size_t room = bytes->n + n + (bytes->n + n) / 2 + 64;
        uint8_t *grown = (uint8_t *)sp_realloc(bytes->p, room);
        if (grown == NULL) {
            bytes->failed = true;
            return NULL;
        }
        bytes->p = grown;
        bytes->room = room;
    }
    return bytes->p + bytes->n;
}

SP_PRIVATE void sp_bytes_add(sp_bytes *bytes, const void *p, size_t n)
{
    uint8_t *to = sp_bytes_room(bytes, n);
    if (to != NULL && n > 0) {
        memcpy(to, p, n);
        bytes->n += n;
    }
}

SP_PRIVATE void sp_bytes_word(sp_bytes *bytes, const char *word)
{
    sp_bytes_add(bytes, word, strlen(word));
}

SP_PRIVATE void sp_bytes_number(sp_bytes *bytes, uint64_t number)
{
    char digits[SP_NUMBER_ROOM];
    sp_bytes_add(bytes, digits, sp_whole_write(number, false, digits));
}
