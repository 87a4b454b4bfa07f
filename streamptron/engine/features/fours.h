/* Four numbers at a time: the operations of the loops in adaptive/two.h and features/loops.h.

   With -DSTREAMPTRON_PLAIN, or a compiler that cannot shuffle vectors, SP_FOURS is not defined, and
   entries are taken one by one. */

#ifndef STREAMPTRON_FEATURES_FOURS_H
#define STREAMPTRON_FEATURES_FOURS_H

#include "features/head.h"

#if SP_VECTORS && defined(__has_builtin)
  #if __has_builtin(__builtin_shufflevector)
    #define SP_FOURS 1
  #endif
#endif

/* Where SP_AVX2_UNLESS_SMALL compiles a function only once, it takes entries one by one: with
   registers of two doubles that is as fast, and smaller. */
#if defined(SP_FOURS) && !SP_SMALL
  #define SP_FOURS_HERE 1
#endif

#ifdef SP_FOURS

typedef int32_t sp_word4 __attribute__((vector_size(16)));

#define SP_SHUFFLE __builtin_shufflevector
#define SP_EACH(x) ((sp_double4){x, x, x, x})
#define SP_SIGNS ((sp_int4){INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN})
#define SP_SIZE_OF(x) ((sp_double4)((sp_int4)(x) & ~SP_SIGNS))
#define SP_SIGN_OF(x) ((sp_int4)(x) & SP_SIGNS)

/* a where the mask is set, else b. */
#define SP_WHERE(mask, a, b) \
    ((sp_double4)(((sp_int4)(mask) & (sp_int4)(a)) | (~(sp_int4)(mask) & (sp_int4)(b))))

SP_TEMPLATE int sp_any(const sp_int4 *mask)
{
    const sp_int2 any = SP_SHUFFLE(*mask, *mask, 0, 1) | SP_SHUFFLE(*mask, *mask, 2, 3);
    return (any[0] | any[1]) != 0;
}

SP_TEMPLATE void sp_load(const double *from, sp_double4 *to)
{
    memcpy(to, from, sizeof(*to));
}

SP_TEMPLATE void sp_store(const sp_double4 *from, double *to)
{
    memcpy(to, from, sizeof(*from));
}

/* Round to floats, as they will be stored. Done lane by lane, GCC 12 would leave the rounding
   out. */
SP_TEMPLATE void sp_round(sp_double4 *x)
{
    sp_widen(__builtin_convertvector(*x, sp_float4), x);
}

/* The first two of four floats from each of four registers, two registers to a pair; or the last
   two. */
#define SP_FIRST_TWO(a, b) SP_SHUFFLE(a, b, 0, 4, 1, 5)
#define SP_LAST_TWO(a, b) SP_SHUFFLE(a, b, 2, 6, 3, 7)
#define SP_FIRST_HALVES(ab, cd) SP_SHUFFLE(ab, cd, 0, 1, 4, 5)
#define SP_LAST_HALVES(ab, cd) SP_SHUFFLE(ab, cd, 2, 3, 6, 7)

#endif

#endif
