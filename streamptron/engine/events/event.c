#include "events/event.h"

#include "memory/grow.h"
#include "memory/heap.h"

#include <string.h>

SP_API void sp_event_init(sp_event *event)
{
    memset(event, 0, sizeof(sp_event));
    sp_arena_init(&event->text);
    sp_arena_init(&event->names);
}

static void sp_event_disown(sp_event *event)
{
    if (event->scratch != NULL)
        event->scratch->kind->free(event->scratch);
    sp_free(event->scratch);
    event->scratch = NULL;
}

SP_PRIVATE sp_scratch_head *sp_event_scratch(sp_event *event, const sp_scratch_kind *kind)
{
    if (event->scratch == NULL || event->scratch->kind != kind) {
        sp_event_disown(event);
        event->scratch = (sp_scratch_head *)sp_calloc(1, kind->size);
        if (event->scratch != NULL)
            event->scratch->kind = kind;
    }
    return event->scratch;
}

SP_RARE SP_API void sp_event_free(sp_event *event)
{
    sp_free(event->keys);
    sp_free(event->values);
    sp_free(event->slots);
    sp_free(event->hashes);
    sp_free(event->starts);
    sp_free(event->longs);
    sp_free(event->ends);
    sp_free(event->common);
    sp_free(event->verdicts);
    sp_free(event->gone);
    sp_free(event->halves);
    sp_free(event->members);
    sp_step_free(&event->step);
    sp_event_disown(event);
    sp_arena_free(&event->text);
    sp_arena_free(&event->names);
    sp_event_init(event);
}

SP_PRIVATE int sp_event_reserve(sp_event *event, ptrdiff_t n)
{
    if (n <= event->capacity)
        return 0;
    ptrdiff_t capacity = n + n / 2 + 16;
    const sp_growing all[] = {
        SP_GROWING(event->keys, capacity),
        SP_GROWING(event->values, capacity),
        SP_GROWING(event->slots, capacity),
        SP_GROWING(event->hashes, capacity),
        SP_GROWING(event->starts, capacity),
        SP_GROWING(event->longs, capacity),
    };
    if (sp_grow_all(all, 6) < 0)
        return -1;
    event->capacity = capacity;
    return 0;
}

SP_PRIVATE int sp_event_reserve_scores(sp_event *event, int n_kinds, ptrdiff_t n)
{
    ptrdiff_t capacity = n + n / 2 + 3;
    if (event->verdicts != NULL && n <= event->scores_capacity)
        return 0;
    const sp_growing both = {&event->verdicts, (size_t)n_kinds * sizeof(sp_verdict)
                                                   + (size_t)capacity * sizeof(double)};
    if (sp_grow_all(&both, 1) < 0)
        return -1;
    event->scores = (double *)(event->verdicts + n_kinds);
    event->scores_capacity = capacity;
    event->scored_version = 0;
    return 0;
}

SP_HOT int sp_event_reserve_gone(sp_event *event)
{
    if (event->capacity <= event->gone_capacity)
        return 0;
    if (SP_GROW(event->gone, event->capacity) < 0)
        return -1;
    event->gone_capacity = event->capacity;
    return 0;
}

SP_API int sp_event_begin(sp_event *event, const sp_index *index, ptrdiff_t n, bool intercept)
{
    event->unfit = 0;
    sp_event_close_gaps(event);
    if (sp_event_reserve(event, n + 1) < 0)
        return -1;
    event->n_last = event->generation == index->generation ? event->n_known : 0;
    event->n_last_paired = event->paired ? event->n : 0;
    event->same = event->paired = false;
    event->n_known = 0; /* until sp_event_settle, as the door may still give up */
    event->n = 0;
    event->n_hashed = 0;
    event->n_longs = 0;
    sp_arena_reset(&event->text);
    if (intercept) {
        *event->keys = sp_key_word(SP_KEY_NONE, 1); /* not a name, not even an unknown one */
        *event->slots = SP_SLOT_INTERCEPT;
        *event->values = 1.0;
        event->n = 1;
    }
    return 0;
}

SP_API int sp_event_candidates(sp_event *event, ptrdiff_t n)
{
    ptrdiff_t capacity = n + n / 2 + 4;
    if (n >= event->ends_capacity) {
        if (SP_GROW(event->ends, capacity) < 0)
            return -1;
        for (ptrdiff_t i = event->ends_capacity; i < capacity; i++)
            event->ends[i] = -1; /* not any candidate's end, so every end will differ */
        event->ends_capacity = capacity;
        event->scored_version = 0;
    }
    if (n != event->n_candidates) {
        event->n_candidates = n;
        event->scored_version = 0;
    }
    return 0;
}

SP_API void sp_event_settle(sp_event *event, const sp_index *index)
{
    sp_event_close_gaps(event);
    for (ptrdiff_t i = 0, end = event->n_longs; i < end; i++) {
        ptrdiff_t k = event->longs[i];
        if (index->bits == 0 && event->slots[k] != SP_SLOT_NULL)
            event->keys[k].lo = sp_index_stored(index, event->slots[k]).lo;
        else
            event->keys[k] = sp_key_word(SP_KEY_NONE, 0);
    }
    event->generation = index->generation;
    /* a text's long keys are in the arena, which the next event clears at once */
    event->n_known = event->n_hashed ? 0 : event->paired ? event->n_given : event->n_found;
    /* Free scratch that is far larger than this event needs. A larger event paid for it, and the
       little that events like this one need is soon made again. */
    if (event->capacity > SP_EVENT_LARGE && event->n < event->capacity / 8)
        sp_event_free(event);
}
