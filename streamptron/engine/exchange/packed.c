#include "exchange/packed.h"

#include "memory/compiler.h"
#include "table/arrays.h"

#include <math.h>
#include <string.h>

static uint64_t sp_zigzag(uint64_t word)
{
    return (word << 1) ^ (0 - (word >> 63));
}

/* How many bytes a number takes without leading zeros. */
static int sp_int_bytes(uint64_t number)
{
    int n = 0;
    while (number) {
        n++;
        number >>= 8;
    }
    return n;
}

static size_t sp_name_size(const sp_key *key, uint64_t kind)
{
    return kind == SP_KEY_INT ? (size_t)sp_int_bytes(sp_zigzag(key->lo)) : sp_key_length(key);
}

static int sp_value_size(double value)
{
    if (value == 1.0)
        return 0;
    if (0.0 <= value && value < SP_PACKED_FLOAT32 && value == (double)(int)value)
        return 1;
    return value == (double)(float)value ? 5 : 9;
}

SP_API ptrdiff_t sp_packed_size(const sp_event *event, ptrdiff_t first, ptrdiff_t last)
{
    ptrdiff_t size = 0;
    uint8_t inside[16];
    const uint8_t *text;
    for (ptrdiff_t i = first; i < last; i++) {
        uint64_t kind = sp_key_kind(&event->keys[i]) & ~(uint64_t)SP_KEY_LONG;
        if (kind == SP_KEY_OBJECT || kind == SP_KEY_NONE)
            return SP_PACKED_OBJECT;
        size_t n = sp_name_size(&event->keys[i], kind);
        if (kind == SP_KEY_CANONICAL) {
            text = sp_key_bytes(&event->keys[i]);
            if (!sp_key_is_long(&event->keys[i])) {
                sp_key_inline_bytes(&event->keys[i], inside);
                text = inside;
            }
            if (!sp_is_key(&event->keys[i], text, 0, SP_ARRAYS_DEPTH))
                return SP_PACKED_DEEP;
        }
        size += 1 + (ptrdiff_t)n + sp_value_size(event->values[i]);
        if (n >= SP_PACKED_LENGTH) {
            while (n) {
                size++;
                n >>= 7;
            }
        }
    }
    return size;
}

SP_API void sp_packed_write(const sp_event *event, ptrdiff_t first, ptrdiff_t last, uint8_t *p)
{
    const sp_key *key;
    uint8_t inside[16];
    double value;
    float narrow;
    for (ptrdiff_t i = first; i < last; i++) {
        key = &event->keys[i];
        value = event->values[i];
        uint64_t kind = sp_key_kind(key) & ~(uint64_t)SP_KEY_LONG;
        size_t n = sp_name_size(key, kind);
        *p = (uint8_t)(((value != 1.0) << 7) | ((int)kind << 4)
                       | (int)SP_MIN(n, (size_t)SP_PACKED_LENGTH));
        p++;
        if (n >= SP_PACKED_LENGTH) {
            size_t left = n;
            while (left > 127) {
                *p = (uint8_t)(128 | (left & 127));
                p++;
                left >>= 7;
            }
            *p = (uint8_t)left;
            p++;
        }
        if (sp_key_is_long(key))
            memcpy(p, sp_key_bytes(key), n);
        else if (kind == SP_KEY_INT) {
            sp_store8(inside, sp_zigzag(key->lo));
            memcpy(p, inside, n);
        } else if (kind == SP_KEY_FLOAT)
            sp_store8(p, key->lo);
        else {
            sp_key_inline_bytes(key, inside);
            memcpy(p, inside, n);
        }
        p += n;
        if (value == 1.0)
            continue;
        if (sp_value_size(value) == 1) {
            *p = (uint8_t)(int)value;
            p++;
        } else if (sp_value_size(value) == 5) {
            *p = SP_PACKED_FLOAT32;
            narrow = (float)value;
            memcpy(p + 1, &narrow, 4);
            p += 5;
        } else {
            *p = SP_PACKED_FLOAT64;
            memcpy(p + 1, &value, 8);
            p += 9;
        }
    }
}

/* Read a name of n bytes at p as a key. Returns its end, or NULL. */
static const uint8_t *sp_read_name(sp_packed *entry, const uint8_t *p, size_t n)
{
    uint8_t inside[8];
    entry->name = p;
    entry->n = n;
    if (entry->kind == SP_KEY_OBJECT) {
        entry->key = sp_key_word(SP_KEY_OBJECT, 0);
        return p + n;
    }
    if (entry->kind == SP_KEY_INT) {
        if (n > 8 || (n && p[n - 1] == 0))
            return NULL;
        sp_store8(inside, 0);
        memcpy(inside, p, n);
        uint64_t number = sp_load8(inside);
        entry->key = sp_key_word(SP_KEY_INT, (number >> 1) ^ (0 - (number & 1)));
    } else if (entry->kind == SP_KEY_FLOAT) {
        if (n != 8)
            return NULL;
        entry->key = sp_key_word(SP_KEY_FLOAT, sp_load8(p));
    } else if (entry->kind < SP_KEY_STR || entry->kind > SP_KEY_OBJECT)
        return NULL;
    else
        entry->key = sp_key_text((uint64_t)entry->kind, p, n);
    return sp_is_key(&entry->key, p, 0, SP_ARRAYS_DEPTH) ? p + n : NULL;
}

SP_API const uint8_t *sp_packed_next(const uint8_t *p, const uint8_t *end, sp_packed *entry)
{
    int shift = 0;
    float narrow;
    memset(entry, 0, sizeof(sp_packed));
    if (p == end)
        return NULL;
    int head = *p;
    p++;
    entry->kind = (head >> 4) & 7;
    size_t n = head & SP_PACKED_LENGTH;
    if (n == SP_PACKED_LENGTH) {
        n = 0;
        while (true) {
            if (p == end || shift > 42)
                return NULL;
            int byte = *p;
            n |= (size_t)(byte & 127) << shift;
            shift += 7;
            p++;
            if (byte < 128)
                break;
        }
        if (n < SP_PACKED_LENGTH)
            return NULL;
    }
    if (n > (size_t)(end - p))
        return NULL;
    p = sp_read_name(entry, p, n);
    entry->value = 1.0;
    if (p == NULL || !(head >> 7))
        return p;
    if (p == end)
        return NULL;
    int code = *p;
    p++;
    if (code < SP_PACKED_FLOAT32)
        entry->value = code;
    else if (code == SP_PACKED_FLOAT32) {
        if (end - p < 4)
            return NULL;
        memcpy(&narrow, p, 4);
        entry->value = narrow;
        p += 4;
    } else {
        if (end - p < 8)
            return NULL;
        memcpy(&entry->value, p, 8);
        p += 8;
    }
    return fabs(entry->value) <= SP_VALUE_LIMIT && entry->value != 0.0 ? p : NULL;
}
