/* file/: JSON and numbers, read strictly; models written and read; without memory. */

#include "kit.h"

#include "file/crc.h"
#include "json/numbers.h"
#include "json/values.h"
#include "file/write.h"

static int read_json(sp_json *json, const char *text)
{
    sp_fault fault;
    return sp_json_read(json, (const uint8_t *)text, strlen(text), &fault);
}

static void test_json(void)
{
    static const char *const good[] = {
        "{}", "[]", " [ 1 , -0.5e+3, \"a\\u00e9\\n\", null,true,false ] ", "{\"a\":{\"a\":[]}}",
        "\"\\ud83d\\ude00\"", "\"\\ud800\"", "0",
    };
    static const char *const wrong[] = {
        "", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "{a:1}", "01", "1.", ".5", "+1", "NaN", "nul",
        "\"\\x\"", "\"\\u12g4\"", "\"\x01\"", "\"\xff\"", "\"\xc0\xaf\"", "[1] 2", "'a'", "[1 2]",
        "{\"a\":1,\"a\":2}", "{\"b\":1,\"\\u0062\":2}", "\"open", "1e", "-", "]",
    };
    sp_json json;
    char deep[2 * SP_JSON_DEPTH + 4];
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        check_about = good[i];
        CHECK_SAME(read_json(&json, good[i]), 0);
        CHECK_SAME(json.nodes[0].next, json.n_nodes);
        sp_json_free(&json);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        check_about = wrong[i];
        CHECK_SAME(read_json(&json, wrong[i]), SP_WHY_DAMAGED);
        sp_json_free(&json);
    }
    for (size_t more = 0; more < 2; more++) {
        size_t n = SP_JSON_DEPTH + more;
        memset(deep, '[', n);
        memset(deep + n, ']', n);
        deep[2 * n] = 0;
        CHECK_SAME(read_json(&json, deep), more ? SP_WHY_DAMAGED : 0);
        sp_json_free(&json);
    }
}

/* Doubles of any bits come back; decimals are the nearest. */
static void test_numbers(void)
{
    char text[SP_NUMBER_ROOM];
    double number;
    for (int i = 0; i < 2000; i++) {
        double x = sp_from_bits(check_random());
        size_t n = sp_hex_write(x, text);
        CHECK(n < SP_NUMBER_ROOM && sp_hex_read((uint8_t *)text, n, &number));
        CHECK(x != x ? number != number : sp_bits_of(x) == sp_bits_of(number));
        x = (double)(int64_t)check_below(1000000) / (double)(1 << check_below(10));
        n = sp_decimal_write(x, text);
        CHECK(sp_decimal_read((uint8_t *)text, n, &number)
              || sp_hex_read((uint8_t *)text, n, &number));
        CHECK(number == x);
    }
    CHECK(sp_share_write(0.30000000000000004, text) == 19 && !strcmp(text, "0.30000000000000004"));
    CHECK(sp_share_write(0.0625, text) == 6 && !strcmp(text, "0.0625"));
    CHECK_SAME(sp_share_write(9e-5, text), 0);
    CHECK(sp_decimal_read((const uint8_t *)"-2.5e-3", 7, &number) && number == -2.5e-3);
    CHECK(!sp_decimal_read((const uint8_t *)"1e400", 5, &number));
    CHECK(sp_crc32(0, "123456789", 9) == UINT32_C(0xCBF43926));
}

static void test_values(void)
{
    static const char *const good[] = {
        "\"a\"", "1", "true", "null", "[\"int\",\"-0xff\"]", "[\"float\",\"0x1.8p+0\"]",
        "[\"tuple\"]", "[\"tuple\",1,[\"tuple\",\"a\"]]", "[\"bytes\",\"00ff\"]",
        "[\"Decimal\",\"-1.5E+3\"]", "[\"Fraction\",\"0x1\",\"0x3\"]", "[\"date\",\"2024-02-29\"]",
        "[\"datetime\",\"2024-02-29T23:59:59.000001+05:30\"]", "[\"complex\",\"0x0.0p+0\",\"nan\"]",
    };
    static const char *const wrong[] = {
        "{}", "[]", "0.5", "[1]", "[\"list\",1]", "[\"int\",\"ff\"]", "[\"float\",1]",
        "[\"bytes\",\"0\"]", "[\"Decimal\",\"sNaN\"]", "[\"Fraction\",\"0x1\",\"0x0\"]",
        "[\"date\",\"2023-02-29\"]", "[\"datetime\",\"2024-02-29T24:00:00\"]", "[\"object\",1]",
        "[\"tuple\",{}]", "[\"tuple\",[]]", "9007199254740993111",
    };
    sp_json json, other;
    sp_bytes shown = {.failed = false};
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        check_about = good[i];
        CHECK_SAME(read_json(&json, good[i]), 0);
        CHECK(sp_is_value(&json, 0) && sp_values_equal(&json, 0, &json, 0));
        sp_value_show(&json, 0, true, &shown);
        sp_json_free(&json);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        check_about = wrong[i];
        CHECK_SAME(read_json(&json, wrong[i]), 0);
        CHECK(!sp_is_value(&json, 0));
        sp_json_free(&json);
    }
    CHECK_SAME(read_json(&json, "[1,\"1\",[\"float\",\"0x1.8p+0\"]]"), 0);
    CHECK_SAME(read_json(&other, "[true,\"\\u0031\",1]"), 0);
    CHECK(sp_values_equal(&json, 1, &other, 1) && sp_values_equal(&json, 2, &other, 2));
    CHECK(!sp_values_equal(&json, 3, &other, 3));
    CHECK(sp_value_hash(&json, 1) == sp_value_hash(&other, 1));
    CHECK_SAME(sp_values_repeat(&json, 0), 0);
    CHECK_SAME(sp_values_repeat(&other, 0), 1);
    sp_json_free(&json);
    sp_json_free(&other);
    sp_bytes_free(&shown);
}

static const char *const learners[] = {"perceptron", "multiclass", "mira",   "arow",
                                       "adaptive",   "voted",      "ranking"};

/* A model as one block of bytes; NULL without memory. */
static uint8_t *write_model(const sp_contents *contents, const sp_bytes *labels, size_t *n)
{
    sp_written written;
    sp_fault fault;
    size_t length;
    const void *p;
    uint8_t *bytes = NULL;
    *n = 0;
    if (sp_contents_write(contents, "0", labels, &written, &fault) == 0) {
        for (int i = 0; sp_written_piece(&written, i, &length) != NULL; i++)
            *n += length;
        bytes = (uint8_t *)malloc(*n + 8);
        size_t at = 0;
        for (int i = 0; (p = sp_written_piece(&written, i, &length)) != NULL; i++) {
            memcpy(bytes + at, p, length);
            at += length;
        }
    }
    sp_written_free(&written);
    return bytes;
}

/* Written, read and written again: the same bytes, and the same learner. Then every allocation of
   reading fails. */
static void test_round_trip(const char *learner)
{
    static const char three[] = ",\"a\",\"b\",\"c\"";
    sp_contents contents, other;
    sp_fault fault;
    sp_event event;
    sp_bytes labels = {.failed = false}, none = {.failed = false};
    size_t n, m;
    check_about = learner;
    CHECK_SAME(sp_contents_new(&contents, learner, "{}", "{}", NULL, 7, &fault), 0);
    sp_learner *l = &contents.learner;
    bool named = l->answer != SP_ANSWER_SIGN && l->answer != SP_ANSWER_CANDIDATES;
    if (l->answer == SP_ANSWER_TWO)
        CHECK_SAME(sp_learner_expect(l, 0, 1), 0);
    sp_event_init(&event);
    for (ptrdiff_t i = 0; i < 40 && l->answer != SP_ANSWER_CANDIDATES; i++) {
        kit_sample sample = kit_random(0, 60, named ? 3 : 2);
        sample.y = named && i < 3 ? i : sample.y;
        CHECK_SAME(kit_learn(l, &event, &sample), 0);
    }
    sp_event_free(&event);
    if (named)
        sp_bytes_word(&labels, three);
    uint8_t *first = write_model(&contents, &labels, &n);
    CHECK_SAME(sp_contents_open(&other, first, n, false, &fault), 0);
    KIT_SOUND(&other.learner);
    if (!sp_learner_can(l, SP_CAN_VOTE)) /* whose updates are numbered anew */
        CHECK(kit_digest(&other.learner) == kit_digest(l));
    uint8_t *second = write_model(&other, &none, &m);
    CHECK(n == m && memcmp(first, second, n) == 0);
    sp_contents_free(&other);
    int failed = SP_WHY_MEMORY;
    for (int64_t k = 1; failed; k++) {
        check_fail_at(k);
        failed = sp_contents_open(&other, first, n, k % 2, &fault);
        CHECK(check_has_failed() || failed != SP_WHY_MEMORY);
        if (!failed)
            sp_contents_free(&other);
        else if (failed != SP_WHY_MEMORY)
            break; /* one that is not used in place */
    }
    free(first);
    free(second);
    sp_bytes_free(&labels);
    sp_contents_free(&contents);
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    test_json();
    test_numbers();
    test_values();
    for (size_t i = 0; i < sizeof(learners) / sizeof(*learners); i++)
        test_round_trip(learners[i]);
    return 0;
}
