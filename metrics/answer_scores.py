"""Scores of one answer from labels: nuggets (A, V, W), citation support, labels of any scale.

Each item has a label, or a judge's probabilities of its labels; then it counts with its expected
gain.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

Range = tuple[float, float] | None  # range of a measure; None: it has no highest value
IN_0_TO_1: Range = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a measure, and the number of judgements behind it.

    Attributes:
        value: the measure over what was judged; None: nothing was judged, or 0/0.
        n: the number of judgements behind the value, >= 0.
        n_unjudged: the number of missing judgements, >= 0.
        low: the value if every missing judgement were the worst possible, <= value.
        high: the value if every missing judgement were the best possible, >= value.

    `low` and `high` equal `value` if nothing is missing. Both are None in two cases. First, the
    measure is undefined (0/0) whatever the missing judgements say: then `value` is None and
    `n_unjudged` is 0. Second, the missing judgements could give any value: then `n_unjudged` is
    above 0.

    Raises: ValueError for a count below 0, one bound without the other, a value without bounds
    though nothing is missing, or a value outside its bounds (also nan).

    >>> Value(0.5, n=2, n_unjudged=2, low=0.25, high=0.75).is_complete
    False
    """

    value: float | None
    n: int
    n_unjudged: int
    low: float | None
    high: float | None

    def __post_init__(self) -> None:
        if self.n < 0 or self.n_unjudged < 0:
            raise ValueError(f"counts must be >= 0, got n={self.n}, n_unjudged={self.n_unjudged}")
        if self.low is None or self.high is None:
            if not (self.low is None and self.high is None):
                raise ValueError(f"wanted both bounds or none: {self}")
            if self.value is not None and not (self.n_unjudged and self.value == self.value):
                raise ValueError(f"a value without missing judgements needs bounds: {self}")
        elif not self.low <= (self.low if self.value is None else self.value) <= self.high:
            raise ValueError(f"wanted low <= value <= high, got {self}")

    @property
    def is_complete(self) -> bool:
        """True if no judgement is missing."""
        return self.n_unjudged == 0

    @property
    def is_undefined(self) -> bool:
        """True if the measure is 0/0, whatever the missing judgements say."""
        return self.value is None and self.low is None and self.n_unjudged == 0

    @property
    def is_unbounded(self) -> bool:
        """True if missing judgements could give any value."""
        return self.low is None and self.n_unjudged > 0

    def widen(self, to: Range, n_unjudged: int = 0) -> Value:
        """Return the value with more missing judgements, which could give any value of a range.

        Args:
            to: the lowest and the highest value of the measure; None: it has no highest value.
            n_unjudged: the number of further missing judgements, >= 0.

        >>> Value(0.5, n=2, n_unjudged=0, low=0.5, high=0.5).widen(IN_0_TO_1, 3)
        Value(value=0.5, n=2, n_unjudged=3, low=0.0, high=1.0)
        """
        n = self.n_unjudged + n_unjudged
        if to is None:
            return replace(self, n_unjudged=n, low=None, high=None)
        present = [x for x in (self.low, self.value, self.high) if x is not None]
        return replace(self, n_unjudged=n, low=min([to[0], *present]), high=max([to[1], *present]))


UNDEFINED = Value(value=None, n=0, n_unjudged=0, low=None, high=None)  # 0/0, nothing missing


def make_failed(within: Range = IN_0_TO_1, value: float | None = None) -> Value:
    """Return the value of an answer that is missing because nuggetjudge itself failed.

    Args:
        within: the lowest and the highest value of the measure; None: it has no highest value.
        value: the value of the answer, if it is known.

    >>> make_failed()
    Value(value=None, n=0, n_unjudged=1, low=0.0, high=1.0)
    """
    low, high = within or (None, None)
    return Value(value, n=0, n_unjudged=1, low=low, high=high)


def mean_over_topics(
    values: Mapping[str, Value], topics: Collection[str] | None
) -> tuple[Value, int]:
    """Compute the mean of one measure of one run over topics, and the number of topics in it.

    Two gaps differ. A topic that the *system* did not answer is in `topics` but not in `values`; it
    counts 0, without a judgement. A topic that the *judge* did not judge has the value None; it is
    left out of the mean.

    Args:
        values: topic id -> the run's value on that topic.
        topics: ids of the topics that every run must answer (repeats count once); None: the topics
            of `values`. Leave out topics on which the measure is undefined for every run, such as V
            if no nugget is vital: there, a run that did not answer would get 0, and the others no
            value.

    Returns: (mean, n_topics). `n` and `n_unjudged` are sums over the topics. The bounds are means
        over the topics that have bounds: a topic without a judgement adds 0 and 1 to them and
        nothing to the value; a topic with 0/0 adds to neither. If a topic is unbounded, so is the
        mean. If no topic has a value, the value is None and n_topics is 0.
    Raises: ValueError with the answered topics that are not in `topics`.
    Source: arXiv:2411.09607, Tables 6 and 7: run scores divide by all topics of the track.

    >>> half = Value(0.5, n=4, n_unjudged=0, low=0.5, high=0.5)
    >>> mean_over_topics({"t1": half}, topics=["t1", "t2"])
    (Value(value=0.25, n=4, n_unjudged=0, low=0.25, high=0.25), 2)
    """
    wanted = set(values) if topics is None else set(topics)
    if extra := sorted(set(values) - wanted):
        raise ValueError(f"{len(extra)} answered topics are not among the topics: {extra}")
    n_unanswered = len(wanted) - len(values)
    answered = values.values()
    defined = [v.value for v in answered if v.value is not None] + [0.0] * n_unanswered
    low = _mean([v.low for v in answered if v.low is not None] + [0.0] * n_unanswered)
    high = _mean([v.high for v in answered if v.high is not None] + [0.0] * n_unanswered)
    value = _mean(defined)
    if any(v.is_unbounded for v in answered):
        low = high = None
    if value is not None and low is not None and high is not None:
        # In exact arithmetic low <= value <= high; the last bit of a division may say otherwise.
        low, high = min(low, value), max(high, value)
    n, n_unjudged = sum(v.n for v in answered), sum(v.n_unjudged for v in answered)
    return Value(value, n, n_unjudged, low, high), len(defined)


def _mean(numbers: list[float]) -> float | None:
    return math.fsum(numbers) / len(numbers) if numbers else None


NUGGET_MEASURES = ("A", "A_strict", "V", "V_strict", "W", "W_strict")
SUPPORT_MEASURES = (
    "support_precision",
    "support_recall",
    "support_precision_all",
    "support_recall_all",
    "support_precision_hard",
    "support_recall_hard",
)
SUFFIX = "_expected"
SHARE = "share_"  # prefix of the measure of a label's share of the items

Chances = Mapping[str, float]  # label -> probability; {"support": 1.0} for a label that is certain

# arXiv:2411.09607: the six nugget scores; arXiv:2504.15205, section 3: the two support scores.
NUGGET = {"not_support": 0.0, "partial_support": 0.5, "support": 1.0}
NUGGET_STRICT = {"not_support": 0.0, "partial_support": 0.0, "support": 1.0}
SUPPORT = {"none": 0.0, "partial": 0.5, "full": 1.0}
SUPPORT_HARD = {"none": 0.0, "partial": 0.0, "full": 1.0}
# arXiv:2410.23000: only entailed points count.
ENTAILMENT = {"no": 0.0, "neutral": 0.0, "yes": 1.0}
CLAIM = {"no": 0.0, "yes": 1.0}
# arXiv:2309.15217 (RAGAS): a statement counts if the context supports it.
GROUNDEDNESS = {"contradicted": 0.0, "not_found": 0.0, "supported": 1.0}

FAITHFULNESS = "faithfulness"
GROUNDEDNESS_GAINS: dict[str, dict[str, float]] = {
    FAITHFULNESS: GROUNDEDNESS,
    **{
        f"{SHARE}{name}": {label: float(label == name) for label in GROUNDEDNESS}
        for name in ("contradicted", "not_found")
    },
}

NUGGET_WEIGHTS: dict[str, dict[str | None, float]] = {
    "A": {"vital": 1.0, "okay": 1.0, None: 1.0},
    "V": {"vital": 1.0, "okay": 0.0, None: 0.0},
    "W": {"vital": 1.0, "okay": 0.5, None: 0.0},
}
NUGGET_GAINS: dict[str, dict[str, float]] = {
    measure: gains
    for family in NUGGET_WEIGHTS
    for measure, gains in ((family, NUGGET), (f"{family}_strict", NUGGET_STRICT))
}
SUPPORT_GAINS: dict[str, dict[str, float]] = {
    f"support_{share}{suffix}": gains
    for suffix, gains in (("", SUPPORT), ("_all", SUPPORT), ("_hard", SUPPORT_HARD))
    for share in ("precision", "recall")
}


def scale_gains(scale: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the measures of labels on an ordered scale: name -> the gain of each label.

    `mean_gain`: the position on the scale, 0 for the worst label and 1 for the best, in equal
    steps. `at_least_LABEL`: 1 for that label and better labels; one measure for each label but the
    worst.

    Args:
        scale: 2 labels or more, worst first.

    Raises: ValueError for a scale of fewer than 2 labels.

    >>> scale_gains(["no", "neutral", "yes"])["mean_gain"]
    {'no': 0.0, 'neutral': 0.5, 'yes': 1.0}
    """
    if len(scale) < 2:
        raise ValueError(f"the scale {list(scale)} has fewer than 2 labels")
    top = len(scale) - 1
    measures = {"mean_gain": {label: i / top for i, label in enumerate(scale)}}
    for at, cut in enumerate(scale[1:], start=1):
        measures[f"at_least_{cut}"] = {label: float(i >= at) for i, label in enumerate(scale)}
    return measures


def label_shares(labels: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the measures of labels without an order: the share of items with each label, by name.

    Args:
        labels: the labels, in any order.

    >>> label_shares(["on_topic", "off_topic"])["share_on_topic"]
    {'on_topic': 1.0, 'off_topic': 0.0}
    """
    return {f"{SHARE}{name}": {label: float(label == name) for label in labels} for name in labels}


def expected_gain(probabilities: Mapping[str, float], gains: Mapping[str, float]) -> float | None:
    """Compute the expected gain of an item under a judge's probabilities of its labels.

    Args:
        probabilities: label -> a value >= 0; they count as shares of their sum.
        gains: label -> gain.

    Returns: sum(p gain) / sum(p); None if the sum is 0 or a label with p > 0 has no gain.

    >>> expected_gain({"full": 0.6, "partial": 0.4}, SUPPORT_GAINS["support_precision"])
    0.8
    """
    possible = {label: p for label, p in probabilities.items() if p > 0}
    if not possible or not possible.keys() <= gains.keys():
        return None
    return sum(p * gains[label] for label, p in possible.items()) / sum(possible.values())


def chances_of_label(
    label: str | None, probabilities: Chances | None, gains: Mapping[str, float]
) -> Chances | None:
    """Return the probabilities of an item's labels; a label without probabilities is certain.

    Args:
        label: the label of the item; None: not judged.
        probabilities: label -> probability; None: unknown.
        gains: label -> gain; probabilities of other labels do not count.

    Returns: label -> probability; None: the item was not judged.

    >>> chances_of_label("full", None, SUPPORT)
    {'full': 1.0}
    """
    if probabilities is not None and expected_gain(probabilities, gains) is not None:
        return probabilities
    return None if label is None else {label: 1.0}


def weighted_recall(
    gains: Sequence[float], weights: Sequence[float], *, undefined: float = math.nan
) -> float:
    """Compute the share of the total weight that an answer gains: sum_i(w_i g_i) / sum_i(w_i).

    Vital = 1, okay = 0.5: the TREC 2024 weighted score. Okay = 0, full support only: strict vital.

    Args:
        gains: n values in [0, 1]; the gain of each unit.
        weights: n finite values >= 0, in the same order; the weight of each unit.
        undefined: the result if the weights sum to 0. Pass 0.0 to match the reference tool.

    Returns: a fraction in [0, 1], higher is better, or `undefined`.
    Raises: ValueError if lengths differ or a value is out of range; it names the index.
    Source: arXiv:2411.09607 (AutoNuggetizer), scores V strict, A and W.

    >>> weighted_recall([1.0, 0.5, 0.0], [1.0, 1.0, 0.5])
    0.6
    """
    _check_units(gains, weights)
    total = math.fsum(weights)
    return math.fsum(map(operator.mul, weights, gains)) / total if total else undefined


def nugget_scores(
    labels: Sequence[str | None], importances: Sequence[str | None]
) -> dict[str, Value]:
    """Compute the six AutoNuggetizer scores of one answer, each in [0, 1], higher is better.

    A counts every nugget as 1; V counts only vital ones; W counts vital as 1 and okay as 0.5. A
    stated nugget gains 1 and a partly stated one 0.5, or 0 in the `_strict` scores. V_strict is the
    primary one.

    Args:
        labels: one per nugget: support, partial_support, not_support, or None: not judged.
        importances: one per nugget, in the same order: vital, okay, or None if the source gave
            none; such a nugget counts only in A.

    Returns: A, A_strict, V, V_strict, W, W_strict, in this order. `n` and `n_unjudged` count the
        nuggets with a weight in that score. A nugget without a label is left out of the value; for
        the bounds it is not_support, and support. 0/0, such as V of a topic without vital nuggets
        or any score of a topic without nuggets, is None without bounds.
    Raises: ValueError if lengths differ or a label or importance is unknown; it names the index.
    Source: arXiv:2411.09607.
    Differs: the reference tool gives 0 for a topic without vital nuggets, as if the answer stated
        none of them. It also counts a label that it could not parse as not_support.

    >>> scores = nugget_scores(["support", "partial_support", None], ["vital", "okay", "vital"])
    >>> scores["A"]
    Value(value=0.75, n=2, n_unjudged=1, low=0.5, high=0.8333333333333334)
    >>> scores["V_strict"]
    Value(value=1.0, n=1, n_unjudged=1, low=0.5, high=1.0)
    """
    _check_importances(labels, importances, "labels")
    for i, label in enumerate(labels):
        if label is not None and label not in NUGGET:
            wanted = f"one of {list(NUGGET)} or None"
            raise ValueError(f"labels[{i}] is {label!r}, wanted {wanted}")
    return {
        measure: _weigh(
            [None if label is None else gains[label] for label in labels], measure, importances
        )
        for measure, gains in NUGGET_GAINS.items()
    }


def _check_units(gains: Sequence[float], weights: Sequence[float]) -> None:
    if len(gains) != len(weights):
        raise ValueError(f"{len(gains)} gains for {len(weights)} weights")
    for i, (gain, weight) in enumerate(zip(gains, weights, strict=True)):
        if not 0 <= gain <= 1:
            raise ValueError(f"gains[{i}] is {gain!r}, wanted a value in [0, 1]")
        if not 0 <= weight < math.inf:
            raise ValueError(f"weights[{i}] is {weight!r}, wanted a finite value >= 0")


def _check_importances(
    items: Sequence[object], importances: Sequence[str | None], name: str
) -> None:
    if len(items) != len(importances):
        raise ValueError(f"{len(items)} {name} for {len(importances)} importances")
    for i, importance in enumerate(importances):
        if importance not in NUGGET_WEIGHTS["A"]:
            raise ValueError(f"importances[{i}] is {importance!r}, wanted vital, okay or None")


def expected_nugget_scores(
    chances: Sequence[Chances | None], importances: Sequence[str | None]
) -> dict[str, Value]:
    """Compute the six nugget scores of one answer from the probabilities of each nugget's labels.

    If a judge gives support 60% and partial_support 40%, the nugget gains 0.8 in V. Uncertain
    labels count in part, which orders systems better.

    Args:
        chances: one per nugget: label -> probability, counted as shares of their sum, or None: not
            judged.
        importances: one per nugget, in the same order: vital, okay, or None.

    Returns: the scores of `nugget_scores`, with `_expected` added to their names.
    Raises: ValueError if lengths differ or a label or importance is unknown; it names the index.

    >>> even = {"support": 0.5, "not_support": 0.5}
    >>> expected_nugget_scores([even, {"support": 1.0}], ["vital", "vital"])["V_strict_expected"]
    Value(value=0.75, n=2, n_unjudged=0, low=0.75, high=0.75)
    """
    _check_importances(chances, importances, "chances")
    return {
        measure + SUFFIX: _weigh(
            [_gain(by_label, gains, f"chances[{i}]") for i, by_label in enumerate(chances)],
            measure,
            importances,
        )
        for measure, gains in NUGGET_GAINS.items()
    }


def _weigh(gains: Sequence[float | None], measure: str, importances: Sequence[str | None]) -> Value:
    weight = NUGGET_WEIGHTS[measure.removesuffix("_strict")]
    units = [
        (gain, weight[importance])
        for gain, importance in zip(gains, importances, strict=True)
        if weight[importance] > 0
    ]
    if not units:
        return UNDEFINED
    judged = [(gain, weight) for gain, weight in units if gain is not None]
    weights = [weight for _, weight in units]
    return Value(
        value=weighted_recall(*zip(*judged, strict=True)) if judged else None,
        n=len(judged),
        n_unjudged=len(units) - len(judged),
        low=weighted_recall([gain or 0.0 for gain, _ in units], weights),
        high=weighted_recall([1.0 if gain is None else gain for gain, _ in units], weights),
    )


def support_scores(sentences: Sequence[Sequence[str | None]]) -> dict[str, Value]:
    """Compute the citation support of one answer: six measures in [0, 1], higher is better.

    Precision is a mean over the sentences that cite something, so bad citations lower it. Recall is
    a mean over all sentences, so missing citations lower it too. If every sentence cites, the two
    are equal.

    Args:
        sentences: for each sentence the labels of its citations, in the order of citing or, if the
            run gives confidences, the most confident first: full, partial, none, or None: not
            judged. An empty list is a sentence without a citation: no support, without a
            judgement. Leave out citations that should not be judged.

    Returns: by name, in the order of `SUPPORT_MEASURES`:
        support_precision, support_recall: by the first citation of each sentence; full 1,
            partial 0.5, none 0. A sentence whose first citation is not judged is left out of both.
        support_precision_all, support_recall_all: the gain of a sentence is the mean over its
            judged citations; a sentence without judged citations is left out of both.
        support_precision_hard, support_recall_hard: by the first citation, full support only.
        `n` counts judged citations, and for recall also sentences without a citation;
        `n_unjudged` counts citations without a label; the bounds count them as none and as full.
        An answer that cites nothing has precision 0 with n = 0, and an empty answer scores 0 on all
        six with n = 0: there the system gained nothing. If no citation is judged, the value is
        None and the bounds are 0 and 1.
    Raises: ValueError for an unknown label; it names the sentence and the citation.
    Source: arXiv:2504.15205 (first citation); RAGDoll, the TREC RAG 2026 toolkit, columns
        weighted_*_first_citation, weighted_*_all_judged_citations and hard_*.
    Differs: if no citation is judged, RAGDoll gives 0.0, as if none were supported.

    >>> scores = support_scores([["partial"], ["full", "none"], []])
    >>> scores["support_precision"].value, scores["support_recall"].value
    (0.75, 0.5)
    >>> scores["support_precision_all"].value, scores["support_precision_hard"].value
    (0.5, 0.5)
    """
    _check_sentences(sentences)
    first = [labels[:1] for labels in sentences]
    by_first = _precision_and_recall(first, SUPPORT)
    hard = _precision_and_recall(first, SUPPORT_HARD)
    has_more = any(len(labels) > 1 for labels in sentences)
    by_all = _precision_and_recall(sentences, SUPPORT) if has_more else by_first
    return dict(zip(SUPPORT_MEASURES, (*by_first, *by_all, *hard), strict=True))


def expected_support_scores(sentences: Sequence[Sequence[Chances | None]]) -> dict[str, Value]:
    """Compute the six support scores of one answer from probabilities of each citation's labels.

    Args:
        sentences: for each sentence its citations, in the order of citing: label -> probability, or
            None: not judged. An empty list: a sentence without a citation, which gains 0.

    Returns: the scores of `support_scores`, with `_expected` added to their names.
    Raises: ValueError for an unknown label; it names the sentence and the citation.

    >>> scores = expected_support_scores([[{"full": 0.5, "none": 0.5}], []])
    >>> scores["support_precision_expected"].value, scores["support_recall_expected"].value
    (0.5, 0.25)
    """
    scores = {}
    for measure, gains in SUPPORT_GAINS.items():
        used = sentences if "_all" in measure else [citations[:1] for citations in sentences]
        earned = [
            [_gain(by_label, gains, f"sentences[{i}][{j}]") for j, by_label in enumerate(citations)]
            for i, citations in enumerate(used)
        ]
        if "precision" in measure:
            earned = [citations for citations in earned if citations]
        scores[measure + SUFFIX] = _mean_over_sentences(earned)
    return scores


def _precision_and_recall(
    sentences: Sequence[Sequence[str | None]], gain: Mapping[str, float]
) -> tuple[Value, Value]:
    earned = [[None if label is None else gain[label] for label in labels] for labels in sentences]
    recall = _mean_over_sentences(earned)
    if all(earned):  # every sentence cites
        return recall, recall
    return _mean_over_sentences([gains for gains in earned if gains]), recall


def _mean_over_sentences(sentences: Sequence[Sequence[float | None]]) -> Value:
    if not sentences:
        return Value(value=0.0, n=0, n_unjudged=0, low=0.0, high=0.0)
    judged = [[gain for gain in gains if gain is not None] for gains in sentences]
    sizes = [len(gains) for gains in sentences]
    n_judged = sum(map(len, judged))
    n, n_unjudged = n_judged + sizes.count(0), sum(sizes) - n_judged
    if not n_unjudged:  # the usual case: the bounds equal the value
        value = _mean_or_0([_mean_or_0(gains) for gains in judged])
        return Value(value, n, 0, value, value)
    values, lows, highs = [], [], []
    for gains, size in zip(judged, sizes, strict=True):
        missing = size - len(gains)
        if gains or not size:
            values.append(_mean_or_0(gains))
        lows.append(_mean_or_0(gains + [0.0] * missing))
        highs.append(_mean_or_0(gains + [1.0] * missing))
    low, high = _mean_or_0(lows), _mean_or_0(highs)
    if not values:
        return Value(None, n, n_unjudged, low, high)
    value = _mean_or_0(values)
    # In exact arithmetic low <= value <= high; the last bit of a division may say otherwise.
    return Value(value, n, n_unjudged, min(low, value), max(high, value))


def _mean_or_0(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers) if numbers else 0.0


def _check_sentences(sentences: Sequence[Sequence[str | None]]) -> None:
    for i, labels in enumerate(sentences):
        if isinstance(labels, str):
            raise ValueError(f"sentences[{i}] is the string {labels!r}, wanted a list of labels")
        for j, label in enumerate(labels):
            if label is not None and label not in SUPPORT:
                wanted = f"one of {list(SUPPORT)} or None"
                raise ValueError(f"sentences[{i}][{j}] is {label!r}, wanted {wanted}")


def _gain(chances: Chances | None, gains: Mapping[str, float], where: str) -> float | None:
    if chances is None:
        return None
    gain = expected_gain(chances, gains)
    if gain is None:
        raise ValueError(f"{where} is {dict(chances)!r}, wanted labels of {list(gains)}")
    return min(gain, 1.0)  # rounding may lift a sum of shares above 1


def groundedness_scores(statements: Sequence[Chances | None]) -> dict[str, Value]:
    """Compute the share of an answer's statements that the context supports, and two other shares.

    Args:
        statements: one per sentence or claim: label -> probability, such as `{"supported": 1.0}`
            for a certain label, or None: not judged. The labels are supported, contradicted and
            not_found.

    Returns: faithfulness, the share of statements that the context supports; share_contradicted,
        the share that it contradicts; share_not_found, the share of the others. Each share is in
        [0, 1] and over the judged statements, so that the three sum to 1. `n` counts judged
        statements, `n_unjudged` the others, which are 0 and 1 for the bounds. An answer without
        statements is 0/0: None, without bounds.
    Raises: ValueError for an unknown label; it names the index.
    Source: arXiv:2309.15217 (RAGAS), faithfulness = |supported| / |statements|. The other two
        shares split the statements that RAGAS counts as not supported.

    >>> certain = [{"supported": 1.0}, {"contradicted": 1.0}, {"supported": 1.0}, None]
    >>> scores = groundedness_scores(certain)
    >>> scores["faithfulness"]
    Value(value=0.6666666666666666, n=3, n_unjudged=1, low=0.5, high=0.75)
    >>> scores["share_contradicted"].value, scores["share_not_found"].value
    (0.3333333333333333, 0.0)
    """
    return {
        measure: _mean_gain(
            [_gain(each, gains, f"statements[{i}]") for i, each in enumerate(statements)]
        )
        for measure, gains in GROUNDEDNESS_GAINS.items()
    }


def _mean_gain(gains: Sequence[float | None]) -> Value:
    """The mean gain of items; None: not judged. 0/0 without items."""
    return _weigh(gains, "A", [None] * len(gains))
