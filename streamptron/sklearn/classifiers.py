"""The learners as scikit-learn classifiers: parameters and docs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from streamptron.common.parameters import MAX_PAIRS, arguments
from streamptron.learners import adaptive
from streamptron.learners.arow import AROW
from streamptron.learners.mira import MIRA
from streamptron.learners.perceptron import MulticlassPerceptron, Perceptron
from streamptron.learners.voted import VotedPerceptron
from streamptron.sklearn.base import Linear, PairClassifier


class AdaptiveClassifier(PairClassifier):
    """Logistic regression with adaptive steps and naive Bayes, for two classes or more.

    Start with this classifier: of those here it makes the fewest errors on most data, its
    probabilities need no calibration, and columns may have any unit and any mean. It is made for
    one pass over a stream, by ``partial_fit``; ``fit`` continues as long as that improves the
    answers for held-out rows.

    Parameters
    ----------
    eta : float, default=1.0
        The step size; there is rarely a reason to change it.
    forget : float or "auto", default="auto"
        How fast a weight's steps become long again; "auto" for streams that may change suddenly.
    naive_bayes : bool, default=True
        Use the naive Bayes log-odds as one more feature.
    shape : {"auto", "curve", "line"}, default="auto"
        How a column enters the score: "line", by a straight line; "curve", also by a curve; "auto":
        each two columns also have a surface.
    fit_intercept, max_iter, tol, shuffle, random_state
        As for :class:`PerceptronClassifier`.
    early_stopping, validation_fraction, n_iter_no_change, class_weight, degree, max_pairs
        As for :class:`PerceptronClassifier`.

    Attributes
    ----------
    classes_, n_iter_, n_features_in_, feature_names_in_
        As for :class:`PerceptronClassifier`.
    model_ : streamptron.AdaptiveClassifier
        The learner, to continue event by event: ``learn_one``, ``explain_one``, ``top_features``.
        Its features are the numbers of the columns, its labels the classes that rows have had, in
        the order of these rows.

    Notes
    -----
    The decision function of two classes is a rank: the score, reduced if little of a row is known,
    which orders rows better than the probability. There is no `coef_`, because values are scaled by
    the usual size of their columns, and naive Bayes adds to the score; ``model_.explain_one`` says
    what each column contributes.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamptron.sklearn import AdaptiveClassifier

    >>> texts = ["win a free prize now", "see you at the meeting", "free prize", "the agenda"]
    >>> model = make_pipeline(CountVectorizer(), AdaptiveClassifier(random_state=0))
    >>> model.fit(texts, ["spam", "ham", "spam", "ham"]).predict(["the new agenda", "a prize"])
    array(['ham', 'spam'], dtype='<U4')

    References
    ----------
    * Duchi, J., Hazan, E. & Singer, Y. (2011). Adaptive subgradient methods for online learning and
      stochastic optimization. JMLR 12.
    * Wang, S. & Manning, C. (2012). Baselines and bigrams: simple, good sentiment and topic
      classification. ACL.
    """

    _two = _several = adaptive.AdaptiveClassifier
    _own = ("eta", "forget", "naive_bayes", "shape", "degree", "max_pairs")

    def __init__(
        self,
        *,
        eta: float = 1.0,
        forget: float | str = "auto",
        naive_bayes: bool = True,
        shape: str = "auto",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Hashable, float] | str | None = None,
        degree: int = 1,
        max_pairs: int = MAX_PAIRS,
    ) -> None:
        self.__dict__.update(arguments(locals()))


class PerceptronClassifier(Linear):
    """Averaged perceptron for two classes or more, on a compiled core.

    For two classes it learns one vector (:class:`streamptron.Perceptron`); for more, or if
    ``partial_fit`` began with a single class, one per class
    (:class:`streamptron.MulticlassPerceptron`). If ``partial_fit`` meets a third class, the one
    vector w becomes -w and w, and so do average and pocket. That is what two vectors would have
    learned, so no decision changes. Only the probabilities lose their offset.

    Parameters
    ----------
    margin : float, default=0.0
        Learn from a row whenever its class leads by at most this: with one vector, the lead is the
        decision function; with more, the difference of two scores.
    average : {"uniform", "exponential", "none"}, default="uniform"
        The running average of the weights to keep: the mean of all of them, one in which recent
        ones count more, or none (which needs another `serve`).
    half_life : float, default=1000
        The half-life of the exponential average, in rows.
    pocket : bool, default=False
        Also keep the weights from when they were best.
    serve : {"average", "current", "pocket", "best"}, default="average"
        The weights that answer. On shuffled rows the average makes about a quarter fewer mistakes
        than the current weights, and it is a single vector, which `coef_` can show. "best" chooses,
        row by row, whichever has made fewer mistakes lately: for ``partial_fit`` on a stream that
        drifts.
    fit_intercept : bool, default=True
        Learn an intercept, as the weight of a feature that is 1 in every row.
    max_iter : int, default=1000
        The largest number of epochs in ``fit``.
    tol : float or None, default=1e-3
        ``fit`` ends when, for `n_iter_no_change` epochs in a row, the loss was not at least this
        much below the least so far. `early_stopping` says which rows the loss is for. None: do all
        `max_iter` epochs.
    shuffle : bool, default=True
        Whether each epoch learns the rows in a new random order.
    random_state : int, RandomState instance or None, default=None
        Seeds these orders and the choice of held-out rows.
    early_stopping : bool or "auto", default="auto"
        True: hold out some rows of each class. The loss is then the log-loss of these rows; the
        model with the least loss is kept, and learns the held-out rows once at the end. False:
        learn all rows in each epoch. The loss is then computed from leads, those of each row's
        class over the best other one by the weights that answer: the sum of the negative leads,
        divided by the sum of the absolute values of all leads. (If there are many rows, over a
        sample.) With many columns that few rows have, this stops too late. "auto": hold rows out if
        there is something to decide (`tol` is given and `max_iter` is not 1) and at least ten rows
        can be held out.
    validation_fraction : float, default=0.1
        The share of the rows that is held out.
    n_iter_no_change : int, default=5
        How many epochs may pass without an improvement.
    class_weight : dict, "balanced" or None, default=None
        ``{class: weight}``: scales the steps for a class. Classes that are not in it have weight 1.
        "balanced", in ``fit`` only: n_samples / (n_classes * rows of the class).
    degree : int, default=1
        2: also all pairs of columns, each with its own weights; the value of a pair is the product.
        Pairs are made only of nonzero values, so a wide matrix with few entries per row costs
        little. There is no `coef_` then: ``model_.weights`` has the pairs by name.
    max_pairs : int, default=1_000_000
        A row that makes more pairs is a ValueError.
    violators : {"best", "uniform", "proportional"}, default="best"
        With more than two classes: which of the classes that are not far enough behind a row's own
        class lose what it gains. The best of them, all equally, or each by how far it is ahead of
        where it should be.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights that answer; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts that go with them.
    n_iter_ : int
        Epochs of ``fit``; 1 after ``partial_fit``.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if X was a frame whose column names are all strs.
    model_ : streamptron.Perceptron or streamptron.MulticlassPerceptron
        The learner, to continue event by event: ``learn_one``, ``explain_one``, ``top_features``.
        Its features are the numbers of the columns. Its labels are the classes, but those of a
        Perceptron are False for ``classes_[0]`` and True for ``classes_[1]``. Add new classes by
        ``partial_fit``, not here.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import HashingVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamptron.sklearn import PerceptronClassifier

    >>> texts = ["win a free prize now", "see you at the meeting", "free prize", "the agenda"]
    >>> model = make_pipeline(HashingVectorizer(), PerceptronClassifier(random_state=0))
    >>> model.fit(texts, ["spam", "ham", "spam", "ham"]).predict(["the new agenda", "a prize"])
    array(['ham', 'spam'], dtype='<U4')

    References
    ----------
    * Rosenblatt, F. (1958). The perceptron. Psychological Review 65(6).
    * Freund, Y. & Schapire, R. (1999). Large margin classification using the perceptron algorithm.
    * Crammer, K. & Singer, Y. (2003). Ultraconservative online algorithms for multiclass
      problems. JMLR 3.
    """

    _two, _several = Perceptron, MulticlassPerceptron
    _own = ("margin", "average", "half_life", "pocket", "serve", "degree", "max_pairs")
    _several_own = ("violators",)

    def __init__(
        self,
        *,
        margin: float = 0.0,
        average: str = "uniform",
        half_life: float = 1000,
        pocket: bool = False,
        serve: str = "average",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Hashable, float] | str | None = None,
        degree: int = 1,
        max_pairs: int = MAX_PAIRS,
        violators: str = "best",
    ) -> None:
        self.__dict__.update(arguments(locals()))

    @staticmethod
    def _of_two(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return second  # the negative of the first, and what a Perceptron would have learned


class MIRAClassifier(Linear):
    """MIRA for two classes or more, on a compiled core; also known as passive-aggressive (PA-I).

    Each step is the smallest that puts a row's class ahead of the best other one by 1, but at most
    `C`. With two classes, each has a vector, one the negative of the other, and the decision
    function is the difference of their scores. That is the binary PA-I with 2 C for its C.

    Parameters
    ----------
    C : float, default=1.0
        The largest step, above 0. Small values reduce the harm of noisy labels.
    update : {"margin", "mistake"}, default="margin"
        Learn from a row whenever its class is ahead by less than 1, or only if it is not ahead.
    violators : {"best", "uniform", "proportional"}, default="best"
        As for :class:`PerceptronClassifier`.
    average, half_life, pocket, serve, fit_intercept, max_iter, tol, shuffle, random_state
        As for :class:`PerceptronClassifier`.
    early_stopping, validation_fraction, n_iter_no_change, class_weight, degree, max_pairs
        As for :class:`PerceptronClassifier`.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As for :class:`PerceptronClassifier`.
    model_ : streamptron.MIRA
        The learner, to continue event by event: ``learn_one``, ``explain_one``, ``top_features``.
        Its features are the numbers of the columns, its labels the classes. Add new classes by
        ``partial_fit``, not here.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from streamptron.sklearn import MIRAClassifier

    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(MIRAClassifier(C=0.1, random_state=0), X, y).mean().round(2)
    np.float64(0.97)

    References
    ----------
    * Crammer, K. & Singer, Y. (2003). Ultraconservative online algorithms for multiclass
      problems. JMLR 3.
    * Crammer, K. et al. (2006). Online passive-aggressive algorithms. JMLR 7.
    """

    _two, _several = MIRA, MIRA
    _own = ("C", "update", "average", "half_life", "pocket", "serve", "degree", "max_pairs")
    _several_own = ("violators",)

    def __init__(
        self,
        *,
        C: float = 1.0,
        update: str = "margin",
        average: str = "uniform",
        half_life: float = 1000,
        pocket: bool = False,
        serve: str = "average",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Hashable, float] | str | None = None,
        degree: int = 1,
        max_pairs: int = MAX_PAIRS,
        violators: str = "best",
    ) -> None:
        self.__dict__.update(arguments(locals()))


class AROWClassifier(Linear, PairClassifier):
    """Adaptive regularisation of weights, for two classes or more, on a compiled core.

    A second-order learner: each weight has a variance, and so its own step size. More than two
    classes are learned one against all.

    Parameters
    ----------
    r : float, default=1.0
        The noise of labels, above 0. Larger values make smaller steps.
    fit_intercept, max_iter, tol, shuffle, random_state
        As for :class:`PerceptronClassifier`.
    early_stopping, validation_fraction, n_iter_no_change, class_weight, degree, max_pairs
        As for :class:`PerceptronClassifier`.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As for :class:`PerceptronClassifier`. A class that no row has had yet has weights of 0, and
        is never the answer.
    model_ : streamptron.AROW
        The learner, to continue event by event: ``learn_one``, ``explain_one``, ``top_features``.
        Its features are the numbers of the columns, its labels the classes that rows have had, in
        the order of these rows.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import cross_val_score
    >>> from streamptron.sklearn import AROWClassifier

    >>> X, y = load_digits(return_X_y=True)
    >>> cross_val_score(AROWClassifier(random_state=0), X / 16, y).mean().round(2)
    np.float64(0.92)

    References
    ----------
    * Crammer, K., Kulesza, A. & Dredze, M. (2009). Adaptive regularization of weight vectors.
      NIPS 22.
    """

    _two = _several = AROW
    _own = ("r", "degree", "max_pairs")

    def __init__(
        self,
        *,
        r: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Hashable, float] | str | None = None,
        degree: int = 1,
        max_pairs: int = MAX_PAIRS,
    ) -> None:
        self.__dict__.update(arguments(locals()))


class VotedPerceptronClassifier(PairClassifier):
    """Freund & Schapire's voted perceptron, for two classes or more, on a compiled core.

    All its weight vectors so far vote, each with one vote for each row that it survived; more than
    two classes are learned one against all. With `degree` 2 or more it is a kernel perceptron.
    Every update of every epoch is kept, and a few epochs are enough.

    Parameters
    ----------
    degree : int, default=1
        The degree of the kernel (1 + x.z)^degree, from 1 to 16 (without an intercept
        (x.z)^degree). 2 includes the products of all pairs of columns, and of each with itself.
    budget : int or None, default=None
        The number of updates to keep, the latest ones; None: all.
    fit_intercept, max_iter, tol, shuffle, random_state
        As for :class:`PerceptronClassifier`; the loss is computed from the votes.
    early_stopping, validation_fraction, n_iter_no_change, class_weight
        As for :class:`PerceptronClassifier`.

    Attributes
    ----------
    classes_, n_iter_, n_features_in_, feature_names_in_
        As for :class:`PerceptronClassifier`.
    model_ : streamptron.VotedPerceptron
        The learner, to continue event by event: ``learn_one``, ``predict_one``. Its features are
        the numbers of the columns, its labels the classes that rows have had, in the order of these
        rows.

    Notes
    -----
    The decision function is the share of the votes for a class minus the share against it.

    Examples
    --------
    >>> import numpy as np
    >>> from streamptron.sklearn import VotedPerceptronClassifier

    >>> X = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> model = VotedPerceptronClassifier(degree=2, random_state=0)
    >>> model.fit(X, ["same", "other", "other", "same"]).predict(X)
    array(['same', 'other', 'other', 'same'], dtype='<U5')

    References
    ----------
    Freund, Y. & Schapire, R. (1999). Large margin classification using the perceptron algorithm.
        Machine Learning 37.
    """

    _two = _several = VotedPerceptron
    _own = ("degree", "budget")

    def __init__(
        self,
        *,
        degree: int = 1,
        budget: int | None = None,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Hashable, float] | str | None = None,
    ) -> None:
        self.__dict__.update(arguments(locals()))
