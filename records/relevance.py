"""Rankings and relevance: TREC runs, qrels, and judgements with their failures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeVar

from .judgements import Reason
from .kinds import Kind, Labelled
from .reading.fields import A_GRADE, Line, as_grade, as_int, read_lines, show
from .reading.lines import text_lines
from .reading.problems import Problems
from .rows import Label, LabelScores, Ranking
from .topics import natural_order
from .writing import write_file

Of = TypeVar("Of")
COLUMNS = (4, 6)
_TRUTH = {"true": 1, "false": 0}


def read_qrels(path: Path, problems: Problems) -> dict[str, dict[str, int]]:
    """Read grades by topic and document, in file order.

    A grade, -100 to 100, may be a whole number, a float with the same value (`2.0`), or True or
    False. The iteration column is ignored. In six columns, confidence and run are ignored too, but
    a confidence that is not a number is an error.

    Errors reported: not 4 or 6 columns, other grades, one pair with two grades.

    Args:
        path: the file of qrels.
        problems: collects the faults of the file, by line.

    Returns:
        The grade of each document of each topic.

    Raises: InputError if the file cannot be read.
    """
    qrels: dict[str, dict[str, int]] = {}
    for number, line in text_lines(path):
        columns = line.split()
        if len(columns) not in COLUMNS:
            what = f"{len(columns)} columns, wanted 4: topic iteration document grade"
            problems.error(path, number, "bad_qrels", f"{what}, or 6: and confidence run")
            continue
        topic_id, _, passage_id, written = columns[:4]
        if len(columns) == 6 and not _is_finite(columns[4]):
            what = f"confidence {columns[4][:40]!r}, wanted a number"
            problems.error(path, number, "bad_confidence", what)
            continue
        grade = _TRUTH.get(written.lower(), as_grade(written))
        if grade is None:
            what = f"grade {written[:40]!r}, wanted {A_GRADE}, True or False"
            problems.error(path, number, "bad_grade", what)
            continue
        grades = qrels.setdefault(topic_id, {})
        pair, earlier = f"{passage_id!r} of topic {topic_id!r}", grades.get(passage_id)
        if earlier is None:
            grades[passage_id] = grade
        elif earlier == grade:
            what = f"{pair} occurs twice with grade {grade}"
            problems.keep(path, number, "duplicate_grade", what)
        else:
            what = f"{pair} has grade {grade} here and {earlier} before, wanted one"
            problems.error(path, number, "duplicate_grade", what)
    return qrels


def write_qrels(path: Path, qrels: Mapping[str, Mapping[str, int]], iteration: str = "0") -> None:
    """Write qrels sorted by topic and document, like auto-judge tools.

    Args:
        path: the file to write; an existing file is replaced.
        qrels: the grade of each document of each topic.
        iteration: the value of the second column, which most tools ignore.

    Raises: ValueError if an id is empty or has white space, which the format cannot hold.
    """
    lines = []
    for topic_id, grades in sorted(qrels.items()):
        for passage_id, grade in sorted(grades.items()):
            lines.append(_write_line(topic_id, iteration, passage_id, grade))
    write_file(path, "".join(lines))


def write_diversity_qrels(
    path: Path, grades: Mapping[str, Mapping[str, Mapping[str, int]]]
) -> None:
    """Write `topic question passage grade`, the form in which ir-measures reads alpha-nDCG's qrels.

    The lines are sorted by all three ids, digits as numbers.

    Args:
        path: the file to write; an existing file is replaced.
        grades: topic -> sub-question -> passage -> 1 if it answers the question, otherwise 0.

    Raises: ValueError for an id like `write_qrels`, and for another grade.
    """
    lines = []
    for topic_id, questions in _sort(grades):
        for question_id, passages in _sort(questions):
            for passage_id, grade in _sort(passages):
                if grade not in (0, 1):
                    what = f"grade {grade} of {passage_id!r}, question {question_id!r}"
                    raise ValueError(f"topic {topic_id!r}: {what}, wanted 0 or 1")
                lines.append(_write_line(topic_id, question_id, passage_id, grade))
    write_file(path, "".join(lines))


def _sort(by_id: Mapping[str, Of]) -> list[tuple[str, Of]]:
    return sorted(by_id.items(), key=lambda item: natural_order(item[0]))


def _write_line(topic_id: str, iteration: str, passage_id: str, grade: int) -> str:
    check_ids(topic_id, passage_id, iteration)
    return f"{topic_id} {iteration} {passage_id} {grade}\n"


def check_ids(*names: str) -> None:
    """Raise ValueError for an id that a line of qrels cannot hold."""
    for name in names:
        if len(name.split()) != 1 or name.split()[0] != name:
            raise ValueError(f"id {name!r} is empty or has white space, so qrels cannot hold it")


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


HIGHEST_SCORE = 3e38  # in our files: 32-bit floats end slightly above
# The only document of a topic whose ranking failed; the reason follows. Other tools read it as a
# document that is not relevant.
_FAILED, _OLD_FAILED = "failed:", "not-made:"
NO_PASSAGES = "no-passages"  # the only document of a topic without passages


class _Entry(NamedTuple):
    passage_id: str
    rank: int
    score: float


def read_trec_run(path: Path, problems: Problems) -> dict[str, Ranking]:
    """Read the ranking of each topic, best score first, equal scores by rank.

    Differs: trec_eval breaks ties of the score by document id and ignores the rank.

    A topic with the single document `failed:REASON` has no ranking, because nuggetjudge itself
    failed. A topic with the single document `no-passages` has an empty ranking on purpose.

    Errors reported: not 6 columns, a rank or score that is not a number, a document twice in
    a topic, more than one tag in the file. A topic whose ranks contradict its scores is kept
    in the order of the scores and mentioned.

    Args:
        path: the file of the run.
        problems: collects the faults of the file, by line.

    Returns:
        The ranking of each topic, in file order.

    Raises: InputError if the file cannot be read.
    """
    entries: dict[str, dict[str, _Entry]] = {}
    first_line: dict[str, int] = {}
    tag = None
    for number, line in text_lines(path):
        columns = line.split()
        if len(columns) != 6:
            what = f"{len(columns)} columns, wanted 6: topic Q0 document rank score tag"
            problems.error(path, number, "bad_run", what)
            continue
        topic_id, _, passage_id, written_rank, written_score, line_tag = columns
        rank, score = as_int(written_rank), _finite(written_score)
        if rank is None or score is None:
            what = f"rank {written_rank[:20]!r} and score {written_score[:20]!r}, wanted numbers"
            problems.error(path, number, "bad_run", what)
            continue
        tag = tag or line_tag
        if tag != line_tag:
            what = f"tag {line_tag!r} in a file of {tag!r}, wanted one run per file"
            problems.error(path, number, "mixed_runs", what)
            continue
        first_line.setdefault(topic_id, number)
        ranked = entries.setdefault(topic_id, {})
        if passage_id in ranked:
            what = f"{passage_id!r} occurs twice in topic {topic_id!r}, wanted once"
            problems.error(path, number, "duplicate_candidate", what)
            continue
        ranked[passage_id] = _Entry(passage_id, rank, score)

    rankings = {}
    for topic_id, ranked in entries.items():
        at = (path, first_line[topic_id])
        if (ranking := _rank(tag or "", topic_id, ranked, at, problems)) is not None:
            rankings[topic_id] = ranking
    return rankings


def _rank(
    run_id: str,
    topic_id: str,
    entries: Mapping[str, _Entry],
    at: tuple[Path, int],
    problems: Problems,
) -> Ranking | None:
    """The ranking of a topic, by score; None if its documents have an error.

    Args:
        entries: by document. at: the file, and the first line of the topic.
    """
    if marks := [name for name in entries if name.startswith((_FAILED, _OLD_FAILED))]:
        why = marks[0].partition(":")[2]
        if len(entries) > 1 or why not in list(Reason):
            what = f"{marks[0]!r} in topic {topic_id!r}, wanted it alone and one of"
            known = ", ".join(_FAILED + reason for reason in Reason)
            problems.error(*at, "bad_run", f"{what} {known}")
            return None
        return Ranking(run_id=run_id, topic_id=topic_id, passage_ids=(), failed=Reason(why))
    if NO_PASSAGES in entries:
        if len(entries) > 1:
            what = f"{NO_PASSAGES!r} in topic {topic_id!r}, wanted it alone"
            problems.error(*at, "bad_run", what)
            return None
        return Ranking(run_id=run_id, topic_id=topic_id, passage_ids=())
    best_first = sorted(entries.values(), key=lambda entry: (-entry.score, entry.rank))
    if any(a.rank > b.rank for a, b in pairwise(best_first)):
        what = f"ranks of topic {topic_id!r} contradict its scores; ordered by score"
        problems.keep(*at, "rank_order", what)
    return Ranking(
        run_id=run_id,
        topic_id=topic_id,
        passage_ids=tuple(entry.passage_id for entry in best_first),
        scores=tuple(entry.score for entry in best_first),
    )


def write_trec_run(to: Path | TextIO, rankings: Iterable[Ranking]) -> None:
    """Write the rankings of one run, ranks from 1, in the order of every tool that reads them.

    Scores are written as 32-bit floats, as trec_eval keeps them, and strictly fall: a score that is
    equal to the previous one in that precision becomes the next number below it. A ranking without
    scores gets 1, 1/2, 1/3, ... A topic without passages has no line, unless its ranking failed:
    then it has the line for that, see `read_trec_run`.

    Args:
        to: the file to write, which is replaced if it exists, or an open text stream.
        rankings: a ranking for each topic, all of one run.

    Raises: ValueError, before anything is written, for an id or tag that is empty or has white
        space, more than one tag, a topic twice, a passage twice in a topic, and scores that rise,
        are not within +-3e38 or are not one per passage; the error names topic and rank.
    """
    text = "".join(_run_lines(rankings))
    if isinstance(to, Path):
        write_file(to, text)
    else:
        to.write(text)


def _run_lines(rankings: Iterable[Ranking]) -> Iterator[str]:
    tag, topics = None, set()
    for ranking in rankings:
        tag, where = tag or ranking.run_id, f"topic {ranking.topic_id!r}"
        if ranking.run_id != tag:
            raise ValueError(f"{where}: tag {ranking.run_id!r} in a run of {tag!r}")
        if ranking.topic_id in topics:
            raise ValueError(f"{where} occurs twice, wanted one ranking")
        topics.add(ranking.topic_id)
        if ranking.failed is not None:
            name = f"{_FAILED}{ranking.failed}"
            ranking = ranking.model_copy(update={"passage_ids": (name,), "scores": ()})
        scores = _falling(ranking, where)
        seen: set[str] = set()
        for rank, (name, score) in enumerate(zip(ranking.passage_ids, scores, strict=True), 1):
            for each in (ranking.topic_id, name, tag):
                if each.split() != [each]:
                    raise ValueError(f"{where}, rank {rank}: {each!r} is empty or has white space")
            if name in seen:
                raise ValueError(f"{where}, rank {rank}: passage {name!r} occurs twice")
            seen.add(name)
            yield f"{ranking.topic_id} Q0 {name} {rank} {score} {tag}\n"


def _falling(ranking: Ranking, where: str) -> list[str]:
    """Write the scores as texts that all differ as 32-bit floats."""
    import numpy as np

    n = len(ranking.passage_ids)
    scores: Sequence[float] = ranking.scores or [1 / rank for rank in range(1, n + 1)]
    if len(scores) != n:
        raise ValueError(f"{where}: {len(scores)} scores for {n} passages")
    single, tiny = np.float32, np.finfo(np.float32).tiny  # closer to 0, some tools read 0
    written: list[str] = []
    before, above = math.inf, single(math.inf)
    for rank, score in enumerate(scores, 1):
        if not abs(score) < HIGHEST_SCORE:
            what = f"score {score}, wanted a number within +-{HIGHEST_SCORE:g}"
            raise ValueError(f"{where}, rank {rank}: {what}")
        if score > before:
            raise ValueError(f"{where}, rank {rank}: score {score} is above the previous {before}")
        lower = single(score)
        if abs(lower) < tiny:
            lower = single(0)
        if lower >= above:
            lower = np.nextafter(above, single(-math.inf))
            if abs(lower) < tiny:
                lower = single(0) if above > 0 else -tiny
        written.append(str(lower))
        before, above = score, lower
    return written


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


TOPIC_FIELDS = ("topic_id", "qid")
PASSAGE_FIELDS = ("passage_id", "docid")
GRADE_FIELDS = ("grade", "judgment", "relevance")


class RelevanceGrade(Label):
    """How well a passage answers a question (arXiv:2406.06519); its values are the grades."""

    UNRELATED = "0", "the passage has nothing to do with the question"
    RELATED = "1", "the passage is related to the question but does not answer it"
    PARTLY = (
        "2",
        "the passage answers the question, but the answer is incomplete, unclear or hard to find "
        "among unrelated content",
    )
    FULLY = "3", "the passage is mainly about the question and contains a clear and complete answer"


class RelevanceLabel(LabelScores):
    """The grade of a passage for a topic.

    Attributes:
        topic_id: the topic.
        passage_id: the passage.
        grade: how well the passage answers the question; judges give 0 to 3, files may have -100 to
            100; None: not judged.
        score: closeness to the best label, in [0, 1]; None if the judge gave none.
        probabilities, outside_probability: the probability of each label, and the probability
            outside the labels before they were scaled; None if the judge gave none.
        evidence, rationale: the judge's quotes and reason; () and None if it gave none.
        votes, method: the label of each member of a jury, and how the label was found; None for
            other judges.
        confidence, superseded: the confidence and the replaced label of a cascade's first stage;
            None for other judges.
        parts: the labels of the numbered parts from which code derives the label; None for others.
    """

    topic_id: str
    passage_id: str
    grade: int | None


def read_relevance(path: Path, problems: Problems) -> Iterator[RelevanceLabel]:
    """Read our `relevance.jsonl` or UMBRELA's JSONL with `qid` and `docid` added, lazily.

    The grade is under `grade`, `judgment` or `relevance`. If UMBRELA could not parse a reply, it
    wrote 0 and `result_status` 0; RAGDoll wrote -1 and `status` failed. Both count as not judged
    and are listed as `unparsed`. A grade that is not a whole number from -100 to 100 is not judged
    and listed as `grade`; null is not judged.

    Errors reported: no topic or passage id, one pair with two grades.

    Args:
        path: the file with the grades.
        problems: collects the faults of the file, by line.

    Returns:
        An iterator over the grades, in file order.

    Raises: InputError if the file cannot be read.
    """
    for _, label in relevance_with_lines(read_lines(path, problems)):
        yield label


def relevance_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, RelevanceLabel]]:
    """Read the labels in these objects, as in `read_relevance`, each with its object."""
    seen: dict[tuple[str, str], int | None] = {}
    for line in lines:
        topic_id, passage_id = line.id(*TOPIC_FIELDS), line.id(*PASSAGE_FIELDS)
        if topic_id is None or passage_id is None:
            continue
        grade, pair = _grade(line), (topic_id, passage_id)
        if pair not in seen:
            seen[pair] = grade
            ids = {"topic_id": topic_id, "passage_id": passage_id}
            yield line, RelevanceLabel(**ids, grade=grade, **line.read_label_scores())
        elif seen[pair] == grade:
            what = f"{passage_id!r} of topic {topic_id!r} occurs twice with one grade"
            line.keep("duplicate_grade", what)
        else:
            what = f"{passage_id!r} of topic {topic_id!r} has {show(grade)} here"
            line.error("duplicate_grade", f"{what} and {show(seen[pair])} before, wanted one grade")


def relevance_row(label: RelevanceLabel) -> dict[str, Any]:
    """Write a line of `relevance.jsonl`.

    Args:
        label: the grade to write.

    Returns:
        An object ready for JSON.
    """
    ids = {"topic_id": label.topic_id, "passage_id": label.passage_id}
    return {**ids, "grade": label.grade, **label.as_fields()}


def _grade(line: Line) -> int | None:
    field = next((f for f in GRADE_FIELDS if f in line.row), None)
    if field is None:
        line.missing(*GRADE_FIELDS)
        return None
    if as_int(line.row.get("result_status")) == 0:
        line.keep("unparsed", f"{line.name('result_status')} is 0: the grade does not count")
        return None
    if line.row.get("status") == "failed":
        line.keep("unparsed", f"{line.name('status')} is failed: the grade does not count")
        return None
    written = line.row[field]
    grade = as_grade(written)
    if grade is None and written is not None:
        what = f"{line.name(field)} is {show(written)}, wanted {A_GRADE}; not judged"
        line.keep("grade", what)
    return grade


def _read_labelled(lines: Iterable[Line]) -> Iterator[Labelled]:
    for line, label in relevance_with_lines(lines):
        grade = None if label.grade is None else str(label.grade)
        yield line, (label.topic_id, label.passage_id), grade, label.get_confidence()


RELEVANCE_KIND = Kind(
    name="relevance",
    key=("topic_id", "passage_id"),
    scale=RelevanceGrade,
    gains={grade.value: int(grade) / 3 for grade in RelevanceGrade},
    length_of=("passage", "passage"),
    judge="relevance",
    rows="relevance",
    read=_read_labelled,
    has_more_grades=True,
)
