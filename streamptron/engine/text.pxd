# A text to an event.
#
#     "Free  Wi-Fi: Écris!"
#        | scan      lower case, and a bit for each byte: does it belong to a word?
#        v
#     bytes   f r e e     w i - f i :   é   c r i s !
#     bits    1 1 1 1 0 0 1 1 0 1 1 0 0 1 1 1 1 1 1 0
#        | words     where the bits change; numbers and addresses are folded, words that are too
#        v           short or too long are left out
#     words   free  wi  fi  écris
#        | tokens    n-grams of words or of characters, each a key like any other name
#        v
#     keys[]  values[]  hashes[]    each token once, in order of first occurrence
#
# Characters are read by engine/scan.pxd, which stops at those that it meets for the first time.
#
# In the everyday case (ASCII, single words, nothing folded) tokens are taken straight from the
# edges of words (_tokens_plain).
#
# Whether a token has occurred before is looked up in a small table (Tally) by its hash, the one
# that the index needs anyway. In both common cases, new or seen, the lookup has no branch.
#
# The rules are those of Tokenizer's docstring; tests/twin/text.py is the plain twin.
#
# Functions in this file: text_write, text_free, text_bytes; tally_add serves these.

from libc.math cimport log, sqrt
from libc.string cimport memcpy, memset
from streamptron.engine.types cimport uint8_t, uint32_t, uint64_t
from streamptron.engine.heap cimport free, realloc
from streamptron.engine.key cimport KEY_STR, Key, key_equal, key_is_long, key_text
from streamptron.engine.hash cimport Seed, key_hash
from streamptron.engine.arena cimport arena_alloc
from streamptron.engine.event cimport Event, event_begin, event_reserve
from streamptron.engine.index cimport Index
from streamptron.engine.scan cimport Characters, Piece, bit_at, find_edges, is_ascii, scan

cdef extern from "text.h":
    const uint8_t* FOLDED "sp_folded"

cdef enum:
    TEXT_WORDS = 0
    TEXT_CHARACTERS = 1

    VALUE_PRESENCE = 0
    VALUE_COUNT = 1
    VALUE_LOG = 2

    FOLDED_NUMBER = 16              # where in FOLDED a word starts
    FOLDED_HEX = 32
    FOLDED_ADDRESS = 48

    TOKENS_AT_ONCE = 1024           # room is made for so many at a time
    SPARE = 32                      # bytes that may be written or read past the end of a text

cdef struct TextRule:
    int analyzer
    int low, high                   # n of the n-grams
    Characters characters
    bint fold
    size_t shortest, longest        # of words, in characters
    int value
    bint l2

cdef struct Word:
    const uint8_t* p                # the sixteen bytes before it may be read, too
    size_t n

cdef struct Part:
    # The words of one piece; for TEXT_CHARACTERS the whole piece as one word.
    Py_ssize_t first, last
    const Piece* prefix

cdef struct Text:
    # Scratch for the texts of an event. The bytes that keys point to are in the event's arena.
    uint64_t* bits
    size_t bits_capacity
    uint32_t* edges
    size_t edges_capacity
    const uint8_t* plain            # a text of which only the edges are needed; NULL: see words
    Py_ssize_t n_edges
    Word* words
    Py_ssize_t n_words
    size_t words_capacity
    Part* parts
    Py_ssize_t n_parts
    size_t parts_capacity
    uint32_t* buckets
    size_t buckets_capacity         # a power of two
    size_t n_replaced               # bad sequences that scan has replaced, in all texts so far

cdef struct Tally:
    # The distinct tokens so far.
    Key* keys
    double* values
    uint64_t* hashes
    uint32_t* buckets               # 1 + the place in keys; 0: empty
    uint64_t mask
    Py_ssize_t n
    Seed seed


cdef inline void text_free(Text* text) noexcept nogil:
    free(text.bits)
    free(text.edges)
    free(text.words)
    free(text.parts)
    free(text.buckets)
    memset(text, 0, sizeof(Text))


cdef inline size_t text_bytes(const Text* text) noexcept nogil:
    return (text.bits_capacity * sizeof(uint64_t) + text.edges_capacity * sizeof(uint32_t)
            + text.words_capacity * sizeof(Word) + text.parts_capacity * sizeof(Part)
            + text.buckets_capacity * sizeof(uint32_t))


cdef inline int _grow(void** p, size_t* capacity, size_t n, size_t size) noexcept nogil:
    """Make room for n items; -1 without memory."""
    cdef void* grown
    if n <= capacity[0]:
        return 0
    grown = realloc(p[0], (n + n // 2 + 16) * size)
    if grown == NULL:
        return -1
    p[0] = grown
    capacity[0] = n + n // 2 + 16
    return 0


# --- Words

cdef inline bint _is_digit(uint8_t c) noexcept nogil:
    return 48 <= c <= 57


cdef inline bint _is_hex(uint8_t c) noexcept nogil:
    return 48 <= c <= 57 or 97 <= (c | 32) <= 102


cdef inline int _octet_end(const uint8_t* p, size_t n) noexcept nogil:
    """The number of digits at p, if they are a number up to 255 of at most three digits; else 0."""
    cdef int i = 0, number = 0
    while <size_t> i < n and i < 4 and _is_digit(p[i]):
        number = 10 * number + p[i] - 48
        i += 1
    return i if 0 < i < 4 and number <= 255 else 0


cdef inline size_t _dotted(const uint64_t* bits, const uint8_t* p, size_t at,
                           size_t n) noexcept nogil:
    """The end of the IPv4 address that starts with the word at `at`; 0 if it is not one."""
    cdef int octet, part
    if at >= 2 and p[at - 1] == 46 and bit_at(bits, at - 2):
        return 0
    for part in range(4):
        octet = _octet_end(p + at, n - at)
        at += octet
        if octet == 0 or (at < n and bit_at(bits, at)):
            return 0
        if part < 3:
            if at == n or p[at] != 46:
                return 0
            at += 1
    return 0 if at + 1 < n and p[at] == 46 and bit_at(bits, at + 1) else at


cdef inline bint _ends_in_dotted(const uint64_t* bits, const uint8_t* p, size_t first, size_t last,
                                 size_t n) noexcept nogil:
    """Whether a run of hex digits and colons ends with the first number of an IPv4 address."""
    cdef size_t at = last
    while at > first and p[at - 1] != 58:
        at -= 1
    return at < last < n and p[last] == 46 and _dotted(bits, p, at, n) != 0


cdef inline bint _is_colons(const uint8_t* p, size_t n) noexcept nogil:
    """Whether hex digits and colons are an IPv6 address."""
    cdef size_t i
    cdef int digits = 0, groups = 0, gaps = 0
    if n < 3 or n > 39:
        return False
    if (p[0] == 58 and p[1] != 58) or (p[n - 1] == 58 and p[n - 2] != 58):
        return False
    for i in range(n):
        if p[i] != 58:
            groups += digits == 0
            digits += 1
            if digits > 4:
                return False
        else:
            digits = 0
            if i and p[i - 1] == 58:
                gaps += 1
                if i > 1 and p[i - 2] == 58:
                    return False
    return groups == 8 if gaps == 0 else gaps == 1 and 1 <= groups <= 7


cdef inline int _number_kind(const uint8_t* p, size_t n) noexcept nogil:
    """FOLDED_NUMBER or FOLDED_HEX; 0 for a word."""
    cdef size_t i
    cdef size_t digits = 0
    if n > 2 and p[0] == 48 and (p[1] | 32) == 120:
        for i in range(2, n):
            if not _is_hex(p[i]):
                return 0
        return FOLDED_HEX
    for i in range(n):
        if not _is_hex(p[i]):
            return 0
        digits += _is_digit(p[i])
    if digits == n:
        return FOLDED_NUMBER
    return FOLDED_HEX if digits and n >= 4 else 0


cdef inline size_t _fold(const uint64_t* bits, const uint8_t* p, size_t n, size_t start, size_t end,
                         size_t* run_end, Word* word) noexcept nogil:
    """Fold the word from start to end, if it is a number or begins an address.

    Returns the end of what was folded, or 0. `run_end`: the end of the last run of hex digits and
    colons, so that each run is examined once.
    """
    cdef size_t first, last, at = 0
    cdef int kind
    cdef bint colons = (end < n and p[end] == 58) or (start and p[start - 1] == 58)
    if colons and start >= run_end[0]:
        first, last = start, end
        while first and p[first - 1] == 58:
            first -= 1
        while last < n and (_is_hex(p[last]) or p[last] == 58):
            last += 1
        at = start
        while at < end and _is_hex(p[at]):
            at += 1
        run_end[0] = last
        if (at == end and not (first and bit_at(bits, first - 1))
                and not (last < n and bit_at(bits, last)) and _is_colons(p + first, last - first)
                and not _ends_in_dotted(bits, p, first, last, n)):
            word.p, word.n = FOLDED + FOLDED_ADDRESS, 4
            return last
    if _is_digit(p[start]):
        last = _dotted(bits, p, start, n)
        if last:
            word.p, word.n = FOLDED + FOLDED_ADDRESS, 4
            return last
    kind = _number_kind(p + start, end - start)
    if kind:
        word.p, word.n = FOLDED + kind, 5
        return end
    return 0


cdef inline int _words(const TextRule* rule, Text* text, const uint8_t* p, size_t n,
                       Py_ssize_t n_edges, bint wide) noexcept nogil:
    """Append the words of n scanned bytes. `wide`: some are not ASCII. -1 without memory."""
    cdef const uint64_t* bits = text.bits
    cdef size_t shortest = rule.shortest, longest = rule.longest
    cdef size_t start, end, length, at, folded, done = 0, run_end = 0
    cdef Py_ssize_t i, k = text.n_words
    cdef const uint32_t* edges
    cdef Word* words
    if _grow(<void**> &text.words, &text.words_capacity, k + n_edges // 2 + 1, sizeof(Word)) < 0:
        return -1
    edges = text.edges
    words = text.words
    for i in range(0, n_edges, 2):
        start, end = edges[i], edges[i + 1]
        length = end - start
        words[k].p = p + start
        words[k].n = length
        if rule.fold:
            if start < done:            # the rest of an address
                continue
            folded = _fold(bits, p, n, start, end, &run_end, &words[k])
            if folded:
                done = folded
                k += 1
                continue
        if wide:
            for at in range(start, end):
                length -= (p[at] & 0xC0) == 0x80
        k += shortest <= length <= longest
    text.n_words = k
    return 0


# --- Tokens

cdef inline Py_ssize_t _tally_search(const Key* keys, uint32_t* buckets, uint64_t mask, uint64_t at,
                                     Py_ssize_t n) noexcept nogil:
    """The place of keys[n] among the keys before it, searched for from bucket `at`.

    If it is new, it gets a bucket and the answer is n.
    """
    while buckets[at] != 0:
        if key_equal(&keys[buckets[at] - 1], &keys[n]):
            return buckets[at] - 1
        at = (at + 1) & mask
    buckets[at] = <uint32_t> n + 1
    return n


cdef inline bint tally_add(Tally* tally, Key key) noexcept nogil:
    """Count a token. Returns whether it is new."""
    cdef Key* keys = tally.keys
    cdef uint64_t h = key_hash(&tally.seed, &key)
    cdef uint64_t mask = tally.mask
    cdef uint32_t* buckets = tally.buckets
    cdef Py_ssize_t n = tally.n
    cdef Py_ssize_t at = <Py_ssize_t> buckets[h & mask] - 1
    # n where the bucket is empty, without a branch: half of a text's words are new, so no processor
    # could predict it
    at ^= (at ^ n) & (0 - <Py_ssize_t> (at < 0))
    keys[n] = key
    tally.values[n] = 0.0
    tally.hashes[n] = h
    if ((keys[at].lo ^ key.lo) | (keys[at].hi ^ key.hi)) != 0:
        at = _tally_search(keys, buckets, mask, h & mask, n)
    else:
        buckets[h & mask] = <uint32_t> at + 1
    tally.values[at] += 1.0
    tally.n = n + (at == n)
    return at == n


cdef inline int _tally_reserve(Tally* tally, Text* text, Event* event, Py_ssize_t n) noexcept nogil:
    """Make room for n more tokens. -1 without memory."""
    cdef size_t size, i
    cdef uint64_t at
    cdef uint32_t* buckets
    cdef Py_ssize_t k
    if event_reserve(event, tally.n + n + 1) < 0:
        return -1
    tally.keys = event.keys
    tally.values = event.values
    tally.hashes = event.hashes
    size = 64
    while size < <size_t> (2 * (tally.n + n)):
        size *= 2
    if size <= tally.mask + 1 and tally.buckets != NULL:
        return 0
    if size > text.buckets_capacity:
        buckets = <uint32_t*> realloc(text.buckets, size * sizeof(uint32_t))
        if buckets == NULL:
            return -1
        text.buckets = buckets
        text.buckets_capacity = size
    tally.buckets = text.buckets
    tally.mask = size - 1
    memset(tally.buckets, 0, size * sizeof(uint32_t))
    for k in range(event.n, tally.n):
        at = tally.hashes[k] & tally.mask
        while tally.buckets[at] != 0:
            at = (at + 1) & tally.mask
        tally.buckets[at] = <uint32_t> k + 1
    return 0


cdef struct Joint:
    # Where tokens are assembled that are not contiguous in the text. What a long key points to
    # stays there.
    uint8_t* p
    size_t n


cdef inline uint8_t* _joint(Joint* joint, Event* event, size_t n) noexcept nogil:
    """Make room for a token of n bytes; NULL without memory."""
    if joint.n < n:
        joint.n = 4096 if n < 256 else 2 * n
        joint.p = arena_alloc(&event.text, joint.n)
        if joint.p == NULL:
            joint.n = 0
    return joint.p


cdef inline void _joint_keep(Joint* joint, size_t n) noexcept nogil:
    joint.p += n
    joint.n -= n


cdef inline int _tokens_words(Tally* tally, Text* text, Event* event, Joint* joint,
                              const Part* part, int n) noexcept nogil:
    """Add all n-grams of words as tokens. -1 without memory."""
    cdef Py_ssize_t i, k, last
    cdef size_t length, at
    cdef uint8_t* p
    cdef const Word* words = text.words
    cdef Tally local                # a copy, since for all the compiler knows stores change `tally`
    cdef Key key
    i = part.first
    while i <= part.last - n:
        last = min(i + TOKENS_AT_ONCE, part.last - n + 1)
        if _tally_reserve(tally, text, event, last - i) < 0:
            return -1
        if n == 1 and part.prefix.n == 0:
            local = tally[0]
            for k in range(i, last):
                tally_add(&local, key_text(KEY_STR, words[k].p, words[k].n))
            tally.n = local.n
            i = last
            continue
        while i < last:
            length = part.prefix.n + n - 1
            for k in range(i, i + n):
                length += words[k].n
            p = _joint(joint, event, length)
            if p == NULL:
                return -1
            memcpy(p, part.prefix.p, part.prefix.n)
            at = part.prefix.n
            for k in range(i, i + n):
                if k > i:
                    p[at] = 32
                    at += 1
                memcpy(p + at, words[k].p, words[k].n)
                at += words[k].n
            key = key_text(KEY_STR, p, length)
            if tally_add(tally, key) and key_is_long(&key):
                _joint_keep(joint, length)
            i += 1
    return 0


cdef inline int _tokens_plain(Tally* tally, Text* text, Event* event, const TextRule* rule,
                              const uint8_t* p, Py_ssize_t n_edges) noexcept nogil:
    """The everyday case: ASCII words, taken straight from their edges. -1 without memory."""
    cdef Tally local
    cdef const uint32_t* edges = text.edges
    cdef size_t shortest = rule.shortest, longest = rule.longest, length
    cdef Py_ssize_t k, last, i = 0
    while i < n_edges:
        last = min(i + 2 * TOKENS_AT_ONCE, n_edges)
        if _tally_reserve(tally, text, event, (last - i) // 2) < 0:
            return -1
        local = tally[0]
        for k in range(i, last, 2):
            length = edges[k + 1] - edges[k]
            if shortest <= length <= longest:
                tally_add(&local, key_text(KEY_STR, p + edges[k], length))
        tally.n = local.n
        i = last
    return 0


cdef inline size_t _character(const uint8_t* p) noexcept nogil:
    """The number of bytes of the code point at p."""
    return 1 if p[0] < 0x80 else 2 if p[0] < 0xE0 else 3 if p[0] < 0xF0 else 4


cdef inline int _tokens_characters(Tally* tally, Text* text, Event* event, Joint* joint,
                                   const Part* part, int n) noexcept nogil:
    """Add all n-grams of characters as tokens. -1 without memory."""
    cdef const uint8_t* p
    cdef const uint8_t* first
    cdef const uint8_t* last
    cdef const uint8_t* end
    cdef uint8_t* joined
    cdef size_t length
    cdef int k
    cdef Key key
    if part.first == part.last:
        return 0
    first = last = text.words[part.first].p
    end = first + text.words[part.first].n
    for k in range(n):
        if last == end:
            return 0
        last += _character(last)
    k = 0
    while True:
        if k == 0:
            k = TOKENS_AT_ONCE
            if _tally_reserve(tally, text, event, k) < 0:
                return -1
        k -= 1
        length = last - first
        if part.prefix.n == 0:
            tally_add(tally, key_text(KEY_STR, first, length))
        else:
            joined = _joint(joint, event, part.prefix.n + length)
            if joined == NULL:
                return -1
            memcpy(joined, part.prefix.p, part.prefix.n)
            memcpy(joined + part.prefix.n, first, length)
            key = key_text(KEY_STR, joined, part.prefix.n + length)
            if tally_add(tally, key) and key_is_long(&key):
                _joint_keep(joint, part.prefix.n + length)
        if last == end:
            return 0
        first += _character(first)
        last += _character(last)


# --- The way in

cdef inline Py_ssize_t _add_piece(Text* text, Event* event, const TextRule* rule,
                                  const Piece* prefix, const Piece* piece,
                                  bint alone) noexcept nogil:
    """Scan a text, or the text of a field, and find its words. Returns what text_write does.

    `alone`: it is the only one.
    """
    cdef bint wide = not is_ascii(piece.p, piece.n)
    cdef size_t most = 3 * piece.n if wide else piece.n     # a bad byte becomes three
    cdef size_t n_bits = (most + SPARE) // 64 + 2
    cdef size_t length = 0
    cdef Py_ssize_t page, n_edges
    cdef uint8_t* to = arena_alloc(&event.text, most + SPARE)
    cdef Part* part
    if (to == NULL
            or _grow(<void**> &text.bits, &text.bits_capacity, n_bits, sizeof(uint64_t)) < 0
            or _grow(<void**> &text.parts, &text.parts_capacity, text.n_parts + 1,
                     sizeof(Part)) < 0):
        return -1
    memset(text.bits, 0, n_bits * sizeof(uint64_t))
    page = scan(&rule.characters, text.bits, piece, to, &length, &text.n_replaced)
    if page:
        return page
    part = &text.parts[text.n_parts]
    part.first = text.n_words
    part.prefix = prefix
    if rule.analyzer == TEXT_WORDS:
        if _grow(<void**> &text.edges, &text.edges_capacity, length + 8, sizeof(uint32_t)) < 0:
            return -1
        n_edges = find_edges(text.bits, length, text.edges)
        if alone and not wide and not rule.fold and rule.high == 1 and prefix.n == 0:
            text.plain = to
            text.n_edges = n_edges
        elif _words(rule, text, to, length, n_edges, wide) < 0:
            return -1
    else:
        if _grow(<void**> &text.words, &text.words_capacity, text.n_words + 1, sizeof(Word)) < 0:
            return -1
        text.words[text.n_words].p = to
        text.words[text.n_words].n = length
        text.n_words += 1
    part.last = text.n_words
    text.n_parts += 1
    return 0


cdef inline int _add_tokens(Text* text, Event* event, const TextRule* rule,
                            const Index* index) noexcept nogil:
    """Once all words are found, add their tokens and set the values. -1 without memory."""
    cdef Tally tally
    cdef Joint joint
    cdef Py_ssize_t i
    cdef int n
    cdef double squares = 0.0
    memset(&joint, 0, sizeof(Joint))
    memset(&tally, 0, sizeof(Tally))
    tally.n = event.n
    tally.seed = index.seed
    if text.plain != NULL and _tokens_plain(
            &tally, text, event, rule, text.plain, text.n_edges) < 0:
        return -1
    for i in range(text.n_parts):
        for n in range(rule.low, rule.high + 1):
            if rule.analyzer == TEXT_WORDS:
                if _tokens_words(&tally, text, event, &joint, &text.parts[i], n) < 0:
                    return -1
            elif _tokens_characters(&tally, text, event, &joint, &text.parts[i], n) < 0:
                return -1
    if rule.value == VALUE_PRESENCE:
        for i in range(event.n, tally.n):
            event.values[i] = 1.0
    elif rule.value == VALUE_LOG:
        for i in range(event.n, tally.n):
            event.values[i] = 1.0 + log(event.values[i])
    if rule.l2:
        for i in range(event.n, tally.n):
            squares += event.values[i] * event.values[i]
        squares = sqrt(squares)
        for i in range(event.n, tally.n):
            event.values[i] /= squares
    event.n_found = event.n
    event.n = tally.n
    event.n_hashed = tally.n
    event.scored_version = 0
    return 0


cdef inline Py_ssize_t text_write(Text* text, Event* event, const TextRule* rule,
                                  const Index* index, bint intercept, const Piece* prefixes,
                                  const Piece* pieces, int n_pieces) noexcept nogil:
    """Write the event of a text, or of several fields. The prefixes of tokens must outlive it.

    Returns 0; -1 without memory; or 1 + the number of a page of code points, which must be given to
    scan_page before this is called again.
    """
    cdef Py_ssize_t page
    cdef int i
    text.n_words = 0
    text.n_parts = 0
    text.plain = NULL
    if event_begin(event, index, 0, intercept) < 0:
        return -1
    for i in range(n_pieces):
        page = _add_piece(text, event, rule, &prefixes[i], &pieces[i], n_pieces == 1)
        if page:
            return page
    return _add_tokens(text, event, rule, index)
