#include "math/powers.h"

#include "math/powers_table.h"

#include <math.h>

/* Whether the C library's fma is correct and usually one instruction. A program compiled for
   machines without it still uses the machine's where there is one, as with SP_AVX2. */
#if (defined(__GLIBC__) || defined(FP_FAST_FMA)) && !defined(STREAMPTRON_PLAIN)
    #define sp_fused(x, y, z) fma(x, y, z)
#else
    #define sp_fused(x, y, z) sp_fused_exactly(x, y, z)
#endif

/* A sum and its rounding error, which together are exact. */
typedef struct sp_twice {
    double sum, rest;
} sp_twice;

static sp_twice sp_twice_sum(double a, double b)
{
    double sum = a + b, of_b = sum - a;
    sp_twice twice = {sum, (a - (sum - of_b)) + (b - of_b)};
    return twice;
}

static sp_twice sp_twice_product(double a, double b)
{
    const double split = 134217729.0; /* 2^27 + 1: halves of 26 bits */
    double a_high = split * a - (split * a - a), a_low = a - a_high;
    double b_high = split * b - (split * b - b), b_low = b - b_high;
    double product = a * b;
    double rest = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
    sp_twice twice = {product, rest};
    return twice;
}

/* The small parts are summed to an odd number, unless their sum is exact. So the last sum, the only
   one that is rounded, is rounded like the exact sum (Boldo and Melquiond, 2008). */
SP_PRIVATE double sp_fused_exactly(double x, double y, double z)
{
    sp_twice product = sp_twice_product(x, y);
    sp_twice low = sp_twice_sum(z, product.rest);
    sp_twice high = sp_twice_sum(product.sum, low.sum);
    sp_twice small = sp_twice_sum(low.rest, high.rest);
    uint64_t bits = sp_bits_of(small.sum);
    if (small.rest != 0.0 && !(bits & 1))
        bits += (small.rest > 0.0) == (small.sum > 0.0) ? 1 : UINT64_MAX;
    return high.sum + sp_from_bits(bits);
}

SP_FUSING(SP_PRIVATE, double, sp_e_to, (double x), (x))
{
    const double whole = 0x1.8p52; /* adding and subtracting it rounds to a whole number */
    double shifted = sp_fused(x, 0x1.71547652b82fep+7, whole);
    uint64_t steps = sp_bits_of(shifted), i = steps % 128;
    double k = shifted - whole;
    double r = sp_fused(k, -0x1.cf79abc9e3b3ap-47, sp_fused(k, -0x1.62e42fefa0000p-8, x));
    double r2 = r * r;
    double low = sp_fused(r, 0x1.555555555543cp-3, 0x1.ffffffffffdbdp-2);
    double high = sp_fused(r, 0x1.1111167a4d017p-7, 0x1.55555cf172b91p-5);
    double rest = sp_fused(r2 * r2, high, sp_fused(r2, low, sp_powers[i][1] + r));
    double scale = sp_from_bits(sp_bits_of(sp_powers[i][0]) + ((steps - i) << 45));
    return sp_fused(scale, rest, scale);
}

/* Nothing is fused here, as in the C libraries: a half-life becomes a factor only once per
   model. */
SP_PRIVATE double sp_two_to(double x)
{
    const double whole = 0x1.8p45;
    double shifted = x + whole, r = x - (shifted - whole);
    uint64_t steps = sp_bits_of(shifted), i = steps % 128;
    double r2 = r * r;
    double rest = sp_powers[i][1] + r * 0x1.62e42fefa39efp-1
                  + r2 * (0x1.ebfbdff82c424p-3 + r * 0x1.c6b08d70cf4b5p-5)
                  + r2 * r2 * (0x1.3b2abd24650ccp-7 + r * 0x1.5d7e09b4e3a84p-10);
    double scale = sp_from_bits(sp_bits_of(sp_powers[i][0]) + ((steps - i) << 45));
    return scale + scale * rest;
}

/* x = 2^(k + i / 128) (1 + s) / (1 - s): log x = (k + i / 128) log 2 + 2 (s + s^3/3 + s^5/5 + ...).
   Compared with the exact parts, `rest` is below 2^-25, so its own rounding does not matter. */
SP_PRIVATE double sp_log_of(double x)
{
    uint64_t bits = sp_bits_of(x), i = 0;
    double m = sp_from_bits((bits & 0xfffffffffffff) | 0x3ff0000000000000);
    for (uint64_t step = 64; step > 0; step /= 2)
        i += m >= sp_powers[i + step][0] ? step : 0;
    double k = (double)(128 * (bits >> 52) + i) - 128.0 * 1023.0;
    sp_twice below = sp_twice_sum(m, sp_powers[i][0]);
    double over = m - sp_powers[i][0], s = over / below.sum, s2 = s * s;
    sp_twice back = sp_twice_product(s, below.sum);
    double lacks = (((over - back.sum) - back.rest) - s * below.rest) / below.sum;
    sp_twice power = sp_twice_product(k, 0x1.62e42fefa39efp-8); /* log 2 / 128, and its error */
    sp_twice sum = sp_twice_sum(power.sum, 2.0 * s);
    double rest = 2.0 * s * s2 * (1.0 / 3.0 + s2 * (1.0 / 5.0 + s2 / 7.0)) + 2.0 * lacks
                  + k * 0x1.abc9e3b39803fp-63 + power.rest - sp_powers[i][1];
    return sum.sum + (sum.rest + rest);
}
