#include "many/tree.h"

#include "memory/heap.h"

#include <math.h>
#include <string.h>

static const sp_branch sp_no_leaf = {-INFINITY, 0.0};

SP_PRIVATE void sp_tree_free(sp_many *many)
{
    sp_free(many->tree);
    many->tree = NULL;
    many->room = 0;
}

static void sp_tree_join(sp_many *many, ptrdiff_t node)
{
    const sp_branch *halves = many->tree + 2 * node;
    many->tree[node].most = halves[1].most > halves[0].most ? halves[1].most : halves[0].most;
    many->tree[node].sum = halves[0].sum + halves[1].sum;
}

SP_PRIVATE void sp_tree_join_all(sp_many *many)
{
    for (ptrdiff_t node = many->room - 1; node > 0; node--)
        sp_tree_join(many, node);
}

SP_RARE SP_PRIVATE int sp_tree_room(sp_many *many, ptrdiff_t n)
{
    ptrdiff_t old = many->room;
    ptrdiff_t room = SP_MAX(old, (ptrdiff_t)4);
    while (room < n)
        room *= 2;
    if (room == old)
        return 0;
    sp_branch *tree = (sp_branch *)sp_malloc(2 * (size_t)room * sizeof(sp_branch));
    if (tree == NULL)
        return -1;
    for (ptrdiff_t k = 0; k < room; k++)
        tree[room + k] = k < old ? many->tree[old + k] : sp_no_leaf;
    tree[0] = sp_no_leaf;
    sp_free(many->tree);
    many->tree = tree;
    many->room = room;
    sp_tree_join_all(many);
    return 0;
}

SP_PRIVATE void sp_tree_fill(sp_many *many, const double *w0, ptrdiff_t n)
{
    for (ptrdiff_t k = 0; k < many->room; k++) {
        sp_branch leaf = sp_no_leaf;
        if (k < n) {
            leaf.most = w0[k];
            leaf.sum = sp_leaf(w0[k]);
        }
        many->tree[many->room + k] = leaf;
    }
    sp_tree_join_all(many);
}

SP_PRIVATE void sp_tree_set(sp_many *many, ptrdiff_t k, double w0)
{
    sp_tree_put(many, k, w0);
    for (ptrdiff_t node = (many->room + k) / 2; node > 0; node /= 2)
        sp_tree_join(many, node);
}

SP_PRIVATE bool sp_tree_is_true(const sp_many *many, const double *w0, ptrdiff_t n)
{
    if (many->room < n)
        return false;
    for (ptrdiff_t k = 0; k < many->room; k++) {
        const sp_branch *leaf = &many->tree[many->room + k];
        if (k < n ? leaf->most != w0[k] || leaf->sum != sp_leaf(w0[k])
                  : leaf->most != sp_no_leaf.most || leaf->sum != 0.0)
            return false;
    }
    for (ptrdiff_t node = many->room - 1; node > 0; node--) {
        const sp_branch *halves = many->tree + 2 * node;
        if (many->tree[node].most != SP_MAX(halves[0].most, halves[1].most)
            || many->tree[node].sum != halves[0].sum + halves[1].sum)
            return false;
    }
    return true;
}

SP_PRIVATE ptrdiff_t sp_tree_from(const sp_many *many, ptrdiff_t first, double least)
{
    ptrdiff_t node = many->room + first;
    if (first >= many->room)
        return -1;
    while (!(many->tree[node].most >= least)) { /* go to the next subtree behind it */
        while (node & 1)
            node /= 2;
        if (node == 0)
            return -1;
        node += 1;
    }
    while (node < many->room) {
        node *= 2;
        node += !(many->tree[node].most >= least);
    }
    return node - many->room;
}
