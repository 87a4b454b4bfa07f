#include "multilabel/undo.h"

#include "features/undo.h"
#include "multilabel/learn.h"

#include <math.h>

#define SP_LOG_MOST 1e40 /* of any number except values */

enum {
    SP_LOG_T,
    SP_LOG_M,
    SP_LOG_NM,
    SP_LOG_POSITIVES,
    SP_LOG_ONCE,
    SP_LOG_D = 0, /* of a label: first the numbers that stay at least 0, then w0, wn */
    SP_LOG_G0,
    SP_LOG_GN,
    SP_LOG_W0,
    SP_LOG_WN,
    SP_LOG_LABEL,
};

typedef struct sp_undo_log_head {
    uint32_t n_labels;
    uint32_t n_tallies;
    uint32_t n_slots;
    uint32_t n_entries;
    uint32_t n_open; /* labels below this one that are not listed were left open */
    double u;
    double before[SP_LOG_ONCE];
    double after[SP_LOG_ONCE];
} sp_undo_log_head;

typedef struct sp_undo_log_label {
    double before[SP_LOG_LABEL];
    double after[SP_LOG_LABEL];
    uint64_t k;
} sp_undo_log_label;

typedef struct sp_undo_log_tally {
    double there[2]; /* before and after */
    double said[2];
    uint64_t t;
} sp_undo_log_tally;

typedef struct sp_undo_log_slot {
    double s[2]; /* before and after */
    double N[2];
    float cnt[2];
    uint32_t at;   /* the event's entry */
    uint32_t slot; /* in a step that is kept, if names are hashed: its number */
    uint64_t n; /* entries of its row */
} sp_undo_log_slot;

/* Where each part is in the bytes. */
typedef struct sp_undo_log_parts {
    sp_undo_log_head *head;
    sp_undo_log_label *labels;
    sp_undo_log_tally *tallies;
    sp_undo_log_slot *slots;
    sp_snapshot_entry *entries;
} sp_undo_log_parts;

static uint64_t sp_undo_log_bytes(const sp_undo_log_head *counts)
{
    return sizeof(sp_undo_log_head) + (uint64_t)counts->n_labels * sizeof(sp_undo_log_label)
           + (uint64_t)counts->n_tallies * sizeof(sp_undo_log_tally)
           + (uint64_t)counts->n_slots * sizeof(sp_undo_log_slot)
           + (uint64_t)counts->n_entries * sizeof(sp_snapshot_entry);
}

static sp_undo_log_parts sp_undo_log_open(const sp_undo_log_head *counts, const uint8_t *data)
{
    sp_undo_log_parts parts;
    parts.head = (sp_undo_log_head *)(uintptr_t)data;
    parts.labels = (sp_undo_log_label *)(void *)(parts.head + 1);
    parts.tallies = (sp_undo_log_tally *)(void *)(parts.labels + counts->n_labels);
    parts.slots = (sp_undo_log_slot *)(void *)(parts.tallies + counts->n_tallies);
    parts.entries = (sp_snapshot_entry *)(void *)(parts.slots + counts->n_slots);
    return parts;
}

/* --- Before the step */

static void sp_undo_log_numbers(const sp_label *label, double *numbers)
{
    numbers[SP_LOG_D] = label->D;
    numbers[SP_LOG_G0] = label->G0;
    numbers[SP_LOG_GN] = label->Gn;
    numbers[SP_LOG_W0] = label->w0;
    numbers[SP_LOG_WN] = label->wn;
}

/* List the labels that are named, if the event leaves the others open; otherwise those that get
   entries, then those that step without any. Returns how many; NULL: only count them. */
static uint32_t sp_undo_log_labels(const sp_multilabel *s, const sp_multilabel_scratch *w,
                                   sp_undo_log_label *labels)
{
    const ptrdiff_t most = w->open ? w->n_targets : w->n_adds + w->n_strides;
    double wn = w->n_new ? sp_multilabel_all_wn(s) : 0.0;
    uint32_t n = 0;
    for (ptrdiff_t i = 0; i < most; i++) {
        const bool adds = w->open || i < w->n_adds;
        const sp_counted_stride *stride = adds ? NULL : &w->strides[i - w->n_adds];
        const uint32_t k = w->open ? w->targets[i] : adds ? w->adds[i] : stride->k;
        if (k >= (size_t)s->n_labels || (!adds && stride->wide))
            continue;
        if (labels != NULL) {
            labels[n].k = k;
            sp_undo_log_numbers(&s->labels[k], labels[n].before);
        }
        n++;
    }
    for (ptrdiff_t i = 0; i < w->n_new && labels != NULL; i++) {
        const sp_label label = sp_multilabel_newcomer(s, i, &wn);
        labels[n + i].k = (uint64_t)(s->n_labels + i);
        sp_undo_log_numbers(&label, labels[n + i].before);
    }
    return n + (uint32_t)w->n_new;
}

/* The entries of the kept labels in the row of the event's entry i. */
static ptrdiff_t sp_undo_log_entries(const sp_learner *learner, const sp_event *event, ptrdiff_t i,
                                     sp_snapshot_entry *kept)
{
    const sp_multilabel_scratch *w = sp_multilabel_scratch_of(event);
    const sp_sparse_rows *rows = sp_rows_of(&learner->table);
    const sp_sparse *row = &sp_counted_slot_of(&learner->table, event->slots[i])->of.row;
    ptrdiff_t n = sp_snapshot_entries_before(rows, row, w->adds, w->n_adds, w->n_adds, kept);
    for (ptrdiff_t j = 0; j < w->n_strides; j++) {
        if (!w->strides[j].wide)
            n += sp_snapshot_entries_before(rows, row, &w->strides[j].k, 1, 0,
                                            kept == NULL ? NULL : kept + n);
    }
    return n;
}

static sp_undo_log_head sp_undo_log_measure(const sp_learner *learner, const sp_event *event)
{
    const sp_multilabel_scratch *w = sp_multilabel_scratch_of(event);
    sp_undo_log_head head;
    memset(&head, 0, sizeof(head));
    ptrdiff_t n = 0;
    for (ptrdiff_t i = 0; i < event->n; i++)
        n += sp_undo_log_entries(learner, event, i, NULL);
    head.n_labels = sp_undo_log_labels(&learner->multilabel, w, NULL);
    head.n_tallies = SP_MULTILABEL_STEPS;
    head.n_slots = (uint32_t)event->n;
    head.n_entries = (uint32_t)n;
    head.n_open = w->open ? (uint32_t)learner->multilabel.n_labels : 0;
    return head;
}

SP_PRIVATE size_t sp_multilabel_undo_log_most(const sp_learner *learner, const sp_event *event)
{
    sp_undo_log_head head = sp_undo_log_measure(learner, event);
    return (size_t)sp_undo_log_bytes(&head);
}

static void sp_undo_log_once(const sp_multilabel *s, double *once)
{
    once[SP_LOG_T] = s->T;
    once[SP_LOG_M] = s->m;
    once[SP_LOG_NM] = s->nm;
    once[SP_LOG_POSITIVES] = s->positives;
}

SP_PRIVATE void sp_multilabel_undo_log_begin(const sp_learner *learner, const sp_event *event,
                                             double u, uint8_t *data)
{
    const sp_multilabel *s = &learner->multilabel;
    sp_undo_log_head head = sp_undo_log_measure(learner, event);
    sp_undo_log_parts parts = sp_undo_log_open(&head, data);
    ptrdiff_t n = 0;
    memset(data, 0, (size_t)sp_undo_log_bytes(&head));
    head.u = u;
    sp_undo_log_once(s, head.before);
    *parts.head = head;
    sp_undo_log_labels(s, sp_multilabel_scratch_of(event), parts.labels);
    for (int t = 0; t < SP_MULTILABEL_STEPS; t++) {
        parts.tallies[t].t = (uint64_t)t;
        parts.tallies[t].there[0] = s->there[t];
        parts.tallies[t].said[0] = s->said[t];
    }
    for (ptrdiff_t i = 0; i < event->n; i++) {
        const sp_counted_slot *counted = sp_counted_slot_of(&learner->table, event->slots[i]);
        sp_undo_log_slot *slot = &parts.slots[i];
        slot->at = (uint32_t)i;
        slot->s[0] = counted->of.s;
        slot->N[0] = counted->of.N;
        slot->cnt[0] = counted->of.cnt;
        slot->n = (uint64_t)sp_undo_log_entries(learner, event, i, parts.entries + n);
        n += (ptrdiff_t)slot->n;
    }
}

/* --- After it */

/* Keep F1's counts that have changed, or all if they were halved. Returns how many. */
static uint32_t sp_undo_log_tallies(const sp_multilabel *s, bool halved, sp_undo_log_tally *tallies)
{
    uint32_t n = 0;
    for (int t = 0; t < SP_MULTILABEL_STEPS; t++) {
        sp_undo_log_tally tally = tallies[t];
        tally.there[1] = s->there[t];
        tally.said[1] = s->said[t];
        if (halved || tally.there[0] != tally.there[1] || tally.said[0] != tally.said[1])
            tallies[n++] = tally;
    }
    return n;
}

/* Keep the slots that exist, each once, and their entries. */
static void sp_undo_log_slots(const sp_learner *learner, const sp_event *event,
                              sp_undo_log_parts parts)
{
    const sp_sparse_rows *rows = sp_rows_of(&learner->table);
    const sp_snapshot_entry *from = parts.entries;
    sp_snapshot_entry *to = parts.entries;
    uint32_t n = 0;
    for (ptrdiff_t i = 0; i < event->n; i++) {
        sp_undo_log_slot slot = parts.slots[i];
        const sp_snapshot_entry *entries = from;
        from += slot.n;
        if (event->slots[i] == SP_SLOT_NULL)
            continue;
        sp_counted_slot *counted = sp_counted_slot_of(&learner->table, event->slots[i]);
        if (counted->of.unused != 0.0f) /* the event had it before, under another name */
            continue;
        counted->of.unused = 1.0f;
        slot.slot = event->slots[i];
        slot.s[1] = counted->of.s;
        slot.N[1] = counted->of.N;
        slot.cnt[1] = counted->of.cnt;
        memmove(to, entries, slot.n * sizeof(sp_snapshot_entry));
        sp_snapshot_entries_after(rows, &counted->of.row, to, (ptrdiff_t)slot.n);
        to += slot.n;
        parts.slots[n++] = slot;
    }
    for (uint32_t i = 0; i < n; i++) {
        sp_counted_slot_of(&learner->table, parts.slots[i].slot)->of.unused = 0.0f;
        parts.slots[i].slot = sp_index_number(&learner->index, parts.slots[i].slot);
    }
    parts.head->n_slots = n;
    parts.head->n_entries = (uint32_t)(to - parts.entries);
}

SP_PRIVATE size_t sp_multilabel_undo_log_end(const sp_learner *learner, const sp_event *event,
                                             uint8_t *data)
{
    const sp_multilabel *s = &learner->multilabel;
    sp_undo_log_head *head = (sp_undo_log_head *)(void *)data;
    sp_undo_log_parts was = sp_undo_log_open(head, data);
    sp_undo_log_once(s, head->after);
    for (uint32_t i = 0; i < head->n_labels; i++)
        sp_undo_log_numbers(&s->labels[was.labels[i].k], was.labels[i].after);
    bool halved = head->after[SP_LOG_POSITIVES] < head->before[SP_LOG_POSITIVES];
    head->n_tallies = sp_undo_log_tallies(s, halved, was.tallies);
    sp_undo_log_slots(learner, event, was);
    sp_undo_log_parts now = sp_undo_log_open(head, data);
    memmove(now.slots, was.slots, head->n_slots * sizeof(sp_undo_log_slot));
    memmove(now.entries, was.entries, head->n_entries * sizeof(sp_snapshot_entry));
    return (size_t)sp_undo_log_bytes(head);
}

/* --- Checking */

static bool sp_are_sound(const double *numbers, int n, int least, double most)
{
    for (int i = 0; i < n; i++) {
        if (!(fabs(numbers[i]) <= most && (i >= least || numbers[i] >= 0.0)))
            return false;
    }
    return true;
}

static bool sp_undo_log_labels_are_sound(sp_undo_log_parts parts, ptrdiff_t n_labels)
{
    const sp_undo_log_head *head = parts.head;
    for (uint32_t i = 0; i < head->n_labels; i++) {
        const sp_undo_log_label *label = &parts.labels[i];
        if (label->k >= (size_t)n_labels
            || !sp_are_sound(label->before, SP_LOG_LABEL, SP_LOG_W0, SP_LOG_MOST)
            || !sp_are_sound(label->after, SP_LOG_LABEL, SP_LOG_W0, SP_LOG_MOST))
            return false;
    }
    for (uint32_t i = 0; i < head->n_tallies; i++) {
        const sp_undo_log_tally *tally = &parts.tallies[i];
        if (tally->t >= SP_MULTILABEL_STEPS || (i && tally->t <= tally[-1].t)
            || !sp_are_sound(tally->there, 2, 2, SP_LOG_MOST)
            || !sp_are_sound(tally->said, 2, 2, SP_LOG_MOST))
            return false;
    }
    return head->n_open <= (size_t)n_labels;
}

static bool sp_undo_log_slots_are_sound(sp_undo_log_parts parts, const sp_event *event)
{
    size_t entries = 0;
    for (uint32_t i = 0; i < parts.head->n_slots; i++) {
        const sp_undo_log_slot *slot = &parts.slots[i];
        if ((ptrdiff_t)slot->at >= event->n || (i && slot->at <= slot[-1].at)
            || slot->n > parts.head->n_entries || !sp_are_sound(slot->s, 2, 0, SP_MEAN_LIMIT)
            || !sp_are_sound(slot->N, 2, 0, SP_LOG_MOST)
            || !(slot->cnt[0] >= 0.0f && slot->cnt[0] < 2 * SP_COUNT_MOST)
            || !(slot->cnt[1] >= 0.0f && slot->cnt[1] < 2 * SP_COUNT_MOST))
            return false;
        entries += slot->n;
    }
    return entries == parts.head->n_entries;
}

SP_PRIVATE bool sp_multilabel_undo_log_is_sound(const sp_learner *learner, const sp_event *event,
                                                const uint8_t *data, size_t bytes)
{
    const sp_undo_log_head *head = (const sp_undo_log_head *)(const void *)data;
    ptrdiff_t n_labels = learner->multilabel.n_labels;
    if (bytes < sizeof(sp_undo_log_head) || sp_undo_log_bytes(head) != bytes)
        return false;
    sp_undo_log_parts parts = sp_undo_log_open(head, data);
    return head->u >= 0.0 && head->u <= SP_LOG_MOST
           && sp_are_sound(head->before, SP_LOG_ONCE, SP_LOG_ONCE, SP_LOG_MOST)
           && sp_are_sound(head->after, SP_LOG_ONCE, SP_LOG_ONCE, SP_LOG_MOST)
           && head->before[SP_LOG_NM] <= 1024.0 && head->after[SP_LOG_NM] <= 1024.0
           && sp_undo_log_labels_are_sound(parts, n_labels) && sp_undo_log_slots_are_sound(parts,
                                                                                           event)
           && sp_snapshot_entries_are_sound(parts.entries, head->n_entries, n_labels);
}

/* --- Undoing */

static void sp_take_back_tallies(sp_multilabel *s, const sp_undo_log_head *head,
                                 const sp_undo_log_tally *tallies)
{
    double before = head->before[SP_LOG_POSITIVES];
    double after = head->after[SP_LOG_POSITIVES];
    bool halved = after < before;
    bool same = s->positives == after;
    for (uint32_t i = 0; i < head->n_tallies; i++)
        same &= s->there[tallies[i].t] == tallies[i].there[1]
                && s->said[tallies[i].t] == tallies[i].said[1];
    if (halved && !same)
        return;
    s->positives = sp_back_sum(s->positives, before, after);
    for (uint32_t i = 0; i < head->n_tallies; i++) {
        const sp_undo_log_tally *tally = &tallies[i];
        double *there = &s->there[tally->t];
        double *said = &s->said[tally->t];
        *said = sp_back_sum(*said, tally->said[0], tally->said[1]);
        *there = sp_back_sum(*there, tally->there[0], tally->there[1]);
        *there = SP_MIN(*there, *said);
    }
}

/* Restore what is kept once per model, and the labels. `w`: has room for all of these. */
static void sp_take_back_labels(sp_multilabel *s, sp_undo_log_parts parts, sp_multilabel_scratch *w)
{
    const sp_undo_log_head *head = parts.head;
    w->word += 1;
    s->T = sp_back_sum(s->T, head->before[SP_LOG_T], head->after[SP_LOG_T]);
    if (s->m == head->after[SP_LOG_M] && s->nm == head->after[SP_LOG_NM]) {
        s->m = head->before[SP_LOG_M];
        s->nm = head->before[SP_LOG_NM];
    }
    sp_take_back_tallies(s, head, parts.tallies);
    for (uint32_t i = 0; i < head->n_labels; i++) {
        const double *before = parts.labels[i].before;
        const double *after = parts.labels[i].after;
        sp_label *label = &s->labels[parts.labels[i].k];
        double *numbers[SP_LOG_LABEL] = {&label->D, &label->G0, &label->Gn, &label->w0,
                                           &label->wn};
        for (int j = 0; j < SP_LOG_LABEL; j++) {
            *numbers[j] = sp_back_number(*numbers[j], before[j], after[j]);
            if (j < SP_LOG_W0)
                *numbers[j] = SP_MAX(0.0, *numbers[j]);
        }
        sp_multilabel_settle_label(s, (ptrdiff_t)parts.labels[i].k);
        w->sums[parts.labels[i].k].named = w->word;
    }
    for (ptrdiff_t k = 0; k < s->n_labels; k++) {
        double *left = &s->labels[k].left;
        if ((size_t)k < head->n_open && w->sums[k].named != w->word)
            *left = SP_MAX(0.0, *left - head->u);
        *left = SP_MIN(*left, s->T);
    }
}

static void sp_take_back_slot(sp_sparse_rows *rows, sp_counted_slot *counted,
                              const sp_undo_log_slot *slot, const sp_snapshot_entry *entries)
{
    sp_sparse *row = &counted->of.row;
    bool counts = !(slot->cnt[1] < slot->cnt[0]); /* otherwise the step has halved them */
    float cnt = counted->of.cnt;
    if (counts) {
        counted->of.cnt = sp_back_count(cnt, slot->cnt[0], slot->cnt[1]);
        if (cnt >= SP_COUNT_HALF && slot->cnt[0] >= SP_COUNT_HALF
            && counted->of.cnt < (float)SP_COUNT_HALF)
            counted->of.cnt = (float)SP_COUNT_HALF; /* it is still always there */
        counted->of.s = sp_back_mean(counted->of.s, slot->s[0], slot->s[1], cnt, counted->of.cnt,
                                     slot->cnt[0], slot->cnt[1]);
        counted->of.N = sp_back_number(counted->of.N, slot->N[0], slot->N[1]);
    }
    sp_snapshot_entries_back(rows, row, entries, (ptrdiff_t)slot->n, counts,
                             signbit(counted->of.s));
    if (!counts)
        return;
    sp_entry *all = sp_row_entries(rows, row);
    for (uint32_t i = 0; i < row->n; i++) {
        all[i].c = sp_c_left(all[i].c, counted->of.cnt);
        if (all[i].c < 0.0f && !signbit(counted->of.s))
            counted->of.s = -counted->of.s;
    }
    if (counted->of.cnt == 0.0f || (!signbit(counted->of.s) && !(counted->of.N > 0.0)))
        counted->of.N = 0.0;
}

SP_PRIVATE int sp_multilabel_take_back(sp_learner *learner, const sp_event *event,
                                       const uint8_t *data)
{
    const uint32_t block = 0;
    sp_table *table = &learner->table;
    const sp_undo_log_head *head = (const sp_undo_log_head *)(const void *)data;
    sp_undo_log_parts parts = sp_undo_log_open(head, data);
    const sp_snapshot_entry *entries = parts.entries;
    if (sp_table_reserve_blocks(table, event->slots, event->n, learner->index.n_slots, &block, 1)
        < 0)
        return -1;
    sp_take_back_labels(&learner->multilabel, parts, sp_multilabel_scratch_of(event));
    for (uint32_t i = 0; i < head->n_slots; i++) {
        const sp_undo_log_slot *slot = &parts.slots[i];
        const sp_slot_type own = event->slots[slot->at];
        /* a slot that a ceiling has taken, and perhaps given away, has nothing of the step */
        if (own != SP_SLOT_NULL && sp_index_number(&learner->index, own) == slot->slot)
            sp_take_back_slot(sp_rows_of(table), sp_counted_slot_of(table, own), slot, entries);
        entries += slot->n;
    }
    return 0;
}
