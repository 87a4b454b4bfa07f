#include "file/header.h"

#include "file/crc.h"
#include "json/settings.h"
#include "memory/heap.h"

#include <string.h>

static const char sp_format[] = "streamptron";
static const char sp_checksum[] = "\"header_crc32\":\"";

static const sp_array_kind sp_array_kinds[SP_ARRAYS] = {
    [SP_ARRAY_WEIGHTS] = {"weights", "F64", 8, 1},
    [SP_ARRAY_VOTED_VALUES] = {"voted_values", "F64", 8, 0},
    [SP_ARRAY_VOTED_TIMES] = {"voted_times", "F64", 8, 0},
    [SP_ARRAY_VOTED_STEPS] = {"voted_steps", "F64", 8, 0},
    [SP_ARRAY_VOTED_STARTS] = {"voted_starts", "F64", 8, 0},
    [SP_ARRAY_MARKED] = {"marked", "F64", 8, 6},
    [SP_ARRAY_ENTRIES] = {"entries", "U64", 8, 2},
    [SP_ARRAY_KEYS] = {"keys", "U64", 8, 2},
    [SP_ARRAY_CHUNKS] = {"chunks", "U32", 4, 3},
    [SP_ARRAY_ROWS] = {"rows", "U32", 4, 0},
    [SP_ARRAY_LOOKUP] = {"lookup", "U32", 4, 0},
    [SP_ARRAY_STAMPS] = {"stamps", "U32", 4, 0},
    [SP_ARRAY_VOTED_SLOTS] = {"voted_slots", "U32", 4, 0},
    [SP_ARRAY_VOTED_SIZES] = {"voted_sizes", "U32", 4, 0},
    [SP_ARRAY_VOTED_UPDATES] = {"voted_updates", "U32", 4, 0},
    [SP_ARRAY_VOTED_TURNS] = {"voted_turns", "U32", 4, 2},
    [SP_ARRAY_MARKS] = {"marks", "U32", 4, 4},
    [SP_ARRAY_SHAPES] = {"shapes", "U32", 4, 0},
    [SP_ARRAY_TEXTS] = {"texts", "U8", 1, 0},
    [SP_ARRAY_JOURNAL] = {"journal", "U8", 1, 0},
    [SP_ARRAY_STEPS] = {"steps", "U8", 1, 0},
};

static const sp_array_kind sp_delta_kinds[SP_DELTA_ARRAYS] = {
    [SP_DELTA_ROWS] = {"rows", "F64", 8, 1},      [SP_DELTA_MARKED] = {"marked", "F64", 8, 6},
    [SP_DELTA_KEYS] = {"keys", "U64", 8, 2},      [SP_DELTA_SLOTS] = {"slots", "U32", 4, 0},
    [SP_DELTA_BLOCKS] = {"blocks", "U32", 4, 0},  [SP_DELTA_RENAMED] = {"renamed", "U32", 4, 0},
    [SP_DELTA_STAMPS] = {"stamps", "U32", 4, 0},  [SP_DELTA_MARKS] = {"marks", "U32", 4, 4},
    [SP_DELTA_SHAPES] = {"shapes", "U32", 4, 0},  [SP_DELTA_TEXTS] = {"texts", "U8", 1, 0},
};

SP_API const sp_array_kind *sp_array_kind_of(int array)
{
    return &sp_array_kinds[array];
}

SP_API const sp_array_kind *sp_delta_kind_of(int array)
{
    return &sp_delta_kinds[array];
}

/* --- Checksums */

/* Read eight hexadecimal digits; false: they are something else. */
static bool sp_crc_read(const sp_header *header, const char *name, uint32_t *crc, uint32_t *node)
{
    const sp_json *json = &header->json;
    *node = sp_json_get(json, header->metadata, name);
    *crc = 0;
    if (*node == 0 || sp_json_type(json, *node) != SP_JSON_STRING
        || sp_json_length(json, *node) != SP_CRC_DIGITS)
        return false;
    const uint8_t *p = sp_json_start(json, *node);
    for (int i = 0; i < SP_CRC_DIGITS; i++) {
        bool letter = p[i] >= 'a' && p[i] <= 'f';
        if (!letter && !(p[i] >= '0' && p[i] <= '9'))
            return false;
        *crc = *crc << 4 | (uint32_t)(letter ? p[i] - 'a' + 10 : p[i] - '0');
    }
    return true;
}

/* Whether the header matches its checksum, which is computed with zeros in its own place. */
static bool sp_header_is_whole(const sp_header *header)
{
    const size_t before = sizeof(sp_checksum) - 1;
    uint32_t crc, node;
    if (!sp_crc_read(header, "header_crc32", &crc, &node))
        return false;
    const uint8_t *digits = sp_json_start(&header->json, node);
    size_t at = (size_t)(digits - header->file);
    if (at < before || memcmp(digits - before, sp_checksum, before) != 0)
        return false;
    uint32_t found = sp_crc32(0, header->file, at);
    found = sp_crc32(found, "00000000", SP_CRC_DIGITS);
    return crc == sp_crc32(found, digits + SP_CRC_DIGITS, header->size - at - SP_CRC_DIGITS);
}

SP_API bool sp_header_fits(const sp_header *header, const uint8_t *arrays)
{
    return sp_crc32(0, arrays, header->n_arrays) == header->arrays_crc32;
}

/* --- Arrays */

static int sp_array_fault(const sp_array_kind *kind, sp_fault *fault)
{
    sp_fault_say(fault, SP_WHY_DAMAGED, "the array ");
    sp_fault_add(fault, kind->name);
    return sp_fault_add(fault, " is not where or what it must be");
}

/* Read a list of n whole numbers below 2^48; false: it is something else. */
static bool sp_sizes(const sp_json *json, uint32_t list, uint32_t n, size_t *numbers)
{
    if (list == 0 || sp_json_type(json, list) != SP_JSON_LIST || json->nodes[list].n != n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t number;
        if (!sp_json_whole(json, list + 1 + i, (UINT64_C(1) << 48) - 1, &number))
            return false;
        numbers[i] = (size_t)number;
    }
    return true;
}

/* Read one array, which must start at `at`. False: it is invalid. */
static bool sp_array_read(const sp_json *json, uint32_t entry, const sp_array_kind *kind, size_t at,
                          sp_array *array)
{
    size_t shape[2] = {0, 1}, place[2];
    uint32_t dimensions = kind->width ? 2 : 1;
    if (sp_json_type(json, entry) != SP_JSON_OBJECT || json->nodes[entry].n != 3)
        return false;
    uint32_t dtype = sp_json_get(json, entry, "dtype");
    if (dtype == 0 || !sp_json_is(json, dtype, kind->dtype)
        || !sp_sizes(json, sp_json_get(json, entry, "shape"), dimensions, shape)
        || !sp_sizes(json, sp_json_get(json, entry, "data_offsets"), 2, place))
        return false;
    if (dimensions == 2 && kind->width > 1 && shape[1] != kind->width)
        return false;
    /* both are below 2^48, and real files are far below that */
    size_t row = shape[1] * kind->size;
    if (place[0] != at || place[1] < at
        || (row == 0 ? place[1] != at
                     : (place[1] - at) % row != 0 || (place[1] - at) / row != shape[0]))
        return false;
    array->there = true;
    array->n = shape[0];
    array->width = dimensions == 2 ? shape[1] : 0;
    array->start = place[0];
    array->end = place[1];
    return true;
}

/* 0, or a fault: an array is invalid. *all: whether there is nothing else. */
static int sp_header_arrays_find(sp_header *header, const sp_array_kind *kinds, int n_kinds,
                                 bool *all, sp_fault *fault)
{
    const sp_json *json = &header->json;
    uint32_t n = 1; /* known names; one is the metadata */
    size_t at = 0;
    for (int i = 0; i < n_kinds; i++) {
        uint32_t entry = sp_json_get(json, 0, kinds[i].name);
        if (entry == 0)
            continue;
        if (!sp_array_read(json, entry, &kinds[i], at, &header->arrays[i]))
            return sp_array_fault(&kinds[i], fault);
        at = header->arrays[i].end;
        n++;
    }
    header->n_arrays = at;
    *all = n == json->nodes[0].n;
    return 0;
}

/* The same, and the arrays must fill the rest of the file. */
static int sp_header_arrays_read(sp_header *header, uint64_t size, sp_fault *fault)
{
    bool all = false;
    int failed = sp_header_arrays_find(header, sp_array_kinds, SP_ARRAYS, &all, fault);
    if (failed || (all && header->n_arrays == size - header->size))
        return failed;
    sp_fault_say(fault, SP_WHY_DAMAGED, "the arrays should take ");
    sp_fault_add_number(fault, header->n_arrays);
    sp_fault_add(fault, " bytes and take ");
    sp_fault_add_number(fault, size - header->size);
    return sp_fault_add(fault, ": it was cut off, or something was appended");
}

/* --- The header */

/* Whether the bytes are somewhere in the text. */
static bool sp_is_in(const uint8_t *text, size_t n, const char *words)
{
    size_t length = strlen(words);
    for (size_t i = 0; i + length <= n; i++) {
        if (text[i] == (uint8_t)*words && memcmp(text + i, words, length) == 0)
            return true;
    }
    return false;
}

/* Find the metadata: an object of texts with a format and a version. */
static bool sp_metadata_find(sp_header *header)
{
    const sp_json *json = &header->json;
    if (sp_json_type(json, 0) != SP_JSON_OBJECT)
        return false;
    uint32_t node = sp_json_get(json, 0, "__metadata__");
    if (node == 0 || sp_json_type(json, node) != SP_JSON_OBJECT)
        return false;
    for (uint32_t i = node + 1; i < json->nodes[node].next; i++) {
        if (sp_json_type(json, i) != SP_JSON_STRING)
            return false;
    }
    header->metadata = node;
    return sp_json_get(json, node, "format") && sp_json_get(json, node, "version");
}

static int sp_version_fault(const sp_header *header, uint32_t version, sp_fault *fault)
{
    uint32_t by = sp_json_get(&header->json, header->metadata, "streamptron");
    sp_fault_say(fault, SP_WHY_FOREIGN, "has the format ");
    sp_fault_add_value(fault, &header->json, version);
    sp_fault_add(fault, ", written by streamptron ");
    if (by)
        sp_fault_add_value(fault, &header->json, by);
    else
        sp_fault_add(fault, "None");
    return sp_fault_add(fault, "; this version reads format " SP_FORMAT_VERSION ": install the "
                               "version that wrote it, or a newer one");
}

/* 0, or a kind of fault: it is not one of our files, or has another version. */
static int sp_header_recognise(sp_header *header, const uint8_t *text, size_t n, sp_fault *fault)
{
    int failed = sp_json_read(&header->json, text, n, fault);
    if (failed == SP_WHY_MEMORY)
        return failed;
    if (failed || !sp_metadata_find(header)) {
        if (sp_is_in(text, n, sp_format))
            return sp_fault_say(fault, SP_WHY_DAMAGED, "its header is not JSON, or has no format");
        return sp_fault_say(fault, SP_WHY_FOREIGN, "is not a model file of streamptron");
    }
    const sp_json *json = &header->json;
    if (!sp_json_is(json, sp_json_get(json, header->metadata, "format"), sp_format))
        return sp_fault_say(fault, SP_WHY_FOREIGN, "is not a model file of streamptron");
    uint32_t version = sp_json_get(json, header->metadata, "version");
    return sp_json_is(json, version, SP_FORMAT_VERSION) ? 0
                                                        : sp_version_fault(header, version, fault);
}

SP_API void sp_header_free(sp_header *header)
{
    sp_json_free(&header->json);
}

SP_API int sp_header_read(sp_header *header, const uint8_t *file, size_t n, uint64_t size,
                          sp_fault *fault)
{
    uint32_t node;
    memset(header, 0, sizeof(*header));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return sp_fault_say(fault, SP_WHY_FOREIGN,
                        "cannot be read on a machine that is not little-endian");
#endif
    size_t length = n < 8 ? 0 : sp_header_length(file);
    if (length == 0 || length > n - 8 || size < n)
        return sp_fault_say(fault, SP_WHY_FOREIGN,
                            "is not a model file, or the beginning of one: it has no header");
    if (file[8] != '{')
        return sp_fault_say(fault, SP_WHY_FOREIGN, "is not a model file: its header is not JSON");
    header->file = file;
    header->size = 8 + length;
    int failed = sp_header_recognise(header, file + 8, length, fault);
    if (failed)
        return failed;
    if (!sp_header_is_whole(header)
        || !sp_crc_read(header, "arrays_crc32", &header->arrays_crc32, &node))
        return sp_fault_say(fault, SP_WHY_DAMAGED, "the header does not match its checksum");
    if (header->size % SP_ALIGNMENT)
        return sp_fault_say(fault, SP_WHY_DAMAGED,
                            "the arrays do not start at a multiple of 64 bytes");
    return sp_header_arrays_read(header, size, fault);
}

/* --- Deltas */

static int sp_delta_foreign(const sp_header *header, sp_fault *fault)
{
    const sp_json *json = &header->json;
    sp_fault_say(fault, SP_WHY_FOREIGN, "has the format ");
    sp_fault_add_value(fault, json, sp_json_get(json, header->metadata, "format"));
    sp_fault_add(fault, " ");
    sp_fault_add_value(fault, json, sp_json_get(json, header->metadata, "version"));
    return sp_fault_add(fault, "; this version reads 'streamptron delta' " SP_DELTA_VERSION
                               ": make it by the same version of streamptron");
}

/* Check the header in n bytes, and the arrays that follow it. */
static int sp_delta_whole(sp_header *header, size_t n, sp_fault *fault)
{
    uint32_t node;
    bool all = false;
    if (!sp_header_is_whole(header)
        || !sp_crc_read(header, "arrays_crc32", &header->arrays_crc32, &node))
        return sp_fault_say(fault, SP_WHY_DAMAGED, "its header does not match its checksum");
    int failed = sp_header_arrays_find(header, sp_delta_kinds, SP_DELTA_ARRAYS, &all, fault);
    if (failed)
        return failed;
    size_t size = header->n_arrays + (SP_ALIGNMENT - header->n_arrays) % SP_ALIGNMENT;
    if (!all || size > n - header->size) {
        sp_fault_say(fault, SP_WHY_DAMAGED, "its arrays take ");
        sp_fault_add_number(fault, header->n_arrays);
        sp_fault_add(fault, " bytes and it has ");
        sp_fault_add_number(fault, n - header->size);
        return sp_fault_add(fault, ": it was cut off");
    }
    const uint8_t *arrays = header->file + header->size;
    for (size_t i = header->n_arrays; i < size; i++) {
        if (arrays[i])
            return sp_fault_say(fault, SP_WHY_DAMAGED, "there is more data after its arrays");
    }
    return sp_header_fits(header, arrays)
               ? 0
               : sp_fault_say(fault, SP_WHY_DAMAGED, "its arrays do not match their checksum");
}

SP_API int sp_delta_header_read(sp_header *header, const uint8_t *file, size_t n, size_t *size,
                                sp_fault *fault)
{
    memset(header, 0, sizeof(*header));
    size_t length = n < 8 ? 0 : sp_header_length(file);
    if (length == 0 || length > n - 8 || (length + 8) % SP_ALIGNMENT)
        return sp_fault_say(fault, SP_WHY_FOREIGN,
                            "is not a delta, or was cut off: it has no header");
    header->file = file;
    header->size = 8 + length;
    int failed = sp_json_read(&header->json, file + 8, length, fault);
    if (failed == SP_WHY_MEMORY)
        return failed;
    if (failed || !sp_metadata_find(header))
        return sp_fault_say(fault, SP_WHY_FOREIGN, "is not a delta: its header is not JSON");
    const sp_json *json = &header->json;
    uint32_t version = sp_json_get(json, header->metadata, "version");
    if (!sp_json_is(json, sp_json_get(json, header->metadata, "format"), "streamptron delta")
        || !sp_json_is(json, version, SP_DELTA_VERSION))
        return sp_delta_foreign(header, fault);
    failed = sp_delta_whole(header, n, fault);
    *size = header->size + header->n_arrays
            + (SP_ALIGNMENT - header->n_arrays) % SP_ALIGNMENT;
    return failed;
}

/* --- Parts */

SP_API void sp_part_free(sp_part *part)
{
    sp_json_free(&part->json);
    sp_free(part->text);
    memset(part, 0, sizeof(*part));
}

SP_PRIVATE int sp_part_read(const sp_header *header, const char *name, sp_part *part,
                            sp_fault *fault)
{
    uint32_t node = sp_json_get(&header->json, header->metadata, name);
    memset(part, 0, sizeof(*part));
    if (node == 0)
        return 0;
    part->there = true;
    part->text = (uint8_t *)sp_malloc(sp_json_length(&header->json, node) + 1);
    if (part->text == NULL)
        return sp_fault_memory(fault);
    part->n = sp_json_string(&header->json, node, part->text);
    int failed = sp_json_read(&part->json, part->text, part->n, fault);
    if (failed == SP_WHY_DAMAGED) {
        sp_fault_say(fault, failed, "the part ");
        sp_fault_add(fault, name);
        sp_fault_add(fault, " is not JSON, or has a name twice");
    }
    return failed;
}
