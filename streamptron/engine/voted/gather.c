#include "voted/gather.h"

#include "memory/heap.h"
#include "table/gather.h"

#include <string.h>

static bool sp_is_mentioned(const sp_voters *voters, sp_slot_type slot)
{
    const sp_mentions *m = sp_mentions_of(voters, slot);
    return m != NULL && m->start < m->end;
}

/* Choose the slots that stay, and give them new numbers. Returns how many stay. */
static size_t sp_stay(const sp_table *table, const sp_voters *voters, sp_slot_type n_slots,
                      sp_slot_type *stay, sp_slot_type *numbers)
{
    size_t n = 0;
    double size;
    for (sp_slot_type slot = SP_SLOTS_RESERVED; slot < n_slots; slot++) {
        if (!sp_is_mentioned(voters, slot)) {
            sp_table_sizes(table, &slot, 1, &size);
            if (size == 0.0)
                continue;
        }
        stay[n] = slot;
        numbers[slot] = SP_SLOTS_RESERVED + (sp_slot_type)n;
        n++;
    }
    return n;
}

/* Make room for mentions of n slots. -1 if out of memory; then there is nothing to free. */
static int sp_open_mentions(sp_voters *to, const sp_voters *voters, const sp_slot_type *stay,
                            size_t n)
{
    memset(to, 0, sizeof(sp_voters));
    for (size_t i = 0; i < n; i++) {
        if (sp_is_mentioned(voters, stay[i])
            && sp_mentions_open(to, SP_SLOTS_RESERVED + (sp_slot_type)i) == NULL) {
            sp_voters_free(to);
            return -1;
        }
    }
    return 0;
}

/* Move all mentions to `to`, and let each point to the new slot of the next. */
static void sp_move_mentions(sp_voters *v, const sp_voters *to, const sp_slot_type *stay, size_t n,
                             const sp_slot_type *numbers)
{
    sp_mentions *m;
    for (size_t i = 0; i < n; i++) {
        if (sp_is_mentioned(v, stay[i])) {
            m = sp_mentions_of(to, SP_SLOTS_RESERVED + (sp_slot_type)i);
            *m = *sp_mentions_of(v, stay[i]);
            for (ptrdiff_t k = m->start; k < m->end; k++)
                m->mentions[k].next = numbers[m->mentions[k].next];
        }
    }
    for (ptrdiff_t k = v->start; k < v->end; k++)
        v->updates[k].first = numbers[v->updates[k].first];
    v->bytes += to->bytes;
    v->bytes -= v->n_chunks * sizeof(sp_mentions *);
    for (size_t i = 0, end = v->n_chunks; i < end; i++) {
        v->bytes -= v->chunks[i] != NULL ? SP_CHUNK_SLOTS * sizeof(sp_mentions) : 0;
        sp_free(v->chunks[i]);
    }
    sp_free(v->chunks);
    v->chunks = to->chunks;
    v->n_chunks = to->n_chunks;
}

static bool sp_gather_stay(sp_index *index, sp_table *table, sp_voters *voters, sp_slot_type *stay,
                           sp_slot_type *numbers)
{
    sp_index names;
    sp_table rows;
    sp_voters moved;
    size_t n_names = index->n_slots - SP_SLOTS_RESERVED;
    size_t n = sp_stay(table, voters, index->n_slots, stay, numbers);
    if (4 * n > 3 * n_names || sp_open_mentions(&moved, voters, stay, n) < 0)
        return false;
    if (sp_gather(&names, &rows, index, table, 0, stay, n) < 0) {
        sp_voters_free(&moved);
        return false;
    }
    names.generation = index->generation + 1;
    sp_move_mentions(voters, &moved, stay, n, numbers);
    sp_index_free(index);
    sp_table_free(table);
    *index = names;
    *table = rows;
    return true;
}

SP_PRIVATE void sp_gather_voters(sp_index *index, sp_table *table, sp_voters *voters,
                                 sp_event *event)
{
    sp_slot_type *stay = (sp_slot_type *)sp_malloc(index->n_slots * sizeof(sp_slot_type));
    sp_slot_type *numbers = (sp_slot_type *)sp_calloc(index->n_slots, sizeof(sp_slot_type));
    if (stay != NULL && numbers != NULL && sp_gather_stay(index, table, voters, stay, numbers)) {
        memset(event->slots, 0,
               (size_t)event->n * sizeof(sp_slot_type)); /* SP_SLOT_NULL: no longer known */
        event->n_found = event->n_known = 0;
    }
    sp_free(stay);
    sp_free(numbers);
}
