"""Which steps a model has taken that it could take back, and which it has taken back already.

A model gives its steps the number of the event, and the mark of a segment: a random number drawn
when the first such step is taken. A copy, a pickle and a file have the segments so far, each with
the number at which it ended there, and begin one of their own with their next step. So a step is
known to whatever went on from the model that took it, and to nothing else; a copy that has gone
another way does not know it. A segment takes a few bytes for each time the model was loaded, and a
step taken back some bytes for good.
"""

import os

_BITS = 48                      # of a mark: JSON of every kind holds such numbers


def past_mark():
    """A mark for a segment that may begin. Drawing one lets other threads run."""
    return int.from_bytes(os.urandom(_BITS // 8), "little")


cdef class Past:
    """The segments of a model's past, and the steps that were taken back.

    It is compiled so that no other thread runs in the midst of a call; `mark` is called by whom the
    gate has let in to learn.
    """
    cdef dict segments          # mark -> the number at which it ended
    cdef set undone             # numbers of events
    cdef object own             # the mark of the segment that goes on here, or None

    def __cinit__(self):
        self.segments = {}
        self.undone = set()

    def mark(self, drawn):
        """The mark of the step about to be taken; `drawn` if a segment begins with it."""
        if self.own is None:
            self.own = drawn
        return self.own

    def knows(self, mark, number):
        """Whether the step is one of this model's."""
        return mark == self.own or number < self.segments.get(mark, 0)

    def is_undone(self, number):
        return number in self.undone

    def undo(self, number):
        self.undone.add(number)

    def ended(self, n_seen):
        """What a copy has: every segment has ended, the last one at this number."""
        cdef Past past = Past()
        past.segments = dict(self.segments)
        if self.own is not None:
            past.segments[self.own] = n_seen
        past.undone = set(self.undone)
        return past

    def state(self):
        """Plain values, of one whose segments have all ended."""
        return tuple(self.segments.items()), tuple(sorted(self.undone))

    @classmethod
    def of(cls, state, n_seen):
        """The one whose state this is; ValueError if it contradicts itself."""
        cdef Past past = Past()
        segments, undone = state
        past.segments = dict(segments)
        past.undone = set(undone)
        if not (len(past.segments) == len(segments) and len(past.undone) == len(undone)
                and all([_is_below(mark, 1 << _BITS) for mark in past.segments])
                and all([_is_below(end, n_seen + 1) for end in past.segments.values()])
                and all([_is_below(number, n_seen) for number in undone])):
            raise ValueError("the record of steps that can be taken back is invalid")
        return past


cdef bint _is_below(number, limit) except -1:
    return type(number) is int and 0 <= number < limit
