#include "mail/decode.h"

#include <string.h>

/* 1 + the value of a base64 character; 0: it is something else; 65: = */
static const uint8_t sp_base64_values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
    ['='] = 65,
};

SP_PRIVATE int sp_base64_value(uint8_t c)
{
    return c == '=' ? -1 : sp_base64_values[c] - 1;
}

SP_PRIVATE size_t sp_base64(const uint8_t *p, size_t n, uint8_t *to)
{
    uint32_t held = 0;
    int n_bits = 0;
    size_t o = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t value = sp_base64_values[p[i]];
        if (value == 0)
            continue;
        if (value == 65) {
            n_bits = 0;
            continue;
        }
        held = held << 6 | (value - 1);
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            to[o] = (uint8_t)(held >> n_bits);
            o++;
        }
    }
    return o;
}

/* The length of a soft line break at p, with white space that was added to the end of the line; 0:
   this is something else. */
static size_t sp_soft_break(const uint8_t *p, size_t n)
{
    size_t i = 1;
    while (i < n && (p[i] == ' ' || p[i] == '\t'))
        i++;
    i += i + 1 < n && p[i] == '\r' && p[i + 1] == '\n';
    return i < n && p[i] == '\n' ? i + 1 : 0;
}

SP_PRIVATE size_t sp_quoted(const uint8_t *p, size_t n, bool spaces, uint8_t *to)
{
    size_t o = 0;
    size_t i = 0;
    size_t k;
    while (i < n) {
        uint8_t c = p[i];
        if (c == '=' && i + 2 < n && sp_hex_value(p[i + 1]) >= 0 && sp_hex_value(p[i + 2]) >= 0) {
            to[o] = (uint8_t)(sp_hex_value(p[i + 1]) << 4 | sp_hex_value(p[i + 2]));
            o++;
            i += 3;
        } else if (c == '=' && (k = sp_soft_break(p + i, n - i)) > 0) {
            i += k;
        } else {
            to[o] = spaces && c == '_' ? ' ' : c;
            o++;
            i++;
        }
    }
    return o;
}
