#include "json/settings.h"

#include "json/numbers.h"
#include "json/plain.h"
#include "json/values.h"

#include <string.h>

SP_PRIVATE int sp_fault_add_value(sp_fault *fault, const sp_json *json, uint32_t node)
{
    sp_bytes shown = {.failed = false};
    sp_value_show(json, node, true, &shown);
    bool cut = shown.n > SP_WHY_SHOWN;
    if (!shown.failed)
        sp_fault_add_bytes(fault, shown.p, cut ? SP_WHY_SHOWN - 3 : shown.n);
    if (cut)
        sp_fault_add(fault, "...");
    sp_bytes_free(&shown);
    return fault->kind;
}

SP_PRIVATE int sp_setting_fault(const char *name, const sp_given *given, uint32_t node,
                                const char *want, sp_fault *fault)
{
    sp_fault_say(fault, SP_WHY_PARAMETER, name);
    sp_fault_add(fault, "=");
    sp_fault_add_value(fault, given->json, node);
    sp_fault_add(fault, "; it must be ");
    return sp_fault_add(fault, want);
}

/* The length of the first of several words, which are separated by bars. */
static size_t sp_first_word(const char *words)
{
    return strcspn(words, "|");
}

/* Which of several words, separated by bars, a string is; -1: none. */
static int sp_word_number(const sp_json *json, uint32_t node, const char *words)
{
    char word[32];
    for (int i = 0; *words; i++) {
        size_t n = sp_first_word(words);
        memcpy(word, words, n);
        word[n] = 0;
        if (sp_json_is(json, node, word))
            return i;
        words += n + (words[n] == '|');
    }
    return -1;
}

static int sp_word_fault(const sp_setting *setting, const sp_given *given, uint32_t node,
                         sp_fault *fault)
{
    const char *words = setting->want;
    sp_setting_fault(setting->name, given, node, "one of ", fault);
    while (*words) {
        size_t n = sp_first_word(words);
        sp_fault_add(fault, words == setting->want ? "'" : ", '");
        sp_fault_add_bytes(fault, words, n);
        sp_fault_add(fault, "'");
        words += n + (words[n] == '|');
    }
    return fault->kind;
}

static int sp_setting_take(const sp_setting *setting, const sp_given *given, uint32_t node,
                           void *to, sp_fault *fault)
{
    const sp_json *json = given->json;
    int type = sp_json_type(json, node);
    bool truth = type == SP_JSON_TRUE || type == SP_JSON_FALSE;
    uint8_t *place = (uint8_t *)to + setting->place;
    double number;
    uint64_t whole;
    int word;
    switch (setting->type) {
    case SP_SETTING_REAL:
    case SP_SETTING_SPAN:
        if (truth || !sp_value_number(json, node, given->plain, &number)
            || !(setting->low <= number && number <= setting->high))
            break;
        memcpy(place, &number, sizeof(number));
        return 0;
    case SP_SETTING_TRUTH:
        if (!truth)
            break;
        truth = type == SP_JSON_TRUE;
        memcpy(place, &truth, sizeof(truth));
        return 0;
    case SP_SETTING_WORD:
        word = sp_word_number(json, node, setting->want);
        if (word < 0)
            return sp_word_fault(setting, given, node, fault);
        memcpy(place, &word, sizeof(word));
        return 0;
    case SP_SETTING_NODE:
    case SP_SETTING_VALUE:
    case SP_SETTING_RANGE:
        node = type == SP_JSON_NULL && setting->type == SP_SETTING_NODE ? 0 : node;
        memcpy(place, &node, sizeof(node));
        return 0;
    default:
        whole = 0;
        if (!(type == SP_JSON_NULL && setting->type == SP_SETTING_MAYBE)
            && (!sp_value_whole(json, node, &whole)
                || !(setting->low <= (double)whole && (double)whole <= setting->high)))
            break;
        memcpy(place, &whole, sizeof(whole));
        return 0;
    }
    return sp_setting_fault(setting->name, given, node,
                            setting->want == NULL ? "True or False" : setting->want, fault);
}

SP_PRIVATE void sp_settings_start(const sp_setting *table, size_t n, char letter, void *to)
{
    for (const sp_setting *setting = table; setting < table + n; setting++) {
        uint8_t *place = (uint8_t *)to + setting->place;
        if (strchr(setting->of, letter) == NULL)
            continue;
        if (setting->type <= SP_SETTING_SPAN)
            memcpy(place, &setting->start, sizeof(double));
        else if (setting->type == SP_SETTING_TRUTH)
            *(bool *)place = setting->start != 0.0;
        else if (setting->type == SP_SETTING_WORD)
            *(int *)place = (int)setting->start;
        else if (setting->type < SP_SETTING_NODE)
            *(uint64_t *)place = (uint64_t)setting->start;
    }
}

SP_PRIVATE int sp_settings_read(const sp_setting *table, size_t n, const char *owner, char letter,
                                const sp_given *given, void *to, sp_fault *fault)
{
    const sp_json *json = given->json;
    if (sp_json_type(json, given->object) != SP_JSON_OBJECT)
        return sp_fault_say(fault, SP_WHY_PARAMETER, "the parameters are not a JSON object");
    uint32_t name = given->object + 1;
    for (uint32_t k = 0; k < json->nodes[given->object].n; k++) {
        size_t i = 0;
        while (i < n
               && !(strchr(table[i].of, letter) != NULL && sp_json_is(json, name, table[i].name)))
            i++;
        if (i == n) {
            sp_fault_say(fault, SP_WHY_PARAMETER, owner);
            sp_fault_add(fault, " has no parameter ");
            return sp_fault_add_value(fault, json, name);
        }
        int failed = sp_setting_take(&table[i], given, name + 1, to, fault);
        if (failed)
            return failed;
        name = json->nodes[name + 1].next;
    }
    return 0;
}

/* The default of a parameter, as in a file. */
static void sp_setting_start_write(const sp_setting *setting, sp_bytes *to)
{
    const bool word = setting->start < 0.0 || setting->type == SP_SETTING_WORD;
    const char *words = setting->want;
    uint64_t whole = (uint64_t)(setting->start < 0.0 ? 1.0 : setting->start);
    if (word) {
        for (uint64_t i = whole; i > 0; i--)
            words += sp_first_word(words) + 1;
        sp_json_quote((const uint8_t *)words, sp_first_word(words), to);
    } else if (setting->type == SP_SETTING_TRUTH)
        sp_bytes_word(to, whole ? "true" : "false");
    else if (setting->type == SP_SETTING_REAL || setting->type == SP_SETTING_VALUE)
        sp_plain_double(setting->start, to);
    else if (setting->type == SP_SETTING_NODE || (setting->type == SP_SETTING_MAYBE && !whole))
        sp_bytes_word(to, "null");
    else if (setting->type == SP_SETTING_RANGE) {
        sp_bytes_word(to, "[\"tuple\",");
        sp_bytes_number(to, whole);
        sp_bytes_word(to, ",");
        sp_bytes_number(to, whole);
        sp_bytes_word(to, "]");
    } else
        sp_bytes_number(to, whole);
}

SP_PRIVATE void sp_settings_write(const sp_setting *table, size_t n, char letter,
                                  const sp_json *json, sp_bytes *to)
{
    const char *before = "{";
    for (const sp_setting *setting = table; setting < table + n; setting++) {
        uint32_t given = 0, name = 1;
        if (strchr(setting->of, letter) == NULL)
            continue;
        for (uint32_t k = 0; k < json->nodes[0].n; k++, name = json->nodes[name + 1].next)
            given = sp_json_is(json, name, setting->name) ? name : given;
        sp_bytes_word(to, before);
        before = ",";
        sp_json_quote((const uint8_t *)setting->name, strlen(setting->name), to);
        sp_bytes_word(to, ":");
        if (given)
            sp_plain_write(json, given, to);
        else
            sp_setting_start_write(setting, to);
    }
    sp_bytes_word(to, "}");
}

/* --- Comparing */

/* Whether two values are the same. Dicts, which are lists of pairs, may differ in order. */
static bool sp_values_same(const sp_json *json, uint32_t a, const sp_json *other, uint32_t b)
{
    if (sp_values_equal(json, a, other, b))
        return true;
    if (sp_json_type(json, a) != SP_JSON_LIST || sp_json_type(other, b) != SP_JSON_LIST
        || json->nodes[a].n != other->nodes[b].n || json->nodes[a].n == 0
        || sp_json_is(json, a + 1, "tuple"))
        return false;
    for (uint32_t i = a + 1; i < json->nodes[a].next; i = json->nodes[i].next) {
        uint32_t k = b + 1;
        while (k < other->nodes[b].next && !sp_values_equal(json, i, other, k))
            k = other->nodes[k].next;
        if (k == other->nodes[b].next)
            return false;
    }
    return true;
}

static bool sp_setting_same(const sp_setting *setting, const sp_given *given, const void *its,
                            const sp_given *others, const void *theirs)
{
    static const uint8_t sizes[] = {sizeof(double), sizeof(double),   sizeof(bool),
                                    sizeof(int),    sizeof(uint64_t), sizeof(uint64_t)};
    const uint8_t *p = (const uint8_t *)its + setting->place;
    const uint8_t *q = (const uint8_t *)theirs + setting->place;
    if (setting->type < SP_SETTING_NODE)
        return memcmp(p, q, sizes[setting->type]) == 0;
    uint32_t a, b;
    memcpy(&a, p, sizeof(a));
    memcpy(&b, q, sizeof(b));
    if (a == 0 || b == 0)
        return a == b;
    return sp_values_same(given->json, a, others->json, b);
}

SP_PRIVATE const sp_setting *sp_settings_differ(const sp_setting *table, size_t n, char letter,
                                                const sp_given *given, const void *its,
                                                const sp_given *others, const void *theirs)
{
    for (size_t i = 0; i < n; i++) {
        if (strchr(table[i].of, letter) != NULL
            && !sp_setting_same(&table[i], given, its, others, theirs))
            return &table[i];
    }
    return NULL;
}

/* The value of a parameter that was not given, as Python shows it. */
static void sp_setting_default_add(sp_fault *fault, const sp_setting *setting, const uint8_t *p)
{
    char text[SP_NUMBER_ROOM];
    double number;
    uint64_t whole;
    const char *words = setting->want;
    switch (setting->type) {
    case SP_SETTING_REAL:
    case SP_SETTING_SPAN:
        memcpy(&number, p, sizeof(number));
        sp_fault_add_bytes(fault, text, sp_decimal_write(number, text));
        return;
    case SP_SETTING_TRUTH:
        sp_fault_add(fault, *p ? "True" : "False");
        return;
    case SP_SETTING_WORD:
        for (int i = *p; i > 0; i--)
            words += sp_first_word(words) + 1;
        sp_fault_add(fault, "'");
        sp_fault_add_bytes(fault, words, sp_first_word(words));
        sp_fault_add(fault, "'");
        return;
    case SP_SETTING_WHOLE:
    case SP_SETTING_MAYBE:
        memcpy(&whole, p, sizeof(whole));
        if (whole || setting->type == SP_SETTING_WHOLE) {
            sp_fault_add_number(fault, whole);
            return;
        }
    }
    sp_fault_add(fault, "None");
}

/* A list of pairs, as Python shows the dict that it represents. */
static int sp_pairs_add(sp_fault *fault, const sp_json *json, uint32_t list)
{
    for (uint32_t i = list + 1; i < json->nodes[list].next; i = json->nodes[i].next) {
        sp_fault_add(fault, i == list + 1 ? "{" : ", ");
        sp_fault_add_value(fault, json, i + 1);
        sp_fault_add(fault, ": ");
        sp_fault_add_value(fault, json, json->nodes[i + 1].next);
    }
    return sp_fault_add(fault, "}");
}

SP_PRIVATE int sp_fault_add_setting(sp_fault *fault, const sp_setting *setting,
                                    const sp_given *given, const void *its)
{
    uint32_t node = sp_json_get(given->json, given->object, setting->name);
    sp_fault_add(fault, setting->name);
    sp_fault_add(fault, "=");
    if (node && sp_json_type(given->json, node) == SP_JSON_LIST && given->json->nodes[node].n > 0
        && sp_json_type(given->json, node + 1) == SP_JSON_LIST)
        return sp_pairs_add(fault, given->json, node);
    if (node)
        return sp_fault_add_value(fault, given->json, node);
    sp_setting_default_add(fault, setting, (const uint8_t *)its + setting->place);
    return fault->kind;
}

SP_PRIVATE int sp_settings_conflict(const sp_setting *table, size_t n, char letter,
                                    const sp_given *given, const void *its, const char *sentence,
                                    sp_fault *fault)
{
    if (sentence == NULL)
        return 0;
    sp_fault_say(fault, SP_WHY_PARAMETER, "");
    while (*sentence) {
        size_t plain = strcspn(sentence, "{");
        sp_fault_add_bytes(fault, sentence, plain);
        sentence += plain;
        if (*sentence == 0)
            break;
        const char *name = sentence + 1;
        size_t size = strcspn(name, ":}"), end = strcspn(name, "}");
        if (size < end) {
            sp_fault_add_bytes(fault, name, size);
            sp_fault_add(fault, "=");
            sp_fault_add_bytes(fault, name + size + 1, end - size - 1);
        }
        for (size_t i = 0; size == end && i < n; i++) {
            if (strchr(table[i].of, letter) != NULL && strlen(table[i].name) == size
                && memcmp(table[i].name, name, size) == 0)
                sp_fault_add_setting(fault, &table[i], given, its);
        }
        sentence = name + end + 1;
    }
    return fault->kind;
}
