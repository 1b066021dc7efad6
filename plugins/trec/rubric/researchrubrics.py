"""ResearchRubrics' files: rubrics as `processed_data.jsonl`, and a system's results by line.

Source: github.com/scaleapi/researchrubrics, its README (data format, evaluation results) and
calculate_compliance_score.py; arXiv:2511.07685.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....records.reading.fields import Line, show, stem
from .rubrics import Criterion, CriterionLabel, CriterionVerdict, Rubric, criterion_ids, read_weight
from .scores import CRITERION_GAINS

VERDICTS: dict[str, CriterionLabel] = {
    "satisfied": "met",
    "partially satisfied": "partly",
    "not satisfied": "not_met",
}
_WORDS = {label: words.title() for words, label in VERDICTS.items()}


def result(line: Line) -> Iterator[CriterionVerdict]:
    """Return the verdict of one line of results; the name of the file is the run.

    A line without success, or with an unknown verdict, is not judged, whatever its score: the tool
    writes the score 0 there.
    """
    topic_id, text = line.id("sample_id"), line.text("rubric_title")
    weight = read_weight(line)
    if topic_id is None or text is None or weight is None:
        return
    written, label = line.row.get("verdict"), None
    if line.row.get("success", True) is False:
        line.keep("label", f"{line.name('success')} is false; not judged")
    else:
        label = VERDICTS.get(str(written).strip().lower())
        if label is None:
            what = f"{line.name('verdict')} is {show(written)}, wanted {', '.join(_WORDS.values())}"
            line.keep("label", f"{what}; not judged")
    reason = line.row.get("reasoning")
    yield CriterionVerdict(
        topic_id=topic_id,
        run_id=stem(line.path),
        criterion_id=criterion_ids([text])[0],
        weight=weight,
        label=label,
        rationale=reason if isinstance(reason, str) and reason else None,
    )


def data_row(rubric: Rubric) -> dict[str, Any]:
    """Return a line of `processed_data.jsonl`."""
    rubrics = [{"criterion": c.text, "weight": c.weight, "axis": c.type} for c in rubric.criteria]
    return {"prompt": rubric.query, "sample_id": rubric.topic_id, "rubrics": rubrics}


def result_rows(
    verdicts: Iterable[CriterionVerdict], criteria: Mapping[tuple[str, str], Criterion]
) -> Iterator[dict[str, Any]]:
    """Yield the lines of one run's results; a missing verdict has success false and no score.

    Args:
        criteria: the criteria by topic and id.
    """
    for verdict in verdicts:
        row: dict[str, Any] = {
            "sample_id": verdict.topic_id,
            "rubric_title": criteria[verdict.topic_id, verdict.criterion_id].text,
            "weight": verdict.weight,
            "success": verdict.label is not None,
        }
        if verdict.label is not None:
            row |= {"verdict": _WORDS[verdict.label], "score": CRITERION_GAINS[verdict.label]}
        yield row | {"reasoning": verdict.rationale or ""}
