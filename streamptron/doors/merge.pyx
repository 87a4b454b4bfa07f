"""Models that learned apart: what they have learned, and all of it in one.

Labels, and names that are any objects, are united here, with Python code; then engine/whole/merge.h
does the rest without it, and without the interpreter's lock. Nobody learns meanwhile, but anybody
may predict.
"""

import json
from array import array
from copy import deepcopy
from operator import is_

from libc.stdint cimport int32_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset
from cpython cimport array as c_array

from streamptron._core cimport PairModel
from streamptron.doors.desk cimport DEBUG
from streamptron.doors.gate cimport (
    gate_come_out, gate_go_inside, gate_learn_begin, gate_learn_end, gate_read_begin, gate_read_end)
from streamptron.doors.model cimport Model
from streamptron.doors.state cimport (
    array_of, array_start, counts_set_state, counts_state)
from streamptron.engine.linear cimport sp_table_can_write
from streamptron.engine.memory cimport SP_SLOT_INTERCEPT, sp_calloc, sp_free, sp_slot_type
from streamptron.engine.names cimport sp_index_is_limited, sp_key
from streamptron.engine.path cimport (
    SP_CAN_MERGE, SP_CAN_SET, sp_learner, sp_learner_can, sp_learner_expect_outputs,
    sp_learner_free, sp_learner_labels, sp_learner_several)
from streamptron.engine.sets cimport SP_MARKS_MEMORY, SP_MARKS_WIDTH
from streamptron.engine.whole cimport (
    SP_LABEL_WIDTH, SP_SHARD_KEY, SP_SHARD_MEMORY, SP_SHARD_NAMES, SP_SHARD_NUMBER, SP_SHARD_TWICE,
    sp_delta, sp_delta_digest, sp_delta_free, sp_delta_keys, sp_delta_measure, sp_delta_overlay,
    sp_delta_write, sp_learner_widen, sp_learners_merge, sp_shard)

from streamptron.doors.names import damaged
from streamptron.estimator.names import shown, type_shown
from streamptron.modelfile.values import encode

cdef extern from "Python.h":
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept

_NO_MEMORY = "no memory to merge the models"


class _Contradiction(ValueError):
    """Something that no model holds, in a file used in place or in a delta."""


class NotOfThisBase(ValueError):
    """A model that did not go on from the one it is said to have gone on from."""


# --- Whether models may be merged, and what they call things

def check_alike(models, names):
    """That models may be merged: the same class and the same parameters. `names`: for errors."""
    cdef Model model
    for other, name in zip(models, names):
        if not isinstance(other, Model):
            raise TypeError(
                f"{name} is {shown(other)}, {type_shown(other)}; it must be one of streamptron's "
                "learners (of a pipeline, its last step: model[-1])")
    model = first = models[0]
    if not sp_learner_can(&model.learner, SP_CAN_MERGE):
        raise TypeError(
            f"{names[0]} is a VotedPerceptron, which cannot be merged: all the vectors that it has "
            "had vote, each made from the one before, and two histories do not make one. Merge a "
            "Perceptron or MulticlassPerceptron, whose average is the mean of these vectors")
    for other, name in zip(models[1:], names[1:]):
        if type(other) is not type(first):
            raise TypeError(
                f"{name} is {type_shown(other)} and {names[0]} {type_shown(first)}; only "
                "models of one class can be merged")
        _check_parameters((<Model> other)._params, model._params, name, names[0])
        if model.learner.index.bits and (
                (<Model> other).learner.index.seed_number != model.learner.index.seed_number):
            raise ValueError(
                f"{name} has another secret hash seed than {names[0]}, so their slots are not the "
                "same features; start both from copies of one model, or give hash_seed")


def _check_parameters(dict params, dict others, name, other):
    for parameter, value in others.items():
        if params.get(parameter) != value:
            raise ValueError(
                f"{name} has {parameter}={shown(params.get(parameter))} and {other} "
                f"{parameter}={shown(value)}; only models of the same parameters can be merged")


cdef tuple _called(Model model):
    """What labels and odd names a model has at this moment; no Python code runs."""
    gate_read_begin(&model.gate)
    collecting = PyGC_Disable()
    try:
        labels = model._get_labels()
        if labels is not None and len(labels) != sp_learner_labels(&model.learner):
            raise RuntimeError(
                "a label is being added to the model; merge it after learn_one has returned")
        return labels, list(model._objects)
    finally:
        gate_read_end(&model.gate)
        if collecting:
            PyGC_Enable()


cdef bint _still(Model model, called) except -1:
    """Whether a model whose gate has been passed still calls things so."""
    for before, now in zip(called, (model._get_labels(), list(model._objects))):
        if before is not None and (len(before) != len(now) or not all(map(is_, before, now))):
            return False
    return True


cdef list _united(lists):
    """Each thing once, in the order of its first appearance."""
    return list(dict.fromkeys([each for some in lists for each in some]))


def check_went_on(called, base, name):
    """That labels and odd names of a model begin with those of the base."""
    for its, ours, what in zip(called, base, ("labels", "feature names")):
        if ours is not None and its[:len(ours)] != ours:
            raise NotOfThisBase(
                f"{name} did not go on from since: its first {what} are not those of since")


cdef class _Side:
    """A shard, or the base, with the maps of its labels and odd names."""
    cdef sp_shard shard
    cdef Model model
    cdef list held
    cdef sp_key* keys

    def __cinit__(self, Model model):
        memset(&self.shard, 0, sizeof(sp_shard))
        self.model = model
        self.held = []
        self.shard.learner = &model.learner
        self.shard.n_objects = len(model._objects)
        self.shard.n_slots = model.learner.index.n_slots
        self.shard.first = self.shard.n_slots
        if model.learner.table.borrowed and sp_index_is_limited(&model.learner.index):
            self._stamps(model._arrays["stamps"])

    def __dealloc__(self):
        sp_free(self.keys)

    cdef int drop(self) except -1:
        """Give the memory of a learner that was only made to be merged back."""
        cdef sp_key* keys = self.keys
        self.keys = NULL
        self.shard.keys = NULL
        with nogil:
            sp_free(keys)
        _drop(self.model)
        return 0

    cdef int _stamps(self, array) except -1:
        cdef size_t n
        self.shard.stamps = <const uint32_t*> array_start(array, 0, 4, &n)
        self.held.append(array)
        if n != self.shard.n_slots:
            raise damaged("the stamps do not fit the names")
        return 0

    cdef int map(self, Model to, called, list labels, dict objects) except -1:
        """Find its labels among those of the merged model, and its odd names."""
        cdef c_array.array numbers, outputs, signs, ordinals
        own, names = called
        places, sources, sides, plain = _label_maps(to, self.model, own, labels)
        numbers, outputs, signs = array("i", places), array("i", sources), array("d", sides)
        self.held += [numbers, outputs, signs]
        self.shard.labels = <const int32_t*> numbers.data.as_ints
        self.shard.outputs = <const int32_t*> outputs.data.as_ints
        self.shard.signs = signs.data.as_doubles
        self.shard.plain = plain
        found = [objects[name] for name in names]
        self.shard.n_objects = len(found)
        if found != list(range(len(found))):
            ordinals = array("Q", found)
            self.held.append(ordinals)
            self.shard.ordinals = <const uint64_t*> ordinals.data.as_ulonglongs
        return 0


cdef void _drop(Model model) noexcept:
    """Free what a model holds that nobody will use again. That takes long: others may run."""
    cdef sp_learner* learner = &model.learner
    with nogil:
        sp_learner_free(learner)


cdef tuple _label_maps(Model to, Model model, own, labels):
    """By label of the merged model its number here, by output the output here and its sign, and
    whether they lie alike.
    """
    cdef int positive, its
    if labels is None:              # one output
        return [0, 1], [0], [1.0], True
    places = [own.index(label) if label in own else -1 for label in labels]
    if not isinstance(to, PairModel):
        return places, places or [-1], [1.0] * max(len(places), 1), _in_place(places)
    positive = to.learner.two.positive
    its = model.learner.two.positive
    if sp_learner_several(&model.learner):
        return places, places, [1.0] * len(places), _in_place(places)
    if not sp_learner_several(&to.learner):
        while len(places) < 2:
            places.append(-1)
        same = not own or (its == 0) == (positive == places.index(0))
        return places, [0], [1.0 if same else -1.0], same
    return (places, [0 if place >= 0 else -1 for place in places],
            [1.0 if place == its else -1.0 for place in places], False)


cdef bint _in_place(list places) except -1:
    return all([place == k or place < 0 for k, place in enumerate(places)])


# --- A merged model

cdef Model _untrained(Model like, labels, objects, y_name):
    """A model without events of the same class and parameters, which knows labels and odd names."""
    cdef Model to = type(like).__new__(type(like))
    cdef Py_ssize_t n
    most = like._params.get("max_labels")
    if most is not None and len(labels) > most:
        raise ValueError(
            f"together the models have {len(labels)} labels, more than max_labels={most}")
    to._configure(like._kind, **like._params)
    n = to._set_labels(labels)
    to._empty_index(like.learner.index.seed_number)
    to._objects = dict(objects)
    to._y_name = y_name
    if sp_learner_expect_outputs(&to.learner, n) < 0:
        raise MemoryError(_NO_MEMORY)
    return to


cdef int _mix(Model to, _Side base, list sides, names) except -1:
    """Fill an untrained model with what sides have learned since the base."""
    cdef sp_shard* shards = <sp_shard*> sp_calloc(len(sides), sizeof(sp_shard))
    cdef const sp_shard* start = &base.shard
    cdef int fault, n = len(sides), culprit = 0, k
    if shards == NULL:
        raise MemoryError(_NO_MEMORY)
    for k in range(n):
        shards[k] = (<_Side> sides[k]).shard
    with nogil:
        fault = sp_learners_merge(&to.learner, start, shards, n, &culprit)
    sp_free(shards)
    if fault == SP_SHARD_MEMORY:
        raise MemoryError(_NO_MEMORY)
    if fault == SP_SHARD_NUMBER:
        raise _Contradiction("a weight is not finite")
    name = "since" if culprit < 0 else names[culprit]
    if fault == SP_SHARD_KEY:
        raise _Contradiction(f"{name} has an invalid feature name")
    if fault == SP_SHARD_TWICE:
        raise _Contradiction(f"{name} has a feature name twice")
    if fault:
        raise NotOfThisBase(
            f"{name} did not go on from since: its first feature names are not those of "
            "since")
    to._set_once_state(to._once_state())
    if DEBUG:
        to._look()
    return 0


def merged(list models, Model since, list names):
    """One model of several that have been checked to be alike; see streamptron.merge."""
    cdef Model model, base, to
    cdef _Side side, start
    cdef int turn
    cdef Py_ssize_t i
    base = since
    if since is not None:
        models, names = _awake(models, since, names)
        if not models:
            return deepcopy(since)
    if len(models) == 1:
        return deepcopy(models[0])
    if base is None:
        base = _untrained(models[0], None if models[0]._get_labels() is None else [], {}, None)
    for turn in range(8):
        called = [_called(model) for model in [base, *models]]
        if since is not None:
            for its, name in zip(called[1:], names):
                check_went_on(its, called[0], name)
        labels = None if called[0][0] is None else _united([its for its, _ in called])
        if labels is not None and len(labels) > 2:
            for model, its, name in zip([base, *models], called, ["since", *names]):
                _check_sides(model, its[0], name)
        objects = {name: i for i, name in enumerate(_united([its for _, its in called]))}
        to = _untrained(models[0], labels, objects, base._y_name)
        sides = [_Side(model) for model in [base, *models]]
        for i in range(len(sides)):
            (<_Side> sides[i]).map(to, called[i], labels, objects)
        entered = []
        try:
            for model in [base, *models]:
                gate_read_begin(&model.gate)
                entered.append(model)
            collecting = PyGC_Disable()     # a finalizer might teach a model, and wait for itself
            try:
                if all([_still(model, its) for model, its in zip(entered, called)]):
                    for i in range(len(sides)):
                        _count(<_Side> sides[i], base, since is not None)
                    _mix(to, sides[0], sides[1:], names)
                    return to
            except _Contradiction as error:
                raise damaged(error) from None
            finally:
                if collecting:
                    PyGC_Enable()
        finally:
            for model in entered:
                gate_read_end(&model.gate)
    raise RuntimeError("the models learn new labels all the time; merge them when they pause")


cdef int _check_sides(Model model, list own, name) except -1:
    """That a model whose weights stand for one of two labels knows for which."""
    if not own and isinstance(model, PairModel) and sp_table_can_write(
            &model.learner.table, SP_SLOT_INTERCEPT):
        raise ValueError(
            f"{name} has weights and has met no label, so which of the labels they are for is not "
            "known, and together the models have more than two; teach it the first two labels")
    return 0


cdef int _count(_Side side, Model base, bint went_on) except -1:
    """How much it has learned since the base, now that it cannot learn any more."""
    cdef uint64_t before = base.learner.n_seen
    side.shard.n_slots = side.model.learner.index.n_slots
    side.shard.first = side.shard.n_slots
    side.shard.base = &base.learner.index
    side.shard.n = <double> (side.model.learner.n_seen - before)
    return 0


cdef tuple _awake(list models, Model since, list names):
    """The models that have learned since the base, and their names. The others are the base."""
    cdef Model model
    awake = []
    for model, name in zip(models, names):
        if model.learner.n_seen < since.learner.n_seen:
            raise NotOfThisBase(
                f"{name} did not go on from since: it has seen {model.learner.n_seen} events, and "
                f"since {since.learner.n_seen}")
        same = model.learner.n_seen > since.learner.n_seen or digest(model) == digest(since)
        if model.learner.n_seen > since.learner.n_seen:     # perhaps only by now
            awake.append((model, name))
        elif not same:
            raise NotOfThisBase(
                f"{name} has seen as many events as since, {since.learner.n_seen}, and is another "
                "model: it went on from another one, was given weights, or has undone an event. "
                "Give the model that it went on from, or merge without since")
    return [model for model, _ in awake], [name for _, name in awake]


# --- Deltas

def digest(Model model):
    """What tells a model from any other state of it: 32 digits. Its parameters are left out."""
    cdef _Side side
    cdef uint64_t h[2]
    cdef int failed
    cdef bytes text
    cdef const uint8_t* p
    cdef size_t n
    while True:
        called = _called(model)
        text = _as_text([type(model).__name__, *called])
        p, n = <const uint8_t*> <const char*> text, len(text)
        gate_read_begin(&model.gate)
        collecting = PyGC_Disable()
        try:
            if not _still(model, called):
                continue
            side = _Side(model)
            with nogil:
                failed = sp_delta_digest(&side.shard, p, n, h)
        finally:
            gate_read_end(&model.gate)
            if collecting:
                PyGC_Enable()
        if failed:
            raise MemoryError("no memory for the model's digest")
        return f"{h[0]:016x}{h[1]:016x}"


cdef bytes _as_text(list called):
    """Class, labels and odd names as a C program writes them; or as only Python can."""
    name, labels, objects = called
    try:
        called = [name, labels and [encode(label) for label in labels],
                  [encode(each) for each in objects]]
        return json.dumps(called, separators=(",", ":")).encode()
    except (TypeError, RecursionError):
        return repr(called).encode("utf-8", "surrogatepass")


def delta_state(Model model, Model since):
    """What a model has that its base has not: plain values, and {name: (shape, bytes)}."""
    cdef _Side side, base
    cdef sp_delta delta
    cdef int fault
    cdef bint limited = sp_index_is_limited(&model.learner.index)
    memset(&delta, 0, sizeof(sp_delta))
    _awake([model], since, ["the model"])
    start = _called(since)
    check_went_on(_called(model), start, "the model")
    gate_read_begin(&since.gate)
    try:
        gate_read_begin(&model.gate)
        collecting = PyGC_Disable()
        try:
            side, base = _Side(model), _Side(since)
            labels, objects = model._get_labels(), list(model._objects)
            if labels is not None and len(labels) != sp_learner_labels(&model.learner):
                raise RuntimeError(
                    "a label is being added to the model; ask again after learn_one has returned")
            with nogil:
                fault = sp_delta_measure(&delta, &side.shard, &base.shard)
            if fault == SP_SHARD_MEMORY:
                raise MemoryError("no memory for a delta")
            if fault == SP_SHARD_KEY:
                raise damaged("a feature name is invalid")
            if fault:
                raise NotOfThisBase(
                    "the model did not go on from since: its first feature names are not those of "
                    "since")
            arrays = {
                "rows": array_of(<void**> &delta.rows, delta.n_rows, delta.width, 8),
                "slots": array_of(<void**> &delta.slots, delta.n_rows, 0, 4),
                "blocks": array_of(<void**> &delta.blocks, delta.n_blocks, 0, 4),
            }
            if delta.n_keys:
                arrays["keys"] = array_of(<void**> &delta.keys, delta.n_keys, 2, 8)
                arrays["texts"] = array_of(<void**> &delta.texts, delta.n_texts, 0, 1)
            if limited:
                arrays["renamed"] = array_of(<void**> &delta.renamed, delta.n_renamed, 0, 4)
                arrays["stamps"] = array_of(<void**> &delta.stamps, delta.n_stamps, 0, 4)
            if delta.n_marks:
                arrays["marks"] = array_of(<void**> &delta.marks, delta.n_marks, SP_MARKS_WIDTH, 4)
            if sp_learner_can(&model.learner, SP_CAN_SET):
                arrays["marked"] = array_of(
                    <void**> &delta.marked, model.learner.sets.n_labels, SP_LABEL_WIDTH, 8)
            with nogil:
                sp_delta_write(&delta, &side.shard, &base.shard)
            state = {
                "labels": None if labels is None else labels[len(start[0]):],
                "objects": objects[len(start[1]):],
                **counts_state(&model.learner),
                **model._once_state(),
            }
        finally:
            sp_delta_free(&delta)
            gate_read_end(&model.gate)
            if collecting:
                PyGC_Enable()
    finally:
        gate_read_end(&since.gate)
    return state, arrays


cdef _Side _rebuilt(Model base, labels, objects, state, arrays, int depth):
    """A base and a delta as a learner that can only be merged. All of it is checked."""
    cdef Model model
    cdef _Side side
    cdef sp_delta delta
    cdef Py_ssize_t n
    cdef sp_key* keys
    cdef sp_slot_type n_slots = 0, first = 0
    cdef size_t rows, n_objects
    cdef int fault
    cdef bint bits = base.learner.index.bits != 0
    cdef bint limited = sp_index_is_limited(&base.learner.index)
    cdef bint sets = sp_learner_can(&base.learner, SP_CAN_SET)
    cdef bint many, wide
    names = None if labels is None else [*labels, *state["labels"]]
    objects = [*objects, *state["objects"]]
    n_objects = len(objects)
    if len(set(objects)) != len(objects):
        raise ValueError("a feature name occurs twice")
    model = type(base).__new__(type(base))
    model._configure(base._kind, **base._params)
    n = model._set_labels(names)
    many = model.learner.adaptive.rows
    wide = not sets and not many and "marks" in arrays
    if wide:
        fault = sp_learner_widen(&model.learner)
        if fault == SP_MARKS_MEMORY:
            raise MemoryError(_NO_MEMORY)
        if fault:
            raise ValueError("the arrays are not those of such a model")
    counts_set_state(&model.learner, state)
    model._set_once_state(state)
    if model.learner.n_seen <= base.learner.n_seen:
        raise ValueError("it has seen no events")
    expected = {"rows", "slots", "blocks"}
    if not bits:
        expected |= {"keys", "texts"}
    if limited:
        expected |= {"renamed", "stamps"}
    if sets or many or wide:
        expected.add("marks")
    if sets:
        expected.add("marked")
    if arrays.keys() != expected:
        raise ValueError("the arrays are not those of such a model")
    memset(&delta, 0, sizeof(sp_delta))
    delta.rows = <double*> array_start(
        arrays["rows"], model.learner.table.width, 8, &delta.n_rows)
    delta.slots = <uint32_t*> array_start(arrays["slots"], 0, 4, &rows)
    if rows != delta.n_rows:
        raise ValueError("slots and rows are not as many")
    delta.blocks = <uint32_t*> array_start(arrays["blocks"], 0, 4, &delta.n_blocks)
    if not bits:
        delta.keys = <sp_key*> array_start(arrays["keys"], 2, 8, &delta.n_keys)
        delta.texts = <uint8_t*> array_start(arrays["texts"], 0, 1, &delta.n_texts)
        if delta.n_keys < 2:
            raise ValueError("the number of names is invalid")
    if limited:
        delta.renamed = <uint32_t*> array_start(arrays["renamed"], 0, 4, &delta.n_renamed)
        delta.stamps = <uint32_t*> array_start(arrays["stamps"], 0, 4, &delta.n_stamps)
    if sets or many or wide:
        delta.marks = <uint32_t*> array_start(arrays["marks"], SP_MARKS_WIDTH, 4, &delta.n_marks)
    if sets:
        delta.marked = <double*> array_start(arrays["marked"], SP_LABEL_WIDTH, 8, &rows)
        if rows != <size_t> n:
            raise ValueError("what is kept for each label does not fit the labels")
    with nogil:
        fault = sp_delta_overlay(
            &delta, &model.learner, &base.learner, n, n_objects, depth, &n_slots)
    if fault == SP_SHARD_MEMORY:
        raise MemoryError(_NO_MEMORY)
    if fault:
        raise ValueError("a feature name is invalid" if fault == SP_SHARD_NAMES
                         else "its numbers contradict themselves")
    side = _Side(model)
    side.held.append(arrays)
    side.shard.n_slots = n_slots
    side.shard.base = &base.learner.index
    side.shard.n = <double> (model.learner.n_seen - base.learner.n_seen)
    if limited:
        side.shard.stamps = delta.stamps
    with nogil:                 # others may run: there may be millions of names
        keys = sp_delta_keys(&delta, &base.learner.index, &model.learner.index, n_slots, &first)
    side.keys = keys
    if keys == NULL:
        raise MemoryError(_NO_MEMORY)
    side.shard.keys = side.keys
    side.shard.keys_from = first
    return side


cdef Model _with_all(Model base, list parts, list names, int depth):
    """What a model will be with the deltas' parts: [(state, arrays)]."""
    cdef _Side side, start = _Side(base)
    cdef Model to
    called = base._get_labels(), list(base._objects)
    sides = []
    for (state, arrays), name in zip(parts, names):
        try:
            sides.append(_rebuilt(base, called[0], called[1], state, arrays, depth))
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
            raise damaged_delta(name, error) from error
    theirs = [(None if called[0] is None else [*called[0], *state["labels"]],
               [*called[1], *state["objects"]]) for state, _ in parts]
    labels = None if called[0] is None else _united([called[0], *[its for its, _ in theirs]])
    objects = {name: i for i, name in enumerate(_united([called[1], *[its for _, its in theirs]]))}
    if labels is not None and len(labels) > 2:
        _check_sides(base, called[0], "the model")
    to = _untrained(base, labels, objects, base._y_name)
    start.map(to, called, labels, objects)
    start.shard.base = &base.learner.index
    for side, its in zip(sides, theirs):
        side.map(to, its, labels, objects)
    try:
        _mix(to, start, sides, names)
    except ValueError as error:
        raise damaged_delta(", ".join(names), error) from error
    finally:
        for side in sides:
            side.drop()
    return to


def damaged_delta(name, error):
    """The error of a delta that contradicts itself."""
    from streamptron.modelfile.layout import ModelFileError

    return ModelFileError(
        f"{name} is damaged: {error}; the model has not changed. Ask for the delta again")


def apply(Model model, list parts, list names, check, int depth):
    """Learn what shards have learned: (state, arrays) of each, in their order.

    `check` is called with the model's digest once nobody else can learn. Predictions continue until
    the result takes the model's place.
    """
    cdef Model to
    model._enter(True)
    gate_learn_begin(&model.gate)
    try:
        check(digest(model))
        if not parts:
            return
        to = _with_all(model, parts, names, depth)
        to.learner.version = model.learner.version + 1
        to.learner.index.generation = model.learner.index.generation + 1
        gate_go_inside(&model.gate)
        model._exchange(to)
        gate_come_out(&model.gate)
        _drop(to)                   # what the model was
    finally:
        gate_learn_end(&model.gate)
