"""The parts that all probes share: options, the run or its plan, the result and its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from ....backends.budget import Budget, Usage
from ....backends.errors import EndpointUnusable
from ....backends.gateway import Backend
from ....judges import ItemJudge
from ....judges.items import answers, judge_items
from ....judges.table import item_judges
from ....judges.verdicts import Verdict
from ....programs.config.base import JudgeName
from ....programs.config.sections import Config
from ....programs.engine.dry_run import estimate_calls
from ....programs.engine.judge_set import JudgeSet, check_prices
from ....programs.engine.results import MANIFEST
from ....programs.engine.session import Session, run_session
from ....programs.engine.spending import Estimate
from ....records.judgements import Unjudged
from ....records.labels import ItemRow
from ....records.reading.problems import InputError, Problems
from ....records.writing import own_folder, remove, write_file
from ....views.table import View

REPEATS = 3
BASE = "base"  # the unchanged judge
ALL = "all"  # the row of the total
UNJUDGED, LABELS, CASES = "unjudged.jsonl", "labels", "cases.jsonl"

Report = Callable[[str], None]
Outcome = Verdict | Unjudged | None  # None: not asked
Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """The options of a probe; the seed decides samples and orders.

    Attributes:
        limit: most items, or most cases of each fault; None: the default of the probe.
        repeats: number of item orders, label orders and replicates; or of calls per payload.
        fields: our name of a field -> the name in the file.
        kinds: kinds of conditions; None: all.
    """

    limit: int | None = None
    repeats: int = REPEATS
    seed: int = 0
    fields: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] | None = None


class Skipped(NamedTuple):
    """A condition, a guard or a judge that cannot be probed, with the reason."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """The result of a probe of any kind.

    Attributes:
        rows: all rows, for the file and JSON.
        about: options and models, for the manifest.
        items: the judged items. outcomes: condition -> the outcome of each item, for `LABELS`.
        cases: the planted texts and their results, for `CASES`.
        unjudged: failed judgements, for `UNJUDGED`. n_counted: how many of them are needed; None:
            all.
        found: the data from which the rows are counted, by kind of probe.
        spent: usage of the model this time, by part of the work.
        limit_reached: the limit on spending that stopped the probe, or "".
    """

    rows: Sequence[Row] = ()
    about: Row = field(default_factory=dict)
    items: Sequence[ItemRow] = field(default=(), repr=False)
    outcomes: Mapping[str, Sequence[Outcome]] = field(default_factory=dict, repr=False)
    cases: Sequence[Row] = field(default=(), repr=False)
    unjudged: Sequence[Row] = field(default=(), repr=False)
    n_counted: int | None = None
    found: Any = field(default=None, repr=False)
    skipped: Sequence[Skipped] = ()
    spent: Mapping[str, Usage] = field(default_factory=dict)
    limit_reached: str = ""

    @property
    def n_unjudged(self) -> int:
        """The number of failed judgements that are needed."""
        return len(self.unjudged) if self.n_counted is None else self.n_counted

    def of(self, field: str, *values: Any) -> list[Row]:
        """The rows that have a field, or one of these values in it."""
        return [row for row in self.rows if field in row and (not values or row[field] in values)]


class Kind(NamedTuple):
    """A kind of probe, as the command and its folder show it.

    Attributes:
        names: names of the files in its folder, the file of its rows first.
        view: makes its tables; the argument says whether to show all.
        missing: how failed judgements are counted, for a note.
    """

    names: tuple[str, ...]
    view: Callable[[ProbeResult, bool], View]
    missing: str


@dataclass
class Asking:
    """A session, and the usage of each part of the work.

    `costs`: estimates of the parts, in order; None: this is the dry run that makes them.
    """

    session: Session
    report: Report
    problems: Problems
    costs: Sequence[Estimate] | None = ()
    spent: dict[str, Usage] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def config(self) -> Config:
        """The config of the session."""
        return self.session.config

    @contextmanager
    def part(self, name: str, what: str = "") -> Iterator[None]:
        """A part of the work; it is reported before it starts."""
        self.report(f"{name}: {what}" if what else name)
        self.session.judge_set.part = name
        before = replace(self.session.budget.usage)
        yield
        self.spent[name] = self.session.budget.usage.since(before)

    def item_judge(self) -> ItemJudge:
        """The item judge of the config. Raises: InputError for a judge that asks several judges."""
        own = self.session.judge_set.item_judge(str(self.config.items.judge))
        if not own.predictor:
            raise InputError(f"{own.name}: asks several judges; probe each of them separately")
        return own

    async def outcomes(self, judge: ItemJudge, items: Sequence[ItemRow]) -> list[Any]:
        """The judge's outcomes for these items."""
        judged = await judge_items(judge, items, concurrency=self.config.run.concurrency)
        return [outcome for outcome, _ in judged]

    async def ask(
        self,
        part: str,
        what: str,
        judge: ItemJudge,
        items: Sequence[ItemRow],
        refusable: str | None = None,
    ) -> list[Any] | None:
        """Ask about items, as a part of the work.

        Args:
            refusable: a name; if the endpoint rejects the request, skip this part by that name.

        Returns: the outcomes, or None if the part was skipped.
        """
        try:
            with self.part(part, what):
                return await self.outcomes(judge, items)
        except EndpointUnusable as error:
            if refusable is None:
                raise
            self.skipped.append(Skipped(refusable, str(error).split("\n")[0]))
            return None

    def result(self, **found: Any) -> ProbeResult:
        """The result, with its cost."""
        spent, reached = self.spent, self.session.budget.reached
        return ProbeResult(skipped=self.skipped, spent=spent, limit_reached=reached, **found)


@dataclass(frozen=True)
class Probing:
    """A probe that is ready to run.

    Attributes:
        judges: the names of the judges' sections in the config. work: runs the probe.
        problems: collects problems of the items.
        has_costs: whether the result has the estimated cost of each part.
    """

    kind: Kind
    config: Config
    judges: Sequence[JudgeName]
    work: Callable[[Asking], Awaitable[ProbeResult]]
    problems: Problems
    has_costs: bool = False

    def ask(self, report: Report = lambda line: None) -> ProbeResult:
        """Run the probe.

        Args:
            report: is called with a line about each part before it starts.

        Raises: InputError for a source without items, or a limit in dollars without a price;
            EndpointUnusable if the unchanged judge cannot be asked.
        """
        if not self.has_costs:
            return self._finish(self.config, report, ())
        check_prices(self.config, self.judges)
        costs, _ = replace(self, problems=Problems()).plan()
        return self._finish(self.config, report, costs)

    def plan(self) -> tuple[list[Estimate], list[Skipped]]:
        """The estimated calls of each part, and the skipped parts; see `estimate_calls`."""
        skipped: list[Skipped] = []

        def dry_run(alone: Config, judge_set: JudgeSet) -> None:
            skipped.extend(self._finish(alone, lambda line: None, None, judge_set).skipped)

        return estimate_calls(self.config.here(), dry_run), skipped

    def _finish(
        self,
        config: Config,
        report: Report,
        costs: Sequence[Estimate] | None,
        judge_set: JudgeSet | None = None,
    ) -> ProbeResult:
        async def work(session: Session) -> ProbeResult:
            return await self.work(Asking(session, report, self.problems, costs))

        budget = None if judge_set is None else Budget()
        job = (config.here(), self.judges, work)
        return run_session(*job, retry=False, quiet=True, budget=budget, judge_set=judge_set)


def set_judge(config: Config, judge: str, fields: Mapping[str, str]) -> Config:
    """The config with this judge and the fields of its items, as in `judge run items`.

    Raises: InputError for a judge that is neither known nor a YAML file.
    """
    if judge not in item_judges() and Path(judge).suffix not in (".yaml", ".yml"):
        names = ", ".join(item_judges())
        raise InputError(
            f"--judge {judge}: unknown; wanted {names}, or the YAML file of your judge"
        )
    return config.change("items", judge=judge, fields=dict(fields))


def get_backend(judge: ItemJudge) -> Backend:
    """The backend of a judge; a probed judge has one."""
    assert judge.backend is not None
    return judge.backend


def identity(judge: ItemJudge) -> Row:
    """Everything that could change a judgement of the base condition."""
    correction = judge.correction
    return {
        "judge": judge.name,
        "kind": judge.kind,
        "version": judge.version,
        "scale": list(get_scale(judge)),
        "prompts": {name: prompt.prompt_hash() for name, prompt in judge.prompts().items()},
        "window": judge.window if judge.listed else None,
        "correction": correction.model_dump(mode="json") if correction is not None else None,
        "model": get_backend(judge).config.identity(),
    }


def get_scale(judge: ItemJudge) -> tuple[str, ...]:
    """The labels that a judge gives, worst to best; a fitted judge may give fewer."""
    correction = judge.correction
    return (correction.labels if correction is not None else None) or judge.scale


# Items


def sample_items(
    items: Sequence[ItemRow], judge: ItemJudge, limit: int, seed: int
) -> list[ItemRow]:
    """Draw at most `limit` items, topics in turn, each in random order; keep the items' order.

    For a judge with several items per call, all items of an answer are drawn, or none.
    Raises: InputError if every answer has more items.
    """
    groups = answers(judge, items)
    chosen: list[int] = []
    for at in in_turns([get_topic(items[group[0]]) for group in groups], seed):
        if len(chosen) + len(groups[at]) <= limit:
            chosen += groups[at]
    if not chosen:
        least = min(map(len, groups))
        raise InputError(
            f"--sample {limit}: the items of an answer stay together; wanted {least} or more"
        )
    return [items[i] for i in sorted(chosen)]


def in_turns(topics: Sequence[str | None], seed: int) -> list[int]:
    """Positions in random order, topics in turn; the topic None is left out."""
    by_topic: dict[str, list[int]] = {}
    for at in map(int, np.random.default_rng(seed).permutation(len(topics))):
        if (topic := topics[at]) is not None:
            by_topic.setdefault(topic, []).append(at)
    return [at for turn in zip_longest(*by_topic.values()) for at in turn if at is not None]


def get_topic(item: ItemRow) -> str:
    """The topic of an item; "" without one."""
    return item.ids.get("topic_id", "")


def get_topics(items: Iterable[ItemRow]) -> list[str] | None:
    """The topic of each item; None if an item has no topic."""
    topics = [get_topic(item) for item in items]
    return topics if all(topics) else None


def with_text(item: ItemRow, name: str, text: str) -> ItemRow:
    """A copy of the item with another text in one input."""
    return item.model_copy(update={"inputs": {**item.inputs, name: text}})


# Outcomes


def get_label(outcome: object) -> str | None:
    """The label; None: not judged."""
    return outcome.label if isinstance(outcome, Verdict) else None


def count_unjudged(outcomes: Iterable[object]) -> Row:
    """Count failed judgements by reason."""
    why = Counter(each.reason.value for each in outcomes if isinstance(each, Unjudged))
    return {"n_unjudged": why.total(), "unjudged": dict(sorted(why.items()))}


def list_unjudged(outcomes: Iterable[tuple[Row, object]]) -> list[Row]:
    """Rows of failed judgements: ids, reason and raw reply."""
    return [
        ids | {"reason": each.reason, "detail": each.detail, "raw": each.raw}
        for ids, each in outcomes
        if isinstance(each, Unjudged)
    ]


def list_missing_labels(
    items: Sequence[ItemRow], outcomes: Mapping[str, Sequence[Outcome]]
) -> list[Row]:
    """The failed judgements in `outcomes`."""
    return list_unjudged(
        ({"condition": name, **item.ids}, outcome)
        for name, of_items in outcomes.items()
        for item, outcome in zip(items, of_items, strict=True)
    )


# Files


def check_probe_folder(folder: Path, names: Iterable[str]) -> None:
    """Raise InputError unless the folder is new, empty, or has an earlier probe of this kind."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; wanted a folder for the probe")
    held = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if other := sorted(held - {*names}):
        raise InputError(
            f"{folder}: contains {other[0]!r}, which no probe wrote; choose another --out"
        )


def write_probe(
    folder: Path, names: Sequence[str], result: ProbeResult, settings: Mapping[str, Any]
) -> None:
    """Write the result of a probe. Two equal probes differ only in the manifest's `this_time`.

    labels/CONDITION.jsonl: ids, label and the judge's other fields; null if not judged, no row if
    not asked. cases.jsonl: each planted text and its result. unjudged.jsonl: the reason and the
    raw reply. The manifest is written last; it has the files, failed judgements and the cost.

    Args:
        names: see `Kind`. settings: further fields of the manifest.
    """
    remove(folder / MANIFEST)  # it describes the old rows
    if LABELS in names:
        _write_labels(own_folder(folder / LABELS), result)
    _write_lines(folder / UNJUDGED, result.unjudged)
    if CASES in names:
        _write_lines(folder / CASES, result.cases)
    _write_lines(folder / names[0], result.rows)
    manifest = {
        **settings,
        **result.about,
        "n_unjudged": result.n_unjudged,
        "limit_reached": result.limit_reached or None,
        "this_time": {
            name: asdict(usage) | {"cost": usage.known_cost} for name, usage in result.spent.items()
        },
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    write_file(folder / MANIFEST, orjson.dumps(manifest, option=options))


def _write_labels(labels: Path, result: ProbeResult) -> None:
    for path in labels.glob("*.jsonl"):
        remove(path)
    for name, of_items in result.outcomes.items():
        _write_lines(labels / f"{name}.jsonl", [
            item.ids | (outcome.as_row() if isinstance(outcome, Verdict) else {"label": None})
            for item, outcome in zip(result.items, of_items, strict=True)
            if outcome is not None
        ])  # fmt: skip


def _write_lines(path: Path, rows: Iterable[Any]) -> None:
    text = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    write_file(path, text)
