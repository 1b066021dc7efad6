"""The rubric task: which criteria of its topic's rubric an answer meets."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ....metrics.answer_scores import Value
from ....programs.config.sections import Config
from ....programs.inputs import Collection, load_collection
from ....programs.protocols.judged_items import Collected, JudgedItems
from ....programs.protocols.judgements import (
    MISSED,
    PARTLY,
    STATED,
    Answers,
    FileLines,
    Judgement,
    Words,
    explanation,
    reference_judgement,
)
from ....programs.protocols.program import (
    CellTexts,
    Folder,
    Meaning,
    Meanings,
    Program,
    Run,
    Texts,
    need_answers,
)
from ....programs.protocols.reference_items import (
    check_questions,
    check_topics,
    exclude,
    read_reference_texts,
)
from ....programs.protocols.scoreboard import Scoreboard
from ....records.kinds import Cell
from ....records.reading.problems import InputError, Problems
from ....records.rows import Answer
from ..settings import RubricConfig
from .judging import GRADERS, STAGES, grade_answers, make_rubrics
from .rubrics import (
    Criterion,
    Rubric,
    collect_rubrics,
    read_rubrics,
    rubric_row,
)
from .scores import (
    EARNED,
    MEASURES,
    RUBRIC_MEASURES,
    WITHOUT_PENALTIES,
    RubricCell,
    group_by_answer,
    has_penalties,
    list_measures,
)
from .verdicts import CRITERION_KIND, RUBRICS, VERDICTS, read_verdicts, verdicts_with_lines

GIVEN = "rubrics"  # in `data:`
CRITERION, FAULT = "criterion", "fault"  # a fault is a criterion with a weight below 0
# Keys of the manifest: topics without a rubric; those whose rubric could not be made, and (run,
# topic) of the answers to them.
EXCLUDED, FAILED_TOPICS, FAILED = (
    "topics_without_rubric",
    "topics_with_failed_rubric",
    "cells_without_rubric",
)


class RubricGrading(Program):
    """Rubrics as in ResearchRubrics (arXiv:2511.07685): criteria with signed weights."""

    name = "rubric"
    paper = (
        "ResearchRubrics: A Benchmark of Prompts and Rubrics For Evaluating Deep Research Agents",
        "2511.07685",
    )
    judges_answers = True
    judges = ("rubric_writer", *GRADERS.values())
    kind, judged, files = "rubric", VERDICTS, (RUBRICS, VERDICTS)
    verb, besides = ("meet", "met"), "faults"
    matrix = "points"
    words = Words(
        *("Criteria", CRITERION, "meet it", "those that the fewest runs meet"),
        several="criteria",
        labels={
            "met": (*STATED, "met"),
            "partly": (*PARTLY, "met in part"),
            "not_met": (*MISSED, "not met"),
        },
        penalties=Words(
            *("Penalties", "penalty", "avoid it", "those that the fewest runs avoid"),
            several="penalties",
            labels={
                "met": ("✗", "x", "applies"),
                "partly": ("◐", "x", "applies in part"),
                "not_met": (*STATED, "does not apply"),
            },
        ),
    )
    stages = (*STAGES.values(), "rubrics")
    makes: ClassVar[Mapping[str, str]] = {GIVEN: RUBRICS}
    notes: ClassVar[Mapping[str, Any]] = {EXCLUDED: [], FAILED_TOPICS: [], FAILED: []}
    meanings: ClassVar[Meanings] = {
        "rubric": Meaning(
            "What an answer earns of its rubric's weights above 0, penalties taken off, "
            "from 0 to 1; a criterion met in part counts half.",
            says="earns {} of the points of its rubrics",
            orders=5,
        ),
        "rubric_strict": "As rubric; a criterion that is met in part counts nothing.",
        "rubric_unclipped": Meaning(
            "As rubric, but penalties can take it below 0.", is_unbounded=True
        ),
        "rubric_earned": "What an answer earns of its rubric's weights above 0, without penalties.",
    }
    shown = tuple(meanings)
    reads = ("question", "response", "criterion")
    file_kind, is_scored_alone = "verdicts", True
    tools: ClassVar[Mapping[str, str]] = {
        "ragdoll": "Write rubrics and graded answers.",
        "researchrubrics": "Write rubrics, and the verdicts of each run, as ResearchRubrics does.",
    }
    without, of_points = EXCLUDED, MEASURES

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return MEASURES

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        need_answers(collection)
        is_given = GIVEN in collection.given
        by_topic = collection.given[GIVEN] if is_given else collection.documents
        if not by_topic:
            what = "name them (data.rubrics) or documents to make them from"
            raise InputError(f"rubric needs rubrics: {what} (data.documents)")
        check_topics(by_topic, _source(config), collection)
        what = "an answer is graded as one to a question; name a file of topics (--topics)"
        check_questions(collection, what)

    async def judge(self, run: Run) -> None:
        """Make rubrics if none are given, and grade the answers by them."""
        collection, results = run.collection, run.results
        given, rubrics = collection.given.get(GIVEN), dict[str, Rubric | None]()
        if given is None:
            rubrics |= await make_rubrics(run)
        else:
            rubrics |= {topic: given[topic] for topic in collection.topics if topic in given}
        if (kind := run.config.section(RubricConfig).kind) != "given":
            rubrics = {t: r and _alike(r, kind) for t, r in rubrics.items()}
        results.write(RUBRICS, map(rubric_row, filter(None, rubrics.values())))
        rubrics = {t: r for t, r in rubrics.items() if r is None or r.worth}
        why = "rubric with a weight above 0, it is left out"
        exclude(run, EXCLUDED, rubrics, "no_rubric", why, _source(run.config))
        results.notes[FAILED_TOPICS] = [t for t, rubric in rubrics.items() if rubric is None]
        results.notes[FAILED] = await grade_answers(run, rubrics, VERDICTS)

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        verdicts = read_verdicts(folder.need(VERDICTS), folder.problems, folder.where)
        cells = group_by_answer(verdicts)
        is_signed = _may_have_penalties(cells, folder)
        measures = list_measures(cells, may_have_penalties=is_signed)
        for cell in cells:
            board.add(cell.run_id, cell.topic_id, cell.values(measures))
        board.mark_failed(folder.notes.get(FAILED, ()), measures)
        board.bound(measures, dict.fromkeys(folder.notes.get(FAILED_TOPICS, ()), 0))
        board.exclude(MEASURES, folder.notes.get(EXCLUDED, ()))

    def values(self, answers: Answers) -> dict[tuple[str, str], dict[str, Value]]:
        """See Program."""
        cells = {at: RubricCell(*at, verdicts=judgements) for at, judgements in answers.items()}
        measures = RUBRIC_MEASURES if has_penalties([*cells.values()]) else RUBRIC_MEASURES[:2]
        return {at: cell.values(measures) for at, cell in cells.items()}

    def export(self, tool: str, folder: Path, out: Path, problems: Problems) -> Mapping[str, int]:
        """See Program."""
        from . import exports

        write = exports.write_ragdoll if tool == "ragdoll" else exports.write_researchrubrics
        return write(folder, out, problems)

    def items(self, folder: Folder) -> JudgedItems:
        """See Program: each criterion of an answer, weighted by its share of the weights above 0.

        With penalties, only the measure `rubric_earned` has items, in which penalties weigh 0. The
        other measures are clipped or use weights below 0, so they are not weighted means of labels.
        """
        cells = group_by_answer(read_verdicts(folder.need(VERDICTS), folder.problems))
        gains = EARNED if _may_have_penalties(cells, folder) else WITHOUT_PENALTIES
        collected = Collected(["worth"])
        for cell in cells:
            worth = sum(verdict.weight for verdict in cell.verdicts if verdict.weight > 0)
            for one in cell.verdicts:
                name = (one.topic_id, one.run_id, one.criterion_id)
                share = max(one.weight, 0.0) / worth if worth else 0.0
                collected.add(name, one.run_id, one.label, one.probabilities, {"worth": share})
            collected.topics[cell.topic_id] = None
        for run_id, topic_id in folder.notes.get(FAILED, ()):
            collected.topics[topic_id] = None
            collected.add((topic_id, run_id, ""), run_id, None, None, {"worth": 1.0})
        counted = {"worth": folder.list_counted(collected.topics, EXCLUDED)}
        families = dict.fromkeys(gains, "worth")
        return collected.items(
            "rubric", CRITERION_KIND.labels, CRITERION_KIND.key, families, gains, counted
        )

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield each criterion of an answer."""
        rubrics = collect_rubrics(lines(RUBRICS), linted=False)
        texts = {(topic, c.id): c.text for topic, of in rubrics.items() for c in of.criteria}
        for _, row in verdicts_with_lines(lines(VERDICTS)):
            name, unit = row.criterion_id, CRITERION if row.weight > 0 else FAULT
            yield reference_judgement(
                *(row, unit, name, texts.get((row.topic_id, name), ""), row.label),
                asked={"run_id": row.run_id, "criteria": name},
                weight=row.weight,
                question=rubrics[row.topic_id].query if row.topic_id in rubrics else "",
                **explanation(row),
            )

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """See Program."""
        rubrics = read_rubrics(folder / RUBRICS, Problems())
        points = {topic: rubric.criteria for topic, rubric in rubrics.items()}

        def texts(question: str, answer: Answer, criterion: Criterion) -> Texts:
            return {"question": question, "response": answer.text, "criterion": criterion.text}

        data = load_collection(config.data, config.run.limit)
        return read_reference_texts(data, points, wanted, texts)


def _source(config: Config) -> Path | str:
    """The file from which rubrics are made."""
    return getattr(config.data, GIVEN) or config.data.documents or GIVEN


def _may_have_penalties(cells: Sequence[RubricCell], folder: Folder) -> bool:
    """Whether a weight is below 0, or a rubric that could not be made might have such a weight."""
    return has_penalties(cells) or bool(folder.notes.get(FAILED_TOPICS))


def _alike(rubric: Rubric, kind: str) -> Rubric:
    """The rubric with one kind for all its criteria."""
    criteria = tuple(one.model_copy(update={"kind": kind}) for one in rubric.criteria)
    return rubric.model_copy(update={"criteria": criteria})
