#include "json/united.h"

#include "json/values.h"
#include "memory/heap.h"

#include <string.h>

/* A value that has occurred. */
typedef struct sp_met_value {
    const sp_json *json; /* NULL: the place is empty */
    uint32_t node, number;
} sp_met_value;

SP_PRIVATE void sp_united_free(sp_united *united)
{
    sp_bytes_free(&united->text);
    sp_free(united->numbers);
    united->numbers = NULL;
}

SP_PRIVATE void sp_value_copy(const sp_json *json, uint32_t node, bool comma, sp_bytes *to)
{
    bool quoted = sp_json_type(json, node) == SP_JSON_STRING;
    sp_bytes_word(to, comma ? "," : "");
    sp_bytes_add(to, sp_json_start(json, node) - quoted, sp_json_length(json, node) + 2U * quoted);
}

SP_PRIVATE void sp_list_write(const sp_json *json, uint32_t n, sp_bytes *to)
{
    uint32_t node = 1;
    for (uint32_t i = 0; i < sp_list_length(json); i++, node = json->nodes[node].next) {
        if (i >= n)
            sp_value_copy(json, node, i > n, to);
    }
}

/* Put all values into a table of `size` places. */
static void sp_united_fill(sp_united *to, const sp_json *const *lists, int n, sp_met_value *table,
                           size_t size)
{
    uint32_t *number = to->numbers;
    for (int k = 0; k < n; k++) {
        const sp_json *json = lists[k];
        uint32_t node = 1;
        for (uint32_t i = 0; i < sp_list_length(json); i++, node = json->nodes[node].next) {
            size_t at = sp_value_hash(json, node) & (size - 1);
            while (table[at].json != NULL
                   && !sp_values_equal(table[at].json, table[at].node, json, node))
                at = (at + 1) & (size - 1);
            if (table[at].json == NULL) {
                const sp_met_value met = {json, node, to->n++};
                table[at] = met;
                sp_value_copy(json, node, met.number > 0, &to->text);
            }
            *number++ = table[at].number;
        }
    }
}

SP_PRIVATE int sp_lists_unite(sp_united *to, const sp_json *const *lists, int n, sp_fault *fault)
{
    size_t all = 0, size = 16;
    bool none = true;
    memset(to, 0, sizeof(*to));
    for (int k = 0; k < n; k++) {
        all += sp_list_length(lists[k]);
        none &= sp_json_type(lists[k], 0) != SP_JSON_LIST;
    }
    while (size < 2 * all)
        size *= 2;
    sp_met_value *table = (sp_met_value *)sp_calloc(size, sizeof(sp_met_value));
    to->numbers = (uint32_t *)sp_malloc((all + 1) * sizeof(uint32_t));
    if (table != NULL && to->numbers != NULL) {
        sp_bytes_word(&to->text, none ? "null" : "[");
        sp_united_fill(to, lists, n, table, size);
        sp_bytes_word(&to->text, none ? "" : "]");
    }
    bool failed = table == NULL || to->numbers == NULL || to->text.failed;
    sp_free(table);
    return failed ? sp_fault_memory(fault) : 0;
}
