from streamptron._core import PairModel

class VotedModel(PairModel):
    @property
    def n_kept(self) -> int: ...
