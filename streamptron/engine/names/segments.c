#include "names/segments.h"

SP_PRIVATE void sp_segment_put(uintptr_t word, uint64_t entry)
{
    uint64_t *entries = sp_segment_entries(word);
    uint64_t mask = sp_segment_mask(word);
    uint64_t at = (entry >> 32) & mask;
    while (entries[at] != 0)
        at = (at + 1) & mask;
    entries[at] = entry;
    if (at == 0)
        entries[mask + 1] = entry;
    sp_segment_of(word)->count += 1;
}

SP_PRIVATE uintptr_t sp_segment_grow(sp_pool *pool, uintptr_t old)
{
    uint64_t *entries = sp_segment_entries(old);
    uintptr_t word = sp_segment_new(pool, sp_segment_log(old) + 1, sp_segment_of(old)->depth);
    if (word) {
        for (uint64_t at = 0, end = sp_segment_mask(old) + 1; at < end; at++) {
            if (entries[at] != 0)
                sp_segment_put(word, entries[at]);
        }
    }
    return word;
}

SP_PRIVATE int sp_segment_split(sp_pool *pool, uintptr_t old, uintptr_t *zeros, uintptr_t *ones)
{
    uint32_t depth = sp_segment_of(old)->depth + 1;
    uint64_t *entries = sp_segment_entries(old);
    *zeros = sp_segment_new(pool, sp_segment_log(old), depth);
    *ones = sp_segment_new(pool, sp_segment_log(old), depth);
    if (*zeros == 0 || *ones == 0) {
        if (*zeros)
            sp_segment_free(pool, *zeros);
        if (*ones)
            sp_segment_free(pool, *ones);
        return -1;
    }
    uint64_t half = (uint64_t)1 << (32 - depth);
    for (uint64_t at = 0, end = sp_segment_mask(old) + 1; at < end; at++) {
        if (entries[at] != 0)
            sp_segment_put((entries[at] >> 32) & half ? *ones : *zeros, entries[at]);
    }
    return 0;
}

SP_PRIVATE void sp_segment_take(uintptr_t word, uint64_t entry)
{
    uint64_t *entries = sp_segment_entries(word);
    uint64_t mask = sp_segment_mask(word);
    uint64_t gap = (entry >> 32) & mask;
    while (entries[gap] != entry)
        gap = (gap + 1) & mask;
    uint64_t at = gap;
    while (true) {
        at = (at + 1) & mask;
        if (entries[at] == 0)
            break;
        /* it may move if the gap lies between the start of its search and its place */
        if (((at - (entries[at] >> 32)) & mask) >= ((at - gap) & mask)) {
            entries[gap] = entries[at];
            gap = at;
        }
    }
    entries[gap] = 0;
    entries[mask + 1] = entries[0];
    sp_segment_of(word)->count -= 1;
}

SP_PRIVATE bool sp_segment_reaches(uintptr_t word, uint64_t at)
{
    uint64_t *entries = sp_segment_entries(word);
    uint64_t i = (entries[at] >> 32) & sp_segment_mask(word);
    while (i != at) {
        if (entries[i] == 0)
            return false;
        i = (i + 1) & sp_segment_mask(word);
    }
    return true;
}
