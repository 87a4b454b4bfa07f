/* The loops over an event's slots: sums of them, and additions to them.

   Templates do the work. Their last arguments are constants at each call, so that each common kind
   of learner has a loop of its own, with its sums in registers:

       sp_sum_any     sums of every kept vector over an event
       sp_add_any     w += a x for some lanes, and what the average and the pocket need for it;
                      where the rule keeps a number, what that makes of it (sp_keep_move)
       sp_second_any  the second sums of some lanes, where the rule keeps a number
       sp_size_any    the largest of a slot's weights

   If all numbers of a slot are summed alike (no pocket, no folds), SP_SUM takes them as vectors, a
   few blocks of outputs side by side. Each sum has one accumulator, which starts at 0 and takes the
   entries in the event's order; wider registers hold more sums and split none. So every loop here
   gives the same bits, and with -DSTREAMPTRON_PLAIN the templates alone serve every learner.

   On short events every instruction around a loop counts. Structs are passed by address, except to
   templates: a copy would be read in wider pieces than it was just written, which stalls. A slot's
   place is computed in 32 bits, which saves an instruction per entry.

   Functions in this file: sp_sum_pair, sp_sum_blocks, sp_sum_one, sp_sum_several;
   sp_second_one, sp_second_several; sp_add_one, sp_add_several; sp_size_one, sp_size_several. */

#ifndef STREAMPTRON_TABLE_LOOPS_H
#define STREAMPTRON_TABLE_LOOPS_H

#include "table/slot.h"


/* --- Sums ------------------------------------------------------------------------------------- */

enum { SP_SUM_W, SP_SUM_V, SP_SUM_P, SP_SUMS };     /* a lane's sums, as sp_sum_any writes them */

/* An entry's share in the sums of each lane, from the fields of its slot. */
SP_TEMPLATE void sp_sum_slot(const sp_slots block, const sp_clock clock, uint32_t at,
                             const double *field, double x, double *w, double *v, double *p,
                             const int lanes, const int average, const sp_layout layout)
{
    for (int k = 0; k < lanes; k++, field += layout.fields) {
        w[k] += x * field[0];
        if (average != SP_AVERAGE_NONE)
            v[k] += x * sp_term(block, clock, at, average, field, layout);
        if (layout.p >= 0) p[k] += x * sp_pocket_kept(clock, field, layout);
    }
}

/* sums[SP_SUMS k + SP_SUM_..] = those of w, v and p over the event, for each lane k of a block.
   `intercept`: an entry of value 1 in the intercept's slot comes first. */
SP_TEMPLATE void sp_sum_any(const sp_slots block, const sp_clock clock, const sp_entries entries,
                            const int intercept, double *sums, const int lanes, const int average,
                            const sp_layout layout, const int far)
{
    const int width = lanes * layout.fields;
    double w[SP_LANES] = {0.0}, v[SP_LANES] = {0.0}, p[SP_LANES] = {0.0};
#define SUM(slot, field, x) \
    sp_sum_slot(block, clock, slot, field, x, w, v, p, lanes, average, layout)
    if (intercept)
        SUM(SP_SLOT_INTERCEPT, sp_slot(block.chunks, SP_SLOT_INTERCEPT, width), 1.0);
    if (SP_OF_MATRIX(entries.places)) {
        for (ptrdiff_t i = 0; i < entries.n; i++)
            SUM(0, sp_at(block.chunks[0], entries.places[entries.columns[i]]), entries.x[i]);
    } else if (SP_OF_MATRIX(entries.columns)) {
        for (ptrdiff_t i = 0; i < entries.n; i++) {
            uint32_t slot = entries.slots[entries.columns[i]];
            SUM(slot, sp_slot(block.chunks, slot, width), entries.x[i]);
        }
    } else {
        for (ptrdiff_t i = 0; i < entries.n; i++) {
            if (far && i + SP_AHEAD < entries.n)
                sp_prefetch(sp_slot(block.chunks, entries.slots[i + SP_AHEAD], width));
            SUM(entries.slots[i], sp_slot(block.chunks, entries.slots[i], width), entries.x[i]);
        }
    }
#undef SUM
    for (int k = 0; k < lanes; k++) {
        sums[SP_SUMS * k + SP_SUM_W] = w[k];
        sums[SP_SUMS * k + SP_SUM_V] = v[k];
        sums[SP_SUMS * k + SP_SUM_P] = p[k];
    }
}

/* Blocks side by side, whose slots are `parts` vectors of numbers that are all summed alike. The
   sums are laid out as slots are. Entries below `ahead` prefetch the one SP_AHEAD further on. */
#define SP_SUM(name, made, vector, parts, blocks) \
made(void, name, (double ***chunks, const sp_entries *entries, const int intercept, \
                  ptrdiff_t ahead, double *sums), \
     (chunks, entries, intercept, ahead, sums)) \
{ \
    const int in_part = (int)(sizeof(vector) / sizeof(double)), width = parts * in_part; \
    const uint32_t *slots = entries->slots, *columns = entries->columns; \
    const int32_t *places = entries->places; \
    double *null_slot = chunks[0][0]; \
    const double *x = entries->x; \
    const ptrdiff_t n = entries->n; \
    vector sum[blocks][parts], part; \
    for (int b = 0; b < blocks; b++) \
        for (int k = 0; k < parts; k++) sum[b][k] = (vector){0.0}; \
    if (intercept) SP_SUM_SLOT(SP_SLOT_INTERCEPT, 1.0, parts, blocks) \
    if (blocks == 1 && SP_OF_MATRIX(places)) { \
        for (ptrdiff_t i = 0; i < n; i++) \
            SP_SUM_PARTS(0, sp_at(null_slot, places[columns[i]]), x[i], parts) \
    } else if (SP_OF_MATRIX(columns)) { \
        for (ptrdiff_t i = 0; i < n; i++) SP_SUM_SLOT(slots[columns[i]], x[i], parts, blocks) \
    } else { \
        for (ptrdiff_t i = 0; i < n; i++) { \
            if (i < ahead) \
                for (int b = 0; b < blocks; b++) \
                    sp_prefetch(sp_slot(chunks[b], slots[i + SP_AHEAD], width)); \
            SP_SUM_SLOT(slots[i], x[i], parts, blocks) \
        } \
    } \
    for (int b = 0; b < blocks; b++) memcpy(sums + b * width, sum[b], sizeof(sum[b])); \
}

#define SP_SUM_SLOT(at, value, parts, blocks) \
    { \
        const uint32_t slot = at; \
        const double times = value; \
        for (int b = 0; b < blocks; b++) \
            SP_SUM_PARTS(b, sp_slot(chunks[b], slot, width), times, parts) \
    }

#define SP_SUM_PARTS(b, place, value, parts) \
    { \
        const double *numbers = place; \
        const double by = value; \
        for (int k = 0; k < parts; k++) { \
            memcpy(&part, numbers + k * in_part, sizeof(part)); \
            sum[b][k] += part * by; \
        } \
    }

/* The instances: slots of a weight and one number beside it, of one output and of four. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(STREAMPTRON_PLAIN)
  #define SP_BLOCKS_AT_ONCE 4
  typedef double sp_two __attribute__((vector_size(16)));
  typedef double sp_four __attribute__((vector_size(32)));
  #define SP_ALIKE(type, name, parameters, arguments) static inline type name parameters
  SP_SUM(sp_sum_pair, SP_ALIKE, sp_two, 1, 1)
  SP_SUM(sp_sum_1, SP_AVX2, sp_four, 2, 1)
  SP_SUM(sp_sum_2, SP_AVX2, sp_four, 2, 2)
  SP_SUM(sp_sum_3, SP_AVX2, sp_four, 2, 3)
  SP_SUM(sp_sum_4, SP_AVX2, sp_four, 2, 4)
#else
  #define SP_BLOCKS_AT_ONCE 0
#endif

#if !SP_BLOCKS_AT_ONCE
SP_TEMPLATE void sp_sum_pair(double ***chunks, const sp_entries *entries, int intercept,
                             ptrdiff_t ahead, double *sums)
{
    (void)chunks, (void)entries, (void)intercept, (void)ahead, (void)sums;
}
#endif

/* Up to SP_BLOCKS_AT_ONCE blocks of four outputs. */
SP_TEMPLATE void sp_sum_blocks(int g, double ***chunks, const sp_entries *entries,
                               ptrdiff_t ahead, double *sums)
{
#if SP_BLOCKS_AT_ONCE
    if (g == 1) sp_sum_1(chunks, entries, 0, ahead, sums);
    else if (g == 2) sp_sum_2(chunks, entries, 0, ahead, sums);
    else if (g == 3) sp_sum_3(chunks, entries, 0, ahead, sums);
    else sp_sum_4(chunks, entries, 0, ahead, sums);
#else
    (void)g, (void)chunks, (void)entries, (void)ahead, (void)sums;
#endif
}

/* sp_sum_any for a block of one output. */
static inline void sp_sum_one(const sp_slots *block, const sp_clock *clock,
                              const sp_entries *entries, int intercept, double *sums,
                              const sp_layout *layout)
{
#define CALL(average, layout) \
    sp_sum_any(*block, *clock, *entries, intercept, sums, 1, average, layout, 0)
    SP_EVERY_LAYOUT(CALL)
#undef CALL
}

/* The same for a block of several outputs; `far`: prefetch the slots. */
static inline void sp_sum_several(const sp_slots *block, const sp_clock *clock,
                                  const sp_entries *entries, double *sums, const sp_layout *layout,
                                  int far)
{
#define CALL(average, layout) \
    do { \
        if (far) sp_sum_any(*block, *clock, *entries, 0, sums, SP_LANES, average, layout, 1); \
        else sp_sum_any(*block, *clock, *entries, 0, sums, SP_LANES, average, layout, 0); \
    } while (0)
    SP_EVERY_LAYOUT(CALL)
#undef CALL
}

/* The second sums of m lanes, from the numbers that the rule keeps. The weights are not read. */
SP_TEMPLATE void sp_second_slot(const sp_slots block, uint32_t at, double x, const int *lane,
                                double *second, const int m, const int lanes,
                                const sp_layout layout)
{
    const double *slot = sp_slot(block.chunks, at, lanes * layout.fields);
    for (int j = 0; j < m; j++)
        second[j] += sp_keep_share(layout.keep, x,
                                   slot + (lanes == 1 ? 0 : lane[j] * layout.fields) + layout.k);
}

SP_TEMPLATE void sp_second_any(const sp_slots block, const sp_entries entries, const int intercept,
                               const int *lane, double *second, const int m, const int lanes,
                               const sp_layout layout)
{
    double sums[SP_LANES] = {0.0};
    if (intercept) sp_second_slot(block, SP_SLOT_INTERCEPT, 1.0, lane, sums, m, lanes, layout);
    for (ptrdiff_t i = 0; i < entries.n; i++)
        sp_second_slot(block,
                       entries.slots[SP_OF_MATRIX(entries.columns) ? entries.columns[i] : i],
                       entries.x[i], lane, sums, m, lanes, layout);
    for (int j = 0; j < m; j++) second[j] = sums[j];
}

/* sp_second_any for a block of one output. */
static inline void sp_second_one(const sp_slots *block, SP_MAYBE_UNUSED const sp_clock *clock,
                                 const sp_entries *entries, int intercept, double *second,
                                 const sp_layout *layout)
{
#define CALL(average, layout) sp_second_any(*block, *entries, intercept, NULL, second, 1, 1, layout)
    SP_EVERY_KEPT(CALL)
#undef CALL
}

/* And for some lanes of a block of several. */
static inline void sp_second_several(const sp_slots *block,
                                     SP_MAYBE_UNUSED const sp_clock *clock,
                                     const sp_entries *entries, const int *lane, double *second,
                                     int m, const sp_layout *layout)
{
#define CALL(average, layout) sp_second_any(*block, *entries, 0, lane, second, m, SP_LANES, layout)
    SP_EVERY_KEPT(CALL)
#undef CALL
}

/* --- Additions -------------------------------------------------------------------------------- */

/* Add to the slots of an event. `intercept`: as in sp_sum_any. */
SP_TEMPLATE void sp_add_any(const sp_slots block, const sp_clock clock, const sp_entries entries,
                            const int intercept, const sp_lanes *step, const int m, const int lanes,
                            const int average, const sp_layout layout)
{
    const int width = lanes * layout.fields;
#define ADD(slot, x) sp_add_slot(clock, slot, x, step, m, lanes, average, layout)
    if (intercept) ADD(sp_slot(block.chunks, SP_SLOT_INTERCEPT, width), 1.0);
    if (SP_OF_MATRIX(entries.places)) {
        for (ptrdiff_t i = 0; i < entries.n; i++)
            ADD(sp_at(block.chunks[0], entries.places[entries.columns[i]]), entries.x[i]);
    } else if (SP_OF_MATRIX(entries.columns)) {
        for (ptrdiff_t i = 0; i < entries.n; i++)
            ADD(sp_slot(block.chunks, entries.slots[entries.columns[i]], width), entries.x[i]);
    } else {
        for (ptrdiff_t i = 0; i < entries.n; i++)
            ADD(sp_slot(block.chunks, entries.slots[i], width), entries.x[i]);
    }
#undef ADD
}

/* sp_add_any for a block of one output. */
static inline void sp_add_one(const sp_slots *block, const sp_clock *clock,
                              const sp_entries *entries, int intercept, const sp_lanes *step,
                              const sp_layout *layout)
{
    /* a copy, so that no store can change it */
    const sp_lanes own = {1, {0}, {step->a[0]}, {step->second[0]}, step->r};
#define CALL(average, layout) \
    sp_add_any(*block, *clock, *entries, intercept, &own, 1, 1, average, layout)
    SP_EVERY_LAYOUT(CALL)
#undef CALL
}

/* And for some lanes of a block of several. */
static inline void sp_add_several(const sp_slots *block, const sp_clock *clock,
                                  const sp_entries *entries, const sp_lanes *step,
                                  const sp_layout *layout)
{
#define CALL(average, layout) \
    do { \
        if (step->m == 1) \
            sp_add_any(*block, *clock, *entries, 0, step, 1, SP_LANES, average, layout); \
        else sp_add_any(*block, *clock, *entries, 0, step, step->m, SP_LANES, average, layout); \
    } while (0)
    SP_EVERY_LAYOUT(CALL)
#undef CALL
}

/* --- Sizes ------------------------------------------------------------------------------------ */

/* The largest of `size` and a slot's weights in one block, of all lanes and kept vectors. */
SP_TEMPLATE double sp_size_any(const sp_slots block, const sp_clock clock, uint32_t slot,
                               double size, const int lanes, const int average,
                               const sp_layout layout)
{
    const double *field = sp_slot(block.chunks, slot, lanes * layout.fields);
    for (int k = 0; k < lanes; k++, field += layout.fields) {
        double w = fabs(field[0]);
        size = w > size ? w : size;
        if (average != SP_AVERAGE_NONE) {
            w = fabs(sp_average_kept(block, clock, slot, average, field, layout));
            size = w > size ? w : size;
        }
        if (layout.p >= 0) {
            w = fabs(sp_pocket_kept(clock, field, layout));
            size = w > size ? w : size;
        }
    }
    return size;
}

static inline double sp_size_one(const sp_slots *block, const sp_clock *clock, uint32_t slot,
                                 double size, const sp_layout *layout)
{
#define CALL(average, layout) return sp_size_any(*block, *clock, slot, size, 1, average, layout)
    SP_EVERY_LAYOUT(CALL)
#undef CALL
}

static inline double sp_size_several(const sp_slots *block, const sp_clock *clock, uint32_t slot,
                                     double size, const sp_layout *layout)
{
#define CALL(average, layout) \
    return sp_size_any(*block, *clock, slot, size, SP_LANES, average, layout)
    SP_EVERY_LAYOUT(CALL)
#undef CALL
}

#endif
