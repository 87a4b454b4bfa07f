#include "file/parameters.h"

#include "json/values.h"
#include "memory/heap.h"
#include "path/path.h"
#include "voted/vote.h"

#include <string.h>

#define SP_SIZE "of at least 0 and at most 1e+50"

/* The kinds in the table, as kinds of settings. */
#define SP_KIND_NUMBER SP_SETTING_REAL
#define SP_KIND_SPAN SP_SETTING_SPAN
#define SP_KIND_TRUTH SP_SETTING_TRUTH
#define SP_KIND_WORD SP_SETTING_WORD
#define SP_KIND_COUNT SP_SETTING_WHOLE
#define SP_KIND_COUNT_OR_NONE SP_SETTING_MAYBE
#define SP_KIND_SEED SP_SETTING_NODE
#define SP_KIND_BY_LABEL SP_SETTING_NODE
#define SP_KIND_FIELDS SP_SETTING_NODE
#define SP_KIND_NUMBER_OR_WORD SP_SETTING_VALUE
#define SP_PARAMETER(name, of, kind, to, low, high, start, want, needs, about) \
    {#name, of, SP_KIND_##kind, offsetof(sp_parameters, to), low, high, want, start},

static const sp_setting sp_learners_settings[] = {
#include "file/parameters_table.h"
};
enum { SP_PARAMETERS = sizeof(sp_learners_settings) / sizeof(*sp_learners_settings) };

SP_PRIVATE int sp_class_of(const sp_json *json, uint32_t node)
{
    const sp_rule_names *names;
    for (int kind = 0; (names = sp_rule_names_of(kind)) != NULL; kind++) {
        if (sp_json_is(json, node, names->class_name))
            return kind;
    }
    return -1;
}

SP_PRIVATE int sp_class_named(const char *name)
{
    const sp_rule_names *names;
    for (int kind = 0; (names = sp_rule_names_of(kind)) != NULL; kind++) {
        if (strcmp(name, names->class_name) == 0 || strcmp(name, names->command) == 0)
            return kind;
    }
    return -1;
}

SP_PRIVATE const char *sp_class_name(int kind)
{
    return sp_rule_names_of(kind)->class_name;
}

SP_PRIVATE char sp_class_letter(int kind)
{
    return sp_rule_names_of(kind)->letter;
}

SP_PRIVATE void sp_parameters_default(sp_parameters *p, int kind)
{
    const char letter = sp_class_letter(kind);
    memset(p, 0, sizeof(*p));
    /* for classes that lack these parameters */
    p->rule.kind = kind;
    p->rule.C = p->rule.r = p->rule.eta = 1.0;
    p->vectors.halving = 1.0;
    p->degree = 1;
    p->max_pairs = 1000000;
    sp_settings_start(sp_learners_settings, SP_PARAMETERS, letter, p);
    for (int i = 0; i < SP_PARAMETERS; i++) {
        const sp_setting *s = &sp_learners_settings[i];
        if (strchr(s->of, letter) == NULL)
            continue;
        if (s->place == offsetof(sp_parameters, forget)) {
            p->rule.watches = s->start < 0.0;
            p->rule.forget = p->rule.watches ? 0.0 : s->start;
        } else if (s->place == offsetof(sp_parameters, threshold))
            p->above = s->start;
    }
}

SP_PRIVATE const char *sp_parameters_conflict(const sp_parameters *p)
{
    const bool ranks = sp_rule_answer(&p->rule) == SP_ANSWER_CANDIDATES;
    const bool plain = p->rule.update == SP_UPDATE_PERCEPTRON;
    if (p->vectors.serve == SP_KEPT_AVERAGE && p->vectors.average == SP_AVERAGE_NONE)
        return "{serve} needs an average: give {average:'uniform'} or 'exponential', or "
               "{serve:'current'} to do without one";
    if (p->vectors.serve == SP_KEPT_POCKET && !p->vectors.pocket)
        return "{serve} needs {pocket:True}";
    if (p->max_features && p->hash_bits)
        return "{max_features} and {hash_bits} are both given; a hashed table has a fixed size: "
               "choose one";
    if (p->degree == 2 && p->interactions)
        return "{degree} and {interactions} are both given; {degree} pairs all features: choose "
               "one";
    if (ranks && plain && p->rule.C != 1.0)
        return "{C} bounds the steps of {update:'margin'} and 'mistake'; leave it out with "
               "{update:'perceptron'}";
    if (ranks && !plain && p->rule.margin != 0.0)
        return "{margin} is for {update:'perceptron'}; leave it out: with {update} the margin is 1";
    return NULL;
}

/* --- Numbers by label: a list of pairs, or one after "dict"; people may also write an object */

typedef struct sp_weight_list {
    const sp_json *json;
    uint32_t left;
    uint32_t at;
    bool object;
} sp_weight_list;

static sp_weight_list sp_weight_list_begin(const sp_given *given, uint32_t node)
{
    sp_weight_list weights = {given->json, 0, node + 1, false};
    if (node != 0) {
        bool named = given->json->nodes[node].n > 0 && sp_json_is(given->json, node + 1, "dict")
                     && sp_json_type(given->json, node) == SP_JSON_LIST;
        weights.left = given->json->nodes[node].n - named;
        weights.at += named;
        weights.object = sp_json_type(given->json, node) == SP_JSON_OBJECT;
    }
    return weights;
}

/* The next label and its weight, two nodes. False: there is none. */
static bool sp_weight_list_next(sp_weight_list *weights, uint32_t *label, uint32_t *weight)
{
    if (weights->left == 0)
        return false;
    weights->left--;
    *label = weights->at + !weights->object;
    *weight = weights->json->nodes[*label].next;
    weights->at = weights->json->nodes[*weight].next;
    return true;
}

/* Whether all values of a list are pairs, except the first `from`. */
static bool sp_are_pairs(const sp_json *json, uint32_t list, uint32_t from)
{
    uint32_t pair = list + 1 + from;
    for (uint32_t i = from; i < json->nodes[list].n; i++, pair = json->nodes[pair].next) {
        if (sp_json_type(json, pair) != SP_JSON_LIST || json->nodes[pair].n != 2)
            return false;
    }
    return true;
}

/* Whether a node has numbers by label, or is missing. */
static bool sp_are_by_label(const sp_given *given, uint32_t node)
{
    const int type = node ? sp_json_type(given->json, node) : SP_JSON_NULL;
    return type == SP_JSON_NULL || (given->plain && type == SP_JSON_OBJECT)
           || (type == SP_JSON_LIST && sp_are_pairs(given->json, node, 0));
}

static int sp_class_weight_check(const sp_parameters *p, const sp_given *given, sp_fault *fault)
{
    const sp_json *json = given->json;
    uint32_t node = p->class_weight, label, weight;
    double number, truth;
    if (!sp_are_by_label(given, node))
        return sp_setting_fault("class_weight", given, node, "None or a dict of label to weight",
                                fault);
    sp_weight_list weights = sp_weight_list_begin(given, node);
    while (sp_weight_list_next(&weights, &label, &weight)) {
        bool two = sp_rule_answer(&p->rule) == SP_ANSWER_SIGN;
        if (!sp_is_label(json, label)
            || (two
                && !(sp_value_number(json, label, false, &truth)
                     && (truth == 0.0 || truth == 1.0)))) {
            sp_fault_say(fault, SP_WHY_PARAMETER, "class_weight has an invalid label: ");
            return sp_fault_add_value(fault, json, label);
        }
        if (sp_json_type(json, weight) == SP_JSON_TRUE
            || sp_json_type(json, weight) == SP_JSON_FALSE
            || !sp_value_number(json, weight, given->plain, &number)
            || !(number >= 0.0 && number <= 1e50))
            return sp_setting_fault("class_weight", given, weight, "a number " SP_SIZE, fault);
    }
    return 0;
}

SP_PRIVATE double sp_class_weight(const sp_parameters *parameters, const sp_given *given,
                                  const sp_json *json, uint32_t label)
{
    double weight = 1.0;
    uint32_t its, number;
    sp_weight_list weights = sp_weight_list_begin(given, parameters->class_weight);
    while (sp_weight_list_next(&weights, &its, &number)) {
        if (sp_values_equal(given->json, its, json, label))
            sp_value_number(given->json, number, given->plain, &weight); /* the last one counts */
    }
    return weight;
}

/* --- false_positive_rate: a rate by label, each label once */

static bool sp_is_share(const sp_given *given, uint32_t node, double *number)
{
    int type = sp_json_type(given->json, node);
    return type != SP_JSON_TRUE && type != SP_JSON_FALSE
           && sp_value_number(given->json, node, given->plain, number) && 0.0 < *number
           && *number < 1.0;
}

/* The place of a label's rate among the first `end`; -1: it has none. */
static ptrdiff_t sp_rate_of(const sp_parameters *p, const sp_given *given, const sp_json *json,
                            uint32_t label, ptrdiff_t end)
{
    uint32_t its, number;
    sp_weight_list rates = sp_weight_list_begin(given, p->false_positive_rate);
    for (ptrdiff_t i = 0; i < end && sp_weight_list_next(&rates, &its, &number); i++) {
        if (sp_values_equal(given->json, its, json, label))
            return i;
    }
    return -1;
}

static int sp_rates_check(const sp_parameters *p, const sp_given *given, sp_fault *fault)
{
    static const char name[] = "false_positive_rate";
    const sp_json *json = given->json;
    const uint32_t node = p->false_positive_rate;
    uint32_t label, rate;
    double number;
    if (!sp_are_by_label(given, node))
        return sp_setting_fault(name, given, node, "None or a dict of label to rate", fault);
    sp_weight_list rates = sp_weight_list_begin(given, node);
    for (ptrdiff_t i = 0; sp_weight_list_next(&rates, &label, &rate); i++) {
        if (!sp_is_label(json, label) || sp_rate_of(p, given, json, label, i) >= 0) {
            sp_fault_say(fault, SP_WHY_PARAMETER, name);
            sp_fault_add(fault, sp_is_label(json, label) ? " has a label twice: "
                                                         : " has an invalid label: ");
            return sp_fault_add_value(fault, json, label);
        }
        if (!sp_is_share(given, rate, &number))
            return sp_setting_fault(name, given, rate, "a number above 0 and below 1", fault);
    }
    return 0;
}

static int sp_rates_apply(const sp_parameters *p, const sp_given *given, sp_alarms *alarms)
{
    uint32_t label, rate;
    ptrdiff_t n = 0;
    sp_weight_list rates = sp_weight_list_begin(given, p->false_positive_rate);
    if (sp_alarms_begin(alarms, (ptrdiff_t)rates.left) < 0)
        return -1;
    while (sp_weight_list_next(&rates, &label, &rate))
        sp_value_number(given->json, rate, given->plain, &alarms->of[n++].rate);
    return 0;
}

SP_PRIVATE void sp_alarms_name(const sp_parameters *parameters, const sp_given *given,
                               const sp_json *json, uint32_t label, ptrdiff_t k,
                               sp_learner *learner)
{
    sp_alarms *alarms = &learner->adaptive.alarms;
    if (alarms->n)
        sp_alarms_bind(alarms, sp_rate_of(parameters, given, json, label, alarms->n), k);
}

/* --- threshold: a number, "f1", or numbers by label */

static int sp_threshold_fault(const sp_given *given, uint32_t node, sp_fault *fault)
{
    double number;
    int type = sp_json_type(given->json, node);
    if (type == SP_JSON_STRING)
        return sp_setting_fault("threshold", given, node,
                                "a number above 0 and below 1, {label: number}, or 'f1'", fault);
    sp_setting_fault("threshold", given, node, "a number above 0 and below 1", fault);
    if (type == SP_JSON_TRUE || type == SP_JSON_FALSE
        || !sp_value_number(given->json, node, given->plain, &number))
        return fault->kind;
    return sp_fault_add(fault, ": a label is answered if its probability is above it");
}

static int sp_threshold_read(sp_parameters *p, const sp_given *given, sp_fault *fault)
{
    const sp_json *json = given->json;
    uint32_t node = p->threshold, label, its;
    int type = sp_json_type(json, node);
    double number;
    bool plain = given->plain && (type == SP_JSON_LIST || type == SP_JSON_OBJECT);
    bool named = !given->plain && type == SP_JSON_LIST && json->nodes[node].n > 0
                 && sp_json_is(json, node + 1, "dict");
    p->threshold = 0;
    p->best = sp_json_is(json, node, "f1");
    if (p->best || sp_is_share(given, node, &p->above))
        return 0;
    if (!(named || plain) || (type == SP_JSON_LIST && !sp_are_pairs(json, node, named)))
        return sp_threshold_fault(given, node, fault);
    p->threshold = node;
    p->above = 0.5;
    sp_weight_list numbers = sp_weight_list_begin(given, node);
    while (sp_weight_list_next(&numbers, &label, &its)) {
        if (!sp_is_label(json, label)) {
            sp_fault_say(fault, SP_WHY_PARAMETER, "threshold has an invalid label: ");
            return sp_fault_add_value(fault, json, label);
        }
        if (!sp_is_share(given, its, &number))
            return sp_threshold_fault(given, its, fault);
    }
    return 0;
}

SP_PRIVATE double sp_threshold_of(const sp_parameters *parameters, const sp_given *given,
                                  const sp_json *json, uint32_t label)
{
    double above = parameters->above;
    uint32_t its, number;
    sp_weight_list numbers = sp_weight_list_begin(given, parameters->threshold);
    while (sp_weight_list_next(&numbers, &its, &number)) {
        if (sp_values_equal(given->json, its, json, label))
            sp_value_number(given->json, number, given->plain, &above); /* the last one counts */
    }
    return above;
}

/* --- All of them */

/* How fast a learner forgets: a number; for AdaptiveClassifier also "auto". */
static int sp_forget_read(sp_parameters *p, const sp_given *given, sp_fault *fault)
{
    const sp_json *json = given->json;
    int type = sp_json_type(json, p->forget);
    bool can_watch = sp_rule_can(p->rule.kind) & SP_CAN_WATCH;
    p->rule.watches = can_watch && sp_json_is(json, p->forget, "auto");
    p->rule.forget = 0.0;
    if (p->rule.watches)
        return 0;
    if (type != SP_JSON_TRUE && type != SP_JSON_FALSE
        && sp_value_number(json, p->forget, given->plain, &p->rule.forget) && 0.0 <= p->rule.forget
        && p->rule.forget <= 1.0)
        return 0;
    return sp_setting_fault("forget", given, p->forget,
                            can_watch ? "a number of at least 0 (or 'auto') and at most 1"
                                      : "a number of at least 0 and at most 1",
                            fault);
}

SP_PRIVATE int sp_parameters_read(sp_parameters *parameters, int kind, const sp_given *given,
                                  sp_fault *fault)
{
    sp_parameters_default(parameters, kind);
    int failed = sp_settings_read(sp_learners_settings, SP_PARAMETERS, sp_class_name(kind),
                                  sp_class_letter(kind), given, parameters, fault);
    if (!failed && parameters->forget)
        failed = sp_forget_read(parameters, given, fault);
    if (!failed && parameters->threshold)
        failed = sp_threshold_read(parameters, given, fault);
    if (!failed && parameters->seed) {
        parameters->seeded = true;
        if (!sp_value_whole(given->json, parameters->seed, &parameters->hash_seed))
            failed = sp_setting_fault("hash_seed", given, parameters->seed,
                                      "None or an int from 0 to 18446744073709551615", fault);
    }
    if (!failed)
        failed = sp_settings_conflict(sp_learners_settings, SP_PARAMETERS, sp_class_letter(kind),
                                      given, parameters, sp_parameters_conflict(parameters), fault);
    if (!failed)
        failed = sp_class_weight_check(parameters, given, fault);
    return failed ? failed : sp_rates_check(parameters, given, fault);
}

SP_PRIVATE int sp_parameters_alike(int kind, const sp_given *given, const sp_parameters *its,
                                   const char *name, const sp_given *others,
                                   const sp_parameters *theirs, const char *other, sp_fault *fault)
{
    const sp_setting *setting = sp_settings_differ(
        sp_learners_settings, SP_PARAMETERS, sp_class_letter(kind), given, its, others, theirs);
    if (setting == NULL)
        return 0;
    sp_fault_say(fault, SP_WHY_PARAMETER, name);
    sp_fault_add(fault, " has ");
    sp_fault_add_setting(fault, setting, given, its);
    sp_fault_add(fault, " and ");
    sp_fault_add(fault, other);
    sp_fault_add(fault, " ");
    sp_fault_add_setting(fault, setting, others, theirs);
    return sp_fault_add(fault, "; only models of the same parameters can be merged");
}

SP_PRIVATE void sp_parameters_write(int kind, const sp_json *json, sp_bytes *to)
{
    sp_settings_write(sp_learners_settings, SP_PARAMETERS, sp_class_letter(kind), json, to);
}

/* --- Pairs */

SP_PRIVATE void sp_pairing_free(sp_pairing *pairing)
{
    sp_free(pairing->fields);
    sp_arena_free(&pairing->names);
    memset(pairing, 0, sizeof(*pairing));
}

/* The number of the field with this name, which may be new; -1 if out of memory, -2: too many. */
static int sp_pairing_field(sp_pairing *pairing, const sp_json *json, uint32_t node)
{
    uint8_t *name = sp_arena_alloc(&pairing->names, sp_json_length(json, node) + 1);
    if (name == NULL)
        return -1;
    size_t n = sp_json_string(json, node, name);
    for (int i = 0; i < pairing->rule.n_fields; i++) {
        if (pairing->fields[i].n == n && memcmp(pairing->fields[i].p, name, n) == 0)
            return i;
    }
    if (pairing->rule.n_fields == SP_PAIR_FIELDS_MOST)
        return -2;
    pairing->fields[pairing->rule.n_fields].p = name;
    pairing->fields[pairing->rule.n_fields].n = n;
    return pairing->rule.n_fields++;
}

/* The first half of a pair of fields; the other half follows it; 0: this is not a pair. `plain`:
   without the kind that a file has before it. */
static uint32_t sp_pair_at(const sp_json *json, uint32_t node, bool plain)
{
    uint32_t first = node + 1 + !plain;
    if (sp_json_type(json, node) != SP_JSON_LIST || json->nodes[node].n != (plain ? 2U : 3U)
        || !(plain || sp_json_is(json, node + 1, "tuple")))
        return 0;
    for (uint32_t at = first; at < first + 2; at++) {
        if (sp_json_type(json, at) != SP_JSON_STRING || sp_json_length(json, at) == 0)
            return 0;
    }
    return first;
}

static int sp_pairing_fields(sp_pairing *pairing, const sp_parameters *p, const sp_given *given,
                             sp_fault *fault)
{
    static const char want[] = "None or a list of pairs of fields, such as [('user', 'ad')]";
    const sp_json *json = given->json;
    uint32_t list = p->interactions;
    uint32_t skip = !given->plain;
    if (sp_json_type(json, list) != SP_JSON_LIST || json->nodes[list].n <= skip
        || !(given->plain || sp_json_is(json, list + 1, "tuple")))
        return sp_setting_fault("interactions", given, list, want, fault);
    pairing->fields = (sp_field *)sp_calloc(SP_PAIR_FIELDS_MOST, sizeof(sp_field));
    if (pairing->fields == NULL)
        return sp_fault_memory(fault);
    pairing->rule.fields = pairing->fields;
    uint32_t pair = list + 1 + skip;
    for (uint32_t i = skip; i < json->nodes[list].n; i++, pair = json->nodes[pair].next) {
        uint32_t first = sp_pair_at(json, pair, given->plain);
        if (first == 0)
            return sp_setting_fault("interactions", given, list, want, fault);
        int f = sp_pairing_field(pairing, json, first);
        int g = f < 0 ? f : sp_pairing_field(pairing, json, first + 1);
        if (g == -1)
            return sp_fault_memory(fault);
        if (g == -2)
            return sp_fault_say(fault, SP_WHY_PARAMETER,
                                "interactions has more than 64 different fields");
        if (pairing->fields[f].partners >> g & 1)
            return sp_fault_say(fault, SP_WHY_PARAMETER,
                                "interactions: a pair of fields occurs twice");
        pairing->fields[f].partners |= UINT64_C(1) << g;
        pairing->fields[g].partners |= UINT64_C(1) << f;
    }
    return 0;
}

SP_PRIVATE int sp_pairing_read(sp_pairing *pairing, const sp_parameters *parameters,
                               const sp_given *given, sp_fault *fault)
{
    memset(pairing, 0, sizeof(*pairing));
    sp_arena_init(&pairing->names);
    pairing->rule.most = parameters->max_pairs;
    if (!(sp_rule_can(parameters->rule.kind) & SP_CAN_PAIR))
        return 0;
    pairing->on = parameters->degree == 2 || parameters->interactions != 0;
    if (parameters->interactions == 0)
        return 0;
    return sp_pairing_fields(pairing, parameters, given, fault);
}

/* --- The learner */

SP_PRIVATE int sp_parameters_apply(const sp_parameters *parameters, const sp_given *given,
                                   const sp_pairing *pairing, uint64_t seed, sp_learner *learner,
                                   sp_fault *fault)
{
    int can = sp_rule_can(parameters->rule.kind);
    bool leads = parameters->rule.intercept && (can & SP_HAS_INTERCEPT);
    if (sp_learner_init(learner, parameters->rule, &parameters->vectors, leads,
                        (sp_slot_type)parameters->max_features, (int)parameters->hash_bits, seed)
            < 0
        || sp_rates_apply(parameters, given, &learner->adaptive.alarms) < 0)
        return sp_fault_memory(fault);
    if (can & SP_CAN_VOTE) {
        learner->voters.degree = (int)parameters->degree;
        learner->voters.budget = (uint32_t)parameters->budget;
    }
    learner->pairs = pairing->on ? &pairing->rule : NULL;
    return 0;
}
