#include "many/former.h"

#include "adaptive/head.h"
#include "many/many.h"
#include "memory/heap.h"
#include "rows/marks.h"

#include <string.h>

enum { SP_FORMER_GROUP = 8, SP_FORMER_BLOCKS = 4 };

static size_t sp_former_e_block(size_t k)
{
    return SP_BLOCK_E + k / SP_FORMER_GROUP * SP_FORMER_BLOCKS;
}

static size_t sp_former_places_block(size_t k)
{
    return sp_former_e_block(k) + 1 + k % SP_FORMER_GROUP / 4 * 2;
}

static size_t sp_former_G_block(size_t k)
{
    return sp_former_e_block(k) + 2;
}

/* The first of the stored rows that is at least `slot`. */
static size_t sp_former_row(const sp_former *f, uint64_t slot)
{
    size_t first = 0;
    size_t n = f->n_rows;
    while (n > 0) {
        size_t half = n / 2;
        if (f->rows[first + half] < slot) {
            first += half + 1;
            n -= half + 1;
        } else
            n = half;
    }
    return first;
}

/* How many slots of a chunk are stored. */
static size_t sp_former_count(const sp_former *f, uint32_t chunk)
{
    const uint64_t slot = (uint64_t)chunk << SP_CHUNK_BITS;
    if (f->rows != NULL)
        return sp_former_row(f, slot + SP_CHUNK_SLOTS) - sp_former_row(f, slot);
    return slot < f->n_slots ? SP_MIN(f->n_slots - (size_t)slot, (size_t)SP_CHUNK_SLOTS) : 0;
}

/* The slots of a block in a chunk; NULL if there are none. */
static const double *sp_former_slots(const sp_former *f, size_t block, uint32_t chunk)
{
    size_t first = 0;
    size_t n = f->n_chunks;
    while (n > 0) {
        size_t half = n / 2;
        const uint32_t *entry = f->chunks + 3 * (first + half);
        if (entry[0] < block || (entry[0] == block && entry[1] < chunk)) {
            first += half + 1;
            n -= half + 1;
        } else
            n = half;
    }
    const uint32_t *entry = f->chunks + 3 * first;
    if (first == f->n_chunks || entry[0] != block || entry[1] != chunk)
        return NULL;
    return f->weights + f->places[first] * SP_HEAD_WIDTH;
}

static float sp_former_float(const double *slots, size_t i, size_t at)
{
    return slots == NULL ? 0.0f : ((const float *)(const void *)(slots + i * SP_HEAD_WIDTH))[at];
}

/* What slot i of a chunk has of label k. */
static sp_entry sp_former_entry(const sp_former *f, uint32_t chunk, size_t i, size_t k)
{
    const sp_head *head
        = (const sp_head *)(const void *)(sp_former_slots(f, 0, chunk) + i * SP_HEAD_WIDTH);
    sp_entry entry = {(uint32_t)k, 0.0f, 0.0f, 0.0f};
    if (head->G < 0.0f) {
        const double *places = sp_former_slots(f, sp_former_places_block(k), chunk);
        entry.w = sp_former_float(places, i, k % 4);
        entry.c = sp_former_float(places, i, 4 + k % 4);
        entry.G = sp_former_float(sp_former_slots(f, sp_former_G_block(k), chunk), i,
                                  k % SP_FORMER_GROUP);
    } else if (k < 2) {
        entry.w = (int)k == f->positive ? 0.5f * head->w : -0.5f * head->w;
        entry.c = head->of.c[k];
        entry.G = head->G;
    }
    return entry;
}

/* Its entries: how many; written down, unless `to` is NULL. */
static size_t sp_former_entries(const sp_former *f, uint32_t chunk, size_t i, sp_entry *to)
{
    size_t n = 0;
    for (size_t k = 0; k < f->n_labels; k++) {
        sp_entry entry = sp_former_entry(f, chunk, i, k);
        if (entry.c == 0.0f && entry.G == 0.0f)
            continue;
        if (to != NULL)
            to[n] = entry;
        n++;
    }
    return n;
}

/* A column's e likewise. */
static size_t sp_former_e(const sp_former *f, uint32_t chunk, size_t i, sp_entry *to)
{
    size_t n = 0;
    for (size_t k = 0; k < f->n_labels; k++) {
        sp_entry entry = {(uint32_t)k, 0.0f, 0.0f, 0.0f};
        entry.c = sp_former_float(sp_former_slots(f, sp_former_e_block(k), chunk), i,
                                  k % SP_FORMER_GROUP);
        if (entry.c == 0.0f)
            continue;
        if (to != NULL)
            to[n] = entry;
        n++;
    }
    return n;
}

/* Whether there is a column's e in a chunk. */
static bool sp_former_has_e(const sp_former *f, uint32_t chunk)
{
    for (size_t k = 0; k < f->n_labels; k += SP_FORMER_GROUP) {
        if (sp_former_slots(f, sp_former_e_block(k), chunk) != NULL)
            return true;
    }
    return false;
}

SP_API void sp_former_free(sp_former *f)
{
    sp_free(f->places);
    f->places = NULL;
}

/* Where each chunk begins. 0, or what is wrong with the list. */
static int sp_former_place(sp_former *f)
{
    const size_t blocks = sp_former_e_block(f->n_labels - 1) + SP_FORMER_BLOCKS;
    size_t place = 0;
    f->places = (size_t *)sp_malloc((f->n_chunks + 1) * sizeof(size_t));
    if (f->places == NULL)
        return SP_FORMER_MEMORY;
    for (size_t i = 0; i < f->n_chunks; i++) {
        const uint32_t *entry = f->chunks + 3 * i;
        f->places[i] = place;
        place += sp_former_count(f, entry[1]);
        if (entry[0] >= blocks || entry[2] != 0 || place > f->n_weights
            || (i && (entry[0] < entry[-3] || (entry[0] == entry[-3] && entry[1] <= entry[-2]))))
            return SP_FORMER_WRONG;
    }
    return place == f->n_weights ? 0 : SP_FORMER_WRONG;
}

SP_API int sp_former_measure(sp_former *f)
{
    int fault = sp_former_place(f);
    f->new_weights = f->new_chunks = 0;
    f->new_marks = 1;
    for (size_t i = 0; !fault && i < f->n_chunks && f->chunks[3 * i] <= SP_BLOCK_COLUMNS; i++) {
        uint32_t chunk = f->chunks[3 * i + 1];
        size_t n = sp_former_count(f, chunk);
        f->new_weights += n;
        f->new_chunks++;
        for (size_t slot = 0; f->chunks[3 * i] == 0 && slot < n; slot++)
            f->new_marks += sp_former_entries(f, chunk, slot, NULL);
        if (f->chunks[3 * i] == 0 && sp_former_has_e(f, chunk)) {
            f->new_weights += n;
            f->new_chunks++;
            for (size_t slot = 0; slot < n; slot++)
                f->new_marks += sp_former_e(f, chunk, slot, NULL);
        }
    }
    return fault == 0 && f->new_marks > UINT32_MAX ? SP_FORMER_WRONG : fault;
}

/* One chunk of a block of today, at these places; what they then are. */
typedef struct sp_former_at {
    double *weights;
    uint32_t *chunks;
    sp_entry *marks;
    size_t mark;
} sp_former_at;

static void sp_former_chunk(const sp_former *f, uint32_t block, uint32_t chunk, sp_former_at *at)
{
    const size_t n = sp_former_count(f, chunk);
    const double *from = block == SP_BLOCK_E ? NULL : sp_former_slots(f, block, chunk);
    const uint32_t entry[3] = {block, chunk, 0};
    memcpy(at->chunks, entry, sizeof(entry));
    at->chunks += 3;
    if (from != NULL)
        memcpy(at->weights, from, n * SP_HEAD_WIDTH * sizeof(double));
    else
        memset(at->weights, 0, n * SP_HEAD_WIDTH * sizeof(double));
    for (size_t i = 0; i < n && block != SP_BLOCK_COLUMNS; i++) {
        sp_head *head = (sp_head *)(void *)(at->weights + i * SP_HEAD_WIDTH);
        sp_entry *to = at->marks + at->mark;
        size_t entries = block == 0 ? sp_former_entries(f, chunk, i, to)
                                    : sp_former_e(f, chunk, i, to);
        memset(&head->row, 0, sizeof(head->row));
        head->row.block = entries ? (uint32_t)at->mark : 0;
        head->row.n = (uint32_t)entries & SP_ROW_MOST;
        head->of.N = 0.0;
        if (block == 0)
            head->of.N = sp_many_count_of(to, head->row.n);
        at->mark += entries;
    }
    at->weights += n * SP_HEAD_WIDTH;
}

SP_API void sp_former_write(const sp_former *f, double *weights, uint32_t *chunks, uint32_t *marks)
{
    sp_former_at at = {weights, chunks, (sp_entry *)(void *)marks, 1};
    memset(marks, 0, sizeof(sp_entry));
    for (uint32_t block = 0; block < SP_HEAD_BLOCKS; block++) {
        for (size_t i = 0; i < f->n_chunks; i++) {
            const uint32_t *entry = f->chunks + 3 * i;
            if (block == SP_BLOCK_E ? entry[0] == 0 && sp_former_has_e(f, entry[1])
                                    : entry[0] == block)
                sp_former_chunk(f, block, entry[1], &at);
        }
    }
}

SP_API void sp_former_once(const double *numbers, size_t n_labels, size_t n_more, double *to)
{
    double wn = 0.0;
    double Gn = 0.0;
    *to++ = numbers[0];
    *to++ = 0.0;
    *to++ = 0.0;
    numbers += 3;
    for (size_t k = 0; k < n_labels; k++, numbers += 5, to += 3) {
        memcpy(to, numbers, 3 * sizeof(double));
        wn += numbers[3];
        Gn += numbers[4];
    }
    *to++ = numbers[0];
    *to++ = numbers[1];
    *to++ = wn / (double)n_labels;
    *to++ = Gn / (double)n_labels;
    *to++ = 0.0;
    memcpy(to, numbers + 2, n_more * sizeof(double));
}

SP_API void sp_former_usual(double *numbers, size_t n_labels, size_t n_more)
{
    double *b = numbers + 3 + 3 * n_labels + 4;
    memmove(b + 1, b, n_more * sizeof(double));
    numbers[2] = *b = 0.0;
}
