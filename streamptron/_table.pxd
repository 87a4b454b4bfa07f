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
# row, however many features there are, and a chunk of 256 rows is made when it is first written: NULL
# stands for zeros.
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
# Functions in this file: table_init, table_free, table_copy, table_add_outputs, table_reserve_places
# and table_reserve (these may fail), table_scores, table_add, table_tick, table_snapshot, table_read, table_write.

from libc.math cimport exp2
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset
from streamptron._types cimport (
    CHUNK_BITS, CHUNK_MASK, CHUNK_ROWS, LINES_OVERHEAD,
    lines_alloc, lines_free, row_t, uint32_t, uint64_t)

cdef enum:
    AVERAGE_NONE = 0
    AVERAGE_UNIFORM = 1
    AVERAGE_EXPONENTIAL = 2

    KEPT_CURRENT = 0                # the vectors that can be read, in this order everywhere
    KEPT_AVERAGE = 1
    KEPT_POCKET = 2
    KEPT_KINDS = 3

    LANES = 4                       # outputs in a block when there are several
    FOLD_BITS = 256

cdef struct Block:
    double** chunks                 # NULL: all zeros
    uint32_t* folds                 # folds each chunk has seen (EXPONENTIAL only)

cdef struct Table:
    int average
    bint pocket
    int fields                      # doubles an output
    int lanes                       # outputs a block
    int width                       # doubles a row in a block
    Py_ssize_t n_outputs
    Py_ssize_t n_blocks
    Block* blocks
    size_t n_chunks                 # chunk places in every block
    double c                        # UNIFORM: 1 + events seen
    double s                        # EXPONENTIAL: D = s v
    double keep                     # EXPONENTIAL: 1 - a
    uint32_t fold
    double epoch                    # of the pocket: snapshots so far, plus one
    size_t bytes                    # what the table holds from the heap


cdef inline void table_init(Table* table, int average, double half_life, bint pocket,
                            bint several) noexcept nogil:
    """`several`: outputs come in blocks of LANES; otherwise there is one output for good."""
    memset(table, 0, sizeof(Table))
    table.average = average
    table.pocket = pocket
    table.fields = 1 + (average != AVERAGE_NONE) + 2 * pocket
    table.lanes = LANES if several else 1
    table.width = table.fields * table.lanes
    table.c = 1.0
    table.s = 1.0
    table.keep = exp2(-1.0 / half_life)
    table.epoch = 1.0


cdef inline void table_free(Table* table) noexcept nogil:
    cdef Py_ssize_t b
    cdef size_t i
    for b in range(table.n_blocks):
        for i in range(table.n_chunks):
            lines_free(table.blocks[b].chunks[i])
        free(table.blocks[b].chunks)
        free(table.blocks[b].folds)
    free(table.blocks)
    table.blocks = NULL
    table.n_blocks = 0
    table.n_chunks = 0
    table.bytes = 0


cdef inline int _block_resize(Table* table, Block* block, size_t old, size_t new) noexcept nogil:
    """Chunk places for a block, the new ones empty."""
    cdef void* p = realloc(block.chunks, new * sizeof(double*))
    if p == NULL:
        return -1
    block.chunks = <double**> p
    if table.average == AVERAGE_EXPONENTIAL:
        p = realloc(block.folds, new * sizeof(uint32_t))
        if p == NULL:
            return -1
        block.folds = <uint32_t*> p
        memset(block.folds + old, 0, (new - old) * sizeof(uint32_t))
        table.bytes += (new - old) * sizeof(uint32_t)
    memset(block.chunks + old, 0, (new - old) * sizeof(double*))
    table.bytes += (new - old) * sizeof(double*)
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
            if table.n_chunks and _block_resize(
                    table, &table.blocks[table.n_blocks], 0, table.n_chunks) < 0:
                free(table.blocks[table.n_blocks].chunks)
                return -1
            table.bytes += sizeof(Block)
            table.n_blocks += 1
    table.n_outputs += n
    return 0


cdef inline int table_reserve_places(Table* table, size_t places) noexcept nogil:
    """Places for so many chunks, the new ones empty. Returns -1 without memory."""
    cdef Py_ssize_t b
    for b in range(table.n_blocks):
        if _block_resize(table, &table.blocks[b], table.n_chunks, places) < 0:
            return -1
    table.n_chunks = places
    return 0


cdef inline int table_reserve(Table* table, const row_t* rows, Py_ssize_t n,
                              Py_ssize_t output) noexcept nogil:
    """See that the rows of this output can be written. Returns -1 without memory."""
    cdef Py_ssize_t i
    cdef size_t chunk
    cdef Block* block
    for i in range(n):
        chunk = rows[i] >> CHUNK_BITS
        if chunk >= table.n_chunks and table_reserve_places(table, chunk + chunk // 2 + 4) < 0:
            return -1
        block = &table.blocks[output // table.lanes]
        if block.chunks[chunk] == NULL:
            block.chunks[chunk] = <double*> lines_alloc(CHUNK_ROWS * table.width * sizeof(double))
            if block.chunks[chunk] == NULL:
                return -1
            table.bytes += CHUNK_ROWS * table.width * sizeof(double) + LINES_OVERHEAD
            if table.average == AVERAGE_EXPONENTIAL:
                block.folds[chunk] = table.fold
    return 0


cdef inline double _fold_factor(uint32_t behind) noexcept nogil:
    return 1.0 if behind == 0 else exp2(-<double> FOLD_BITS * behind)


cdef inline void _scores(const Table* table, const Block* block, const row_t* rows,
                         const double* x, Py_ssize_t n, double* out,
                         const int lanes, const int average, const bint pocket) noexcept nogil:
    """The kernel: out[kind * lanes + lane] = sum over the event, in its order.

    The last three arguments are constants where it is called, so that each kind of learner gets a loop
    of its own with the sums in registers. Each sum has one accumulator: the order of the additions
    is the event's, on every machine.
    """
    cdef double w[LANES]
    cdef double v[LANES]
    cdef double p[LANES]
    cdef double behind = 1.0
    cdef const double* row
    cdef Py_ssize_t i
    cdef int k
    cdef int fields = 1 + (average != AVERAGE_NONE) + 2 * pocket
    cdef size_t chunk
    for k in range(lanes):
        w[k] = v[k] = p[k] = 0.0
    for i in range(n):
        chunk = rows[i] >> CHUNK_BITS
        if chunk >= table.n_chunks or block.chunks[chunk] == NULL:
            continue
        row = block.chunks[chunk] + (rows[i] & CHUNK_MASK) * (fields * lanes)
        if average == AVERAGE_EXPONENTIAL:
            behind = _fold_factor(table.fold - block.folds[chunk])
        for k in range(lanes):
            w[k] += x[i] * row[fields * k]
            if average == AVERAGE_UNIFORM:
                v[k] += x[i] * row[fields * k + 1]
            if average == AVERAGE_EXPONENTIAL:
                v[k] += x[i] * (row[fields * k + 1] * behind)
            if pocket:
                p[k] += x[i] * (row[fields * k + fields - 2]
                                if row[fields * k + fields - 1] == table.epoch
                                else row[fields * k])
    for k in range(lanes):
        out[KEPT_CURRENT * lanes + k] = w[k]
        if average == AVERAGE_UNIFORM:
            out[KEPT_AVERAGE * lanes + k] = w[k] - v[k] / table.c
        if average == AVERAGE_EXPONENTIAL:
            out[KEPT_AVERAGE * lanes + k] = w[k] - table.s * v[k]
        if pocket:
            out[KEPT_POCKET * lanes + k] = p[k]


cdef inline void _scores_dispatch(const Table* table, const Block* block, const row_t* rows,
                                  const double* x, Py_ssize_t n, double* out) noexcept nogil:
    if table.lanes == 1:
        if table.average == AVERAGE_UNIFORM:
            if table.pocket:
                _scores(table, block, rows, x, n, out, 1, AVERAGE_UNIFORM, True)
            else:
                _scores(table, block, rows, x, n, out, 1, AVERAGE_UNIFORM, False)
        elif table.average == AVERAGE_EXPONENTIAL:
            if table.pocket:
                _scores(table, block, rows, x, n, out, 1, AVERAGE_EXPONENTIAL, True)
            else:
                _scores(table, block, rows, x, n, out, 1, AVERAGE_EXPONENTIAL, False)
        elif table.pocket:
            _scores(table, block, rows, x, n, out, 1, AVERAGE_NONE, True)
        else:
            _scores(table, block, rows, x, n, out, 1, AVERAGE_NONE, False)
    elif table.average == AVERAGE_UNIFORM:
        if table.pocket:
            _scores(table, block, rows, x, n, out, LANES, AVERAGE_UNIFORM, True)
        else:
            _scores(table, block, rows, x, n, out, LANES, AVERAGE_UNIFORM, False)
    elif table.average == AVERAGE_EXPONENTIAL:
        if table.pocket:
            _scores(table, block, rows, x, n, out, LANES, AVERAGE_EXPONENTIAL, True)
        else:
            _scores(table, block, rows, x, n, out, LANES, AVERAGE_EXPONENTIAL, False)
    elif table.pocket:
        _scores(table, block, rows, x, n, out, LANES, AVERAGE_NONE, True)
    else:
        _scores(table, block, rows, x, n, out, LANES, AVERAGE_NONE, False)


cdef inline void table_scores(const Table* table, const row_t* rows, const double* x, Py_ssize_t n,
                              double* scores) noexcept nogil:
    """scores[kind * n_outputs + output], for the kinds that are kept; kind KEPT_CURRENT always is."""
    cdef double out[KEPT_KINDS * LANES]
    cdef Py_ssize_t b, first, k
    cdef int kind
    for b in range(table.n_blocks):
        _scores_dispatch(table, &table.blocks[b], rows, x, n, out)
        first = b * table.lanes
        for kind in range(KEPT_KINDS):
            if not table_keeps(table, kind):
                continue
            for k in range(min(<Py_ssize_t> table.lanes, table.n_outputs - first)):
                scores[kind * table.n_outputs + first + k] = out[kind * table.lanes + k]


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
    block.folds[chunk] = table.fold


cdef inline void table_add(Table* table, const row_t* rows, const double* x, Py_ssize_t n,
                           Py_ssize_t output, double coefficient) noexcept nogil:
    """w += coefficient * x on the event's rows, and what the averages and the pocket need for it.

    The rows must be reserved.
    """
    cdef Py_ssize_t i
    cdef Block* block = &table.blocks[output // table.lanes]
    cdef double* field
    cdef double delta
    cdef int pocket_at = table.fields - 2
    for i in range(n):
        field = _lane(table, rows[i], output)
        if table.pocket and field[pocket_at + 1] != table.epoch:
            field[pocket_at] = field[0]
            field[pocket_at + 1] = table.epoch
        delta = coefficient * x[i]
        field[0] += delta
        if table.average == AVERAGE_UNIFORM:
            field[1] += table.c * delta
        elif table.average == AVERAGE_EXPONENTIAL:
            if block.folds[rows[i] >> CHUNK_BITS] != table.fold:
                _catch_up(table, rows[i] >> CHUNK_BITS, block)
            field[1] += delta / table.s


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
    if chunk >= table.n_chunks or block.chunks[chunk] == NULL:
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


cdef inline double* table_chunk(const Table* table, Py_ssize_t block, size_t chunk) noexcept nogil:
    """The 256 rows of a chunk, or NULL where all are zero."""
    return table.blocks[block].chunks[chunk] if chunk < table.n_chunks else NULL


cdef inline int table_copy(Table* to, const Table* other) noexcept nogil:
    """A second table of the same weights. Returns -1 without memory; table_free is due in either case."""
    cdef Py_ssize_t b
    cdef size_t i
    cdef size_t chunk_bytes = CHUNK_ROWS * other.width * sizeof(double)
    to[0] = other[0]
    to.blocks = NULL
    to.n_blocks = 0
    to.n_outputs = 0
    to.bytes = 0
    if table_add_outputs(to, other.n_outputs) < 0:
        return -1
    for b in range(to.n_blocks):
        for i in range(other.n_chunks):
            if other.blocks[b].chunks[i] == NULL:
                continue
            to.blocks[b].chunks[i] = <double*> lines_alloc(chunk_bytes)
            if to.blocks[b].chunks[i] == NULL:
                return -1
            memcpy(to.blocks[b].chunks[i], other.blocks[b].chunks[i], chunk_bytes)
            to.bytes += chunk_bytes + LINES_OVERHEAD
        if to.average == AVERAGE_EXPONENTIAL and other.n_chunks > 0:
            memcpy(to.blocks[b].folds, other.blocks[b].folds, other.n_chunks * sizeof(uint32_t))
    return 0
