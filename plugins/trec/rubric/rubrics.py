"""Rubrics: the criteria of a topic, with signed weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from ....records.nuggets import QUERY_FIELDS, TOPIC_FIELDS
from ....records.reading.fields import Line, read_lines, show
from ....records.reading.problems import Problems
from ....records.rows import Label, LabelScores, Row, hash_ids
from .lint import lint

CriterionLabel = Literal["not_met", "partly", "met"]
CRITERION_LABELS: tuple[CriterionLabel, ...] = get_args(CriterionLabel)
CriterionKind = Literal["binary", "three_way"]
CRITERION_KINDS: tuple[CriterionKind, ...] = get_args(CriterionKind)
Tier = Literal["mandatory", "optional"]
TIERS: tuple[Tier, ...] = get_args(Tier)


class CriterionMatch(Label):
    """How far an answer meets a criterion (arXiv:2511.07685)."""

    NOT_MET = (
        "not_met",
        "the response gives nothing that the criterion asks for, or all of it incorrectly",
    )
    PARTLY = (
        "partly",
        "the response gives at least some of what the criterion asks for, but some of it is "
        "missing, incorrect or too vague",
    )
    MET = "met", "the response gives correctly all that the criterion asks for, in any wording"


class BinaryCriterionMatch(Label):
    """The two-grade form: a criterion is met or it is not."""

    NOT_MET = (
        "not_met",
        "the response lacks some of what the criterion asks for, or gives it incorrectly",
    )
    MET = CriterionMatch.MET.value, CriterionMatch.MET.meaning


class Criterion(Row):
    """A criterion for answers. A weight below 0 is a penalty: `met` then says the fault is there.

    `kind` binary: met or not_met; three_way: also partly. `type` is its group (the axis in
    ResearchRubrics), `tier` and `source_nugget` come from RAGDoll; "" and None: unknown.
    """

    id: str
    text: str
    weight: float
    kind: CriterionKind = "three_way"
    type: str = ""
    tier: Tier | None = None
    source_nugget: str | None = None


class Rubric(Row):
    """The criteria of one topic."""

    topic_id: str
    query: str
    criteria: tuple[Criterion, ...]

    @property
    def worth(self) -> float:
        """Return the sum of the weights above 0, the denominator of scores."""
        return math.fsum(c.weight for c in self.criteria if c.weight > 0)


class CriterionVerdict(LabelScores):
    """How far an answer meets a criterion; `label` None: not judged."""

    topic_id: str
    run_id: str
    criterion_id: str
    weight: float
    label: CriterionLabel | None
    kind: CriterionKind = "three_way"


def criterion_ids(texts: Sequence[str]) -> list[str]:
    """Make an id for each criterion text of one topic, as `nugget_ids` does for nuggets."""
    return hash_ids("c", texts)


def read_rubrics(path: Path, problems: Problems) -> dict[str, Rubric]:
    """Read rubrics by topic, in file order: ours, RAGDoll's or ResearchRubrics', by content.

    Ours and RAGDoll's have `qid`, `query` and `criteria` with `text` and `weight`; ResearchRubrics'
    have `sample_id`, `prompt` and `rubrics` with `criterion` and `weight`. Without a `kind`,
    criteria are three_way, or binary in ResearchRubrics' files, as its evaluation grades. A
    criterion keeps its own id; otherwise its id comes from its text (`criterion_ids`).

    Errors reported: no topic, no list, no text, a weight that is 0 or no number, an unknown kind, a
    repeated topic, a repeated id in a topic. Listed: problems that `lint` finds, repeated texts, a
    rubric without a weight above 0, RAGDoll's row of a rubric that failed (which is left out).
    """
    return collect_rubrics(read_lines(path, problems))


def collect_rubrics(lines: Iterable[Line], *, linted: bool = True) -> dict[str, Rubric]:
    """Collect the rubrics in these lines, as `read_rubrics` does.

    Args:
        linted: also list what `lint` finds.
    """
    rubrics: dict[str, Rubric] = {}
    for line in lines:
        topic_id = line.id(*TOPIC_FIELDS, "sample_id")
        items = line.objects("criteria", "rubrics")
        if topic_id is None or items is None:
            continue
        if line.row.get("status") == "failed":
            line.skip("failed_rubric", f"the rubric of topic {topic_id!r} failed when it was made")
            continue
        if topic_id in rubrics:
            line.error("duplicate_topic", f"topic {topic_id!r} has a rubric already, wanted once")
            continue
        default: CriterionKind = "three_way" if line.row.get("criteria") is not None else "binary"
        criteria = _criteria(items, default, linted)
        query = line.optional_text(*QUERY_FIELDS, "prompt")
        rubric = Rubric(topic_id=topic_id, query=query, criteria=tuple(criteria))
        if criteria and not rubric.worth:
            what = f"the rubric of topic {topic_id!r} has no weight above 0: its scores are 0/0"
            line.keep("no_positive_weight", what)
        rubrics[topic_id] = rubric
    return rubrics


def rubric_row(rubric: Rubric) -> dict[str, Any]:
    """Return a line of `rubrics.jsonl`, which RAGDoll reads, too."""
    return {
        "qid": rubric.topic_id,
        "query": rubric.query,
        "criteria": [criterion_row(criterion) for criterion in rubric.criteria],
    }


def criterion_row(criterion: Criterion) -> dict[str, Any]:
    """Return a criterion of such a line; unknown fields are left out."""
    row = criterion.model_dump(mode="json", exclude_none=True)
    row["weight"] = _plain(criterion.weight)
    return {name: value for name, value in row.items() if value != ""}


def verdict_row(verdict: CriterionVerdict) -> dict[str, Any]:
    """Return a line of `verdicts.jsonl`; a null label is not judged."""
    return {
        "topic_id": verdict.topic_id,
        "run_id": verdict.run_id,
        "criterion_id": verdict.criterion_id,
        "label": verdict.label,
        "weight": _plain(verdict.weight),
        "kind": verdict.kind,
        **verdict.as_fields(),
    }


def read_weight(item: Line) -> float | None:
    """Return the weight of a criterion; None, with an error, if it is 0 or no number."""
    weight = item.row.get("weight")
    if isinstance(weight, int | float) and not isinstance(weight, bool):
        if weight and math.isfinite(weight):
            return float(weight)
    elif weight is None:
        item.missing("weight")
        return None
    item.bad("weight", weight, "a number above or below 0")
    return None


def _criteria(items: Sequence[Line], default: CriterionKind, linted: bool) -> list[Criterion]:
    """The criteria of one list, each with its own id."""
    texts: list[tuple[str, Line]] = []
    for item in items:
        text = item.text("text", "criterion", "title")
        if text is not None and text.strip():
            texts.append((text, item))
        elif text is not None:
            item.skip("empty_criterion", f"{item.prefix.removesuffix('.')} is empty; left out")
    criteria: dict[str, Criterion] = {}
    for (text, item), hashed in zip(texts, criterion_ids([t for t, _ in texts]), strict=True):
        where, own_id = item.prefix.removesuffix("."), item.optional_id("id", "criterion_id")
        name, weight, kind = own_id or hashed, read_weight(item), _kind(item, default)
        if weight is None or kind is None:
            continue
        if name in criteria:
            item.error("duplicate_id", f"{where} has the id {name!r}, which one before it has too")
            continue
        if own_id is None and "-" in hashed:
            item.keep("duplicate_criterion", f"{where} has the text of a criterion before it")
        for fault in lint(text, weight) if linted else ():
            item.keep(fault.kind, f"{where} {fault.what}: {show(text)}")
        criteria[name] = Criterion(
            id=name,
            text=text,
            weight=weight,
            kind=kind,
            type=item.optional_text("type", "axis", "category"),
            tier=next((tier for tier in TIERS if tier == item.row.get("tier")), None),
            source_nugget=item.optional_id("source_nugget"),
        )
    return list(criteria.values())


def _kind(item: Line, default: CriterionKind) -> CriterionKind | None:
    written = item.row.get("kind")
    if written is None:
        return default
    if (kind := next((k for k in CRITERION_KINDS if k == written), None)) is None:
        item.bad("kind", written, " or ".join(CRITERION_KINDS))
    return kind


def _plain(weight: float) -> float | int:
    return int(weight) if weight.is_integer() else weight
