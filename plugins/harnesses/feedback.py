"""What an answer lost, in words: for people who read a log, and models that improve a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...evaluation.questions import QuestionScore
from ...programs.analysis.answers.points import standing
from ...programs.analysis.answers.views import AnswerView, Judged
from ...records.printed import cell

_CARRIED = ("full", "yes", "support", "cited_ok", "uncited_supported")
_PASSAGE = 200  # characters of a cited passage that are shown
_HEADINGS = {
    "missed": "The answer does not state",
    "partly": "The answer states only in part",
    "sentence": "Not carried by what they cite",
    "other": "Not supported",
    "unjudged": "Not judged, which says nothing of the answer",
}


@dataclass(frozen=True)
class Explained:
    """A score, and lines that say what the answer lost.

    Attributes:
        feedback: the score and what it rests on; then, under headings, what the answer misses,
            which sentences their citations do not carry, and what was not judged.
    """

    score: QuestionScore
    feedback: str


def explained(score: QuestionScore, view: AnswerView | None, eta: int) -> Explained:
    """A score in words.

    Args:
        view: the answer with what was judged of it; None: nothing was.
        eta: the rating from which a text answers a sub-question.
    """
    lines_by_heading: dict[str, dict[str, None]] = {heading: {} for heading in _HEADINGS}
    for each in view.judged if view is not None else ():
        for heading, line in _line(each, eta):
            lines_by_heading[heading][line] = None  # once, though several programs say it
    lines = [str(score)]
    for heading, texts in lines_by_heading.items():
        if texts:
            lines += [f"{_HEADINGS[heading]}:", *(f"- {text}" for text in texts)]
    return Explained(score, "\n".join(lines))


def _line(judged: Judged, eta: int) -> Iterator[tuple[str, str]]:
    text = " ".join(judged.text.split()) or judged.unit
    if judged.label is None:
        yield "unjudged", f"{text} ({judged.unjudged or 'not asked'})"
    elif judged.is_point:
        stands = standing(judged, eta)
        if stands != "stated":
            vital = f" ({judged.importance})" if judged.importance else ""
            yield stands, f"{text}{vital}"
    elif judged.label not in _CARRIED:
        why = f": {judged.label}"
        if judged.unit == "citation":
            cited = f"“{cell(judged.passage, _PASSAGE)}”" if judged.passage else f"[{judged.docid}]"
            why = f": {judged.label} support in {cited}"
        elif judged.unit == "sentence" and judged.docid is None and judged.label == "none":
            why = ": cites nothing"
        yield ("sentence" if judged.sentence is not None else "other"), f"{text}{why}"
