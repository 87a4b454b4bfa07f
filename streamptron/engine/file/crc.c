#include "file/crc.h"

#include "names/key.h"

enum {
    SP_CRC_STEP = 16,   /* bytes at a time */
    SP_CRC_FEW = 2000,  /* so few are faster one by one, as making the tables takes time */
};

/* The effect of byte b on the checksum if t more bytes follow. The tables are made anew in each
   call, which takes as long as a few thousand bytes. */
typedef struct sp_crc_table {
    uint32_t of[SP_CRC_STEP][256];
} sp_crc_table;

static void sp_crc_begin(sp_crc_table *table, int steps)
{
    uint32_t c = 1;
    table->of[0][0] = 0;
    /* the effect of two bits is the xor of their effects */
    for (uint32_t bit = 128; bit > 0; bit >>= 1) {
        c = c & 1 ? c >> 1 ^ UINT32_C(0xEDB88320) : c >> 1;
        for (uint32_t b = 0; b < 256; b += 2 * bit)
            table->of[0][b + bit] = table->of[0][b] ^ c;
    }
    for (int t = 1; t < steps; t++)
        for (uint32_t b = 0; b < 256; b++)
            table->of[t][b] = table->of[t - 1][b] >> 8 ^ table->of[0][table->of[t - 1][b] & 255];
}

/* The effect of eight bytes if `more` bytes follow. */
static uint32_t sp_crc_word(const sp_crc_table *table, uint64_t word, int more)
{
    uint32_t c = 0;
    for (int t = 0; t < 8; t++)
        c ^= table->of[more + 7 - t][word >> (8 * t) & 255];
    return c;
}

SP_PRIVATE uint32_t sp_crc32(uint32_t crc, const void *start, size_t n)
{
    sp_crc_table table;
    const uint8_t *p = (const uint8_t *)start;
    uint32_t c = ~crc;
    bool few = n < SP_CRC_FEW;
    sp_crc_begin(&table, few ? 1 : SP_CRC_STEP);
    for (; !few && n >= SP_CRC_STEP; n -= SP_CRC_STEP, p += SP_CRC_STEP)
        c = sp_crc_word(&table, sp_load8(p) ^ c, 8) ^ sp_crc_word(&table, sp_load8(p + 8), 0);
    for (; n > 0; n--, p++)
        c = c >> 8 ^ table.of[0][(c ^ *p) & 255];
    return ~c;
}
