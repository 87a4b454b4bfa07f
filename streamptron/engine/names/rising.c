#include "names/rising.h"

#include "memory/heap.h"

#include <string.h>

enum { SP_DIGIT_BITS = 11 };

/* One pass of a radix sort by number, lowest digit first, of all slots except the reserved ones. */
static void sp_sort_by_digit(const sp_index *index, const sp_slot_type *from, sp_slot_type *to,
                             size_t n, int digit)
{
    const int shift = digit * SP_DIGIT_BITS;
    const uint32_t mask = (1u << SP_DIGIT_BITS) - 1;
    size_t places[(1 << SP_DIGIT_BITS) + 1] = {0};
    for (size_t i = 0; i < n; i++)
        places[(*sp_index_number_at(index, from[i]) >> shift & mask) + 1]++;
    for (size_t k = 0; k < 1u << SP_DIGIT_BITS; k++)
        places[k + 1] += places[k];
    for (size_t i = 0; i < n; i++)
        to[places[*sp_index_number_at(index, from[i]) >> shift & mask]++] = from[i];
}

SP_API sp_slot_type *sp_index_rising(const sp_index *index)
{
    const size_t n = index->n_slots;
    const bool sorts = index->bits && index->lookup == NULL;
    sp_slot_type *slots = (sp_slot_type *)sp_malloc(n * sizeof(sp_slot_type));
    sp_slot_type *others = NULL;
    if (slots == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++)
        slots[i] = (sp_slot_type)i;
    for (int digit = 0; sorts && digit * SP_DIGIT_BITS <= index->bits; digit++) {
        if (others == NULL)
            others = (sp_slot_type *)sp_malloc(n * sizeof(sp_slot_type));
        if (others == NULL) {
            sp_free(slots);
            return NULL;
        }
        others[SP_SLOT_NULL] = SP_SLOT_NULL;
        others[SP_SLOT_INTERCEPT] = SP_SLOT_INTERCEPT;
        sp_sort_by_digit(index, slots + SP_SLOTS_RESERVED, others + SP_SLOTS_RESERVED,
                         n - SP_SLOTS_RESERVED, digit);
        sp_slot_type *sorted = others;
        others = slots;
        slots = sorted;
    }
    sp_free(others);
    return slots;
}
