"""`judge probe --faults`: does a judge notice faults planted by code? It needs no labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....judges import ItemJudge
from ....judges.custom import CustomJudge
from ....judges.table import find_judge, item_judges
from ....judges.verdicts import Verdict
from ....metrics.inference import SIGNED, Interval, jackknife_interval, ratio, resampling
from ....programs.analysis.cell_texts import read_judge_items
from ....programs.config.sections import Config
from ....programs.engine.manifest import read_folder_config
from ....programs.engine.results import MANIFEST
from ....programs.protocols.judged_files import kinds_in
from ....programs.protocols.judged_items import ITEMS
from ....programs.scoring.human_labels import read_items
from ....records.judgements import Unjudged
from ....records.kinds import file_kind, load_kinds
from ....records.labels import ItemRow
from ....records.reading.problems import InputError, Problems
from ....records.relevance import RELEVANCE_KIND
from .planting import FAULTS, Case, Form, Must, SourceLabels, plant
from .probing import (
    ALL,
    CASES,
    UNJUDGED,
    Asking,
    Kind,
    Options,
    ProbeResult,
    Probing,
    Row,
    Skipped,
    get_label,
    get_scale,
    get_topic,
    identity,
    list_unjudged,
    set_judge,
)
from .rewriting import VALUES
from .tables import view_faults
from .variants import with_lexical

_REPORT = ":report:"  # in the id of a rated answer; see `answer_id`
LIMIT = 30  # cases of each fault
KIND = Kind(("faults.jsonl", CASES, UNJUDGED, MANIFEST), view_faults, "not counted as changed")
Outcome = Verdict | Unjudged
Sides = tuple[list[Outcome], list[Outcome]]  # without the fault, and with it


def probing_faults(
    source: Path,
    judges: Sequence[str],
    config: Config,
    problems: Problems,
    options: Options | None = None,
) -> Probing:
    """Plant faults in judged texts, and ask each judge about the texts with and without faults.

    Args:
        source: the file or folder of the items, see `read_judge_items`.
        judges: names of judges of items, or YAML files of custom judges.
        config: models and limits, as for `probing_conditions`.

    Raises: InputError, see `set_judge`.
    """
    options = options or Options()
    limit, seed = options.limit or LIMIT, options.seed

    async def work(asking: Asking) -> ProbeResult:
        tested: list[Tested] = []
        for name in judges:
            own = set_judge(asking.config, name, options.fields)
            judge = asking.session.judge_set.item_judge(str(own.items.judge))
            if (form := find_form(judge)) is None:
                asking.skipped.append(Skipped(judge.name, why_not(judge)))
                continue
            items = fault_items(source, judge, own, problems)
            labels = source_labels(source, judge, get_scale(judge))
            cases = plant(judge, form, items, labels, limit, seed)
            with asking.part(judge.name, f"{len(cases):,} faults in {len(items):,} items"):
                answered = await _ask(judge, cases, asking)
            n_topics = len({get_topic(item) for item in items})
            gains = judge.gains if judge.is_ordered else {}
            tested.append(Tested(identity(judge), gains, form, n_topics, answered, seed))
        if asking.costs is None:
            return asking.result()
        rows = [{"judge": one.judge["judge"], **row} for one in tested for row in one.rows]
        rows += [{"judge": each.name, "skipped": each.reason} for each in asking.skipped]
        n_cases = sum(len(one.answered) for one in tested)
        about = {"sample": limit, "seed": seed, "judges": [one.judge for one in tested]}
        totals = [one.rows[-1][name] for one in tested for name in ("detection", "false_alarms")]
        return asking.result(
            rows=rows,
            about=about | {"n_cases": n_cases},
            cases=[row for one in tested for row in one.cases()],
            unjudged=[row for one in tested for row in one.missing()],
            n_counted=sum(row["n_unjudged"] for row in totals),
            found=tested,
        )

    sections = [set_judge(config, name, options.fields).items.name for name in judges]
    return Probing(KIND, config, list(dict.fromkeys(sections)), work, problems)


async def _ask(judge: ItemJudge, cases: Sequence[Case], asking: Asking) -> list[Answered]:
    """The outcomes of all cases by the judge, and by the lexical judge if it is another judge."""
    own = await _outcomes(judge, cases, asking)
    theirs: Sequence[Sides | None] = [None] * len(cases)
    if (other := with_lexical(judge)) is not None:
        theirs = await _outcomes(other, cases, asking)
    return [
        Answered(case, *sides, lexical)
        for case, sides, lexical in zip(cases, own, theirs, strict=True)
    ]


async def _outcomes(judge: ItemJudge, cases: Sequence[Case], asking: Asking) -> list[Sides]:
    """The outcomes of each case's items: unchanged (asked once for all cases) and changed."""
    unchanged = {item.cell: item for case in cases for item in case.items}
    in_order = sorted(unchanged.values(), key=lambda item: item.line)
    asking.session.judge_set.part = "unchanged"
    judged = await asking.outcomes(judge, in_order)
    base = {item.cell: outcome for item, outcome in zip(in_order, judged, strict=True)}
    asking.session.judge_set.part = "faults"
    rows = [row for number, case in enumerate(cases) for row in case.rows(number)]
    changed = iter(await asking.outcomes(judge, rows))
    return [
        ([base[item.cell] for item in case.items], [next(changed) for _ in case.items])
        for case in cases
    ]


@dataclass(frozen=True)
class Answered:
    """The outcomes of a case's items, without the fault and with it; lexical: the same by the
    lexical judge, None if it has no rule or is the judge itself."""

    case: Case
    before: list[Outcome]
    after: list[Outcome]
    lexical: Sides | None

    def cells(self, *, lexical: bool = False) -> list[Cell]:
        """The items of the case with a certain expected outcome."""
        sides = self.lexical if lexical else (self.before, self.after)
        assert sides is not None
        rows = zip(self.case.items, self.case.must, *sides, strict=True)
        return [
            Cell(self.case.fault, get_topic(item), must, get_label(before), get_label(after))
            for item, must, before, after in rows
            if must is not None
        ]


@dataclass(frozen=True)
class Tested:
    """The self-test of one judge.

    Attributes:
        judge: identity of the judge and its model. gains: label -> gain; {}: no order.
        n_topics: topics of the items that can get faults. answered: the outcomes of each case.
    """

    judge: Row
    gains: Mapping[str, float]
    form: Form
    n_topics: int
    answered: list[Answered] = field(repr=False)
    seed: int

    @property
    def scale(self) -> list[str]:
        """The labels, worst to best."""
        labels: list[str] = self.judge["scale"]
        return labels

    @cached_property
    def rows(self) -> list[Row]:
        """See `fault_rows`."""
        cells = [cell for each in self.answered for cell in each.cells()]
        lexical = None
        if self.answered and self.answered[0].lexical is not None:
            lexical = [cell for each in self.answered for cell in each.cells(lexical=True)]
        planted = Counter(each.case.fault for each in self.answered)
        figures = planted, cells, lexical, self.scale, self.gains
        return fault_rows(self.form, *figures, seed=self.seed)

    def cases(self) -> list[Row]:
        """Each label with an expected outcome: its item, the texts, and what happened.

        `as_it_must` None: not judged, or the label was not the best one and cannot fall.
        """
        rows = []
        for each in self.answered:
            cells = each.cells()
            others = each.cells(lexical=True) if each.lexical else [None] * len(cells)
            certain = [i for i, must in zip(each.case.items, each.case.must, strict=True) if must]
            for item, cell, other in zip(certain, cells, others, strict=True):
                row = {"judge": self.judge["judge"], "fault": cell.fault, "must": cell.must}
                row |= {"as_it_must": has_moved_as_expected(cell, self.scale, self.gains)}
                row |= item.ids | {self.form.target: item.inputs[self.form.target]}
                row |= {"before": each.case.before, "after": each.case.after}
                row |= {"label_before": cell.before, "label_after": cell.after}
                if other is not None:
                    row |= {"lexical_before": other.before, "lexical_after": other.after}
                rows.append(row)
        return rows

    def missing(self) -> list[Row]:
        """What was not judged, with the reason; an unchanged item of many cases is one row."""
        lost: dict[Any, tuple[Row, Outcome]] = {}
        for number, each in enumerate(self.answered):
            for name, outcomes in (("unchanged", each.before), (each.case.fault, each.after)):
                for item, outcome in zip(each.case.items, outcomes, strict=True):
                    key = (item.cell, name if name == "unchanged" else number)
                    ids = {"judge": self.judge["judge"], "fault": name, **item.ids}
                    lost.setdefault(key, (ids, outcome))
        return list_unjudged(lost.values())


# Sources


def judges_in(source: Path) -> list[str]:
    """The names, as for `--judge`, of the judges with judgements in a results folder.

    Raises: InputError for a file, which does not name its judge.
    """
    if not source.is_dir():
        raise InputError(
            f"{source}: is not a results folder; name the judge of its items (--judge)"
        )
    config, kinds = read_folder_config(source), kinds_in(source)
    by_name = ((name, find_judge(name)) for name in reversed(item_judges()))
    of_kind = {kind.load().kind: name for name, kind in by_name if kind is not None}
    of_kind |= {kind.name: kind.judge for kind in load_kinds().values() if kind.judge}
    of_kind |= {ITEMS: str(config.items.judge)}
    if not (judges := [of_kind[kind] for kind in kinds if kind in of_kind]):
        raise InputError(f"{source}: has no judgements of items that can be judged again")
    return judges


def fault_items(
    source: Path, judge: ItemJudge, config: Config, problems: Problems
) -> list[ItemRow]:
    """Read items with `read_judge_items`; of rated texts only the answers, if there are any."""
    items = read_judge_items(source, judge, config, problems)
    if judge.name == "answerability":
        reports = [item for item in items if _REPORT in item.ids.get("passage_id", "")]
        return reports or items
    return items


def source_labels(source: Path, judge: ItemJudge, scale: Sequence[str]) -> SourceLabels:
    """The labels in a source for its items, if it has any."""
    best = scale[-1] if judge.is_ordered else None
    if not source.is_dir():
        try:
            file_kind(source)
        except InputError:  # rows without labels
            return SourceLabels({}, best)
    items = read_items(source, judge.kind, Problems())
    return SourceLabels(dict(zip(items.cells, items.labels, strict=True)), best)


# Forms: which faults a judge can get, which it cannot see, and which have no certain effect

_CONTENT_STAYS = ("duplication", "reordering", "padding")
_IN_ANSWERS = ("negation", *VALUES, "omission", *_CONTENT_STAYS)
_IN_SENTENCES = ("citation-swap", "negation", *VALUES, "duplication", "padding")
_UNCITED = "answers are judged without their citations"
_ALONE = "each sentence is judged by itself, with what it cites"
_REMOVED = "the judge is not asked; support_recall counts it, support_precision does not"
_QUESTION = "a question does not contain its answer"

_OF_ANSWERS = ("answer", "response")  # inputs that systems wrote
_BLIND = dict.fromkeys(("citation-swap", "citation-removal"), _UNCITED)

FORMS = {  # of judges that do not look for listed texts in an answer
    "support": Form(
        *("sentence", "passage", "target"),
        plants=_IN_SENTENCES,
        blind={"omission": _ALONE, "reordering": _ALONE, "citation-removal": _REMOVED},
    ),
    "entailment": Form(
        *("key_point", "response", "source"),
        plants=_IN_ANSWERS,
        blind=_BLIND,
    ),
    "answerability": Form(
        *("question", "context", "source"),
        plants=_CONTENT_STAYS,
        blind=_BLIND,
    ),
}


def find_form(judge: ItemJudge) -> Form | None:
    """The form of a judge; None if it is unknown which text it looks for in which.

    For a custom judge its lexical rule tells: an item has the best label if its `look_for` is in
    the text that `in` names.
    """
    if (form := FORMS.get(judge.name)) is not None:
        return form
    kind = find_judge(judge.name)
    if kind is not None and judge.listed is not None and judge.source in _OF_ANSWERS:
        needed = kind.load().required_text
        return Form(judge.listed, judge.source, "source", _IN_ANSWERS, _BLIND, needed)
    rule = judge.definition.lexical if isinstance(judge, CustomJudge) else None
    if rule is None:
        return None
    blind = dict.fromkeys(("omission", "reordering"), "each item is judged by itself")
    blind["citation-removal"] = "an item without a cited passage is not judged"
    return Form(rule.look_for, rule.source, "target", plants=_IN_SENTENCES, blind=blind)


def why_not(judge: ItemJudge) -> str:
    """The reason why a judge has no form."""
    if judge.kind == RELEVANCE_KIND.name:
        return "it judges passages; faults are planted in texts that systems wrote"
    return "add a `lexical:` section to its YAML file, which names the text to look for"


def list_not_planted(form: Form) -> dict[str, str]:
    """The faults that are not planted since their effect is uncertain, with the reason."""
    return {name: _QUESTION for name in FAULTS if name not in (*form.plants, *form.blind)}


# Rows


@dataclass(frozen=True)
class Cell:
    """An item of a case: the expected change of its label, and the label before and after."""

    fault: str
    topic: str
    must: Must
    before: str | None
    after: str | None


def fault_rows(
    form: Form,
    planted: Mapping[str, int],
    cells: Sequence[Cell],
    lexical: Sequence[Cell] | None,
    scale: Sequence[str],
    gains: Mapping[str, float],
    *,
    seed: int,
) -> list[Row]:
    """One row for each fault, in their order, and one row for all together.

    Args:
        planted: the number of cases of each fault.
        cells: the items of all cases; lexical: the same by the lexical judge; None: it has no rule.
        scale: the labels, worst to best; only an item with the best label must fall.
        gains: label -> gain; a label fell if its gain is lower. {}: no order, so none can fall.
        seed: seed of the intervals.

    `detection`: share of the labels that had to fall and did. `false_alarms`: share of the labels
    that had to stay and did not. Unjudged items are in neither. The row of a fault that was not
    planted gives the reason in `blind` or `not_planted`.
    """

    def of(name: str, n: int) -> Row:
        def measure_row(every: Sequence[Cell]) -> Row:
            chosen = [cell for cell in every if name in (ALL, cell.fault)]
            return rates(chosen, scale, gains, seed)

        others = {} if lexical is None else {"lexical": measure_row(lexical)}
        return {"planted": n, **measure_row(cells), **others}

    rows = []
    for name, fault in FAULTS.items():
        row: Row = {"fault": name, "test": fault.test, "what": fault.what}
        row |= of(name, planted.get(name, 0))
        if name in form.blind:
            row["blind"] = form.blind[name]
        elif not row["planted"]:
            row["not_planted"] = list_not_planted(form).get(
                name, "no place in these texts with a certain effect"
            )
        rows.append(row)
    row = {"fault": ALL, "test": None, "what": "all faults"}
    return [*rows, row | of(ALL, sum(planted.values()))]


def rates(
    cells: Sequence[Cell], scale: Sequence[str], gains: Mapping[str, float], seed: int
) -> Row:
    """Detection, false alarms and their difference, each with its interval over topics.

    The difference is Youden's J ("informedness"): 1 for a judge that notices every fault and
    nothing else, 0 for one whose labels do not depend on the content. The rates have bootstrap
    intervals. J has a jackknife interval over topics, which is wide enough for few topics.
    """
    moves = [has_moved_as_expected(cell, scale, gains) for cell in cells]
    topics = [cell.topic for cell in cells]
    sample = resampling(topics if all(topics) else None, seed=seed)
    columns: list[NDArray[np.float64]] = []
    figures: Row = {}
    for name, must in (("detection", "down"), ("false_alarms", "same")):
        of_kind = [cell for cell in cells if cell.must == must]
        n_unjudged = sum(None in (cell.before, cell.after) for cell in of_kind)
        is_hit = must == "down"
        counts = np.array(
            [
                cell.must == must and move is not None
                for cell, move in zip(cells, moves, strict=True)
            ],
            float,
        )
        hits = counts * np.array([move is is_hit for move in moves])
        n = int(counts.sum())
        figures[name] = {
            "n": n,
            "n_unjudged": n_unjudged,
            "n_not_best": len(of_kind) - n - n_unjudged,
            **asdict(sample.mean(hits, counts)),
        }
        columns += [hits, counts]
    sums = np.stack(columns, axis=1)
    by_topic = np.zeros((sample.n_topics, 4))
    np.add.at(by_topic, sample.topic_of, sums[: len(sample.topic_of)])
    figures["informedness"] = asdict(_difference(sums.sum(axis=0), by_topic))
    return figures


def has_moved_as_expected(
    cell: Cell, scale: Sequence[str], gains: Mapping[str, float]
) -> bool | None:
    """Whether the label changed as expected; None: not judged, or not the best label before."""
    if cell.before is None or cell.after is None:
        return None
    if cell.must == "same":
        return cell.after == cell.before
    if cell.before != scale[-1] or not gains:
        return None
    return gains[cell.after] < gains[cell.before]


def _difference(total: NDArray[np.float64], by_topic: NDArray[np.float64]) -> Interval:
    """The difference, with an interval that keeps its level even near 0."""

    def of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return ratio(sums[..., 0], sums[..., 1]) - ratio(sums[..., 2], sums[..., 3])

    value = float(of(total)) if total[1] and total[3] else None
    return jackknife_interval(value, of(total - by_topic), SIGNED)
