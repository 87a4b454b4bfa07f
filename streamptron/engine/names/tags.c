#include "names/tags.h"

#include <string.h>

/* The bytes of n words, and of the words repeated behind them. */
static size_t sp_tags_bytes(size_t n)
{
    return (n + SP_RUN_MORE) * sizeof(uint64_t);
}

static size_t sp_tags_runs(size_t room)
{
    return (room + SP_RUN_MASK) >> SP_RUN_BITS;
}

SP_APART SP_HOT size_t sp_tags_from(const sp_tags *tags, uint64_t tag)
{
    size_t at = sp_tags_home(tags, tag);
    size_t n;
    do {
        n = sp_tags_larger(sp_tags_word(tags, at), tag);
        at += n;
    } while (n == SP_TAGS_AT_ONCE);
    return at;
}

/* Repeat the first words of each of these runs behind the run before. */
SP_APART static void sp_tags_repeat(sp_tags *tags, size_t run, size_t last)
{
    for (; run <= last; run++) {
        uint64_t words[SP_RUN_MORE]; /* in a single block, both places are the same */
        memcpy(words, tags->runs[run], sizeof(words));
        memcpy(tags->runs[run - 1] + SP_RUN_WORDS, words, sizeof(words));
    }
}

/* The same for each run that was written to between two places. */
static inline void sp_tags_mend(sp_tags *tags, size_t first, size_t last)
{
    size_t run = first >> SP_RUN_BITS;
    run += (first & SP_RUN_MASK) >= SP_RUN_MORE || run == 0;
    if (run <= last >> SP_RUN_BITS)
        sp_tags_repeat(tags, run, last >> SP_RUN_BITS);
}

/* Write an entry at a place, and move the entries there on by one. */
SP_APART static void sp_tags_push(sp_tags *tags, size_t first, uint64_t entry)
{
    size_t at = first;
    do {
        uint64_t *word = sp_tags_word(tags, at);
        const uint64_t *start = word, *end = word + SP_RUN_WORDS - (at & SP_RUN_MASK);
        do {
            uint64_t before = *word;
            *word = entry;
            entry = before;
            word++;
        } while (entry != 0 && word < end);
        at += (size_t)(word - start);
    } while (entry != 0);
    sp_tags_mend(tags, first, at - 1);
}

SP_RARE SP_PRIVATE void sp_tags_free(sp_tags *tags)
{
    if (tags->room <= SP_TAGS_FEW && tags->room)
        sp_free(tags->runs[0]);
    sp_places_free(&tags->of_runs, tags->runs);
    memset(tags, 0, sizeof(sp_tags));
}

/* How many words behind the last home are in use. */
static size_t sp_tags_behind(const sp_tags *tags)
{
    size_t end = (size_t)tags->wide;
    while (end < tags->room && *sp_tags_word(tags, end) != 0)
        end++;
    return end - (size_t)tags->wide;
}

/* Copy the entries into a table of so many words and homes, at least as many as now.

   -1 if out of memory; then nothing has changed. */
SP_RARE static int sp_tags_widen(sp_tags *tags, sp_pool *pool, size_t room, uint64_t wide,
                                 size_t *bytes)
{
    uint64_t *made[SP_TAGS_FEW / SP_RUN_WORDS + 1];
    const size_t n = sp_tags_runs(room);
    size_t k = 0;
    if (n > tags->of_runs.capacity) {
        void *runs = sp_places_open(&tags->of_runs, tags->runs, sizeof(uint64_t *),
                                    sp_places_ahead(n), bytes);
        if (runs == NULL)
            return -1;
        tags->runs = (uint64_t **)runs;
    }
    while (k < n) {
        if (room > SP_TAGS_FEW)
            made[k] = (uint64_t *)sp_pool_take(pool, sp_tags_bytes(SP_RUN_WORDS));
        else
            made[k] = k ? made[0] + k * SP_RUN_WORDS
                        : (uint64_t *)sp_calloc(1, sp_tags_bytes(room));
        if (made[k] == NULL)
            break;
        k++;
    }
    if (k < n) {
        while (k-- > 0)
            sp_pool_give(pool, made[k], sp_tags_bytes(SP_RUN_WORDS));
        return -1;
    }
    uint64_t *old = tags->room ? tags->runs[0] : NULL;
    size_t end = tags->room;
    memcpy(tags->runs, made, n * sizeof(uint64_t *));
    tags->room = room;
    tags->wide = wide;
    *bytes += room > SP_TAGS_FEW ? 0 : sp_tags_bytes(room);
    size_t next = 0;
    for (size_t at = 0; at < end; at++) {
        if (old[at] != 0) {
            next = SP_MAX(next, sp_tags_home(tags, old[at] >> 32));
            *sp_tags_word(tags, next) = old[at];
            next++;
        }
    }
    if (room > SP_TAGS_FEW)
        sp_tags_mend(tags, 0, room - 1);
    if (old != NULL)
        *bytes -= sp_tags_bytes(end);
    sp_free(old);
    return 0;
}

/* Add a run. -1 if out of memory. */
static int sp_tags_add(sp_tags *tags, sp_pool *pool, size_t *bytes)
{
    size_t n = tags->room >> SP_RUN_BITS;
    void *runs = sp_places_room(&tags->of_runs, tags->runs, n, bytes);
    if (runs == NULL)
        return -1;
    tags->runs = (uint64_t **)runs;
    tags->runs[n] = (uint64_t *)sp_pool_take(pool, sp_tags_bytes(SP_RUN_WORDS));
    if (tags->runs[n] == NULL)
        return -1;
    tags->room += SP_RUN_WORDS;
    return 0;
}

/* Whether n more entries would leave the last word empty, wherever they are. */
static bool sp_tags_has_rest(const sp_tags *tags, size_t n)
{
    return tags->room >= tags->wide + n + 1 && *sp_tags_word(tags, tags->room - 1 - n) == 0;
}

/* Take out the entries between two places. Returns how many. */
static size_t sp_tags_gather(sp_tags *tags, const size_t from, const size_t end,
                             uint64_t *moved)
{
    size_t n = 0;
    for (size_t at = from; at < end;) {
        size_t next = SP_MIN(end, (at | SP_RUN_MASK) + 1);
        uint64_t *words = sp_tags_word(tags, at);
        for (size_t i = 0; i < next - at; i++) {
            const uint64_t word = words[i];
            moved[n] = word;
            n += word != 0;
        }
        memset(words, 0, (next - at) * sizeof(uint64_t));
        at = next;
    }
    if (from < end)
        sp_tags_mend(tags, from, end - 1);
    return n;
}

/* Put back entries that were taken out, in their order, from a place on. Entries already there
   belong behind them. */
static void sp_tags_place(sp_tags *tags, const size_t from, const uint64_t *moved, size_t n)
{
    size_t at = from;
    for (size_t i = 0; i < n; i++) {
        const uint64_t entry = moved[i];
        at = SP_MAX(at, sp_tags_new_home(tags, entry >> 32));
        uint64_t *word = sp_tags_word(tags, at);
        const uint64_t before = *word;
        *word = entry;
        at++;
        if (before != 0)
            sp_tags_push(tags, at, before);
    }
    if (n)
        sp_tags_mend(tags, SP_MAX(from, sp_tags_new_home(tags, moved[0] >> 32)), at - 1);
}

/* Prefetch the words before a place, and the words where their entries will go. */
static void sp_tags_prefetch(const sp_tags *tags, size_t at)
{
    size_t to = (size_t)(tags->frontier * tags->wide >> 32);
    for (size_t back = 0; back < SP_TAGS_STEP + 16 && back < SP_MIN(at, to); back += 8) {
        sp_prefetch(sp_tags_word(tags, at - back));
        sp_prefetch(sp_tags_word(tags, to - back));
    }
}

/* Move the frontier over the entries of some words. -1 if out of memory; then nothing has
   changed. */
static int sp_tags_move(sp_tags *tags, sp_pool *pool, size_t *bytes)
{
    uint64_t own[SP_TAGS_STEP];
    uint64_t *moved = own;
    size_t end = (size_t)(tags->frontier * tags->narrow >> 32);
    uint64_t word;
    while ((word = *sp_tags_word(tags, end)) != 0 && sp_tags_rank(word >> 32) < tags->frontier)
        end++;
    size_t from = end > SP_TAGS_STEP ? end - SP_TAGS_STEP : 0;
    /* entries with the same tag move together */
    while (from > 0 && *sp_tags_word(tags, from) != 0
           && *sp_tags_word(tags, from) >> 32 == *sp_tags_word(tags, from - 1) >> 32)
        from--;
    while (!sp_tags_has_rest(tags, end - from)) {
        if (sp_tags_add(tags, pool, bytes) < 0)
            return -1;
    }
    if (end - from > SP_TAGS_STEP) {
        moved = (uint64_t *)sp_malloc((end - from) * sizeof(uint64_t));
        if (moved == NULL)
            return -1;
    }
    size_t n = sp_tags_gather(tags, from, end, moved);
    if (n)
        tags->frontier = sp_tags_rank(moved[0] >> 32);
    else /* the first rank that has its home there */
        tags->frontier = (((uint64_t)from << 32) + tags->narrow - 1) / tags->narrow;
    tags->frontier = from ? tags->frontier : 0;
    sp_tags_place(tags, from, moved, n);
    sp_tags_prefetch(tags, from);
    if (moved != own)
        sp_free(moved);
    return 0;
}

/* The next number of words of a small table: a fourth to a seventh more. */
static size_t sp_tags_more(size_t room)
{
    size_t step = SP_TAGS_LEAST / 4;
    while (8 * step <= room)
        step *= 2;
    return room + step;
}

SP_RARE SP_HOT int sp_tags_init(sp_tags *tags, size_t *bytes)
{
    memset(tags, 0, sizeof(sp_tags));
    return sp_tags_widen(tags, NULL, SP_TAGS_LEAST, SP_TAGS_LEAST - 4, bytes);
}

/* Continue growing a large table, towards n runs. -1 if out of memory. */
SP_APART static int sp_tags_grow(sp_tags *tags, sp_pool *pool, uint64_t n, size_t *bytes)
{
    if (tags->frontier)
        return sp_tags_move(tags, pool, bytes);
    if (n << SP_RUN_BITS >= (uint64_t)1 << 32)
        return -1; /* a table of three thousand million names cannot become wider */
    if (tags->room < n << SP_RUN_BITS)
        return sp_tags_add(tags, pool, bytes);
    tags->narrow = tags->wide;
    tags->wide = (n << SP_RUN_BITS) - SP_TAGS_REST;
    tags->frontier = (uint64_t)1 << 32;
    return 0;
}

/* The runs that so many homes need, with the words behind them. */
static uint64_t sp_tags_runs_for(uint64_t wide)
{
    return (wide + SP_TAGS_REST + SP_RUN_MASK) >> SP_RUN_BITS;
}

/* The runs that a large table has next: nearly a fifth more. */
static uint64_t sp_tags_next(const sp_tags *tags)
{
    const uint64_t n = sp_tags_runs_for(tags->wide);
    return n + (3 * n + 6) / 16;
}

/* Whether there would be more than eleven entries for each sixteen homes, with n more. */
static bool sp_tags_is_full(const sp_tags *tags, size_t n)
{
    return 16 * (tags->count + n) > 11 * tags->wide;
}

/* Copy a small table, which will get n more entries, into a larger one. -1 if out of memory. */
SP_RARE static int sp_tags_grow_few(sp_tags *tags, sp_pool *pool, size_t n, size_t *bytes)
{
    size_t room = sp_tags_more(tags->room);
    size_t rest = sp_tags_behind(tags) + 4;
    if (room > SP_TAGS_FEW) {
        room = SP_TAGS_FEW + SP_RUN_WORDS;
        rest += SP_TAGS_REST;
    }
    /* if too many entries are behind the last home, the table becomes longer, but not wider */
    bool wider = sp_tags_is_full(tags, n) && room - rest > tags->wide;
    return sp_tags_widen(tags, pool, room, wider ? room - rest : tags->wide, bytes);
}

SP_HOT int sp_tags_reserve(sp_tags *tags, sp_pool *pool, size_t *bytes)
{
    while (tags->room <= SP_TAGS_FEW && (sp_tags_is_full(tags, 1) || !sp_tags_has_rest(tags, 1))) {
        if (sp_tags_grow_few(tags, pool, 1, bytes) < 0)
            return -1;
    }
    if (tags->room <= SP_TAGS_FEW)
        return 0;
    if (tags->count % SP_TAGS_EVERY == 0 && (tags->frontier || sp_tags_is_full(tags, 1))
        && sp_tags_grow(tags, pool, sp_tags_next(tags), bytes) < 0)
        return -1;
    return sp_tags_has_rest(tags, 1) ? 0 : sp_tags_add(tags, pool, bytes);
}

SP_RARE SP_PRIVATE int sp_tags_expect(sp_tags *tags, sp_pool *pool, size_t n, size_t *bytes)
{
    const uint64_t runs = sp_tags_runs_for(16 * (tags->count + n) / 11 + 1);
    int failed = 0;
    while (!failed && (sp_tags_is_full(tags, n) || tags->frontier))
        failed = tags->room <= SP_TAGS_FEW ? sp_tags_grow_few(tags, pool, n, bytes)
                                           : sp_tags_grow(tags, pool, runs, bytes);
    return failed;
}

SP_HOT void sp_tags_put_at(sp_tags *tags, size_t at, uint64_t entry)
{
    sp_tags_push(tags, at, entry);
    tags->count += 1;
}

SP_HOT void sp_tags_take(sp_tags *tags, uint64_t entry)
{
    size_t at = sp_tags_from(tags, entry >> 32);
    while (*sp_tags_word(tags, at) != entry)
        at++;
    const size_t first = at;
    while (true) {
        entry = *sp_tags_word(tags, at + 1);
        if (entry == 0 || sp_tags_home(tags, entry >> 32) > at)
            break;
        *sp_tags_word(tags, at) = entry;
        at++;
    }
    *sp_tags_word(tags, at) = 0;
    sp_tags_mend(tags, first, at);
    tags->count -= 1;
}

SP_RARE SP_HOT int sp_tags_copy(sp_tags *to, const sp_tags *other, sp_pool *pool, size_t *bytes)
{
    const size_t n = sp_tags_runs(other->room);
    const bool few = other->room <= SP_TAGS_FEW;
    *to = *other;
    to->room = 0;
    memset(&to->of_runs, 0, sizeof(sp_places));
    to->runs = (uint64_t **)sp_places_open(&to->of_runs, NULL, sizeof(uint64_t *),
                                           sp_places_ahead(n), bytes);
    if (to->runs == NULL)
        return -1;
    for (size_t i = 0; i < n; i++) {
        size_t size = sp_tags_bytes(few ? other->room : SP_RUN_WORDS);
        if (few && i) {
            to->runs[i] = to->runs[0] + i * SP_RUN_WORDS;
            continue;
        }
        to->runs[i] = (uint64_t *)(few ? sp_malloc(size) : sp_pool_take(pool, size));
        if (to->runs[i] == NULL)
            return -1;
        *bytes += few ? size : 0;
        memcpy(to->runs[i], other->runs[i], size);
    }
    to->room = other->room;
    return 0;
}

SP_PRIVATE const char *sp_tags_fault(const sp_tags *tags, size_t *blocks, size_t *bytes)
{
    const size_t n = sp_tags_runs(tags->room);
    size_t count = 0;
    uint64_t last = UINT64_MAX;
    for (size_t at = 0; at < tags->room; at++) {
        uint64_t word = *sp_tags_word(tags, at);
        if (word == 0)
            continue;
        count++;
        size_t home = sp_tags_home(tags, word >> 32);
        if (word >> 32 > last >> 32)
            return "entries are not in the order of their tags";
        if (home > at || (home < at && *sp_tags_word(tags, at - 1) == 0))
            return "a search does not reach an entry";
        last = word;
    }
    if (count != tags->count)
        return "the count of entries is not how many there are";
    if (*sp_tags_word(tags, tags->room - 1) != 0 || tags->wide + 2 > tags->room)
        return "no empty word is behind the entries";
    if (tags->frontier && tags->narrow >= tags->wide)
        return "a table becomes no wider";
    for (size_t i = 1; i < n; i++) {
        if (memcmp(tags->runs[i - 1] + SP_RUN_WORDS, tags->runs[i],
                   SP_RUN_MORE * sizeof(uint64_t)) != 0)
            return "a run's first words are not repeated behind the one before";
    }
    for (size_t i = 0; i < tags->of_runs.copied; i++) {
        if (((uint64_t **)tags->of_runs.next)[i] != tags->runs[i])
            return "the next array of runs has another address for one";
    }
    if (tags->room > SP_TAGS_FEW)
        *blocks += n * sp_pool_block(sp_tags_bytes(SP_RUN_WORDS));
    else
        *bytes += sp_tags_bytes(tags->room);
    *bytes += sp_places_bytes(&tags->of_runs);
    return NULL;
}
