"""Does a judge see faults that code has planted? A self-test on judged answers, without labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from .....judges import ItemJudge
from .....judges.calls import judge_items
from .....judges.variants import with_lexical
from .....judges.verdicts import Verdict
from .....records.judgements import Unjudged
from .....records.reading.problems import Problems
from ....config.sections import Config
from ....engine.results import MANIFEST
from ....engine.session import Session
from ..asking import Asking, Options, Probing
from ..figures import scale_of
from ..items import topic_of
from ..probe import identity, judged_by
from ..result import CASES, UNJUDGED, ProbeResult, Row, Skipped, why_unjudged
from .cases import Case, Form
from .figures import Cell, fault_rows, moved_as_it_must
from .forms import form_of, why_not
from .planting import plant
from .sources import fault_items, source_labels

LIMIT = 30  # cases of each fault
Outcome = Verdict | Unjudged
Sides = tuple[list[Outcome], list[Outcome]]  # without the fault, and with it


@dataclass(frozen=True)
class Answered:
    """The outcomes of the items of a case, without the fault and with it; lexical: the same by
    the lexical judge, None where it has no rule or is the judge itself."""

    case: Case
    before: list[Outcome]
    after: list[Outcome]
    lexical: Sides | None

    def cells(self, *, lexical: bool = False) -> list[Cell]:
        """Those of its items of which something is certain."""
        sides = self.lexical if lexical else (self.before, self.after)
        assert sides is not None
        rows = zip(self.case.items, self.case.must, *sides, strict=True)
        return [
            Cell(self.case.fault, topic_of(item), must, _label(before), _label(after))
            for item, must, before, after in rows
            if must is not None
        ]


@dataclass(frozen=True)
class Tested:
    """The self-test of one judge.

    Attributes:
        judge: what makes up the judge and its model. gains: {}: its labels have no order.
        n_topics: of the items in which faults could be planted. answered: of each planted case.
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

    def cases(self) -> Iterator[Row]:
        """Each label that had to do something: of what, in which texts, and what became of it.

        `as_it_must` None: not judged, or without the best label there was nothing to fall from.
        """
        for each in self.answered:
            cells = each.cells()
            others = each.cells(lexical=True) if each.lexical else [None] * len(cells)
            certain = [i for i, must in zip(each.case.items, each.case.must, strict=True) if must]
            for item, cell, other in zip(certain, cells, others, strict=True):
                row = {"judge": self.judge["judge"], "fault": cell.fault, "must": cell.must}
                row |= {"as_it_must": moved_as_it_must(cell, self.scale, self.gains)}
                row |= item.ids | {self.form.target: item.inputs[self.form.target]}
                row |= {"before": each.case.before, "after": each.case.after}
                row |= {"label_before": cell.before, "label_after": cell.after}
                if other is not None:
                    row |= {"lexical_before": other.before, "lexical_after": other.after}
                yield row

    def missing(self) -> Iterator[Row]:
        """What was not judged, and why; what many cases share unchanged is one row."""
        seen = set()
        for number, each in enumerate(self.answered):
            for name, outcomes in (("unchanged", each.before), (each.case.fault, each.after)):
                for item, outcome in zip(each.case.items, outcomes, strict=True):
                    key = (item.cell, name if name == "unchanged" else number)
                    if isinstance(outcome, Unjudged) and key not in seen:
                        seen.add(key)
                        ids = {"judge": self.judge["judge"], "fault": name, **item.ids}
                        yield ids | why_unjudged(outcome)


@dataclass(frozen=True, kw_only=True)
class SelfTest(ProbeResult):
    """The self-test of each judge; `skipped` are those that cannot be tested."""

    names = ("faults.jsonl", CASES, UNJUDGED, MANIFEST)

    tested: list[Tested]

    @property
    def n_unjudged(self) -> int:
        """Labels that did not arrive, of what would count."""
        rates = [
            one.rows[-1][name] for one in self.tested for name in ("detection", "false_alarms")
        ]
        return sum(rate["n_unjudged"] for rate in rates)

    def lines(self) -> list[Row]:
        """The rows of all judges and, behind them, the judges without any."""
        rows = [{"judge": one.judge["judge"], **row} for one in self.tested for row in one.rows]
        return rows + [{"judge": each.name, "skipped": each.reason} for each in self.skipped]

    def about(self) -> Row:
        """See ProbeResult."""
        n_cases = sum(len(one.answered) for one in self.tested)
        return {"judges": [one.judge for one in self.tested], "n_cases": n_cases}

    def cases(self) -> Iterator[Row]:
        """See `Tested.cases`."""
        return (row for one in self.tested for row in one.cases())

    def missing(self) -> Iterator[Row]:
        """See ProbeResult."""
        return (row for one in self.tested for row in one.missing())


def self_testing(
    source: Path,
    judges: Sequence[str],
    config: Config,
    problems: Problems,
    options: Options | None = None,
) -> Probing[SelfTest]:
    """Plant faults in judged texts and ask about them, judge by judge, with faults and without.

    Args:
        source: what holds the items, see `read_judge_items`.
        judges: names of judges of items, or YAML files of judges of one's own.
        config: says who answers and what may be spent, as for `probe`.

    Raises: InputError as `judged_by`.
    """
    options = options or Options()

    async def work(asking: Asking) -> SelfTest:
        tested: list[Tested] = []
        skipped: list[Skipped] = []
        for name in judges:
            own = judged_by(asking.session.config, name, options.fields)
            judge = asking.session.panel.item_judge(str(own.items.judge))
            if (form := form_of(judge)) is None:
                skipped.append(Skipped(judge.name, why_not(judge)))
                continue
            items = fault_items(source, judge, form, own, problems)
            labels = source_labels(source, judge, scale_of(judge))
            cases = plant(judge, form, items, labels, options.limit or LIMIT, options.seed)
            with asking.part(judge.name, f"{len(cases):,} faults in {len(items):,} items"):
                answered = await _answered(judge, cases, asking.session)
            n_topics = len({topic_of(item) for item in items})
            gains = judge.gains if judge.is_ordered else {}
            about = identity(judge), gains, form, n_topics
            tested.append(Tested(*about, answered, options.seed))
        return SelfTest(tested=tested, skipped=skipped, **asking.taken())

    sections = [judged_by(config, name, options.fields).items.name for name in judges]
    return Probing(config, list(dict.fromkeys(sections)), work, problems)


async def _answered(judge: ItemJudge, cases: Sequence[Case], session: Session) -> list[Answered]:
    """The outcomes of all cases, by the judge, and by the lexical judge if that is another."""
    own = await _outcomes(judge, cases, session)
    theirs: list[Sides | None] = [None] * len(cases)
    if (other := with_lexical(judge)) is not None:
        theirs = [*await _outcomes(other, cases, session)]
    return [
        Answered(case, *sides, lexical)
        for case, sides, lexical in zip(cases, own, theirs, strict=True)
    ]


async def _outcomes(judge: ItemJudge, cases: Sequence[Case], session: Session) -> list[Sides]:
    """Of each case the outcomes of its items, unchanged (asked once for all cases) and changed."""
    concurrency = session.config.run.concurrency
    unchanged = {item.cell: item for case in cases for item in case.items}
    in_order = sorted(unchanged.values(), key=lambda item: item.line)
    session.panel.part = "unchanged"
    judged = await judge_items(judge, in_order, concurrency=concurrency)
    base = {item.cell: outcome for item, (outcome, _) in zip(in_order, judged, strict=True)}
    session.panel.part = "faults"
    rows = [row for number, case in enumerate(cases) for row in case.rows(number)]
    changed = iter(await judge_items(judge, rows, concurrency=concurrency))
    return [
        ([base[item.cell] for item in case.items], [next(changed)[0] for _ in case.items])
        for case in cases
    ]


def _label(outcome: Outcome) -> str | None:
    return outcome.label if isinstance(outcome, Verdict) else None
