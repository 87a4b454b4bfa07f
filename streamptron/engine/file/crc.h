/* CRC-32, zlib's: the checksum of a model file's parts. */

#ifndef STREAMPTRON_FILE_CRC_H
#define STREAMPTRON_FILE_CRC_H

#include "memory/compiler.h"

/* Continue `crc`, which is 0 at first, over n bytes. */
SP_PRIVATE uint32_t sp_crc32(uint32_t crc, const void *p, size_t n);

#endif
