"""RAGDoll's rubric rows: criteria by topic, and answers graded by them.

`read_rubrics` reads its rubric rows, and RAGDoll reads ours.
Source: github.com/castorini/RAGDoll (2026-07), ragdoll/rubric: prompts.py, stages.py, flows.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....records.nuggets import TOPIC_FIELDS
from ....records.reading.fields import Line, show
from .rubrics import (
    Criterion,
    CriterionLabel,
    CriterionVerdict,
    Rubric,
    criterion_ids,
    criterion_row,
    read_weight,
)

VERDICTS: dict[str, CriterionLabel] = {
    "satisfied": "met",
    "partially_satisfied": "partly",
    "not_satisfied": "not_met",
}
FAILED = "failed"  # RAGDoll's word for a window without a reply; its scores count it as 0
MAX_WEIGHT = 5  # RAGDoll rounds weights, caps them here, and leaves out those of 0 or less
_WORDS = {label: word for word, label in VERDICTS.items()}


def read_graded(line: Line) -> Iterator[CriterionVerdict]:
    """Yield the verdicts of a graded answer; an unknown word is listed and counts as not judged."""
    topic_id, run_id = line.id(*TOPIC_FIELDS), line.id("run_id")
    items = line.objects("criteria")
    if topic_id is None or run_id is None or items is None:
        return
    with_text = [(item, text) for item in items if (text := item.text("text")) is not None]
    for (item, _), hashed in zip(with_text, criterion_ids([t for _, t in with_text]), strict=True):
        if (weight := read_weight(item)) is None:
            continue
        written = item.row.get("verdict")
        label = VERDICTS.get(str(written).strip().lower().replace(" ", "_"))
        if label is None:
            what = f"{item.name('verdict')} is {show(written)}, wanted {', '.join(VERDICTS)}"
            item.keep("label", f"{what}; not judged")
        yield CriterionVerdict(
            topic_id=topic_id,
            run_id=run_id,
            criterion_id=item.optional_id("id") or hashed,
            weight=weight,
            label=label,
        )


def make_graded_row(
    rubric: Rubric, verdicts: Mapping[str, CriterionVerdict], run_id: str, answer: str, n_words: int
) -> dict[str, Any]:
    """Return an answer as `rubric grade` writes it; a criterion that was not judged is `failed`.

    Args:
        verdicts: verdict by criterion.
    """
    criteria = []
    for criterion in rubric.criteria:
        label = verdicts[criterion.id].label if criterion.id in verdicts else None
        verdict = _WORDS[label] if label is not None else FAILED
        criteria.append({**criterion_row(criterion), "verdict": verdict})
    return {
        "task_id": f"{run_id}:{rubric.topic_id}",
        "status": "completed",
        "qid": rubric.topic_id,
        "run_id": run_id,
        "query": rubric.query,
        "answer_text": answer,
        "response_length": n_words,
        "criteria": criteria,
    }


def not_taken(criteria: Sequence[Criterion]) -> list[Criterion]:
    """Return the criteria that RAGDoll would leave out or weight differently."""
    return [c for c in criteria if not (0 < c.weight <= MAX_WEIGHT and c.weight.is_integer())]
