#include "exchange/mix_stay.h"

#include "learner/learner.h"
#include "machine/machine.h"
#include "memory/heap.h"
#include "merge/shard.h"
#include "names/index.h"
#include "table/gather.h"
#include "table/table.h"

/* The k-th largest of n numbers, from 0; they are reordered (Hoare 1961). */
static double sp_rank(double *losses, size_t n, size_t k)
{
    size_t low = 0;
    size_t high = n - 1;
    while (low < high) {
        double middle = losses[low + (high - low) / 2];
        size_t i = low;
        size_t j = high;
        while (true) {
            while (losses[i] > middle)
                i++;
            while (losses[j] < middle)
                j--;
            if (i >= j)
                break;
            double swap = losses[i];
            losses[i] = losses[j];
            losses[j] = swap;
            i++;
            j--;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return losses[k];
}

/* The smallest age of a feature in the shards that have it; False if none does. */
static bool sp_age(const sp_merge *m, sp_slot_type slot, uint32_t *age)
{
    const sp_shard *shard;
    bool found = false;
    *age = 0;
    for (int k = 0, end = m->n; k < end; k++) {
        shard = &m->shards[k];
        sp_slot_type own = sp_source_own(shard, slot);
        if (own != SP_SLOT_NULL) {
            uint32_t its = shard->learner->ceiling.clock - sp_shard_stamp(shard, own);
            *age = found ? SP_MIN(*age, its) : its;
            found = true;
        }
    }
    return found;
}

/* Choose the slots that stay, in their order. Returns how many. */
static size_t sp_choose(const sp_merge *m, size_t most, sp_slot_type *stay, uint32_t *ages,
                        double *losses, double *ordered)
{
    size_t n = 0;
    size_t kept = 0;
    size_t above = 0;
    for (sp_slot_type slot = SP_SLOTS_RESERVED, end = m->n_slots; slot < end; slot++) {
        if (sp_age(m, slot, &ages[n])) {
            stay[n] = slot;
            n++;
        }
    }
    if (n <= most)
        return n;
    for (size_t i = 0; i < n; i++) {
        sp_table_sizes(&m->to->table, &stay[i], 1, &losses[i]);
        losses[i] = losses[i] * losses[i] / (1.0 + ages[i]);
        ordered[i] = losses[i];
    }
    double least = sp_rank(ordered, n, most - 1);
    for (size_t i = 0; i < n; i++)
        above += losses[i] > least;
    for (size_t i = 0; i < n; i++) {
        if (kept < most && (losses[i] > least || (losses[i] == least && above < most))) {
            above += losses[i] == least;
            stay[kept] = stay[i];
            ages[kept] = ages[i];
            kept++;
        }
    }
    m->to->ceiling.n_evicted += n - kept;
    return kept;
}

/* Free what the slots that do not stay have elsewhere. */
static void sp_let_go(sp_merge *m, const sp_slot_type *stay, size_t n)
{
    sp_table *table = &m->to->table;
    size_t at = 0;
    for (sp_slot_type slot = SP_SLOTS_RESERVED, end = table->arena == NULL ? 0 : m->n_slots;
         slot < end; slot++) {
        if (at < n && stay[at] == slot)
            at++;
        else if (sp_table_chunk(table, 0, slot >> SP_CHUNK_BITS) != NULL)
            table->kind->clear(table, slot);
    }
}

/* Make these slots the only ones. -1 if out of memory. */
static int sp_settle(sp_merge *m, sp_slot_type most, const sp_slot_type *stay, const uint32_t *ages,
                     size_t n)
{
    sp_learner *to = m->to;
    sp_index names;
    sp_table rows;
    if (sp_gather(&names, &rows, &to->index, &to->table, most, stay, n) < 0)
        return -1;
    sp_machine_mix_stay(to, stay, n);
    for (size_t i = 0; i < n; i++)
        *sp_index_stamp(&names, SP_SLOTS_RESERVED + (sp_slot_type)i) = to->ceiling.clock - ages[i];
    sp_index_free(&to->index);
    sp_table_free(&to->table);
    to->index = names;
    to->table = rows;
    if (to->ceiling.hand >= names.n_slots)
        to->ceiling.hand = SP_SLOTS_RESERVED;
    return 0;
}

SP_PRIVATE int sp_stay_limit(sp_merge *m, sp_slot_type most)
{
    size_t n = m->n_slots;
    sp_slot_type *stay = (sp_slot_type *)sp_calloc(n, sizeof(sp_slot_type));
    uint32_t *ages = (uint32_t *)sp_malloc(n * sizeof(uint32_t));
    double *losses = (double *)sp_malloc(2 * n * sizeof(double));
    int failed = -1;
    if (stay != NULL && ages != NULL && losses != NULL) {
        n = sp_choose(m, most, stay, ages, losses, losses + n);
        sp_let_go(m, stay, n);
        failed = sp_settle(m, most, stay, ages, n);
    }
    sp_free(stay);
    sp_free(ages);
    sp_free(losses);
    return failed;
}
