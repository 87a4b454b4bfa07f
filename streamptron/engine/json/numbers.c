#include "json/numbers.h"

#include <math.h>
#include <string.h>

enum { SP_POWERS = 23 }; /* powers of ten that are doubles */

static const double sp_tens[SP_POWERS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const char sp_digits[] = "0123456789abcdef";

static bool sp_is_figure_of_ten(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static int sp_figure_of_sixteen(uint8_t c)
{
    if (sp_is_figure_of_ten(c))
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

SP_PRIVATE size_t sp_whole_write(uint64_t number, bool negative, char *to)
{
    char digits[20];
    size_t at = sizeof(digits);
    size_t n = 0;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    if (negative)
        to[n++] = '-';
    memcpy(to + n, digits + at, sizeof(digits) - at);
    n += sizeof(digits) - at;
    to[n] = 0;
    return n;
}

SP_PRIVATE size_t sp_hex_whole_write(uint64_t number, char *to)
{
    int digits = 1;
    while (digits < 16 && number >> (4 * digits))
        digits++;
    to[0] = '0';
    to[1] = 'x';
    for (int i = 0; i < digits; i++)
        to[2 + i] = sp_digits[number >> (4 * (digits - 1 - i)) & 15];
    to[2 + digits] = 0;
    return (size_t)(2 + digits);
}

SP_PRIVATE bool sp_hex_whole_read(const uint8_t *p, size_t n, uint64_t *number)
{
    *number = 0;
    if (n < 3 || n > 18 || p[0] != '0' || p[1] != 'x')
        return false;
    for (size_t i = 2; i < n; i++) {
        int digit = sp_figure_of_sixteen(p[i]);
        if (digit < 0)
            return false;
        *number = *number << 4 | (uint64_t)digit;
    }
    return true;
}

static size_t sp_word_write(const char *word, char *to)
{
    size_t n = strlen(word);
    memcpy(to, word, n + 1);
    return n;
}

SP_PRIVATE size_t sp_hex_write(double number, char *to)
{
    uint64_t bits = sp_bits_of(number);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7FF);
    size_t n = 0;
    if (number != number)
        return sp_word_write("nan", to);
    if (bits >> 63)
        to[n++] = '-';
    if (exponent == 0x7FF)
        return n + sp_word_write("inf", to + n);
    if (exponent == 0 && fraction == 0)
        return n + sp_word_write("0x0.0p+0", to + n);
    n += sp_word_write(exponent ? "0x1." : "0x0.", to + n);
    for (int i = 12; i >= 0; i--)
        to[n++] = sp_digits[fraction >> (4 * i) & 15];
    exponent = exponent ? exponent - 1023 : -1022;
    to[n++] = 'p';
    to[n++] = exponent < 0 ? '-' : '+';
    return n + sp_whole_write((uint64_t)(exponent < 0 ? -exponent : exponent), false, to + n);
}

/* Digits in base 16, with a point among them, up to 60 bits; and the power of two. */
static bool sp_hex_digits(const uint8_t **start, const uint8_t *end, uint64_t *digits, int *power)
{
    const uint8_t *p = *start;
    bool point = false;
    int n = 0;
    *digits = 0;
    *power = 0;
    for (; p < end && (*p | 32) != 'p'; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        int digit = sp_figure_of_sixteen(*p);
        if (digit < 0 || *digits >> 56 || ++n > 300)
            return false;
        *digits = *digits << 4 | (uint64_t)digit;
        *power -= point ? 4 : 0;
    }
    *start = p;
    return n > 0;
}

SP_PRIVATE bool sp_hex_read(const uint8_t *p, size_t n, double *number)
{
    const uint8_t *end = p + n;
    bool negative = n > 0 && *p == '-';
    uint64_t digits;
    int power, exponent = 0;
    p += negative;
    if (end - p == 3 && (memcmp(p, "inf", 3) == 0 || memcmp(p, "nan", 3) == 0)) {
        *number = *p == 'i' ? (double)INFINITY : (double)NAN;
        *number = negative ? -*number : *number;
        return true;
    }
    if (end - p < 3 || p[0] != '0' || (p[1] | 32) != 'x')
        return false;
    p += 2;
    if (!sp_hex_digits(&p, end, &digits, &power))
        return false;
    if (p < end) {
        p++;
        bool below = p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        if (p == end)
            return false;
        for (; p < end; p++) {
            if (!sp_is_figure_of_ten(*p) || exponent > 10000)
                return false;
            exponent = 10 * exponent + (*p - '0');
        }
        exponent = below ? -exponent : exponent;
    }
    /* what our writers write is exact; more bits are rounded, as by float.fromhex */
    double found = ldexp((double)digits, power + exponent);
    if (isinf(found))
        return false;
    *number = negative ? -found : found;
    return true;
}

SP_PRIVATE bool sp_decimal_read(const uint8_t *p, size_t n, double *number)
{
    const uint8_t *end = p + n;
    bool negative = n > 0 && *p == '-';
    bool point = false;
    uint64_t digits = 0;
    int places = 0, exponent = 0, seen = 0;
    for (p += negative; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (!sp_is_figure_of_ten(*p) || digits >= UINT64_C(100000000000000))
            return false;
        digits = 10 * digits + (uint64_t)(*p - '0');
        places += point;
        seen++;
    }
    if (p < end) {
        bool below = ++p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        if (p == end)
            return false;
        for (; p < end; p++) {
            if (!sp_is_figure_of_ten(*p) || exponent > 1000)
                return false;
            exponent = 10 * exponent + (*p - '0');
        }
        exponent = below ? -exponent : exponent;
    }
    exponent -= places;
    if (seen == 0 || (digits && (exponent >= SP_POWERS || exponent <= -SP_POWERS)))
        return false;
    /* both are exact, so only this operation rounds */
    double found = (double)digits;
    if (digits)
        found = exponent < 0 ? found / sp_tens[-exponent] : found * sp_tens[exponent];
    *number = negative ? -found : found;
    return true;
}

SP_PRIVATE size_t sp_decimal_write(double number, char *to)
{
    double size = fabs(number);
    int places = 0;
    size_t n = 0;
    if (!isfinite(number))
        return sp_hex_write(number, to);
    if (number == 0.0)
        return sp_word_write(sp_bits_of(number) >> 63 ? "-0.0" : "0.0", to);
    if (size < 1e-4 || size >= 1e15)
        return sp_hex_write(number, to);
    while (places < SP_POWERS
           && (size * sp_tens[places] >= 1e15
               || nearbyint(size * sp_tens[places]) / sp_tens[places] != size))
        places++;
    if (places == SP_POWERS)
        return sp_hex_write(number, to);
    uint64_t digits = (uint64_t)nearbyint(size * sp_tens[places]);
    uint64_t whole = digits;
    for (int i = 0; i < places; i++)
        whole /= 10;
    if (number < 0.0)
        to[n++] = '-';
    n += sp_whole_write(whole, false, to + n);
    to[n++] = '.';
    for (int i = places - 1; i >= 0; i--) {
        uint64_t above = digits;
        for (int k = 0; k < i; k++)
            above /= 10;
        to[n++] = sp_digits[above % 10];
    }
    if (places == 0)
        to[n++] = '0';
    to[n] = 0;
    return n;
}

#ifdef __SIZEOF_INT128__
/* Write "0." and so many digits, the last ones first, two at a time. */
static void sp_figures_write(uint64_t figures, int places, char *to)
{
    char *p = to + places + 2;
    memcpy(to, "0.", 2);
    for (*p = 0; p - to > 3; figures /= 100) {
        unsigned two = (unsigned)(figures % 100);
        *--p = (char)('0' + two % 10);
        *--p = (char)('0' + two / 10);
    }
    if (p - to > 2)
        *--p = (char)('0' + figures);
}

SP_API size_t sp_share_write(double number, char *to)
{
    typedef unsigned __int128 wide;
    uint64_t bits = sp_bits_of(number), fraction = bits & ((UINT64_C(1) << 52) - 1);
    uint64_t tens = UINT64_C(100000000000000000), unit = 1, low, high, nearest;
    int places = 17, shift;
    if (number == 1.0)
        return sp_word_write("1.0", to);
    if (!(number >= 1e-4 && number < 1.0))
        return 0;
    /* number = mantissa / 2^shift. All numbers that are read as this one are between the middles of
       the gaps around it; the middles are, too, if the mantissa is even. */
    shift = 1077 - (int)(bits >> 52);
    uint64_t mantissa = 4 * (fraction | UINT64_C(1) << 52);
    wide scale = tens;
    for (double size = number; size < 0.1 && places < 20; size *= 10.0, places++)
        scale *= 10;
    wide mask = ((wide)1 << shift) - 1, exact = mantissa * scale;
    wide above = exact + 2 * scale, below = exact - (fraction ? 2 : 1) * scale;
    bool even = (fraction & 1) == 0;
    low = (uint64_t)(below >> shift) + ((below & mask) != 0 || !even);
    high = (uint64_t)(above >> shift) - ((above & mask) == 0 && !even);
    for (; high / 10 * 10 >= low; unit *= 10, places--) { /* a shorter one fits, too */
        low = (low + 9) / 10;
        high /= 10;
    }
    nearest = (uint64_t)(exact >> shift);
    if (unit == 1) {
        wide half = (wide)1 << (shift - 1), left = exact & mask;
        nearest += left > half || (left == half && (nearest & 1));
    } else {
        uint64_t rest = nearest % unit;
        nearest /= unit;
        nearest += rest > unit / 2
                   || (rest == unit / 2 && ((exact & mask) != 0 || (nearest & 1)));
    }
    nearest = nearest < low ? low : nearest > high ? high : nearest;
    sp_figures_write(nearest, places, to);
    return (size_t)places + 2;
}
#else
SP_API size_t sp_share_write(double number, char *to)
{
    (void)number;
    (void)to;
    return 0;
}
#endif
