/* A model file up to its arrays: it is read, and checked before anything in it is used.

       8 bytes        the header's length n
       n bytes        {"__metadata__": {name: text, ...}, "weights": {...}, ...}
       the arrays     one behind the other

   docs/format.md describes it. Most texts of the metadata are JSON themselves: parts, which are
   read one by one. Python's reader (keeping/read.py) uses this for its checks. */

#ifndef STREAMPTRON_FILE_HEADER_H
#define STREAMPTRON_FILE_HEADER_H

#include "json/json.h"

/* docs/format.md says when these are raised. */
#define SP_FORMAT_VERSION "1"
#define SP_DELTA_VERSION "1"

enum {
    SP_HEADER_MOST = 100000000, /* bytes; other readers of safetensors have the same limit */
    SP_ALIGNMENT = 64,          /* of the arrays' start: a cache line */
    SP_CRC_DIGITS = 8,
};

/* The arrays in the order of the file, with wider numbers first, so that all are aligned. */
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
    uint8_t width; /* numbers per row; 0: one dimension. For weights it varies */
} sp_array_kind;

typedef struct sp_array {
    bool there;
    size_t n;          /* rows */
    size_t width;      /* as in its kind; for weights, as in the file */
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
    size_t size;     /* of everything before the arrays */
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

/* Read and check the header of a file of `size` bytes, the first n of which are given. They must
   include the whole header. 0, or a kind of fault. Call sp_header_free in either case. */
SP_API int sp_header_read(sp_header *header, const uint8_t *file, size_t n, uint64_t size,
                          sp_fault *fault);

/* The same for the first delta in n bytes; *size becomes its length. */
SP_API int sp_delta_header_read(sp_header *header, const uint8_t *file, size_t n, size_t *size,
                                sp_fault *fault);

SP_API void sp_header_free(sp_header *header);

/* Whether the arrays' bytes match their checksum. */
SP_API bool sp_header_fits(const sp_header *header, const uint8_t *arrays);

/* The length of the header that starts with these eight bytes; 0: not a header. */
static inline size_t sp_header_length(const uint8_t *file)
{
    uint64_t n = 0;
    for (int i = 7; i >= 0; i--)
        n = n << 8 | file[i];
    return n > SP_HEADER_MOST ? 0 : (size_t)n;
}

/* Read a part, which may be missing (see `there`). 0, or a kind of fault. Call sp_part_free in
   either case. */
SP_PRIVATE int sp_part_read(const sp_header *header, const char *name, sp_part *part,
                            sp_fault *fault);

SP_API void sp_part_free(sp_part *part);

#endif
