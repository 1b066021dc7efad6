"""Labels of two columns on one scale: spellings, yes and no, order, and cuts of scores."""

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
        is_ordered: whether labels can be more or less far apart.
        notes: what was taken to mean what.
    """

    labels: tuple[str, ...]
    is_ordered: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cut:
    """Where the judge's scores become labels.

    Attributes:
        at: (k-1,) ascending; the label is how many of them the score reaches.
        is_fitted: on these labels; then each row was labelled by a cut fitted on other rows.
        low, high: of one fitted cut, the range over the folds; None: it was given.
    """

    at: tuple[float, ...]
    is_fitted: bool
    low: float | None = None
    high: float | None = None


def spell(value: object) -> str:
    """A label by which spellings are compared: `Not_Supported ` is `not supported`, 1.0 is 1.

    >>> spell("Not_Supported "), spell(1.0), spell(True), spell("PASS")
    ('not supported', '1', 'true', 'pass')
    """
    number = as_number(value)
    if number is not None:
        return f"{number:.15g}"
    return " ".join(str(value).lower().replace("_", " ").replace("-", " ").split())


class Spellings:
    """The labels as they are mostly written, with those that were mapped to others."""

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
        """The label that a cell holds."""
        written = type(value), str(value)
        if written not in self._known:
            key = spell(str(value))
            if key in self._mapped:
                key = spell(self._mapped[key])
            self._known[written] = self._shown[key]
        return self._known[written]


def are_numbers(labels: Sequence[Label]) -> bool:
    """Whether all labels that are there are numbers."""
    there = {label for label in labels if label is not None}
    return bool(there) and all(as_number(label) is not None for label in there)


def make_scale(
    human: Sequence[Label], judge: Sequence[Label], given: Sequence[str], path: object
) -> tuple[Scale, Mapping[str, str]]:
    """The scale of both sides, and what labels of the judge are called on it.

    Args:
        given: the labels from worst to best, as the user wrote them; (): they are found.

    Raises: InputError for labels that are not on it, or two sides without a label in common.
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
            notes += [f"The judge's labels by people's: {pairs}."] if pairs else []
    labels = list(dict.fromkeys((*ours, *(renamed.get(label, label) for label in theirs))))
    if not {*ours} & {renamed.get(label, label) for label in theirs}:
        raise InputError(
            f"{path}: people's labels are {_name(ours)}, the judge's {_name(theirs)}; say which "
            f"are the same: --map {_word(theirs[0])}={_word(ours[0])}"
        )
    if len(labels) > MAX_LABELS:
        raise InputError(f"{path}: {len(labels):,} labels, wanted {MAX_LABELS} at most")
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
            f"--scale {','.join(given)}: {_name(strange)} is in the file and not on the scale; "
            f"--map {_word(strange[0])}={_word(given[0])} reads it as another label, "
            f"--missing {_word(strange[0])} as none"
        )
    renamed = {label: by_spelling[spell(label)] for label in (*ours, *theirs)}
    return Scale(tuple(given), True), renamed


def _order(labels: Sequence[str]) -> tuple[tuple[str, ...], bool, list[str]]:
    """The labels from worst to best; by name, where no order is known."""
    keys = {spell(label).replace(" ", "_"): label for label in labels}
    known = find_scale(OTHER, set(keys))
    if known is not None and len(labels) > 2 and len(known) <= _MAX_RANGE:
        return tuple(keys.get(label, label) for label in known), True, []
    if known is not None:  # with labels that nobody used left out
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
        note = f"{high!r} is taken as the better label (the positive one)"
        return (low, high), True, [f"{note}; --scale {_word(high)},{_word(low)} turns it round."]
    note = "The labels have no known order; --scale WORST,...,BEST gives one."
    return tuple(sorted(labels)), False, [note]


def needs_cut(human: Sequence[Label], judge: Sequence[Label]) -> bool:
    """Whether the judge gives scores where people give labels."""
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
    """People's numbers, or labels with a known order, as negative and positive.

    Raises: InputError for labels without an order, or a cut that is not among them.
    """
    there = list(dict.fromkeys(label for label in human if label is not None))
    if are_numbers(there) and (number := as_number(at)) is not None:
        return [None if x is None else BINARY[(as_number(x) or 0.0) >= number] for x in human]
    ordered, is_ordered, _ = _order(there)
    ranks = {spell(label): rank for rank, label in enumerate(ordered)}
    if not is_ordered or ranks.get(spell(at), 0) < 1:
        wanted = ", ".join(ordered[1:]) if is_ordered else "labels with an order (--scale)"
        raise InputError(f"--cut {at}: people's labels are {_name(ordered)}; wanted {wanted}")
    return [None if x is None else BINARY[ranks[spell(x)] >= ranks[spell(at)]] for x in human]


def cut_scores(
    scores: Sequence[float | None],
    human: Sequence[Label],
    scale: Sequence[str],
    clusters: Sequence[str],
    given: float | None,
) -> tuple[list[Label], Cut]:
    """The labels that scores become, by a given cut, or by cuts fitted on the labels of other rows.

    Rows of one cluster are in one fold. A row that people did not label is cut where all labels
    say. The objective is Cohen's kappa, of more than two labels with linear weights.

    Args:
        scores: (n,) of the judge; None: not judged. human: (n,) labels on the scale.
        clusters: (n,) such as topics.

    Raises: InputError where too few rows have both.
    """
    if given is not None:
        return [_label(score, (given,), scale) for score in scores], Cut((given,), False)
    code = {label: i for i, label in enumerate(scale)}
    both = [i for i, x in enumerate(human) if x is not None and scores[i] is not None]
    names = sorted({clusters[i] for i in both})
    if len(names) < 2:
        raise InputError("too few rows have a label and a score to fit a cut; --cut gives one")
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
    """Where scores become which label, and what that rests on."""
    rounded = [format_given(round(at, 4)) for at in cut.at]
    steps = ", ".join(
        f"{cell(label, 30)} from {at}" for label, at in zip(scale[1:], rounded, strict=True)
    )
    if not cut.is_fitted:
        return f"Judge's scores as labels: {steps}."
    low, high = (format_given(round(x or 0.0, 4)) for x in (cut.low, cut.high))
    spread = "" if len(cut.at) > 1 or low == high else f" ({low} to {high})"
    return (
        f"Best cut of the judge's scores: {steps}. Each row is labelled by a cut fitted on "
        f"other rows{spread}."
    )


def _word(label: str) -> str:
    return f"'{label}'" if " " in label else label


def _name(labels: Sequence[str]) -> str:
    named = ", ".join(cell(label, 30) for label in labels[:_SHOWN])
    return named + ", ..." * (len(labels) > _SHOWN)


def take_majority(labels: Sequence[str]) -> Label:
    """The label that more than half of them are; None: there is none."""
    if not labels:
        return None
    ((label, n),) = Counter(labels).most_common(1)
    return label if 2 * n > len(labels) else None
