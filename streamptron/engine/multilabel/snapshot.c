#include "multilabel/snapshot.h"

#include "features/undo.h"

#define SP_SNAPSHOT_MOST 1e36f

SP_PRIVATE ptrdiff_t sp_snapshot_entries_before(const sp_sparse_rows *rows, const sp_sparse *row,
                                                const uint32_t *labels, ptrdiff_t m, ptrdiff_t adds,
                                                sp_snapshot_entry *kept)
{
    ptrdiff_t n = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
        if (kept == NULL && j < adds) { /* it will be an entry, if it is not one yet */
            n++;
            continue;
        }
        const sp_entry *entry = sp_row_find(rows, row, labels[j]);
        if (entry == NULL && j >= adds)
            continue;
        if (kept != NULL) {
            memset(&kept[n], 0, sizeof(sp_snapshot_entry));
            kept[n].after.k = labels[j];
            kept[n].before.k = SP_SNAPSHOT_MADE;
            if (entry != NULL)
                kept[n].before = *entry;
        }
        n++;
    }
    return n;
}

SP_PRIVATE void sp_snapshot_entries_after(const sp_sparse_rows *rows, const sp_sparse *row,
                                          sp_snapshot_entry *kept, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const sp_entry *entry = sp_row_find(rows, row, kept[i].after.k);
        if (entry != NULL)
            kept[i].after = *entry;
    }
}

static bool sp_is_sound_entry(const sp_entry *entry)
{
    return fabsf(entry->c) <= SP_SNAPSHOT_MOST
           && fabsf(entry->w) <= SP_SNAPSHOT_MOST
           && entry->G >= 0.0f
           && entry->G <= SP_SNAPSHOT_MOST;
}

SP_PRIVATE bool sp_snapshot_entries_are_sound(const sp_snapshot_entry *kept, ptrdiff_t n,
                                              ptrdiff_t n_labels)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t k = kept[i].after.k;
        if (k >= (size_t)n_labels || (kept[i].before.k != k && kept[i].before.k != SP_SNAPSHOT_MADE)
            || !sp_is_sound_entry(&kept[i].before) || !sp_is_sound_entry(&kept[i].after))
            return false;
    }
    return true;
}

SP_PRIVATE void sp_snapshot_entries_back(sp_sparse_rows *rows, sp_sparse *row,
                                         const sp_snapshot_entry *kept, ptrdiff_t n, bool counts,
                                         bool negative)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const sp_entry *before = &kept[i].before;
        const sp_entry *after = &kept[i].after;
        sp_entry *now = sp_row_find(rows, row, after->k);
        if (now == NULL)
            continue;
        if (counts && before->k == SP_SNAPSHOT_MADE && now->c == after->c && now->w == after->w
            && now->G == after->G) {
            sp_row_remove(rows, row, after->k);
            continue;
        }
        now->w = sp_back(now->w, before->w, after->w);
        now->G = sp_back_count(now->G, before->G, after->G);
        if (counts)
            now->c = negative ? sp_back(now->c, before->c, after->c)
                              : sp_back_count(now->c, before->c, after->c);
    }
}
