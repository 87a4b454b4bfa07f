/* A model file up to its arrays: read, and checked before anything in it is believed.

       8 bytes        the header's length n
       n bytes        {"__metadata__": {name: text, ...}, "weights": {...}, ...}
       the arrays     one behind the other

   docs/format.md describes it. The texts of the metadata are JSON themselves, most of them: parts,
   which are read one by one. Python's reader (keeping/read.py) calls this for its checks. */

#ifndef STREAMPTRON_FILE_HEADER_H
#define STREAMPTRON_FILE_HEADER_H

#include "json/json.h"

/* docs/format.md says when these count up. */
#define SP_FORMAT_VERSION "1"
#define SP_DELTA_VERSION "1"

enum {
    SP_HEADER_MOST = 100000000, /* bytes, the limit of other readers of safetensors too */
    SP_ALIGNMENT = 64,          /* of the arrays' start: a cache line */
    SP_CRC_DIGITS = 8,
};

/* The arrays in the order of the file, wider numbers first so that all of them are aligned. */
typedef enum sp_array_name {
    SP_ARRAY_WEIGHTS,
    SP_ARRAY_VOTED_VALUES,
    SP_ARRAY_VOTED_TIMES,
    SP_ARRAY_VOTED_STEPS,
    SP_ARRAY_VOTED_STARTS,
    SP_ARRAY_MARKED,
    SP_ARRAY_ENTRIES,
    SP_ARRAY_KEYS,
    SP_ARRAY_CHUNKS,
    SP_ARRAY_ROWS,
    SP_ARRAY_LOOKUP,
    SP_ARRAY_STAMPS,
    SP_ARRAY_VOTED_SLOTS,
    SP_ARRAY_VOTED_SIZES,
    SP_ARRAY_VOTED_UPDATES,
    SP_ARRAY_VOTED_TURNS,
    SP_ARRAY_MARKS,
    SP_ARRAY_SHAPES,
    SP_ARRAY_TEXTS,
    SP_ARRAY_JOURNAL,
    SP_ARRAY_STEPS,
    SP_ARRAYS,
} sp_array_name;

typedef struct sp_array_kind {
    char name[14];
    char dtype[4];
    uint8_t size;  /* of a number */
    uint8_t width; /* numbers of a row; 0: the array has one dimension. Of weights it varies */
} sp_array_kind;

typedef struct sp_array {
    bool there;
    size_t n;          /* rows */
    size_t width;      /* as in its kind; of weights, what the file says */
    size_t start, end; /* from the first array's start */
} sp_array;

/* The arrays of a delta (exchange/delta.h), likewise. */
typedef enum sp_delta_array {
    SP_DELTA_ROWS,
    SP_DELTA_MARKED,
    SP_DELTA_KEYS,
    SP_DELTA_SLOTS,
    SP_DELTA_BLOCKS,
    SP_DELTA_RENAMED,
    SP_DELTA_STAMPS,
    SP_DELTA_MARKS,
    SP_DELTA_SHAPES,
    SP_DELTA_TEXTS,
    SP_DELTA_ARRAYS,
} sp_delta_array;

typedef struct sp_header {
    const uint8_t *file;
    size_t size;     /* of what comes before the arrays */
    size_t n_arrays; /* bytes of all arrays */
    sp_json json;
    uint32_t metadata; /* a node: the object that holds the parts */
    uint32_t arrays_crc32;
    sp_array arrays[SP_ARRAYS];
} sp_header;

/* A text of the metadata that is JSON. */
typedef struct sp_part {
    uint8_t *text;
    size_t n;
    sp_json json;
    bool there;
} sp_part;

typedef const sp_array_kind *(*sp_kind_of)(int array);

SP_API const sp_array_kind *sp_array_kind_of(int array);
SP_API const sp_array_kind *sp_delta_kind_of(int array);

/* Read and check the header of a file of `size` bytes, of which the first n are here: all of the
   header must be. 0, or a kind of fault. Call sp_header_free in either case. */
SP_API int sp_header_read(sp_header *header, const uint8_t *file, size_t n, uint64_t size,
                          sp_fault *fault);

/* The same of a delta, the first of those in n bytes, which is as long as `size` says. */
SP_API int sp_delta_header_read(sp_header *header, const uint8_t *file, size_t n, size_t *size,
                                sp_fault *fault);

SP_API void sp_header_free(sp_header *header);

/* Whether the arrays' bytes fit their checksum. */
SP_API bool sp_header_fits(const sp_header *header, const uint8_t *arrays);

/* How long a header is whose first eight bytes these are; 0: it cannot be one. */
static inline size_t sp_header_length(const uint8_t *file)
{
    uint64_t n = 0;
    for (int i = 7; i >= 0; i--)
        n = n << 8 | file[i];
    return n > SP_HEADER_MOST ? 0 : (size_t)n;
}

/* Read a part; it need not be `there`. 0, or a kind of fault. Call sp_part_free in either case. */
SP_PRIVATE int sp_part_read(const sp_header *header, const char *name, sp_part *part,
                            sp_fault *fault);

SP_API void sp_part_free(sp_part *part);

#endif
