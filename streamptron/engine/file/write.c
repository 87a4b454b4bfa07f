#include "file/write.h"

#include "file/counts.h"
#include "file/crc.h"
#include "file/delta.h"
#include "json/numbers.h"
#include "json/plain.h"
#include "memory/heap.h"
#include "names/letters.h"

#include <string.h>

SP_API void sp_header_begin(sp_bytes *to, bool delta)
{
    sp_bytes_add(to, "\0\0\0\0\0\0\0", 8); /* room for the length */
    sp_bytes_word(to, delta ? "{\"__metadata__\":{\"format\":\"streamptron delta\",\"version\":\""
                              SP_DELTA_VERSION "\""
                            : "{\"__metadata__\":{\"format\":\"streamptron\",\"version\":\""
                              SP_FORMAT_VERSION "\"");
}

SP_API void sp_header_put(sp_bytes *to, const char *name, const void *text, size_t n)
{
    sp_bytes_word(to, ",\"");
    sp_bytes_word(to, name);
    sp_bytes_word(to, "\":");
    sp_json_quote((const uint8_t *)text, n, to);
}

/* Eight hexadecimal digits. */
static void sp_crc_digits(uint32_t crc, char *to)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < SP_CRC_DIGITS; i++)
        to[i] = digits[crc >> (28 - 4 * i) & 15];
}

/* Write type and place of an array. */
static void sp_shape_write(sp_bytes *to, const sp_array_kind *kind, const sp_array *shape)
{
    sp_bytes_word(to, ",\"");
    sp_bytes_word(to, kind->name);
    sp_bytes_word(to, "\":{\"dtype\":\"");
    sp_bytes_word(to, kind->dtype);
    sp_bytes_word(to, "\",\"shape\":[");
    sp_bytes_number(to, shape->n);
    if (shape->width) {
        sp_bytes_word(to, ",");
        sp_bytes_number(to, shape->width);
    }
    sp_bytes_word(to, "],\"data_offsets\":[");
    sp_bytes_number(to, shape->start);
    sp_bytes_word(to, ",");
    sp_bytes_number(to, shape->end);
    sp_bytes_word(to, "]}");
}

/* Add the spaces at the end; fill in the length and the header's own checksum. */
static int sp_header_end(sp_bytes *header, sp_fault *fault)
{
    static const char spaces[SP_ALIGNMENT + 1] =
        "                                                                ";
    static const char place[] = "\"header_crc32\":\"00000000\"";
    if (!header->failed)
        sp_bytes_add(header, spaces, (SP_ALIGNMENT - header->n % SP_ALIGNMENT) % SP_ALIGNMENT);
    if (header->failed)
        return sp_fault_memory(fault);
    uint64_t length = header->n - 8;
    if (length > SP_HEADER_MOST) {
        sp_fault_say(fault, SP_WHY_PARAMETER, "labels, odd feature names and metadata take ");
        sp_fault_add_number(fault, length);
        return sp_fault_add(fault, " bytes, and a model file holds at most 100000000 of them");
    }
    for (int i = 0; i < 8; i++)
        header->p[i] = (uint8_t)(length >> (8 * i));
    uint32_t crc = sp_crc32(0, header->p, header->n);
    size_t at = header->n; /* the last such place; in texts, quotes have a backslash before them */
    while (memcmp(header->p + at - sizeof(place) + 1, place, sizeof(place) - 1) != 0)
        at--;
    sp_crc_digits(crc, (char *)header->p + at - 1 - SP_CRC_DIGITS);
    return 0;
}

SP_API int sp_header_finish(sp_bytes *to, uint32_t arrays_crc32, const sp_array *arrays,
                           sp_kind_of kind_of, int n, sp_fault *fault)
{
    char digits[SP_CRC_DIGITS];
    sp_crc_digits(arrays_crc32, digits);
    sp_header_put(to, "arrays_crc32", digits, SP_CRC_DIGITS);
    sp_header_put(to, "header_crc32", "00000000", SP_CRC_DIGITS);
    sp_bytes_word(to, "}");
    for (int i = 0; i < n; i++) {
        if (arrays[i].there)
            sp_shape_write(to, kind_of(i), &arrays[i]);
    }
    sp_bytes_word(to, "}");
    return sp_header_end(to, fault);
}

/* A header that is being written. */
typedef struct sp_writing {
    const sp_contents *contents;
    const sp_bytes *more_labels;
    sp_bytes *to;
    sp_bytes part; /* the text of one part, before it becomes a string */
} sp_writing;

static void sp_word_entry(sp_writing *w, const char *name, const char *word)
{
    sp_header_put(w->to, name, word, strlen(word));
}

/* Add the part that has been written separately. */
static void sp_part_end(sp_writing *w, const char *name)
{
    w->to->failed |= w->part.failed;
    sp_header_put(w->to, name, w->part.p, w->part.n);
    w->part.n = 0;
}

/* A part that consists of a text. */
static void sp_string_entry(sp_writing *w, const char *name, const char *text)
{
    sp_json_quote((const uint8_t *)text, strlen(text), &w->part);
    sp_part_end(w, name);
}

/* A part that is written as it was read. */
static void sp_snapshot_write(sp_writing *w, const char *name, int part)
{
    const sp_part *kept = &w->contents->parts[part];
    if (kept->there)
        sp_header_put(w->to, name, kept->text, kept->n);
}

SP_PRIVATE int sp_labels_part(const sp_contents *contents, const sp_bytes *more, sp_part *part,
                              sp_fault *fault)
{
    size_t comma = more->n > 0;
    return sp_part_joined(part, &contents->parts[SP_PART_LABELS],
                          comma ? more->p + comma : (const uint8_t *)"", more->n - comma, fault);
}

static void sp_labels_write(sp_writing *w)
{
    sp_part part;
    sp_fault fault;
    if (w->more_labels->n == 0) {
        sp_snapshot_write(w, "labels", SP_PART_LABELS);
        return;
    }
    if (sp_labels_part(w->contents, w->more_labels, &part, &fault) == 0)
        sp_header_put(w->to, "labels", part.text, part.n);
    else
        w->to->failed = true;
    sp_part_free(&part);
}

static void sp_counts_put(sp_writing *w)
{
    const sp_learner *learner = &w->contents->learner;
    for (int i = 0; i < SP_COUNTS; i++) {
        const char *name = sp_counts_name(learner, i);
        if (name == NULL)
            continue;
        sp_counts_write(learner, i, &w->part);
        sp_part_end(w, name);
    }
}

static void sp_metadata_write(sp_writing *w, const char *by)
{
    const sp_contents *contents = w->contents;
    char digits[SP_NUMBER_ROOM] = {0};
    sp_header_begin(w->to, false);
    sp_word_entry(w, "streamptron", by);
    sp_string_entry(w, "class", sp_class_name(contents->kind));
    sp_snapshot_write(w, "parameters", SP_PART_PARAMETERS);
    sp_hex_whole_write(contents->learner.index.seed_number, digits);
    sp_string_entry(w, "seed", digits);
    sp_labels_write(w);
    sp_snapshot_write(w, "objects", SP_PART_OBJECTS);
    sp_snapshot_write(w, "y_name", SP_PART_Y_NAME);
    sp_counts_put(w);
    sp_snapshot_write(w, "past", SP_PART_PAST);
    sp_snapshot_write(w, "tokenizer", SP_PART_TOKENIZER);
    sp_snapshot_write(w, "mail", SP_PART_MAIL);
    if (contents->has_tokens)
        sp_string_entry(w, "unicode", sp_letters_unicode);
    sp_snapshot_write(w, "lines", SP_PART_LINES);
    sp_snapshot_write(w, "position", SP_PART_POSITION);
    sp_snapshot_write(w, "metadata", SP_PART_METADATA);
}

/* --- Deltas */

/* A list with these values. */
static void sp_list_entry(sp_writing *w, const char *name, const sp_bytes *inside)
{
    sp_bytes_word(&w->part, "[");
    sp_bytes_add(&w->part, inside->p, inside->n);
    sp_bytes_word(&w->part, "]");
    sp_part_end(w, name);
}

static void sp_delta_metadata(sp_writing *w, const sp_delta_said *said)
{
    const sp_contents *contents = w->contents;
    sp_header_begin(w->to, true);
    sp_string_entry(w, "class", sp_class_name(contents->kind));
    sp_string_entry(w, "base", said->base);
    sp_bytes_number(&w->part, said->shard);
    sp_part_end(w, "shard");
    sp_snapshot_write(w, "parameters", SP_PART_PARAMETERS);
    if (sp_json_type(&contents->parts[SP_PART_LABELS].json, 0) == SP_JSON_LIST)
        sp_list_entry(w, "labels", &said->labels);
    else
        sp_snapshot_write(w, "labels", SP_PART_LABELS);
    sp_list_entry(w, "objects", &said->objects);
    sp_counts_put(w);
}

/* The bytes of a delta, whose arrays exist and start here. */
static int sp_delta_text(const sp_contents *contents, sp_array *arrays, void *const *starts,
                         const sp_delta_said *said, sp_bytes *to, sp_fault *fault)
{
    static const uint8_t zeros[SP_ALIGNMENT] = {0};
    sp_writing w = {contents, NULL, to, {.failed = false}};
    uint32_t crc = 0;
    size_t at = 0;
    for (int i = 0; i < SP_DELTA_ARRAYS; i++) {
        if (arrays[i].there)
            crc = sp_crc32(crc, starts[i], arrays[i].end);
        arrays[i].start = at;
        at = arrays[i].end += at;
    }
    sp_delta_metadata(&w, said);
    to->failed |= w.part.failed;
    sp_bytes_free(&w.part);
    int failed = sp_header_finish(to, crc, arrays, sp_delta_kind_of, SP_DELTA_ARRAYS, fault);
    for (int i = 0; i < SP_DELTA_ARRAYS && !failed; i++) {
        if (arrays[i].there)
            sp_bytes_add(to, starts[i], arrays[i].end - arrays[i].start);
    }
    sp_bytes_add(to, zeros, (SP_ALIGNMENT - at % SP_ALIGNMENT) % SP_ALIGNMENT);
    return failed || !to->failed ? failed : sp_fault_memory(fault);
}

SP_PRIVATE int sp_delta_bytes(const sp_contents *contents, sp_delta *delta, const sp_shard *shard,
                              const sp_shard *base, const sp_delta_said *said, sp_bytes *to,
                              sp_fault *fault)
{
    sp_array arrays[SP_DELTA_ARRAYS];
    void *p[SP_DELTA_ARRAYS] = {NULL};
    size_t n[SP_DELTA_ARRAYS];
    int failed = 0;
    sp_delta_shapes(delta, shard->learner, arrays);
    for (int i = 0; i < SP_DELTA_ARRAYS; i++) {
        n[i] = arrays[i].n;
        p[i] = arrays[i].there ? sp_malloc(arrays[i].end + 8) : NULL;
        if (arrays[i].there && p[i] == NULL)
            failed = sp_fault_memory(fault);
    }
    if (!failed) {
        sp_delta_use(delta, shard->learner, p, n);
        sp_delta_write(delta, shard, base);
        failed = sp_delta_text(contents, arrays, p, said, to, fault);
    }
    for (int i = 0; i < SP_DELTA_ARRAYS; i++)
        sp_free(p[i]);
    return failed;
}

SP_PRIVATE void sp_written_free(sp_written *written)
{
    sp_bytes_free(&written->header);
    sp_file_arrays_free(&written->arrays);
}

SP_PRIVATE const void *sp_written_piece(const sp_written *written, int i, size_t *n)
{
    static const char none[1] = {0};
    *n = 0;
    if (i == 0) {
        *n = written->header.n;
        return written->header.p;
    }
    if (i > SP_ARRAYS)
        return NULL;
    const sp_array *shape = &written->arrays.shapes[i - 1];
    *n = shape->end - shape->start;
    return shape->there ? written->arrays.start[i - 1] : none;
}

SP_PRIVATE int sp_contents_write(const sp_contents *contents, const char *by,
                                 const sp_bytes *more_labels, sp_written *to, sp_fault *fault)
{
    sp_writing w = {contents, more_labels, &to->header, {.failed = false}};
    uint32_t crc = 0;
    memset(to, 0, sizeof(*to));
    const sp_bytes *journal = contents->has_journal ? &contents->journal : NULL;
    int failed = sp_file_arrays_write(&contents->learner, journal, &to->arrays, fault);
    if (failed)
        return failed;
    const sp_array *shapes = to->arrays.shapes;
    for (int i = 0; i < SP_ARRAYS; i++) {
        if (shapes[i].there)
            crc = sp_crc32(crc, to->arrays.start[i], shapes[i].end - shapes[i].start);
    }
    sp_metadata_write(&w, by);
    to->header.failed |= w.part.failed;
    sp_bytes_free(&w.part);
    return sp_header_finish(&to->header, crc, shapes, sp_array_kind_of, SP_ARRAYS, fault);
}
