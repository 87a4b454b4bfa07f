#include "multilabel/targets.h"

#include "memory/grow.h"
#include "multilabel/multilabel.h"

SP_API int sp_multilabel_set_targets(sp_event *event, const uint32_t *labels, ptrdiff_t n,
                                     ptrdiff_t n_there, bool open, ptrdiff_t n_labels)
{
    sp_multilabel_scratch *w;
    ptrdiff_t most = n_labels;
    for (ptrdiff_t i = 0; i < n; i++)
        most = SP_MAX(most, (ptrdiff_t)labels[i] + 1);
    if (sp_multilabel_scratch_reserve(event, 0, most) < 0)
        return -1;
    w = sp_multilabel_scratch_of(event);
    if (n > w->targets_room) {
        if (SP_GROW(w->targets, n + n / 2) < 0)
            return -1;
        w->targets_room = n + n / 2;
    }
    w->word += 1;
    for (ptrdiff_t i = 0; i < n; i++) {
        w->targets[i] = labels[i];
        w->sums[labels[i]].named = w->word;
        w->sums[labels[i]].there = i < n_there;
    }
    w->n_targets = n;
    w->n_there = n_there;
    w->n_new = most - n_labels;
    w->open = open;
    return 0;
}

SP_API double sp_multilabel_best_threshold(const sp_multilabel *s)
{
    double best = -1.0;
    double there = 0.0;
    double said = 0.0;
    int chosen = SP_MULTILABEL_STEPS / 2;
    for (int t = SP_MULTILABEL_STEPS - 1; t > 0; t--) {
        there += s->there[t];
        said += s->said[t];
        double total = said + s->positives;
        double F1 = total > 0.0 ? 2.0 * there / total : 0.0;
        bool nearer = abs(t - SP_MULTILABEL_STEPS / 2) < abs(chosen - SP_MULTILABEL_STEPS / 2);
        if (F1 > best || (F1 == best && nearer)) {
            best = F1;
            chosen = t;
        }
    }
    return (double)chosen / SP_MULTILABEL_STEPS;
}

SP_RARE SP_API double sp_multilabel_share(const sp_multilabel *s, const sp_table *table,
                                          const sp_event *event, ptrdiff_t k, ptrdiff_t i)
{
    sp_multilabel_scratch *w = sp_multilabel_scratch_of(event);
    const sp_label *label = &s->labels[k];
    const sp_label_sums *sums = &w->sums[k];
    double absent = SP_MAX(0.0, s->T - label->left - label->D);
    double log_odds = sp_one_log((label->D + 1.0) / (absent + 1.0));
    bool naive = sums->seen == w->turn && sums->d != 0.0;
    double factor = naive ? label->wn * sums->V / sums->d : 0.0;
    const sp_counted_value *value;
    const sp_entry *entry;
    double c, share;
    if (i < 0)
        return label->w0 + (naive ? factor * log_odds : label->wn * -2.0);
    if (sums->seen != w->turn)
        return 0.0;
    value = &w->values[i];
    entry = sp_row_find(sp_rows_of(table), &sp_counted_slot_of(table, event->slots[i])->of.row,
                        (uint32_t)k);
    c = entry == NULL ? 0.0 : entry->c;
    share = entry == NULL ? 0.0 : entry->w * (sp_label_sums_h(sums, value, c) * sums->r);
    if (naive && value->t > 0.0) {
        double against = SP_MAX(0.0, sums->f * value->N - c) * value->t;
        share += factor
                 * ((sp_one_log(1.0 + c * value->t) - sp_one_log(1.0 + against)) - log_odds);
    }
    return share;
}
