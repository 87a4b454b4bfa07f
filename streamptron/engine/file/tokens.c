#include "file/tokens.h"

#include "json/values.h"
#include "memory/heap.h"

#include <string.h>

/* The parameters as given. */
typedef struct sp_token_settings {
    int analyzer;
    uint32_t ngram_range;
    bool lowercase;
    uint32_t separators;
    uint64_t min_length;
    uint64_t max_length; /* 0: none */
    bool fold_numbers;
    int value;
    uint32_t normalize;
    uint32_t fields;
    bool headers; /* from here on a Mail's */
    bool text;
    bool fold;
    uint64_t bytes;
} sp_token_settings;

#define SP_KIND_TRUTH SP_SETTING_TRUTH
#define SP_KIND_WORD SP_SETTING_WORD
#define SP_KIND_WORD_OR_NONE SP_SETTING_NODE
#define SP_KIND_COUNT SP_SETTING_WHOLE
#define SP_KIND_COUNT_OR_NONE SP_SETTING_MAYBE
#define SP_KIND_RANGE SP_SETTING_RANGE
#define SP_KIND_TEXT SP_SETTING_NODE
#define SP_KIND_NAMES SP_SETTING_NODE
#define SP_TOKEN(name, of, kind, low, high, start, want, about) \
    {#name, of, SP_KIND_##kind, offsetof(sp_token_settings, name), low, high, want, start},

static const sp_setting sp_tokens_settings[] = {
#include "file/parameters_table.h"
};
enum { SP_TOKENS_SETTINGS = sizeof(sp_tokens_settings) / sizeof(*sp_tokens_settings) };

SP_PRIVATE void sp_tokens_free(sp_tokens *tokens)
{
    sp_free(tokens->rule.characters.separators);
    sp_free(tokens->prefixes);
    sp_arena_free(&tokens->held);
    memset(tokens, 0, sizeof(*tokens));
}

/* The first value of a tuple, in a file's form or as people write it, and how many there are. 0:
   this is not a tuple. */
static uint32_t sp_tuple_at(const sp_given *given, uint32_t node, uint32_t *n)
{
    const sp_json *json = given->json;
    if (sp_json_type(json, node) != SP_JSON_LIST)
        return 0;
    *n = json->nodes[node].n;
    if (given->plain)
        return node + 1;
    if (*n == 0 || !(sp_json_is(json, node + 1, "tuple") || sp_json_is(json, node + 1, "list")))
        return 0;
    *n -= 1;
    return node + 2;
}

static int sp_grams_read(sp_tokens *tokens, const sp_given *given, uint32_t node, sp_fault *fault)
{
    uint32_t n = 0;
    uint64_t low, high;
    uint32_t first = node ? sp_tuple_at(given, node, &n) : 0;
    tokens->rule.low = tokens->rule.high = 1;
    if (node == 0)
        return 0;
    if (first == 0 || n != 2 || !sp_json_whole(given->json, first, SP_GRAMS_MOST, &low)
        || !sp_json_whole(given->json, first + 1, SP_GRAMS_MOST, &high) || low < 1 || high < low)
        return sp_setting_fault("ngram_range", given, node,
                                "a tuple (low, high) of ints, 1 <= low <= high <= 100", fault);
    tokens->rule.low = (int)low;
    tokens->rule.high = (int)high;
    return 0;
}

/* The code points of checked UTF-8. */
static ptrdiff_t sp_code_points(const uint8_t *p, size_t n, uint32_t *to)
{
    ptrdiff_t count = 0;
    for (size_t i = 0; i < n; count++) {
        size_t length = p[i] < 0x80 ? 1 : p[i] < 0xE0 ? 2 : p[i] < 0xF0 ? 3 : 4;
        uint32_t c = length == 1 ? p[i] : p[i] & (0x7FU >> length);
        for (size_t k = 1; k < length; k++)
            c = c << 6 | (p[i + k] & 0x3F);
        to[count] = c;
        i += length;
    }
    return count;
}

static int sp_separators_read(sp_tokens *tokens, const sp_given *given, uint32_t node,
                              sp_fault *fault)
{
    sp_characters *characters = &tokens->rule.characters;
    if (node == 0)
        return 0;
    if (sp_json_type(given->json, node) != SP_JSON_STRING || sp_json_length(given->json, node) == 0)
        return sp_setting_fault("separators", given, node,
                                "None or a str of characters that separate words", fault);
    size_t most = sp_json_length(given->json, node);
    uint8_t *text = sp_arena_alloc(&tokens->held, most);
    characters->separators = (uint32_t *)sp_malloc(most * sizeof(uint32_t));
    if (text == NULL || characters->separators == NULL)
        return sp_fault_memory(fault);
    size_t n = sp_json_string(given->json, node, text);
    characters->n_separators = sp_code_points(text, n, characters->separators);
    characters->separated = true;
    sp_scan_separators(characters);
    return 0;
}

/* With analyzer "characters", refuse parameters that apply only to words. */
static int sp_characters_agree(const sp_tokens *tokens, const sp_token_settings *s, sp_fault *fault)
{
    const char *name = NULL;
    sp_token_settings start = {0};
    sp_settings_start(sp_tokens_settings, SP_TOKENS_SETTINGS, 'T', &start);
    if (tokens->rule.analyzer == SP_TEXT_CHARACTERS)
        name = s->separators                       ? "separators"
               : s->fold_numbers                   ? "fold_numbers"
               : s->min_length != start.min_length ? "min_length"
               : s->max_length != start.max_length ? "max_length"
                                                   : NULL;
    if (name != NULL) {
        sp_fault_say(fault, SP_WHY_PARAMETER, name);
        return sp_fault_add(fault, " applies to words; leave it out with analyzer='char'");
    }
    if (s->separators && s->fold_numbers)
        return sp_fault_say(fault, SP_WHY_PARAMETER,
                            "fold_numbers=True needs the default word separators; it cannot be "
                            "combined with separators");
    if (s->max_length && s->max_length < s->min_length)
        return sp_fault_say(fault, SP_WHY_PARAMETER,
                            "max_length must be None or an int of at least min_length");
    return 0;
}

/* A field's name and a colon, the prefix of its tokens. Sixteen bytes before it may be read. */
static int sp_prefix_read(sp_tokens *tokens, const sp_json *json, uint32_t node, sp_fault *fault)
{
    sp_piece *piece = &tokens->prefixes[tokens->n_pieces];
    uint8_t *text = sp_arena_alloc(&tokens->held, sp_json_length(json, node) + 1);
    if (text == NULL)
        return sp_fault_memory(fault);
    piece->p = text;
    piece->n = sp_json_string(json, node, text);
    text[piece->n++] = ':';
    for (int i = 0; i < tokens->n_pieces; i++) {
        if (tokens->prefixes[i].n == piece->n
            && memcmp(tokens->prefixes[i].p, piece->p, piece->n) == 0)
            return sp_fault_say(fault, SP_WHY_PARAMETER, "fields: a name occurs twice");
    }
    tokens->n_pieces++;
    return 0;
}

/* A single text, whose tokens have no prefix. */
static int sp_no_fields(sp_tokens *tokens, sp_fault *fault)
{
    tokens->prefixes = (sp_piece *)sp_calloc(1, sizeof(sp_piece));
    if (tokens->prefixes == NULL)
        return sp_fault_memory(fault);
    tokens->prefixes->p = sp_arena_alloc(&tokens->held, 1);
    tokens->n_pieces = 1;
    return tokens->prefixes->p == NULL ? sp_fault_memory(fault) : 0;
}

static int sp_fields_read(sp_tokens *tokens, const sp_given *given, uint32_t node, sp_fault *fault)
{
    const sp_json *json = given->json;
    uint32_t n = 1, field = node;
    if (node && sp_json_type(json, node) != SP_JSON_STRING)
        field = sp_tuple_at(given, node, &n);
    tokens->named = node != 0;
    if (node == 0)
        return sp_no_fields(tokens, fault);
    if (field == 0 || n == 0)
        return sp_setting_fault("fields", given, node, "None, a name, or a tuple of names", fault);
    tokens->prefixes = (sp_piece *)sp_calloc(n, sizeof(sp_piece));
    if (tokens->prefixes == NULL)
        return sp_fault_memory(fault);
    for (uint32_t i = 0; i < n; i++, field = json->nodes[field].next) {
        if (sp_json_type(json, field) != SP_JSON_STRING)
            return sp_setting_fault("fields", given, node, "None, a name, or a tuple of names",
                                    fault);
        int failed = sp_prefix_read(tokens, json, field, fault);
        if (failed)
            return failed;
    }
    return 0;
}

SP_PRIVATE int sp_tokens_read(sp_tokens *tokens, const sp_given *given, sp_fault *fault)
{
    sp_token_settings s = {0};
    sp_text_rule *rule = &tokens->rule;
    memset(tokens, 0, sizeof(*tokens));
    sp_arena_init(&tokens->held);
    sp_settings_start(sp_tokens_settings, SP_TOKENS_SETTINGS, 'T', &s);
    int failed = sp_settings_read(sp_tokens_settings, SP_TOKENS_SETTINGS, "Tokenizer",
                                  'T', given, &s, fault);
    if (failed)
        return failed;
    rule->analyzer = s.analyzer;
    rule->characters.lowercase = s.lowercase;
    rule->fold = s.fold_numbers;
    rule->shortest = (size_t)s.min_length;
    rule->longest = s.max_length ? (size_t)s.max_length : (size_t)PTRDIFF_MAX;
    rule->value = s.value;
    rule->l2 = s.normalize != 0;
    if (s.normalize && !sp_json_is(given->json, s.normalize, "l2"))
        return sp_setting_fault("normalize", given, s.normalize, "None or 'l2'", fault);
    failed = sp_characters_agree(tokens, &s, fault);
    if (!failed)
        failed = sp_grams_read(tokens, given, s.ngram_range, fault);
    if (!failed)
        failed = sp_separators_read(tokens, given, s.separators, fault);
    return failed ? failed : sp_fields_read(tokens, given, s.fields, fault);
}

SP_PRIVATE int sp_mail_tokens_read(sp_tokens *tokens, const sp_given *given, sp_fault *fault)
{
    sp_token_settings s = {0};
    sp_text_rule *rule = &tokens->rule;
    memset(tokens, 0, sizeof(*tokens));
    sp_arena_init(&tokens->held);
    sp_settings_start(sp_tokens_settings, SP_TOKENS_SETTINGS, 'E', &s);
    int failed = sp_settings_read(sp_tokens_settings, SP_TOKENS_SETTINGS, "Mail", 'E',
                                  given, &s, fault);
    if (failed)
        return failed;
    if (s.bytes > 0 && s.bytes < SP_MAIL_GRAM) {
        sp_fault_say(fault, SP_WHY_PARAMETER, "bytes=");
        sp_fault_add_number(fault, s.bytes);
        return sp_fault_add(fault, "; it must be " SP_MAIL_BYTES_WANT);
    }
    if (!s.headers && !s.text && s.bytes == 0)
        return sp_fault_say(fault, SP_WHY_PARAMETER,
                            "headers=False, text=False and bytes=0 leave nothing of a mail; turn "
                            "one of them on");
    rule->analyzer = SP_TEXT_MAIL;
    rule->low = 1;
    rule->high = 2; /* at most twice as many features as a mail has bytes */
    rule->mail.headers = s.headers;
    rule->mail.text = s.text;
    rule->mail.fold = s.fold;
    rule->mail.bytes = (size_t)s.bytes;
    return sp_no_fields(tokens, fault);
}

SP_PRIVATE void sp_tokens_write(bool mail, const sp_json *json, sp_bytes *to)
{
    sp_settings_write(sp_tokens_settings, SP_TOKENS_SETTINGS, mail ? 'E' : 'T', json, to);
}
