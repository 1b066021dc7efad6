"""The answers of a report to a list of questions, sentence by sentence, and its length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from ....records.reading.fields import Line, as_int, read_lines, show
from ....records.reading.problems import Problems
from ....records.rows import LabelScores, Row

StandingLabel = Literal["not_said", "unsupported", "uncited", "supported"]
STANDING_LABELS: tuple[StandingLabel, ...] = get_args(StandingLabel)  # from worst to best
_YES: tuple[Literal["yes"], ...] = ("yes",)


class Open(Row):
    """The standings that are possible, from `low` to `high`; equal if no judgement is missing."""

    low: StandingLabel
    high: StandingLabel

    @property
    def label(self) -> StandingLabel | None:
        """Return the standing; None if missing judgements leave several possible."""
        return self.low if self.low == self.high else None


class JudgedSentence(LabelScores):
    """A sentence, by its 0-based index, that gives an answer; `label` None: not judged."""

    sentence: int
    label: Literal["yes"] | None


class JudgedAnswer(Open):
    """An accepted answer, with the sentences that give it or were not judged."""

    id: str
    text: str
    sentences: tuple[JudgedSentence, ...] = ()


class AnsweredQuestion(Open):
    """The standing of a report on a question: its answers combined by AND or OR."""

    run_id: str
    topic_id: str
    question_id: str
    question: str
    aggregator: str
    importance: str | None
    answers: tuple[JudgedAnswer, ...]


class JudgedReport(Row):
    """The length of a report, and the parts that were judged.

    `words` and `characters` are those of the whole report; `is_over` is True if it is longer than
    allowed. The first `n_kept` of its `n_units` (sentences, headings, rows of tables) were judged.
    `claims` has the standing of each judged unit that makes a claim, by its position.
    """

    run_id: str
    topic_id: str
    words: int
    characters: int
    is_over: bool
    n_units: int
    n_kept: int
    headings: int
    table_rows: int
    claims: tuple[tuple[int, Open], ...]


def make_answered_row(question: AnsweredQuestion) -> dict[str, Any]:
    """Return a line of `answered.jsonl`; `label` is null if `low` and `high` differ."""
    return {
        **question.model_dump(include={"run_id", "topic_id", "question_id", "question"}),
        "importance": question.importance,
        "aggregator": question.aggregator,
        **_open_row(question),
        "answers": [
            {
                "id": answer.id,
                "text": answer.text,
                **_open_row(answer),
                "sentences": [
                    {"sentence": each.sentence, "label": each.label, **each.as_fields()}
                    for each in answer.sentences
                ],
            }
            for answer in question.answers
        ],
    }


def read_answered(path: Path, problems: Problems) -> Iterator[AnsweredQuestion]:
    """Read `answered.jsonl` lazily.

    Errors reported: a missing id, an unknown standing, a field of the wrong type, a repeated
    question of a report.
    """
    for _, question in read_answered_with_lines(read_lines(path, problems)):
        yield question


def read_answered_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, AnsweredQuestion]]:
    """Read as `read_answered` does, each row with its line."""
    seen: dict[tuple[str, str, str], int] = {}
    for line in lines:
        ids = [line.id(name) for name in ("run_id", "topic_id", "question_id")]
        stands, answers = _open(line), line.objects("answers")
        if None in ids or stands is None or answers is None:
            continue
        key = (ids[0] or "", ids[1] or "", ids[2] or "")
        if (first := seen.setdefault(key, line.number)) != line.number:
            what = f"question {' '.join(key)} is in line {first} already, wanted once"
            line.error("duplicate_question", what)
            continue
        judged = [one for answer in answers if (one := _answer(answer)) is not None]
        yield (
            line,
            AnsweredQuestion(
                run_id=key[0],
                topic_id=key[1],
                question_id=key[2],
                question=line.optional_text("question"),
                aggregator=line.optional_text("aggregator") or "OR",
                importance=line.label("importance", ("vital", "okay")),
                answers=tuple(judged),
                **stands,
            ),
        )


def report_row(report: JudgedReport) -> dict[str, Any]:
    """Return a line of `reports.jsonl`."""
    row = report.model_dump(exclude={"claims"})
    claims = [{"sentence": at, **_open_row(stands)} for at, stands in report.claims]
    return row | {"claims": claims}


def read_reports(path: Path, problems: Problems) -> Iterator[JudgedReport]:
    """Read `reports.jsonl` lazily. Errors reported: as in `read_answered`."""
    counts = ("words", "characters", "n_units", "n_kept", "headings", "table_rows")
    for line in read_lines(path, problems):
        run_id, topic_id = line.id("run_id"), line.id("topic_id")
        numbers = {name: as_int(line.row.get(name)) for name in counts}
        for name, number in numbers.items():
            if number is None:
                line.bad(name, line.row.get(name), "a whole number")
        is_over, claims = line.row.get("is_over"), _claims(line)
        if not isinstance(is_over, bool):
            line.bad("is_over", is_over, "true or false")
        elif run_id and topic_id and claims is not None and None not in numbers.values():
            fields = {"run_id": run_id, "topic_id": topic_id, "is_over": is_over, **numbers}
            yield JudgedReport(claims=claims, **fields)


def _claims(line: Line) -> tuple[tuple[int, Open], ...] | None:
    if (items := line.objects("claims")) is None:
        return None
    claims = []
    for item in items:
        at, stands = as_int(item.row.get("sentence")), _open(item)
        if at is None:
            item.bad("sentence", item.row.get("sentence"), "a 0-based position")
        elif stands is not None:
            claims.append((at, Open(**stands)))
    return tuple(claims)


def _answer(item: Line) -> JudgedAnswer | None:
    name, stands = item.id("id"), _open(item)
    sentences = item.objects("sentences") if "sentences" in item.row else []
    if name is None or stands is None or sentences is None:
        return None
    labels = []
    for each in sentences:
        if (at := as_int(each.row.get("sentence"))) is None:
            each.bad("sentence", each.row.get("sentence"), "a 0-based position")
            continue
        labels.append(
            JudgedSentence(sentence=at, label=each.label("label", _YES), **each.read_label_scores())
        )
    text = item.optional_text("text")
    return JudgedAnswer(id=name, text=text, sentences=tuple(labels), **stands)


def _open(item: Line) -> dict[str, Any] | None:
    """`low` and `high` of a row; None, with an error, unless they are two standings in order."""
    low, high = item.row.get("low"), item.row.get("high")
    for name, label in (("low", low), ("high", high)):
        if label not in STANDING_LABELS:
            item.bad(name, label, f"one of {', '.join(STANDING_LABELS)}")
            return None
    if STANDING_LABELS.index(low) > STANDING_LABELS.index(high):
        item.bad("low", low, f"a standing that is not above {show(high)}")
        return None
    return {"low": low, "high": high}


def _open_row(standing: Open) -> dict[str, Any]:
    return {"label": standing.label, "low": standing.low, "high": standing.high}
