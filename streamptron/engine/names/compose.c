#include "names/compose.h"

#include "names/compose_table.h"

enum {
    SP_JAMO_L = 0x1100,
    SP_JAMO_V = 0x1161,
    SP_JAMO_T = 0x11A7, /* one before the first */
    SP_JAMO_N_L = 19,
    SP_JAMO_N_V = 21,
    SP_JAMO_N_T = 28,
    SP_SYLLABLES = 0xAC00,
    SP_SYLLABLES_N = SP_JAMO_N_L * SP_JAMO_N_V * SP_JAMO_N_T,
    SP_COMPOSE_LIMIT = 0x10000, /* there are no pairs from here on */
    SP_LATIN_WHOLE = 0xC0,      /* nor composed letters below */
    SP_COMPOSE_ABOVE = 230,     /* marks above the letter; the only higher class is */
    SP_BEHIND_ARABIC = 0x900,
    SP_WITH_IOTA = 0x1F80,      /* the iota below, in letters from here on */
    SP_NO_LETTER = SP_CODE_POINTS,
};

typedef struct sp_composing {
    /* A letter and its marks. */
    uint32_t letter; /* SP_NO_LETTER: none yet */
    int n;
    uint32_t marks[SP_COMPOSE_MOST];
    uint8_t classes[SP_COMPOSE_MOST];
} sp_composing;

/* The place of a code point among n rising ones, or where it would be. */
static int sp_compose_find(const uint16_t *codes, int n, uint32_t c)
{
    int low = 0;
    while (n > 0) {
        int half = n / 2;
        if (codes[low + half] < c) {
            low += half + 1;
            n -= half + 1;
        } else
            n = half;
    }
    return low;
}

/* The class that orders marks; 0 for all other code points. */
static int sp_compose_class(uint32_t c)
{
    uint8_t letter = sp_letters_at(c);
    if (letter != SP_LETTER_MARK && letter != SP_LETTER_SECOND)
        return 0;
    int at = sp_compose_find(sp_compose_marks, SP_COMPOSE_CLASSES, c + 1);
    return sp_compose_classes[at - 1];
}

/* The list of pairs with this second code point; -1: there is none. */
static int sp_compose_list(uint32_t second)
{
    int list = sp_compose_find(sp_compose_seconds, SP_COMPOSE_SECONDS, second);
    return list < SP_COMPOSE_SECONDS && sp_compose_seconds[list] == second ? list : -1;
}

static uint32_t sp_compose_listed(int list, uint32_t first)
{
    int start = sp_compose_starts[list];
    int n = sp_compose_starts[list + 1] - start;
    int at = sp_compose_find(sp_compose_firsts + start, n, first);
    return at < n && sp_compose_firsts[start + at] == first ? sp_compose_wholes[start + at] : 0;
}

/* The capital letter of a small one; 0: there is none. */
static uint32_t sp_compose_capital(uint32_t small, size_t *step)
{
    for (; *step < SP_LETTER_SPECIAL / 2; ++*step) {
        uint32_t c = small - (uint32_t)sp_letters_steps[*step];
        if (c != small && c < SP_COMPOSE_LIMIT && sp_letters_lower(c) == small)
            return c;
    }
    return 0;
}

/* The code point into which these two compose; 0: there is none. */
static uint32_t sp_compose_pair(uint32_t first, uint32_t second)
{
    uint32_t l = first - SP_JAMO_L;
    uint32_t v = second - SP_JAMO_V;
    uint32_t syllable = first - SP_SYLLABLES;
    uint32_t t = second - SP_JAMO_T;
    if (l < SP_JAMO_N_L && v < SP_JAMO_N_V)
        return SP_SYLLABLES + (l * SP_JAMO_N_V + v) * SP_JAMO_N_T;
    if (syllable < SP_SYLLABLES_N && syllable % SP_JAMO_N_T == 0 && t - 1 < SP_JAMO_N_T - 1)
        return first + t;
    int list = first < SP_COMPOSE_LIMIT ? sp_compose_list(second) : -1;
    if (list < 0)
        return 0;
    uint32_t whole = sp_compose_listed(list, first);
    uint32_t small = sp_letters_lower(first);
    if (whole || small == first || first == 0x130)
        return whole;
    size_t step = 0;
    whole = sp_compose_listed(list, small);
    return whole && whole != small ? sp_compose_capital(whole, &step) : 0;
}

/* The first of the two code points that `whole` is composed of in these lists; 0: it is in none. */
static uint32_t sp_compose_apart(uint32_t whole, int from, int to, uint32_t *second)
{
    for (int list = from; list < to; list++) {
        for (int i = sp_compose_starts[list]; i < sp_compose_starts[list + 1]; i++) {
            if (sp_compose_wholes[i] == whole && sp_compose_firsts[i] != whole) {
                *second = sp_compose_seconds[list];
                return sp_compose_firsts[i];
            }
        }
    }
    return 0;
}

/* The code points that replace c: the first one, and the second or 0. */
static uint32_t sp_compose_rewrite(uint32_t c, uint32_t *second)
{
    return sp_compose_apart(c, SP_COMPOSE_SECONDS, SP_COMPOSE_LISTS, second);
}

/* The first of the two code points that a letter is composed of; 0 if it is not composed. */
static uint32_t sp_compose_letter_apart(uint32_t letter, uint32_t *second)
{
    uint32_t small = sp_letters_lower(letter);
    uint32_t first = sp_compose_apart(letter, 0, SP_COMPOSE_SECONDS, second);
    if (first || small == letter)
        return first;
    small = sp_compose_apart(small, 0, SP_COMPOSE_SECONDS, second);
    for (size_t step = 0; small && (first = sp_compose_capital(small, &step)) != 0; step++) {
        if (sp_compose_pair(first, *second) == letter)
            return first;
    }
    return 0;
}

/* Insert a mark before those of a higher class; `early`: also before those of its own class. */
static void sp_compose_insert(sp_composing *all, uint32_t c, int class, bool early)
{
    int i = all->n;
    for (; i > 0 && all->classes[i - 1] >= class + !early; i--) {
        all->marks[i] = all->marks[i - 1];
        all->classes[i] = all->classes[i - 1];
    }
    all->marks[i] = c;
    all->classes[i] = (uint8_t)class;
    all->n += 1;
}

/* Compose the letter with the marks that pair with it. */
static void sp_compose_marks_with_letter(sp_composing *all)
{
    uint32_t whole;
    uint32_t second = 0;
    int last = 0;
    int n = 0;
    if (all->n == 0 || all->letter >= SP_COMPOSE_LIMIT)
        return;
    if (all->letter >= (all->classes[0] < SP_COMPOSE_ABOVE ? SP_LATIN_WHOLE : SP_WITH_IOTA)
        && !sp_compose_pair(all->letter, all->marks[0])) {
        while ((whole = sp_compose_letter_apart(all->letter, &second)) != 0) {
            int class = sp_compose_class(second);
            if (class <= all->classes[0])
                break;
            sp_compose_insert(all, second, class, true);
            all->letter = whole;
        }
    }
    for (int i = 0; i < all->n; i++) {
        whole = last < all->classes[i] ? sp_compose_pair(all->letter, all->marks[i]) : 0;
        if (whole)
            all->letter = whole;
        else {
            last = all->classes[i];
            all->classes[n] = all->classes[i];
            all->marks[n] = all->marks[i];
            n++;
        }
    }
    all->n = n;
}

/* Begin with a letter. Returns how many code points have been written to `to`. */
static int sp_compose_begin(sp_composing *all, uint32_t first, uint32_t second, uint32_t *to)
{
    int class = second ? sp_compose_class(second) : 0;
    all->letter = first;
    if (second && class == 0) { /* two letters, in Tibetan */
        *to = first;
        all->letter = second;
        return 1;
    }
    if (second)
        sp_compose_insert(all, second, class, false);
    while (sp_letters_at(all->letter) >= SP_LETTER_REWRITTEN) {
        all->letter = sp_compose_rewrite(all->letter, &second);
        sp_compose_insert(all, second, sp_compose_class(second), true);
    }
    return 0;
}

SP_PRIVATE int sp_compose(const sp_piece *piece, size_t *at, bool lowercase, uint32_t *to)
{
    sp_composing all;
    bool begun = false;
    int taken = 0;
    int n = 0;
    size_t k;
    all.letter = SP_NO_LETTER;
    all.n = 0;
    for (size_t i = *at; i < piece->n && (!begun || piece->p[i] >= 0x80); *at = i) {
        uint32_t c = piece->p[i];
        k = 1;
        if (c >= 0x80)
            c = sp_utf8_decode(piece->p + i, piece->n - i, piece->surrogates, &k);
        i += k;
        if (sp_letters_at(c) == SP_LETTER_UNSEEN)
            continue;
        if (lowercase)
            c = sp_letters_lower(c);
        uint32_t second = 0;
        uint8_t letter = sp_letters_at(c);
        uint32_t first = letter >= SP_LETTER_REWRITTEN ? sp_compose_rewrite(c, &second) : c;
        int class = sp_compose_class(first);
        if (class) {
            if (taken == SP_COMPOSE_MARKS)
                break;
            taken++;
            sp_compose_insert(&all, first, class, false);
            if (second)
                sp_compose_insert(&all, second, sp_compose_class(second), false);
        } else if (!begun)
            n = sp_compose_begin(&all, first, second, to);
        else {
            sp_compose_marks_with_letter(&all);
            uint32_t whole = letter == SP_LETTER_JOINS && all.n == 0
                                 ? sp_compose_pair(all.letter, c) : 0;
            if (whole == 0)
                break;
            all.letter = whole;
            taken = 0;
        }
        begun = true;
    }
    sp_compose_marks_with_letter(&all);
    if (all.letter != SP_NO_LETTER) {
        to[n] = all.letter;
        n++;
    }
    for (int i = 0; i < all.n; i++, n++)
        to[n] = all.marks[i];
    return n;
}

SP_PRIVATE bool sp_compose_is_due(sp_stretch *stretch, uint32_t c, size_t from, size_t to)
{
    uint32_t second;
    uint8_t letter = sp_letters_at(c);
    if (letter == SP_LETTER_SECOND) {
        /* letters of the same Asian script contain no marks that would belong after this one */
        if (stretch->letter < SP_BEHIND_ARABIC || (stretch->letter ^ c) > 0x7F
            || sp_compose_pair(stretch->letter, c))
            return true;
        stretch->letter = 0;
        stretch->mark = c;
        return false;
    }
    if (letter == SP_LETTER_MARK) {
        if (stretch->mark == 0 || sp_compose_class(stretch->mark) > sp_compose_class(c))
            return true;
        stretch->mark = c;
        return false;
    }
    if (letter == SP_LETTER_JOINS) {
        if (sp_compose_pair(stretch->letter, c))
            return true;
        sp_stretch_begin(stretch, from, to, c);
        return false;
    }
    if (sp_compose_class(sp_compose_rewrite(c, &second)) == 0)
        sp_stretch_begin(stretch, from, to, c);
    return true;
}
