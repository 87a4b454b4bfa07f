/* SHA-256, of FIPS 180-4. */

#ifndef SPT_PROGRAM_SHA256_H
#define SPT_PROGRAM_SHA256_H

#include <stddef.h>
#include <stdint.h>

void sha256(const void *p, size_t n, uint8_t digest[32]);

#endif
