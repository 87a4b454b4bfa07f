# The weights: rows of doubles, and what is kept beside each weight.
#
# For each feature one short row; in it, for each output, its fields side by side, so that one
# cache line answers every kept vector:
#
#     w       the current weight
#     v       the averaging term              (if average is not NONE)
#     p, e    the pocket's copy and its stamp (if pocket)
#
# The learner declares which of these it wants (`table_init`); nothing here knows why.
#
#     block of 1 output (binary)        block of 4 outputs (multiclass)
#     row r   [ w v ]                   row r   [ w v ][ w v ][ w v ][ w v ]    64 bytes, one line
#
# More than four outputs are several blocks, each a chunked array of its own. So a new label moves no
# row, however many features there are, and a chunk of 256 rows is made when it is first written. Until
# then its place points at a chunk of zeros that all tables share, so that reading asks nothing.
#
# The running average. Every average we want has the form avg_t = (1 - a_t) avg_{t-1} + a_t w_t.
# Let D = w - avg; then D_t = (1 - a_t)(D_{t-1} + delta_t), so D = s v with one scalar s for the whole table
# and a v that changes only where w does:
#
#     on an update   w += delta,  v += delta / s
#     on every event              s *= 1 - a_t
#     to read        avg = w - s v
#
# UNIFORM: a_t = 1/(t+1) gives s = 1/c with c = t + 1, v = u: algorithm 7 of Daume's A Course in Machine
# Learning, the mean of w_0 .. w_T. c is kept, not s: it is exact. EXPONENTIAL: a constant a, s = (1-a)^t.
# Before s gets too small to divide by, it is multiplied by 2^256 and a fold is counted; a chunk remembers
# how many folds its v have seen, is read with the factor that it lacks, and catches up
# when it is next written. Powers of two, so nothing is rounded, and no sweep over all features.
#
# The pocket. A snapshot copies nothing: it counts up the table's epoch. A weight saves its old value
# the first time it is written after a snapshot, so pocket = p if e == epoch else w.
#
# Functions in this file: table_init, table_copy, table_add_outputs, table_reserve_places and
# table_reserve (these may fail), table_free, table_set_chunk, table_set_folds, table_scores, table_add, the same two for the rows of a matrix's columns
# (table_scores_through, table_add_through), table_tick, table_snapshot, table_read, table_write, table_wrote, table_sizes,
# table_clear; table_fault for the tests.

from libc.math cimport exp2, fabs
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset
from streamptron._types cimport (
    CHUNK_BITS, CHUNK_MASK, CHUNK_ROWS, ROW_INTERCEPT, ROW_NULL, prefetch, prefetch_lines, row_t, uint32_t)
from streamptron._places cimport (
    Places, places_ahead, places_bytes, places_free, places_next, places_open, places_room)
from streamptron._pool cimport Pool, pool_block, pool_free, pool_init, pool_reserve, pool_take

cdef extern from *:
    """
    /* A weight and its averaging term, which lie side by side, summed as one. */
    #if defined(__GNUC__) || defined(__clang__)
      typedef double sp_pair __attribute__((vector_size(16)));
      static inline sp_pair sp_pair_load(const double *p)
      {
          sp_pair pair;
          memcpy(&pair, p, 16);
          return pair;
      }
      static inline sp_pair sp_pair_times(sp_pair a, double x, double y)
      {
          return a * (sp_pair){x, y};
      }
      #define sp_pair_add(a, b) ((a) + (b))
      #define sp_pair_get(a, i) ((a)[i])
    #else
      typedef struct {double of[2];} sp_pair;
      static inline sp_pair sp_pair_load(const double *p)
      {
          sp_pair pair = {{p[0], p[1]}};
          return pair;
      }
      static inline sp_pair sp_pair_times(sp_pair a, double x, double y)
      {
          sp_pair pair = {{a.of[0] * x, a.of[1] * y}};
          return pair;
      }
      static inline sp_pair sp_pair_add(sp_pair a, sp_pair b)
      {
          sp_pair pair = {{a.of[0] + b.of[0], a.of[1] + b.of[1]}};
          return pair;
      }
      #define sp_pair_get(a, i) ((a).of[i])
    #endif
    /* One output with its averaging term, the everyday case of two labels: sums += x * row, and row += x * step,
       for the rows of a matrix's columns. The order of the sums is that of the kernels below. */
    static void sp_scores_two(double **chunks, const uint32_t *rows, const uint32_t *columns, const double *x,
                              ptrdiff_t n, double *sums)
    {
        sp_pair wv = sp_pair_load(sums);
        for (ptrdiff_t i = 0; i < n; i++) {
            uint32_t at = rows[columns[i]];
            wv = sp_pair_add(wv, sp_pair_times(sp_pair_load(chunks[at >> 8] + (at & 255) * 2), x[i], x[i]));
        }
        sums[0] = sp_pair_get(wv, 0);
        sums[1] = sp_pair_get(wv, 1);
    }
    static void sp_add_two(double **chunks, const uint32_t *rows, const uint32_t *columns, const double *x,
                           ptrdiff_t n, double coefficient, double c)
    {
        for (ptrdiff_t i = 0; i < n; i++) {
            uint32_t at = rows[columns[i]];
            double *row = chunks[at >> 8] + (at & 255) * 2;
            double delta = coefficient * x[i];
            row[0] += delta;
            row[1] += c * delta;
        }
    }

    /* Several blocks at once, for rows of four weights with their averaging terms, the everyday case of
       many labels: sums += x * row, for each block's eight fields. The rows from 0 to `ahead` ask for the one
       SP_AHEAD further on. (CHUNK_BITS and CHUNK_MASK are 8 and 255.) */
    #define SP_AHEAD 12
    #if defined(__GNUC__) || defined(__clang__)
      #define SP_BLOCKS_AT_ONCE 4
      typedef double sp_four __attribute__((vector_size(32), aligned(8), may_alias));
      #define SP_SCORES(G) \
      SP_WIDER static void sp_scores_##G(double ***chunks, const uint32_t *rows, const double *x, \
                                         ptrdiff_t n, ptrdiff_t ahead, double *sums) \
      { \
          sp_four low[G], high[G]; \
          for (int b = 0; b < G; b++) low[b] = high[b] = (sp_four){0.0, 0.0, 0.0, 0.0}; \
          for (ptrdiff_t i = 0; i < n; i++) { \
              size_t chunk = rows[i] >> 8, at = (rows[i] & 255) * 8; \
              sp_four value = {x[i], x[i], x[i], x[i]}; \
              if (i < ahead) { \
                  size_t next = rows[i + SP_AHEAD]; \
                  for (int b = 0; b < G; b++) sp_prefetch(chunks[b][next >> 8] + (next & 255) * 8); \
              } \
              for (int b = 0; b < G; b++) { \
                  const sp_four *row = (const sp_four *)(chunks[b][chunk] + at); \
                  low[b] += value * row[0]; \
                  high[b] += value * row[1]; \
              } \
          } \
          for (int b = 0; b < G; b++) { \
              memcpy(sums + 8 * b, &low[b], 32); \
              memcpy(sums + 8 * b + 4, &high[b], 32); \
          } \
      }
      SP_SCORES(1)
      SP_SCORES(2)
      SP_SCORES(3)
      SP_SCORES(4)
      static inline void sp_scores_many(int g, double ***chunks, const uint32_t *rows, const double *x,
                                        ptrdiff_t n, ptrdiff_t ahead, double *sums)
      {
          if (g == 1) sp_scores_1(chunks, rows, x, n, ahead, sums);
          else if (g == 2) sp_scores_2(chunks, rows, x, n, ahead, sums);
          else if (g == 3) sp_scores_3(chunks, rows, x, n, ahead, sums);
          else sp_scores_4(chunks, rows, x, n, ahead, sums);
      }
    #else
      #define SP_BLOCKS_AT_ONCE 0
      #define sp_scores_many(g, chunks, rows, x, n, ahead, sums) ((void)0)
    #endif

    /* A chunk of the widest rows that is never written: what has no chunk yet is read here. */
    #if defined(__GNUC__) || defined(__clang__)
      static double sp_zeros[256 * 16] __attribute__((aligned(64)));
    #else
      static double sp_zeros[256 * 16];
    #endif
    """
    const int BLOCKS_AT_ONCE "SP_BLOCKS_AT_ONCE"        # 0: not with this compiler
    const int AHEAD "SP_AHEAD"      # entries by which far rows are asked for before they are used
    void scores_two "sp_scores_two" (
        double** chunks, const row_t* rows, const uint32_t* columns, const double* x, Py_ssize_t n,
        double* sums) noexcept nogil
    void add_two "sp_add_two" (
        double** chunks, const row_t* rows, const uint32_t* columns, const double* x, Py_ssize_t n,
        double coefficient, double c) noexcept nogil
    void scores_many "sp_scores_many" (
        int g, double*** chunks, const row_t* rows, const double* x, Py_ssize_t n, Py_ssize_t ahead,
        double* sums) noexcept nogil
    double* ZEROS "sp_zeros"
    ctypedef struct pair_t "sp_pair":
        pass
    pair_t pair_load "sp_pair_load" (const double* p) noexcept nogil
    pair_t pair_times "sp_pair_times" (pair_t a, double x, double y) noexcept nogil
    pair_t pair_add "sp_pair_add" (pair_t a, pair_t b) noexcept nogil
    double pair_get "sp_pair_get" (pair_t a, int i) noexcept nogil

cdef enum:
    AVERAGE_NONE = 0
    AVERAGE_UNIFORM = 1
    AVERAGE_EXPONENTIAL = 2

    KEPT_CURRENT = 0                # the vectors that can be read, in this order everywhere
    KEPT_AVERAGE = 1
    KEPT_POCKET = 2
    KEPT_KINDS = 3

    LANES = 4                       # outputs in a block when there are several
    FAR = 1 << 20                   # bytes of a table whose rows are far
    FOLD_BITS = 256

cdef struct Block:
    double** chunks                 # table.zeros: not written yet
    uint32_t* folds                 # folds each chunk has seen (EXPONENTIAL only)
    Places of_chunks                # how these two grow
    Places of_folds

cdef struct Table:
    int average
    bint pocket
    int fields                      # doubles an output
    int lanes                       # outputs a block
    int width                       # doubles a row in a block
    Py_ssize_t n_outputs
    Py_ssize_t n_blocks
    Block* blocks
    double* zeros                   # a chunk that is never written, and not the table's own
    bint borrowed                   # no chunk is the table's own: they lie in a file, and none may be written
    size_t n_chunks                 # chunk places in every block, at least one
    bint whole                      # and there will be no more of them
    double c                        # UNIFORM: 1 + events seen
    double s                        # EXPONENTIAL: D = s v
    double keep                     # EXPONENTIAL: 1 - a
    uint32_t fold
    double epoch                    # of the pocket: snapshots so far, plus one
    Pool pool                       # of chunks
    size_t bytes                    # what the table holds from the heap, the pool aside


cdef inline size_t chunk_bytes(const Table* table) noexcept nogil:
    return CHUNK_ROWS * table.width * sizeof(double)


cdef inline void table_init(Table* table, int average, double half_life, bint pocket,
                            bint several, bint scattered) noexcept nogil:
    """`several`: outputs come in blocks of LANES; otherwise there is one output for good. `scattered`: see pool_init."""
    memset(table, 0, sizeof(Table))
    pool_init(&table.pool, scattered)
    table.average = average
    table.pocket = pocket
    table.fields = 1 + (average != AVERAGE_NONE) + 2 * pocket
    table.lanes = LANES if several else 1
    table.width = table.fields * table.lanes
    table.c = 1.0
    table.s = 1.0
    table.keep = exp2(-1.0 / half_life)
    table.epoch = 1.0
    table.n_chunks = 1
    table.zeros = ZEROS


cdef inline void _block_free(Block* block) noexcept nogil:
    places_free(&block.of_chunks, block.chunks)
    places_free(&block.of_folds, block.folds)


cdef inline void table_free(Table* table) noexcept nogil:
    cdef Py_ssize_t b
    for b in range(table.n_blocks):
        _block_free(&table.blocks[b])
    free(table.blocks)
    pool_free(&table.pool)
    table.blocks = NULL
    table.n_blocks = 0
    table.n_chunks = 0
    table.bytes = 0


cdef inline void _block_fill(const Table* table, Block* block, size_t first,
                             size_t last) noexcept nogil:
    """The places from first to last, not included, are those of zeros."""
    cdef size_t i
    for i in range(first, last):
        block.chunks[i] = table.zeros
        if table.average == AVERAGE_EXPONENTIAL:
            block.folds[i] = 0


cdef inline int _block_open(Table* table, Block* block, size_t first, size_t n) noexcept nogil:
    """n chunk places for a block that has `first` of them. Returns -1 without memory."""
    cdef size_t capacity = n if table.whole else places_ahead(n)
    cdef void* p = places_open(&block.of_chunks, block.chunks, sizeof(double*), capacity,
                               &table.bytes)
    if p == NULL:
        return -1
    block.chunks = <double**> p
    if table.average == AVERAGE_EXPONENTIAL:
        p = places_open(&block.of_folds, block.folds, sizeof(uint32_t), capacity,
                        &table.bytes)
        if p == NULL:
            return -1
        block.folds = <uint32_t*> p
    _block_fill(table, block, first, n)
    return 0


cdef inline int table_add_outputs(Table* table, Py_ssize_t n) noexcept nogil:
    """n more outputs, of weights zero. Returns -1 without memory."""
    cdef Py_ssize_t blocks = (table.n_outputs + n + table.lanes - 1) // table.lanes
    cdef void* p
    if blocks > table.n_blocks:
        p = realloc(table.blocks, blocks * sizeof(Block))
        if p == NULL:
            return -1
        table.blocks = <Block*> p
        while table.n_blocks < blocks:
            memset(&table.blocks[table.n_blocks], 0, sizeof(Block))
            if _block_open(table, &table.blocks[table.n_blocks], 0, table.n_chunks) < 0:
                table.bytes -= places_bytes(&table.blocks[table.n_blocks].of_chunks)
                _block_free(&table.blocks[table.n_blocks])
                return -1
            table.bytes += sizeof(Block)
            table.n_blocks += 1
    table.n_outputs += n
    return 0


cdef inline int table_reserve_places(Table* table, size_t places, bint whole) noexcept nogil:
    """Places for so many chunks at least; `whole`: there will be no more. -1 without memory."""
    cdef Py_ssize_t b
    table.whole = whole
    if places <= table.n_chunks:
        return 0
    for b in range(table.n_blocks):
        if _block_open(table, &table.blocks[b], table.n_chunks, places) < 0:
            return -1
    table.n_chunks = places
    return 0


cdef inline int _place_add(Table* table) noexcept nogil:
    """One more place in every block. Returns -1 without memory."""
    cdef Py_ssize_t b
    cdef Block* block
    cdef void* p
    for b in range(table.n_blocks):
        block = &table.blocks[b]
        p = places_room(&block.of_chunks, block.chunks, table.n_chunks, &table.bytes)
        if p == NULL:
            return -1
        block.chunks = <double**> p
        if table.average == AVERAGE_EXPONENTIAL:
            p = places_room(&block.of_folds, block.folds, table.n_chunks, &table.bytes)
            if p == NULL:
                return -1
            block.folds = <uint32_t*> p
        _block_fill(table, block, table.n_chunks, table.n_chunks + 1)
    table.n_chunks += 1
    return 0


cdef inline void table_set_chunk(Block* block, size_t chunk, double* rows) noexcept nogil:
    cdef double** next = <double**> places_next(&block.of_chunks, chunk)
    block.chunks[chunk] = rows
    if next != NULL:
        next[0] = rows


cdef inline void table_set_folds(Block* block, size_t chunk, uint32_t folds) noexcept nogil:
    cdef uint32_t* next = <uint32_t*> places_next(&block.of_folds, chunk)
    block.folds[chunk] = folds
    if next != NULL:
        next[0] = folds


cdef inline int table_reserve(Table* table, const row_t* rows, Py_ssize_t n, row_t n_rows,
                              Py_ssize_t output) noexcept nogil:
    """See that rows below n_rows can be written for this output. Returns -1 without memory."""
    cdef Py_ssize_t i
    cdef size_t last = (n_rows - 1) >> CHUNK_BITS
    cdef Block* block
    cdef double* made
    while last >= table.n_chunks:
        if _place_add(table) < 0:
            return -1
    block = &table.blocks[output // table.lanes]
    for i in range(n):
        if block.chunks[rows[i] >> CHUNK_BITS] == table.zeros:
            made = <double*> pool_take(&table.pool, chunk_bytes(table))
            if made == NULL:
                return -1
            table_set_chunk(block, rows[i] >> CHUNK_BITS, made)
            if table.average == AVERAGE_EXPONENTIAL:
                table_set_folds(block, rows[i] >> CHUNK_BITS, table.fold)
    return 0


cdef inline double _fold_factor(uint32_t behind) noexcept nogil:
    return 1.0 if behind == 0 else exp2(-<double> FOLD_BITS * behind)


cdef inline void _scores_add(const Table* table, const Block* block, row_t at, double value,
                             double* w, pair_t* wv, double* p, const int lanes, const int average,
                             const bint pocket) noexcept nogil:
    """Add one entry's share to the sums: of the weights, or of them and their averaging terms."""
    cdef int terms = 1 + (average != AVERAGE_NONE)
    cdef int fields = terms + 2 * pocket
    cdef const double* row = block.chunks[at >> CHUNK_BITS] + (at & CHUNK_MASK) * (fields * lanes)
    cdef double behind
    cdef int k
    if average == AVERAGE_NONE:
        for k in range(lanes):
            w[k] += value * row[fields * k]
    elif average == AVERAGE_UNIFORM:
        for k in range(lanes):
            wv[k] = pair_add(wv[k], pair_times(pair_load(row + fields * k), value, value))
    else:
        behind = _fold_factor(table.fold - block.folds[at >> CHUNK_BITS])
        for k in range(lanes):
            wv[k] = pair_add(wv[k], pair_times(
                pair_times(pair_load(row + fields * k), 1.0, behind), value, value))
    if pocket:
        for k in range(lanes):
            p[k] += value * (row[fields * k + fields - 2]
                             if row[fields * k + fields - 1] == table.epoch
                             else row[fields * k])


cdef inline void _scores(const Table* table, const Block* block, const row_t* rows,
                         const uint32_t* columns, const double* x, Py_ssize_t n, bint intercept,
                         double* scores, Py_ssize_t first, const bint through, const bint far, const int lanes,
                         const int average, const bint pocket) noexcept nogil:
    """The kernel: scores[kind * n_outputs + output] = sum over the event, in its order, for one block.

    The last five arguments are constants where it is called, so that each kind of learner gets a loop
    of its own with the sums in registers. Each sum has one accumulator: the order of the additions
    is the event's, on every machine. `through`: entry i is rows[columns[i]], else rows[i]. `far`: the
    rows are not in the nearest caches, and are asked for some entries before they are used.
    """
    cdef double w[LANES]
    cdef pair_t wv[LANES]
    cdef double p[LANES]
    cdef Py_ssize_t i
    cdef row_t at
    cdef int k
    for k in range(lanes):
        wv[k] = pair_load(ZEROS)
        w[k] = p[k] = 0.0
    if intercept:
        _scores_add(table, block, ROW_INTERCEPT, 1.0, w, wv, p, lanes, average, pocket)
    for i in range(n):
        if far and i + AHEAD < n:
            at = rows[i + AHEAD]
            prefetch(block.chunks[at >> CHUNK_BITS]
                     + (at & CHUNK_MASK) * (lanes * (1 + (average != AVERAGE_NONE) + 2 * pocket)))
        _scores_add(table, block, rows[columns[i]] if through else rows[i], x[i], w, wv, p,
                    lanes, average, pocket)
    cdef Py_ssize_t n_outputs = 1 if lanes == 1 else table.n_outputs
    for k in range(lanes if lanes == 1 else <int> min(<Py_ssize_t> lanes, n_outputs - first)):
        if average != AVERAGE_NONE:
            w[k] = pair_get(wv[k], 0)
        scores[KEPT_CURRENT * n_outputs + first + k] = w[k]
        if average == AVERAGE_UNIFORM:
            scores[KEPT_AVERAGE * n_outputs + first + k] = w[k] - pair_get(wv[k], 1) / table.c
        if average == AVERAGE_EXPONENTIAL:
            scores[KEPT_AVERAGE * n_outputs + first + k] = w[k] - table.s * pair_get(wv[k], 1)
        if pocket:
            scores[KEPT_POCKET * n_outputs + first + k] = p[k]


cdef inline void _scores_of(const Table* table, const Block* block, const row_t* rows,
                            const uint32_t* columns, const double* x, Py_ssize_t n, bint intercept,
                            double* scores, Py_ssize_t first, const bint through,
                            const bint far, const int lanes) noexcept nogil:
    """The kernel for this table's fields."""
    if table.average == AVERAGE_UNIFORM:
        if table.pocket:
            _scores(table, block, rows, columns, x, n, intercept, scores, first, through, far, lanes,
                AVERAGE_UNIFORM, True)
        else:
            _scores(table, block, rows, columns, x, n, intercept, scores, first, through, far, lanes,
                AVERAGE_UNIFORM, False)
    elif table.average == AVERAGE_EXPONENTIAL:
        if table.pocket:
            _scores(table, block, rows, columns, x, n, intercept, scores, first, through, far, lanes,
                AVERAGE_EXPONENTIAL, True)
        else:
            _scores(table, block, rows, columns, x, n, intercept, scores, first, through, far, lanes,
                AVERAGE_EXPONENTIAL, False)
    elif table.pocket:
        _scores(table, block, rows, columns, x, n, intercept, scores, first, through, far, lanes,
                AVERAGE_NONE, True)
    else:
        _scores(table, block, rows, columns, x, n, intercept, scores, first, through, far, lanes,
                AVERAGE_NONE, False)


cdef inline void _scores_uniform(const Table* table, const row_t* rows, const double* x, Py_ssize_t n,
                                 double* scores) noexcept nogil:
    """The same sums for several outputs, a uniform average and no pocket, a few blocks at once."""
    cdef double sums[4 * 2 * LANES]
    cdef double** chunks[4]
    cdef Py_ssize_t first = 0, ahead = n - AHEAD if table.pool.used >= FAR else 0
    cdef Py_ssize_t b, g, output
    while first < table.n_blocks:
        g = min(table.n_blocks - first, <Py_ssize_t> BLOCKS_AT_ONCE)
        for b in range(g):
            chunks[b] = table.blocks[first + b].chunks
        scores_many(<int> g, chunks, rows, x, n, ahead, sums)
        for b in range(min(g * LANES, table.n_outputs - first * LANES)):
            output = first * LANES + b
            scores[KEPT_CURRENT * table.n_outputs + output] = sums[2 * b]
            scores[KEPT_AVERAGE * table.n_outputs + output] = sums[2 * b] - sums[2 * b + 1] / table.c
        first += g


cdef inline void table_scores(const Table* table, const row_t* rows, const double* x, Py_ssize_t n,
                              double* scores) noexcept nogil:
    """scores[kind * n_outputs + output], for the kinds that are kept; kind KEPT_CURRENT always is."""
    cdef Py_ssize_t b
    cdef Block* block
    if BLOCKS_AT_ONCE and table.lanes == LANES and table.average == AVERAGE_UNIFORM and not table.pocket:
        _scores_uniform(table, rows, x, n, scores)
        return
    for b in range(table.n_blocks):
        block = &table.blocks[b]
        if table.lanes == 1:
            _scores_of(table, block, rows, NULL, x, n, False, scores, 0, False, False, 1)
        elif table.pool.used < FAR:
            _scores_of(table, block, rows, NULL, x, n, False, scores, b * LANES, False, False, LANES)
        else:
            _scores_of(table, block, rows, NULL, x, n, False, scores, b * LANES, False, True, LANES)


cdef inline void table_scores_through(const Table* table, const row_t* rows, const uint32_t* columns,
                                      const double* x, Py_ssize_t n, bint intercept,
                                      double* scores) noexcept nogil:
    """The same for a table of one output, and entries whose rows are rows[columns[i]].

    `intercept`: an entry of value 1 in the intercept's row comes before the n that are given.
    """
    cdef double sums[2]
    cdef const double* row = table.blocks[0].chunks[0] + 2 * ROW_INTERCEPT
    if table.average == AVERAGE_UNIFORM and not table.pocket:
        sums[0] = sums[1] = 0.0
        if intercept:
            sums[0] += row[0]
            sums[1] += row[1]
        scores_two(table.blocks[0].chunks, rows, columns, x, n, sums)
        scores[KEPT_CURRENT] = sums[0]
        scores[KEPT_AVERAGE] = sums[0] - sums[1] / table.c
        return
    _scores_of(table, &table.blocks[0], rows, columns, x, n, intercept, scores, 0, True, False, 1)


cdef inline bint table_keeps(const Table* table, int kind) noexcept nogil:
    if kind == KEPT_AVERAGE:
        return table.average != AVERAGE_NONE
    return kind == KEPT_CURRENT or table.pocket


cdef inline double* _lane(const Table* table, row_t row, Py_ssize_t output) noexcept nogil:
    """The fields of one weight in a chunk that is there."""
    return (table.blocks[output // table.lanes].chunks[row >> CHUNK_BITS]
            + (row & CHUNK_MASK) * table.width + (output % table.lanes) * table.fields)


cdef inline void _catch_up(Table* table, size_t chunk, Block* block) noexcept nogil:
    """EXPONENTIAL: bring a chunk's averaging terms to the table's fold."""
    cdef double factor = _fold_factor(table.fold - block.folds[chunk])
    cdef double* fields = block.chunks[chunk]
    cdef Py_ssize_t i
    for i in range(CHUNK_ROWS * table.lanes):
        fields[i * table.fields + 1] *= factor
    table_set_folds(block, chunk, table.fold)


cdef inline void _add(Table* table, const row_t* rows, const uint32_t* columns, const double* x, Py_ssize_t n,
                      Py_ssize_t output, double coefficient, const bint through, const int lanes,
                      const int average, const bint pocket) noexcept nogil:
    """table_add, with a loop of its own for each kind of learner, as for the scores."""
    cdef Block* block = &table.blocks[output // lanes]
    cdef double* field
    cdef double delta
    cdef double c = table.c
    cdef int fields = 1 + (average != AVERAGE_NONE) + 2 * pocket
    cdef Py_ssize_t lane = output % lanes * fields
    cdef Py_ssize_t i
    cdef row_t at
    for i in range(n):
        at = rows[columns[i]] if through else rows[i]
        field = block.chunks[at >> CHUNK_BITS] + (at & CHUNK_MASK) * (fields * lanes) + lane
        if pocket and field[fields - 1] != table.epoch:
            field[fields - 2] = field[0]
            field[fields - 1] = table.epoch
        delta = coefficient * x[i]
        field[0] += delta
        if average == AVERAGE_UNIFORM:
            field[1] += c * delta
        elif average == AVERAGE_EXPONENTIAL:
            if block.folds[at >> CHUNK_BITS] != table.fold:
                _catch_up(table, at >> CHUNK_BITS, block)
            field[1] += delta / table.s


cdef inline void _add_of(Table* table, const row_t* rows, const uint32_t* columns, const double* x, Py_ssize_t n,
                         Py_ssize_t output, double coefficient, const bint through,
                         const int lanes) noexcept nogil:
    if table.average == AVERAGE_UNIFORM:
        if table.pocket:
            _add(table, rows, columns, x, n, output, coefficient, through, lanes, AVERAGE_UNIFORM, True)
        else:
            _add(table, rows, columns, x, n, output, coefficient, through, lanes, AVERAGE_UNIFORM, False)
    elif table.average == AVERAGE_EXPONENTIAL:
        _add(table, rows, columns, x, n, output, coefficient, through, lanes, AVERAGE_EXPONENTIAL, table.pocket)
    else:
        _add(table, rows, columns, x, n, output, coefficient, through, lanes, AVERAGE_NONE, table.pocket)


cdef inline void table_add(Table* table, const row_t* rows, const double* x, Py_ssize_t n,
                           Py_ssize_t output, double coefficient) noexcept nogil:
    """w += coefficient * x on the event's rows, and what the averages and the pocket need for it.

    The rows must be reserved.
    """
    if table.lanes == 1:
        _add_of(table, rows, NULL, x, n, output, coefficient, False, 1)
    else:
        _add_of(table, rows, NULL, x, n, output, coefficient, False, LANES)


cdef inline void table_add_through(Table* table, const row_t* rows, const uint32_t* columns, const double* x,
                                   Py_ssize_t n, bint intercept, double coefficient) noexcept nogil:
    """The same for a table of one output, as in table_scores_through."""
    cdef row_t row = ROW_INTERCEPT
    cdef double one = 1.0
    if intercept:
        _add_of(table, &row, NULL, &one, 1, 0, coefficient, False, 1)
    if table.average == AVERAGE_UNIFORM and not table.pocket:
        add_two(table.blocks[0].chunks, rows, columns, x, n, coefficient, table.c)
    else:
        _add_of(table, rows, columns, x, n, 0, coefficient, True, 1)


cdef inline void table_tick(Table* table) noexcept nogil:
    """An event has passed."""
    if table.average == AVERAGE_UNIFORM:
        table.c += 1.0
    elif table.average == AVERAGE_EXPONENTIAL:
        table.s *= table.keep
        if table.s < exp2(-<double> FOLD_BITS):
            table.s *= exp2(<double> FOLD_BITS)
            table.fold += 1


cdef inline void table_snapshot(Table* table) noexcept nogil:
    """The current weights go into the pocket."""
    table.epoch += 1.0


cdef inline double table_read(const Table* table, row_t row, Py_ssize_t output, int kind) noexcept nogil:
    """One weight of one kept vector."""
    cdef size_t chunk = row >> CHUNK_BITS
    cdef const double* field
    cdef const Block* block = &table.blocks[output // table.lanes]
    if chunk >= table.n_chunks:
        return 0.0
    field = _lane(table, row, output)
    if kind == KEPT_AVERAGE:
        if table.average == AVERAGE_UNIFORM:
            return field[0] - field[1] / table.c
        return field[0] - table.s * (field[1] * _fold_factor(table.fold - block.folds[chunk]))
    if kind == KEPT_POCKET and field[table.fields - 1] == table.epoch:
        return field[table.fields - 2]
    return field[0]


cdef inline void table_write(Table* table, row_t row, Py_ssize_t output, double w) noexcept nogil:
    """Set a weight of a reserved row before anything was learned: every kept vector starts from it."""
    _lane(table, row, output)[0] = w


cdef inline double _larger(double size, double w) noexcept nogil:
    w = fabs(w)
    return w if w > size else size


cdef inline void _sizes(const Table* table, const row_t* rows, Py_ssize_t n, double* sizes, const int lanes,
                        const int average, const bint pocket) noexcept nogil:
    """table_sizes, with a loop of its own for the everyday kinds of learner; each weight as table_read has it."""
    cdef int fields = 1 + (average != AVERAGE_NONE) + 2 * pocket
    cdef const double* field
    cdef double size, behind
    cdef Py_ssize_t b, i
    cdef size_t chunk
    cdef int k
    for i in range(n):
        sizes[i] = 0.0
    for b in range(table.n_blocks):
        for i in range(n):
            chunk = rows[i] >> CHUNK_BITS
            if chunk >= table.n_chunks:
                continue
            field = table.blocks[b].chunks[chunk] + (rows[i] & CHUNK_MASK) * (fields * lanes)
            size = sizes[i]
            for k in range(lanes):
                size = _larger(size, field[0])
                if average == AVERAGE_UNIFORM:
                    size = _larger(size, field[0] - field[1] / table.c)
                elif average == AVERAGE_EXPONENTIAL:
                    behind = _fold_factor(table.fold - table.blocks[b].folds[chunk])
                    size = _larger(size, field[0] - table.s * (field[1] * behind))
                if pocket and field[fields - 1] == table.epoch:
                    size = _larger(size, field[fields - 2])
                field += fields
            sizes[i] = size


cdef inline void table_sizes(const Table* table, const row_t* rows, Py_ssize_t n, double* sizes) noexcept nogil:
    """For each of n rows the size of its largest weight, of all outputs and kept vectors."""
    if table.pocket or table.average != AVERAGE_UNIFORM:
        _sizes(table, rows, n, sizes, table.lanes, table.average, table.pocket)
    elif table.lanes == 1:
        _sizes(table, rows, n, sizes, 1, AVERAGE_UNIFORM, False)
    else:
        _sizes(table, rows, n, sizes, LANES, AVERAGE_UNIFORM, False)


cdef inline void table_prefetch(const Table* table, row_t row, row_t n) noexcept nogil:
    """Ask for the weights of n rows of one chunk, which are going to be read."""
    cdef Py_ssize_t b
    if row >> CHUNK_BITS >= table.n_chunks:
        return
    for b in range(table.n_blocks):
        prefetch_lines(table.blocks[b].chunks[row >> CHUNK_BITS] + (row & CHUNK_MASK) * table.width,
                       n * table.width * sizeof(double))


cdef inline void table_clear(Table* table, row_t row) noexcept nogil:
    """Make a row what it was before it was first written."""
    cdef Py_ssize_t b
    cdef double* chunk
    if row >> CHUNK_BITS >= table.n_chunks:
        return
    for b in range(table.n_blocks):
        chunk = table.blocks[b].chunks[row >> CHUNK_BITS]
        if chunk != table.zeros:
            memset(chunk + (row & CHUNK_MASK) * table.width, 0, table.width * sizeof(double))


cdef inline double* table_chunk(const Table* table, Py_ssize_t block, size_t chunk) noexcept nogil:
    """The 256 rows of a chunk, or NULL where none was ever written."""
    cdef double* rows = table.blocks[block].chunks[chunk]
    return NULL if rows == table.zeros else rows


cdef inline bint table_wrote(const Table* table, size_t chunk) noexcept nogil:
    """Whether any output has rows of its own in a chunk."""
    cdef Py_ssize_t b
    for b in range(table.n_blocks):
        if table_chunk(table, b, chunk) != NULL:
            return True
    return False


cdef inline int table_copy(Table* to, const Table* other) noexcept nogil:
    """A second table of the same weights. Returns -1 without memory; table_free is due in either case."""
    cdef Py_ssize_t b
    cdef size_t i
    cdef double* made
    to[0] = other[0]
    to.blocks = NULL
    to.n_blocks = 0
    to.n_outputs = 0
    to.bytes = 0
    pool_init(&to.pool, other.pool.scattered)
    if pool_reserve(&to.pool, other.pool.used) < 0:
        return -1
    if table_add_outputs(to, other.n_outputs) < 0:
        return -1
    for b in range(to.n_blocks):
        for i in range(other.n_chunks):
            if other.blocks[b].chunks[i] == other.zeros:
                continue
            made = <double*> pool_take(&to.pool, chunk_bytes(to))
            if made == NULL:
                return -1
            to.blocks[b].chunks[i] = made
            memcpy(made, other.blocks[b].chunks[i], chunk_bytes(to))
        if to.average == AVERAGE_EXPONENTIAL:
            memcpy(to.blocks[b].folds, other.blocks[b].folds, other.n_chunks * sizeof(uint32_t))
    return 0


cdef inline const char* table_fault(const Table* table, row_t n_rows) noexcept nogil:
    """What is wrong with a table of n_rows rows in use, or NULL. For the tests: it looks at everything."""
    cdef Py_ssize_t b
    cdef size_t i, k, row, bytes = table.n_blocks * sizeof(Block), blocks = 0
    cdef const Block* block
    if table.borrowed:
        return NULL
    for b in range(table.n_blocks):
        block = &table.blocks[b]
        bytes += places_bytes(&block.of_chunks) + places_bytes(&block.of_folds)
        if table.n_chunks > block.of_chunks.capacity:
            return "there are more chunks than places"
        for i in range(block.of_chunks.copied):
            if (<double**> block.of_chunks.next)[i] != block.chunks[i]:
                return "a chunk is not where the array of the next places has it"
        for i in range(block.of_folds.copied):
            if (<uint32_t*> block.of_folds.next)[i] != block.folds[i]:
                return "a chunk's folds are not what the array of the next ones has"
        for i in range(table.n_chunks):
            if block.chunks[i] == table.zeros:
                continue
            blocks += pool_block(chunk_bytes(table))
            for k in range(<size_t> CHUNK_ROWS * table.width):
                row = (i << CHUNK_BITS) + k // table.width
                if (block.chunks[i][k] != 0.0) & ((row == ROW_NULL) | (row >= n_rows)):
                    return "a row that is not in use is not zero"
                if block.chunks[i][k] != 0.0 and (
                        b * table.lanes + <Py_ssize_t> (k % table.width) // table.fields >= table.n_outputs):
                    return "an output that is not in use is not zero"
    for k in range(<size_t> (CHUNK_ROWS * LANES * 4)):
        if table.zeros[k] != 0.0:
            return "the chunk of zeros has been written"
    if bytes != table.bytes or blocks != table.pool.used or blocks > table.pool.bytes:
        return "the table holds more bytes, or fewer, than it counts"
    return NULL
