/* names/: the index against a list that is searched from the front; characters against a loop. */

#include "kit.h"

#include "names/rising.h"
#include "names/scan.h"

enum { NAMES = 3000, TURNS = 6000 };

/* What the index should hold: name number i is in slots[i], or nowhere. */
typedef struct list {
    sp_slot_type slots[NAMES];
} list;

static void check_all(const sp_index *index, const list *expected)
{
    enum { MANY = 200 };
    sp_key keys[MANY];
    uint64_t hashes[MANY];
    const uint64_t *starts[MANY];
    sp_slot_type slots[MANY];
    for (uint32_t i = 0; i < NAMES; i += MANY) {
        for (uint32_t k = 0; k < MANY; k++)
            keys[k] = kit_key(i + k);
        sp_index_find_all(index, keys, MANY, hashes, starts, slots, false);
        for (uint32_t k = 0; k < MANY; k++) {
            CHECK_SAME(slots[k], expected->slots[i + k]);
            CHECK_SAME(sp_index_find(index, &keys[k], hashes[k]), slots[k]);
        }
    }
    CHECK_SOUND(sp_index_fault(index));
}

/* Names get slots in their order, keep them, and are forgotten from a mark on. */
static void test_index(bool columns)
{
    static list expected, before;
    sp_index index, copy;
    memset(&expected, 0, sizeof(expected));
    CHECK_SAME(sp_index_init(&index, 0, check_random(), 0), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        if (columns && turn == TURNS / 2)
            CHECK_SAME(sp_index_open_columns(&index, NAMES / 2), 0);
        uint32_t i = check_below(NAMES);
        sp_key key = kit_key(i);
        uint64_t h = sp_key_hash(&index.seed, &key);
        CHECK_SAME(sp_index_find(&index, &key, h), expected.slots[i]);
        if (expected.slots[i] == SP_SLOT_NULL) {
            sp_slot_type next = index.n_slots;
            expected.slots[i] = sp_index_insert(&index, &key, h);
            CHECK_SAME(expected.slots[i], next);
        }
        if (turn % 1000 == 500) {
            sp_index_point mark = sp_index_savepoint(&index);
            before = expected;
            for (int k = 0; k < 300; k++) {
                key = kit_key(i = check_below(NAMES));
                h = sp_key_hash(&index.seed, &key);
                if (sp_index_find(&index, &key, h) == SP_SLOT_NULL)
                    CHECK(sp_index_insert(&index, &key, h) != SP_SLOT_NULL);
            }
            sp_index_rewind(&index, &mark);
            expected = before;
            check_all(&index, &expected);
        }
    }
    check_all(&index, &expected);
    CHECK_SAME(sp_index_copy(&copy, &index), 0);
    sp_index_free(&index);
    check_all(&copy, &expected);
    sp_index_free(&copy);
}

/* How tags lie: at random, all in the upper thousandth or the lower, few that many share, one. */
static uint64_t draw_tag(int kind)
{
    uint32_t some = (uint32_t)check_random();
    switch (kind) {
    case 0:
        return some;
    case 1:
        return UINT32_MAX - some / 1000;
    case 2:
        return some / 1000;
    case 3:
        return some % 7 * (UINT32_MAX / 6);
    default:
        return UINT32_MAX;
    }
}

/* Entries are found, and removed, whatever their tags are and however far the table has grown. */
static void test_tags(int kind, uint32_t n)
{
    sp_pool pool;
    sp_tags tags, copy;
    size_t bytes = 0, blocks = 0, expected = 0, seen = 0;
    uint64_t *entries = (uint64_t *)malloc(n * sizeof(uint64_t));
    sp_pool_init(&pool, true);
    CHECK_SAME(sp_tags_init(&tags, &bytes), 0);
    for (uint32_t i = 0; i < n; i++) {
        entries[i] = draw_tag(kind) << 32 | (SP_SLOTS_RESERVED + i);
        for (int64_t left = i % 7 ? 0 : 1;; left++) { /* memory runs out anywhere */
            check_fail_at(left);
            if (sp_tags_reserve(&tags, &pool, &bytes) == 0)
                break;
            CHECK(check_has_failed());
        }
        check_fail_at(0);
        sp_tags_put(&tags, entries[i]);
        while (i && check_below(4) == 0) { /* one goes, and comes back */
            uint64_t gone = entries[check_below(i)];
            sp_tags_take(&tags, gone);
            CHECK_SAME(tags.count, i);
            CHECK_SAME(sp_tags_reserve(&tags, &pool, &bytes), 0);
            sp_tags_put(&tags, gone);
        }
        seen += tags.frontier != 0;
        if (i % (n / 50) == 0 || i == n - 1) {
            blocks = expected = 0;
            CHECK_SOUND(sp_tags_fault(&tags, &blocks, &expected));
            CHECK_SAME(bytes, expected);
            CHECK_SAME(pool.used, blocks);
        }
    }
    CHECK(kind || n < 3000 || seen > n / 4); /* of large tables the frontier is on its way */
    CHECK(kind || n < 1000 || bytes + pool.bytes < 15 * (size_t)n);
    for (uint32_t i = 0; i < n; i++) {
        size_t at = sp_tags_from(&tags, entries[i] >> 32);
        uint64_t word;
        while ((word = *sp_tags_word(&tags, at)) != entries[i]) {
            CHECK_SAME(word >> 32, entries[i] >> 32);
            at++;
        }
    }
    bytes = blocks = expected = 0;
    sp_pool copied;
    sp_pool_init(&copied, true);
    CHECK_SAME(sp_tags_copy(&copy, &tags, &copied, &bytes), 0);
    sp_tags_free(&tags);
    sp_pool_free(&pool);
    for (uint32_t i = 0; i < n; i++)
        sp_tags_take(&copy, entries[i]);
    CHECK_SAME(copy.count, 0);
    CHECK_SOUND(sp_tags_fault(&copy, &blocks, &expected));
    CHECK_SAME(bytes, expected);
    sp_tags_free(&copy);
    sp_pool_free(&copied);
    free(entries);
}

/* Hashed: names of one number share a slot, in the order in which numbers come; however many there
   may be, only those cost that have come. */
static void test_numbers(int bits)
{
    enum { MANY = 40000 };
    static uint32_t numbers[MANY];
    sp_index index, copy;
    CHECK_SAME(sp_index_init(&index, bits, check_random(), 0), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        sp_key key = sp_key_word(SP_KEY_INT, check_below(MANY));
        uint64_t h = sp_key_hash(&index.seed, &key);
        sp_slot_type slot = sp_index_find(&index, &key, h), n_slots = index.n_slots;
        if (slot != SP_SLOT_NULL) {
            CHECK_SAME(numbers[slot], SP_SLOTS_RESERVED + (h >> (64 - bits)));
            continue;
        }
        CHECK_SAME(sp_index_insert(&index, &key, h), n_slots);
        numbers[n_slots] = sp_index_number(&index, n_slots);
        sp_key stored = sp_index_stored(&index, n_slots);
        CHECK_SAME(stored.lo, SP_SLOTS_RESERVED + (h >> (64 - bits)));
        CHECK_SAME(sp_index_find(&index, &key, sp_index_hash(&index, &stored)), n_slots);
        if (i % 1000 == 500) { /* taken back, and it comes again */
            sp_index_point mark = sp_index_savepoint(&index);
            mark.n_slots = n_slots - n_slots / 4;
            sp_index_rewind(&index, &mark);
            CHECK_SAME(sp_index_find(&index, &key, h), SP_SLOT_NULL);
            CHECK_SOUND(sp_index_fault(&index));
        }
    }
    CHECK_SOUND(sp_index_fault(&index));
    CHECK(bits <= SP_DIRECT_BITS || index.pool.bytes + index.bytes < 64 * (size_t)index.n_slots);
    CHECK_SAME(sp_index_copy(&copy, &index), 0);
    sp_slot_type *rising = sp_index_rising(&copy);
    CHECK_SAME(rising[0], 0);
    CHECK_SAME(rising[1], 1);
    for (sp_slot_type i = SP_SLOTS_RESERVED; i < copy.n_slots; i++) {
        CHECK(sp_index_number(&copy, rising[i]) > sp_index_number(&copy, rising[i - 1]));
        CHECK_SAME(sp_index_number(&index, i), sp_index_number(&copy, i));
    }
    free(rising);
    sp_index_free(&index);
    CHECK_SOUND(sp_index_fault(&copy));
    sp_index_free(&copy);
}

/* Under a ceiling a slot changes hands, and goes back to its old name. */
static void test_ceiling(void)
{
    static list expected;
    sp_index index;
    sp_gone gone;
    uint32_t owner[102] = {0};
    memset(&expected, 0, sizeof(expected));
    CHECK_SAME(sp_index_init(&index, 0, check_random(), 100), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        uint32_t i = check_below(NAMES);
        sp_key key = kit_key(i);
        uint64_t h = sp_key_hash(&index.seed, &key);
        if (expected.slots[i] != SP_SLOT_NULL)
            continue;
        sp_slot_type slot = sp_index_insert(&index, &key, h);
        if (slot == SP_SLOT_NULL) {
            CHECK_SAME(index.n_slots, 102);
            slot = SP_SLOTS_RESERVED + check_below(100);
            bool forgotten = check_below(2);
            CHECK_SAME(sp_index_replace(&index, slot, &key, h, &gone), 0);
            if (forgotten)
                sp_index_forget(&index, &gone);
            if (check_below(4) == 0) {
                sp_index_restore(&index, &gone, forgotten);
                continue;
            }
            if (!forgotten)
                sp_index_forget(&index, &gone);
            sp_index_drop(&index, &gone.key);
            expected.slots[owner[slot]] = SP_SLOT_NULL;
        }
        owner[slot] = i;
        expected.slots[i] = slot;
    }
    check_all(&index, &expected);
    sp_index_free(&index);
}

/* An insertion without memory changes nothing. */
static void test_no_memory(sp_slot_type most, int bits)
{
    sp_index index;
    for (int64_t n = 1, made = false; !made; n++) {
        check_fail_at(n);
        made = sp_index_init(&index, bits, 1, most) == 0;
        CHECK(check_has_failed() || made);
        if (!made)
            sp_index_free(&index);
    }
    for (uint32_t i = 0; i < 900; i++) {
        sp_key key = kit_key(i);
        uint64_t h = sp_key_hash(&index.seed, &key);
        sp_slot_type n_slots = index.n_slots, slot = sp_index_find(&index, &key, h);
        if (slot != SP_SLOT_NULL)
            continue; /* hashed: its number has come */
        for (int64_t n = 1; slot == SP_SLOT_NULL; n++) {
            check_fail_at(n);
            slot = sp_index_insert(&index, &key, h);
            CHECK(check_has_failed() || slot != SP_SLOT_NULL);
            if (slot == SP_SLOT_NULL && i % 50 == 0)
                CHECK_SOUND(sp_index_fault(&index));
        }
        CHECK_SAME(slot, n_slots);
    }
    CHECK_SOUND(sp_index_fault(&index));
    sp_index copy;
    for (int64_t n = 1, failed = -1; failed; n++) {
        check_fail_at(n);
        failed = sp_index_copy(&copy, &index);
        CHECK(check_has_failed() || !failed);
        sp_index_free(&copy);
    }
    sp_index_free(&index);
}

/* A key is its kind and its bytes, wherever these lie and however long they are. */
static void test_keys(void)
{
    uint8_t bytes[2][16 + 40];
    for (size_t n = 0; n <= 40; n++) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i / sizeof(*bytes)][i % sizeof(*bytes)] = (uint8_t)check_random();
        memcpy(bytes[1] + 16, bytes[0] + 16, n);
        sp_key one = sp_key_text(SP_KEY_STR, bytes[0] + 16, n);
        sp_key two = sp_key_text(SP_KEY_STR, bytes[1] + 16, n);
        sp_key of_bytes = sp_key_text(SP_KEY_BYTES, bytes[1] + 16, n);
        CHECK_SAME(sp_key_length(&one), n);
        CHECK(sp_key_equal(&one, &two) && !sp_key_equal(&one, &of_bytes));
        for (int turn = 0; turn < 4; turn++) {
            sp_seed seed = sp_seed_make(check_random());
            CHECK(sp_key_hash(&seed, &one) == sp_key_hash(&seed, &two));
            CHECK(sp_key_hash(&seed, &one) != sp_key_hash(&seed, &of_bytes));
        }
        if (n == 0)
            continue;
        bytes[1][16 + check_below((uint32_t)n)] ^= 1;
        two = sp_key_text(SP_KEY_STR, bytes[1] + 16, n);
        CHECK(!sp_key_equal(&one, &two));
    }
}

/* The words of ASCII, sixteen bytes at a time, against one at a time. */
static void test_scan(void)
{
    uint8_t text[200], to[240];
    uint64_t bits[8];
    uint32_t edges[240];
    size_t length, n_replaced = 0;
    sp_characters rule = {.lowercase = true};
    for (int turn = 0; turn < 500; turn++) {
        sp_piece piece = {.p = text, .n = check_below(200), .surrogates = false};
        ptrdiff_t n = 0, expected = 0;
        for (size_t i = 0; i < piece.n; i++)
            text[i] = (uint8_t)check_below(128);
        memset(bits, 0, sizeof(bits));
        length = sp_scan(&rule, bits, &piece, to, &n_replaced);
        CHECK_SAME(length, piece.n);
        n = sp_edges(bits, length, edges);
        bool inside = false;
        for (size_t i = 0; i <= piece.n; i++) {
            uint8_t c = i < piece.n ? text[i] : 0;
            bool upper = c >= 'A' && c <= 'Z';
            bool word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
            if (i < piece.n)
                CHECK_SAME(to[i], upper ? c + 32 : c);
            if (word != inside)
                CHECK_SAME(edges[expected++], i);
            inside = word;
        }
        CHECK_SAME(n, expected);
    }
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    test_keys();
    test_index(false);
    test_index(true);
    test_tags(0, 100);
    test_tags(0, 1500);
    test_tags(0, 40000);
    for (int kind = 1; kind < 5; kind++) {
        test_tags(kind, 1000);
        test_tags(kind, 4000);
    }
    test_ceiling();
    test_numbers(1);
    test_numbers(12);
    test_numbers(24);
    test_numbers(30);
    test_no_memory(0, 0);
    test_no_memory(1000, 0);
    test_no_memory(0, 9);
    test_no_memory(0, 30);
    test_scan();
    return 0;
}
