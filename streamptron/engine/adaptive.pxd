# What doors take of engine/adaptive/: AdaptiveClassifier. The headers say what each of it is.

from libc.stdint cimport uint32_t
from streamptron.engine.events cimport sp_event
from streamptron.engine.linear cimport sp_table
from streamptron.engine.memory cimport sp_slot_type

cdef extern from "learner/drift.h" nogil:
    ctypedef struct sp_drift:
        pass

    bint sp_drift_is_sound(const double *numbers) noexcept


cdef extern from "learner/alarms.h" nogil:
    ctypedef struct sp_alarm:
        Py_ssize_t label
        double rate
        double q

    ctypedef struct sp_alarms:
        sp_alarm *of
        Py_ssize_t n

    int sp_alarms_begin(sp_alarms *alarms, Py_ssize_t n) noexcept
    void sp_alarms_bind(sp_alarms *alarms, Py_ssize_t i, Py_ssize_t k) noexcept


cdef extern from "learner/shapes.h" nogil:
    enum:
        SP_HATS
        SP_PATCH_CELLS

    ctypedef struct sp_gate:
        float value

    ctypedef struct sp_shape:
        sp_slot_type a
        sp_slot_type b
        sp_gate gate

    ctypedef struct sp_layer:
        sp_shape *parts
        Py_ssize_t n
        double tau

    ctypedef struct sp_shapes:
        int n_layers
        sp_layer *of


cdef extern from "shapes/layers.h" nogil:
    double sp_shape_met(const sp_shapes *shapes, int layer, Py_ssize_t part,
                        Py_ssize_t cell) noexcept


cdef extern from "learner/adaptive.h" nogil:
    const double SP_U_LIMIT
    const double SP_TAU_LEAST
    const double SP_TAU_MOST
    const double SP_G_TAU_MOST

    ctypedef struct sp_columns:
        Py_ssize_t n
        sp_slot_type *slots

    ctypedef struct sp_adaptive:
        double eta
        double forget
        bint watches
        bint naive_bayes
        bint intercept
        int positive
        Py_ssize_t n_labels
        double T
        double m
        double nm
        double tau
        double Gtau
        sp_columns columns
        sp_drift drift
        sp_alarms alarms
        sp_shapes shapes
        double wn
        double Gn
        bint rows
        double *D
        double *w0
        double *G0

    ctypedef struct sp_stride:
        Py_ssize_t k

    ctypedef struct sp_adaptive_scratch:
        Py_ssize_t n_plain
        Py_ssize_t n_shown
        Py_ssize_t n
        double r
        double length
        sp_stride *strides
        Py_ssize_t n_strides

    Py_ssize_t sp_adaptive_outputs(const sp_adaptive *a) noexcept
    Py_ssize_t sp_adaptive_places(const sp_adaptive *a) noexcept
    sp_adaptive_scratch *sp_adaptive_scratch_of(const sp_event *event) noexcept
    const sp_slot_type *sp_adaptive_scratch_slots(const sp_adaptive_scratch *w,
                                                  const sp_event *event) noexcept
    Py_ssize_t sp_adaptive_scratch_entry(const sp_adaptive_scratch *w, Py_ssize_t i) noexcept


cdef extern from "adaptive/report.h" nogil:
    void sp_adaptive_spread(const sp_table *table, sp_slot_type slot, double *mean,
                            double *variance, double *size) noexcept
