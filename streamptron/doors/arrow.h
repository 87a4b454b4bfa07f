/* The structures of Arrow's C data interface and C stream interface. Their layout is fixed for
   good, so that two libraries can hand each other columns without being built for each other.
   https://arrow.apache.org/docs/format/CDataInterface.html
   Other headers may have them too: hence the macros, whose names the specification gives. */

#ifndef STREAMPTRON_ARROW_H
#define STREAMPTRON_ARROW_H

#include <stdint.h>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

struct ArrowSchema {
    const char *format;             /* the type: "u" is UTF-8 with 32-bit offsets ... */
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary; /* the type of the values that the numbers stand for, or NULL */
    void (*release)(struct ArrowSchema *);  /* NULL: released, or moved to another owner */
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;             /* -1: not counted */
    int64_t offset;                 /* entries at the front of the buffers that are not ours */
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);    /* at the end: released */
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

#endif
