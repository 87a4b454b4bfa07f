#include "names/lookup.h"

SP_PRIVATE sp_key sp_lookup_key(const sp_lookup *lookup, sp_slot_type slot)
{
    sp_key key = lookup->keys[slot];
    if (sp_key_is_long(&key)) {
        if (sp_key_length(&key) <= SP_KEY_INLINE || key.lo > lookup->n_texts
            || sp_key_length(&key) > lookup->n_texts - key.lo)
            return sp_key_word(SP_KEY_NONE, 0);
        key.lo = (uint64_t)(uintptr_t)(lookup->texts + key.lo);
    }
    return key;
}

static uint32_t sp_lookup_word(const sp_lookup *lookup, uint64_t h, sp_slot_type slot)
{
    return (uint32_t)((h & (uint64_t)0xFFFFFFFF) << lookup->slot_bits) | slot;
}

SP_PRIVATE void sp_lookup_put(const sp_lookup *lookup, uint64_t h, sp_slot_type slot)
{
    uint64_t at = sp_lookup_start(lookup, h);
    while (lookup->words[at] != 0)
        at = at + 1 < lookup->n_words ? at + 1 : 0;
    lookup->words[at] = sp_lookup_word(lookup, h, slot);
}

SP_HOT sp_slot_type sp_lookup_find(const sp_lookup *lookup, sp_slot_type n_slots,
                                   const sp_key *key, uint64_t h)
{
    uint64_t at = sp_lookup_start(lookup, h);
    uint64_t mask = ((uint64_t)1 << lookup->slot_bits) - 1;
    uint32_t tag = sp_lookup_word(lookup, h, 0);
    sp_key stored;
    for (uint64_t i = 0, end = lookup->n_words; i < end; i++) {
        uint32_t word = lookup->words[at];
        if (word == 0)
            break;
        sp_slot_type slot = (sp_slot_type)(word & mask);
        if (((word ^ tag) & ~mask) == 0 && slot < n_slots) {
            stored = sp_lookup_key(lookup, slot);
            if (sp_key_equal(&stored, key))
                return slot;
        }
        at = at + 1 < lookup->n_words ? at + 1 : 0;
    }
    return SP_SLOT_NULL;
}
