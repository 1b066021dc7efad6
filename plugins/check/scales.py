"""Put the labels of two columns on one scale: spellings, yes and no, order, cuts of scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...calibration.threshold import fit_cuts
from ...records.kinds import MAX_LABELS, OTHER, find_scale, load_kinds
from ...records.labels import BINARY
from ...records.reading.problems import InputError, cell
from ...records.tables import as_number
from ...views.numbers import format_given

_YES = (
    *("yes", "y", "true", "t", "pass", "passed", "correct", "right", "good", "ok", "okay"),
    *("accept", "accepted", "approve", "approved", "positive", "supported", "support", "full"),
    *("relevant", "faithful", "grounded", "attributable", "c"),  # c: Inspect's CORRECT
    *("ja", "oui", "sí", "si", "sì", "sim", "tak", "wahr", "vrai", "verdadero", "richtig"),
)
_NO = (
    *("no", "n", "false", "f", "fail", "failed", "incorrect", "wrong", "bad", "reject", "rejected"),
    *("negative", "unsupported", "irrelevant", "unfaithful", "ungrounded", "hallucinated"),
    *("hallucination", "not supported", "not support", "not relevant", "not correct"),
    *("not faithful", "i"),  # Inspect's INCORRECT
    *("nein", "nee", "nej", "non", "não", "nie", "falsch", "faux", "falso"),
)
_SIDES = {"1": 1, "0": 0} | dict.fromkeys(_YES, 1) | dict.fromkeys(_NO, 0)
FOLDS = 5  # parts of the rows, each labelled by a cut that was fitted on the others
_SHOWN = 8
_MAX_RANGE = 12  # labels of a scale that nobody used keep their place in it

Label = str | None


@dataclass(frozen=True)
class Scale:
    """The labels of both sides, worst to best.

    Attributes:
        is_ordered: whether the order has a meaning, so that kappa can weight distances.
        notes: how labels were interpreted.
    """

    labels: tuple[str, ...]
    is_ordered: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cut:
    """The cuts that turn the judge's scores into k labels.

    Attributes:
        at: (k-1,) ascending; the index of a label is the number of cuts that the score reaches.
        is_fitted: whether the cuts were fitted here, each row with a cut fitted on other rows.
        low, high: the range of a fitted cut over the folds; None: the cut was given.
    """

    at: tuple[float, ...]
    is_fitted: bool
    low: float | None = None
    high: float | None = None


def spell(value: object) -> str:
    """Normalise the spelling of a label: `Not_Supported ` is `not supported`, 1.0 is 1.

    >>> spell("Not_Supported "), spell(1.0), spell(True), spell("PASS")
    ('not supported', '1', 'true', 'pass')
    """
    number = as_number(value)
    if number is not None:
        return f"{number:.15g}"
    return " ".join(str(value).lower().replace("_", " ").replace("-", " ").split())


class Spellings:
    """The most frequent spelling of each label, and the mapped labels."""

    def __init__(self, mapped: Mapping[str, str], cells: Iterable[object]) -> None:
        self._mapped = {spell(old): new for old, new in mapped.items()}
        self._known: dict[tuple[type, str], str] = {}
        written: dict[str, Counter[str]] = {}
        for (kind, text), n in Counter((type(value), str(value)) for value in cells).items():
            key = spell(text)
            is_plain = kind is bool or as_number(text) is not None
            written.setdefault(key, Counter())[key if is_plain else " ".join(text.split())] += n
        self._shown = {key: of.most_common(1)[0][0] for key, of in written.items()}
        self._shown |= {spell(new): new for new in mapped.values()}

    def label(self, value: object) -> str:
        """The label in a cell."""
        written = type(value), str(value)
        if written not in self._known:
            key = spell(str(value))
            if key in self._mapped:
                key = spell(self._mapped[key])
            self._known[written] = self._shown[key]
        return self._known[written]


def are_numbers(labels: Sequence[Label]) -> bool:
    """Whether all labels are numbers, apart from missing ones."""
    there = {label for label in labels if label is not None}
    return bool(there) and all(as_number(label) is not None for label in there)


def make_scale(
    human: Sequence[Label], judge: Sequence[Label], given: Sequence[str], path: object
) -> tuple[Scale, Mapping[str, str]]:
    """Make the scale of both sides, and the map from labels of the judge to it.

    Args:
        given: the user's labels from worst to best; (): detect them.

    Raises: InputError for labels that are not on it, or two sides without a common label.
    """
    ours = list(dict.fromkeys(label for label in human if label is not None))
    theirs = list(dict.fromkeys(label for label in judge if label is not None))
    if given:
        return _given_scale(ours, theirs, given)
    renamed: dict[str, str] = {}
    notes: list[str] = []
    if not {*theirs} <= {*ours} and len(ours) <= 2 and len(theirs) <= 2:
        sides = {_SIDES[spell(label)]: label for label in ours if spell(label) in _SIDES}
        other = {label: _SIDES[spell(label)] for label in theirs if spell(label) in _SIDES}
        if len(sides) == len(ours) and len(other) == len(theirs) == len({*other.values()}):
            renamed = {label: sides.get(side, label) for label, side in other.items()}
            pairs = ", ".join(f"{a} = {b}" for a, b in renamed.items() if a != b)
            notes += [f"The judge's labels were read as: {pairs}."] if pairs else []
    labels = list(dict.fromkeys((*ours, *(renamed.get(label, label) for label in theirs))))
    if not {*ours} & {renamed.get(label, label) for label in theirs}:
        raise InputError(
            f"{path}: labels of people are {_name(ours)}, labels of the judge {_name(theirs)}; map "
            f"them, such as --map {_word(theirs[0])}={_word(ours[0])}"
        )
    if len(labels) > MAX_LABELS:
        raise InputError(f"{path}: has {len(labels):,} labels; wanted at most {MAX_LABELS}")
    if len(labels) < 2:
        raise InputError(f"{path}: every label is {labels[0]!r}; there is nothing to compare")
    ordered, is_ordered, more = _order(labels)
    return Scale(ordered, is_ordered, (*notes, *more)), renamed


def _given_scale(
    ours: Sequence[str], theirs: Sequence[str], given: Sequence[str]
) -> tuple[Scale, Mapping[str, str]]:
    by_spelling = {spell(label): label for label in given}
    if len(by_spelling) < len(given) or len(given) < 2:
        raise InputError(f"--scale {','.join(given)}: wanted two or more different labels")
    strange = [x for x in dict.fromkeys((*ours, *theirs)) if spell(x) not in by_spelling]
    if strange:
        raise InputError(
            f"--scale {','.join(given)}: the file also has {_name(strange)}; map it with "
            f"--map {_word(strange[0])}={_word(given[0])}, or ignore it with "
            f"--missing {_word(strange[0])}"
        )
    renamed = {label: by_spelling[spell(label)] for label in (*ours, *theirs)}
    return Scale(tuple(given), True), renamed


def _order(labels: Sequence[str]) -> tuple[tuple[str, ...], bool, list[str]]:
    """Order the labels from worst to best, or by name if no order is known."""
    keys = {spell(label).replace(" ", "_"): label for label in labels}
    known = find_scale(OTHER, set(keys))
    if known is not None and len(labels) > 2 and len(known) <= _MAX_RANGE:
        return tuple(keys.get(label, label) for label in known), True, []
    if known is not None:  # without labels that nobody used
        return tuple(keys[label] for label in known if label in keys), True, []
    if are_numbers(labels):
        return tuple(sorted(labels, key=lambda label: as_number(label) or 0.0)), True, []
    for kind in load_kinds().values():
        ours = {} if kind.spell is None else {kind.spell(label, None)[0]: label for label in labels}
        if len(ours) == len(labels) and {*ours} <= {*kind.labels}:
            return tuple(ours[label] for label in kind.labels if label in ours), True, []
    if len(labels) == 2:
        by_side = {_SIDES.get(spell(label)): label for label in labels}
        if by_side.keys() == {0, 1}:
            return (by_side[0], by_side[1]), True, []
        low, high = sorted(labels)
        note = f"{high!r} is assumed to be the better (positive) label"
        return (low, high), True, [f"{note}; --scale {_word(high)},{_word(low)} reverses it."]
    note = "The order of the labels is unknown; give it with --scale WORST,...,BEST."
    return tuple(sorted(labels)), False, [note]


def needs_cut(human: Sequence[Label], judge: Sequence[Label]) -> bool:
    """Whether the judge gives scores and people give labels."""
    if not are_numbers(judge):
        return False
    theirs = _numbers(judge)
    if len(theirs) <= 2 and not theirs <= {0.0, 1.0}:
        return not theirs <= _numbers(human)
    if theirs <= {0.0, 1.0}:
        return False
    ours = _numbers(human)
    if not ours or (ours <= {0.0, 1.0} and not theirs <= ours):
        return True
    if theirs <= ours:
        return False
    are_near = min(theirs) >= min(ours) - 1 and max(theirs) <= max(ours) + 1
    return not (are_near and all(x.is_integer() for x in theirs))


def _numbers(labels: Sequence[Label]) -> set[float]:
    there = (as_number(label) for label in {*labels} if label is not None)
    return {number for number in there if number is not None}


def cut_people(human: Sequence[Label], at: str, path: object) -> list[Label]:
    """Turn numbers, or labels with a known order, into negative and positive.

    Raises: InputError for labels without an order, or a cut that is not one of them.
    """
    there = list(dict.fromkeys(label for label in human if label is not None))
    if are_numbers(there) and (number := as_number(at)) is not None:
        return [None if x is None else BINARY[(as_number(x) or 0.0) >= number] for x in human]
    ordered, is_ordered, _ = _order(there)
    ranks = {spell(label): rank for rank, label in enumerate(ordered)}
    if not is_ordered or ranks.get(spell(at), 0) < 1:
        wanted = ", ".join(ordered[1:]) if is_ordered else "labels with an order (--scale)"
        raise InputError(f"--cut {at}: labels of people are {_name(ordered)}; wanted {wanted}")
    return [None if x is None else BINARY[ranks[spell(x)] >= ranks[spell(at)]] for x in human]


def cut_scores(
    scores: Sequence[float | None],
    human: Sequence[Label],
    scale: Sequence[str],
    clusters: Sequence[str],
    given: float | None,
) -> tuple[list[Label], Cut]:
    """Turn scores into labels by a given cut, or by cuts fitted on the labels of other rows.

    Rows of one cluster are in one fold. Rows without a label of people get the cut fitted on all
    labels. The fit maximises Cohen's kappa, with linear weights for more than two labels.

    Args:
        scores: (n,) the judge's scores; None: not judged. human: (n,) labels on the scale.
        clusters: (n,) groups of rows, such as topics.

    Raises: InputError if too few rows have both.
    """
    if given is not None:
        return [_label(score, (given,), scale) for score in scores], Cut((given,), False)
    code = {label: i for i, label in enumerate(scale)}
    both = [i for i, x in enumerate(human) if x is not None and scores[i] is not None]
    names = sorted({clusters[i] for i in both})
    if len(names) < 2:
        raise InputError("too few rows have a label and a score to fit a cut; give one with --cut")
    order = np.random.default_rng(0).permutation(len(names))
    fold_of = {names[at]: i % FOLDS for i, at in enumerate(order.tolist())}
    objective = "kappa" if len(scale) == 2 else "linear"

    def fit(at: Sequence[int]) -> tuple[float, ...]:
        x = [scores[i] or 0.0 for i in at]
        return fit_cuts(x, [code[human[i] or ""] for i in at], len(scale), objective=objective)[0]

    whole = fit(both)
    labels = [_label(score, whole, scale) for score in scores]
    ends = []
    for fold in sorted(set(fold_of.values())):
        others = [i for i in both if fold_of[clusters[i]] != fold]
        ends.append(fit(others))
        for i in both:
            if fold_of[clusters[i]] == fold:
                labels[i] = _label(scores[i], ends[-1], scale)
    firsts = [cuts[0] for cuts in ends]
    return labels, Cut(whole, True, min(firsts), max(firsts))


def _label(score: float | None, cuts: Sequence[float], scale: Sequence[str]) -> Label:
    return None if score is None else scale[sum(score >= cut for cut in cuts)]


def describe_cut(cut: Cut, scale: Sequence[str]) -> str:
    """Describe the cuts, and how they were chosen."""
    rounded = [format_given(round(at, 4)) for at in cut.at]
    steps = ", ".join(
        f"{cell(label, 30)} from {at}" for label, at in zip(scale[1:], rounded, strict=True)
    )
    if not cut.is_fitted:
        return f"Labels from the judge's scores: {steps}."
    low, high = (format_given(round(x or 0.0, 4)) for x in (cut.low, cut.high))
    spread = "" if len(cut.at) > 1 or low == high else f" ({low} to {high})"
    return (
        f"Best cut of the judge's scores: {steps}. Each row gets its label from a cut fitted on "
        f"other rows{spread}."
    )


def _word(label: str) -> str:
    return f"'{label}'" if " " in label else label


def _name(labels: Sequence[str]) -> str:
    named = ", ".join(cell(label, 30) for label in labels[:_SHOWN])
    return named + ", ..." * (len(labels) > _SHOWN)


def take_majority(labels: Sequence[str]) -> Label:
    """The label of more than half of them; None: no majority."""
    if not labels:
        return None
    ((label, n),) = Counter(labels).most_common(1)
    return label if 2 * n > len(labels) else None
