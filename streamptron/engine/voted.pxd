# What doors take of engine/voted/: VotedPerceptron. The headers say what each of it is.

from libc.stdint cimport uint32_t
from streamptron.engine.linear cimport sp_table
from streamptron.engine.memory cimport sp_slot_type
from streamptron.engine.names cimport sp_index

cdef extern from "voted/voters.h" nogil:
    ctypedef struct sp_mentions:
        uint32_t start
        uint32_t end

    ctypedef struct sp_voters_span:
        double low
        double high

    ctypedef struct sp_turn:
        double a
        double B
        uint32_t update

    ctypedef struct sp_update:
        sp_slot_type first

    ctypedef struct sp_voter:
        sp_turn *turns
        sp_voters_span *wide
        Py_ssize_t start
        Py_ssize_t end
        double B

    ctypedef struct sp_voters:
        int degree
        uint32_t budget
        double now
        double since
        sp_mentions **chunks
        size_t n_chunks
        sp_update *updates
        Py_ssize_t start
        Py_ssize_t end
        uint32_t number
        sp_voter *voters
        size_t bytes

    size_t sp_voters_features(const sp_voters *v) noexcept
    Py_ssize_t sp_voters_updates(const sp_voters *v) noexcept


cdef extern from "voted/vote.h" nogil:
    enum:
        SP_DEGREE_MOST

    void sp_voters_shares(const sp_voters *v, Py_ssize_t output, const sp_slot_type *slots,
                          const double *x, Py_ssize_t n, const double *current, double *parts,
                          uint32_t *seen, double *shares) noexcept
