#include "bytes.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bytes_room(bytes *b, size_t n)
{
    if (n > SIZE_MAX / 4 - b->n) {
        b->failed = true;
        return false;
    }
    if (b->n + n <= b->room)
        return true;
    size_t room = b->room + b->room / 2 + 64;
    if (room < b->n + n)
        room = b->n + n;
    char *p = realloc(b->p, room);
    if (p == NULL) {
        b->failed = true;
        return false;
    }
    b->p = p;
    b->room = room;
    return true;
}

void bytes_add(bytes *b, const void *p, size_t n)
{
    if (n == 0 || !bytes_room(b, n))
        return;
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

void bytes_word(bytes *b, const char *word)
{
    bytes_add(b, word, strlen(word));
}

void bytes_print(bytes *b, const char *format, ...)
{
    va_list given;
    va_start(given, format);
    int n = vsnprintf(NULL, 0, format, given);
    va_end(given);
    if (n < 0 || !bytes_room(b, (size_t)n + 1)) {
        b->failed = true;
        return;
    }
    va_start(given, format);
    vsnprintf(b->p + b->n, (size_t)n + 1, format, given);
    va_end(given);
    b->n += (size_t)n;
}

void bytes_drop(bytes *b, size_t n)
{
    if (n > 0)
        memmove(b->p, b->p + n, b->n - n);
    b->n -= n;
}

const char *bytes_text(bytes *b)
{
    if (b->failed || !bytes_room(b, 1))
        return NULL;
    b->p[b->n] = 0;
    return b->p;
}

void bytes_free(bytes *b)
{
    free(b->p);
    memset(b, 0, sizeof(*b));
}
