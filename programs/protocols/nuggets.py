"""The nuggets task: nuggets made from relevant passages, and answers judged against them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import StrictStr

from ...metrics import NUGGET_MEASURES, count_words
from ...metrics.answer_scores import (
    NUGGET_GAINS,
    NUGGET_WEIGHTS,
    SUFFIX,
    UNDEFINED,
    Value,
    chances_of_label,
    expected_nugget_scores,
)
from ...metrics.narratives import NARRATIVE_GAINS, NARRATIVE_MEASURES, narrative_weights
from ...records.judgements import Provenance
from ...records.kinds import Cell
from ...records.nuggets import (
    NUGGET_KIND,
    AssignedNugget,
    Assignment,
    assignment_row,
    assignments_with_lines,
    bank_row,
    read_assignments,
    read_nuggets,
)
from ...records.reading.fields import Line
from ...records.reading.problems import InputError, Problems
from ...records.rows import Answer, Importance, Nugget, NuggetBank, Topic, nugget_ids
from ..config.base import JudgeName
from ..config.sections import Config
from ..engine.journal import Count, make_object_type
from ..engine.stage import Item, makes
from ..inputs import Collection, load_collection
from .judged_items import Collected, JudgedItems
from .judgements import (
    MISSED,
    NUGGET,
    PARTLY,
    REMARKS,
    STATED,
    Answers,
    FileLines,
    Judgement,
    Words,
    explanation,
    read_texts,
    reference_judgement,
)
from .nugget_search import JUDGES as SEARCH_JUDGES
from .nugget_search import POOL, SEARCHES, check_search, search_banks
from .program import CellTexts, Folder, Meaning, Meanings, Program, Run, need_answers
from .reference_items import Look, exclude, look_for
from .relevance import FILE as RELEVANCE
from .relevance import candidate_grades, check_candidates, makes_bank
from .scoreboard import LENGTH, Scoreboard, length_value, nugget_values

FAMILIES = (*NUGGET_WEIGHTS, "SN")  # measures with equal weights of nuggets
GAINS = NUGGET_GAINS | NARRATIVE_GAINS
BANKS, ASSIGNMENTS = "nuggets.jsonl", "assignments.jsonl"
# Keys of the manifest: topics without nuggets; topics whose nuggets could not be made, and (run,
# topic, words) of their answers; by topic, missing grades of passages for its nuggets.
EXCLUDED, WITHOUT_BANK = "topics_without_nuggets", "cells_without_bank"
FAILED, UNGRADED = "topics_without_bank", "topics_with_missing_grades"
EXPECTED_NUGGET_MEASURES = tuple(name + SUFFIX for name in NUGGET_MEASURES)
MEASURES = (*NUGGET_MEASURES, *NARRATIVE_MEASURES, *EXPECTED_NUGGET_MEASURES, LENGTH)
MADE = make_object_type(
    {"nuggets": list[tuple[StrictStr, Literal["vital", "okay"]]], "n_cut": Count}
)
LOOK = Look[Nugget]("assignments", "assigner", "nuggets", lambda *given: given)
NOT_JUDGED = Value(None, 0, 1, 0.0, 1.0)  # the nugget of an answer without a nugget bank
Banks = dict[str, NuggetBank | None]  # by topic; None: the bank was not judged


class Nuggets(Program):
    """AutoNuggetizer (arXiv:2411.09607): make nuggets from passages, find them in answers."""

    name = "nuggets"
    paper = (
        "Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the AutoNuggetizer "
        "Framework",
        "2411.09607",
    )
    judges_answers = True
    needs = (("nuggets", "candidates"), "nuggets, or contexts to make them from")
    judges = ("relevance", "nuggetizer", "importance", "assigner")
    kind, judged, files = "nuggets", ASSIGNMENTS, (BANKS, ASSIGNMENTS)
    matrix = "points"
    words = Words(
        *("Nuggets", "nugget", "state it", "those that the fewest runs state"),
        labels={
            "support": (*STATED, "stated"),
            "partial_support": (*PARTLY, "stated in part"),
            "not_support": (*MISSED, "not stated"),
        },
    )
    derived = (SEARCHES, POOL, RELEVANCE)
    stages = ("assignments", "nuggets", "search", "start", "hunt")  # hunt: name in earlier versions
    makes: ClassVar[Mapping[str, str]] = {"nuggets": BANKS}
    notes: ClassVar[Mapping[str, Any]] = {
        WITHOUT_BANK: [], EXCLUDED: [], FAILED: [], UNGRADED: {},
    }  # fmt: skip
    meanings: ClassVar[Meanings] = {
        "V_strict": Meaning(
            "Share of the vital facts stated in full.",
            says="states {} of the vital facts",
            orders=1,
        ),
        "V": "Share of the vital facts stated; one stated in part counts half.",
        "A_strict": "Share of all facts stated in full.",
        "A": "Share of all facts stated; one stated in part counts half.",
        "W_strict": "As A_strict; an okay fact weighs half as much as a vital one.",
        "W": "As A; an okay fact weighs half as much as a vital one.",
        "SN": "Mean over sub-narratives of the share of their facts stated; in part counts half.",
        "SN_strict": "Mean over sub-narratives of the share of their facts stated in full.",
        "SN_vital": "Share of the sub-narratives with a vital fact that is stated in full.",
        LENGTH: Meaning(
            "Mean words of an answer, over the topics that the run answered.", False, False
        ),
    }
    shown = tuple(meanings)
    file_kind, is_scored_alone = "assignments", True
    without, of_points = EXCLUDED, MEASURES
    reads = ("question", "answer_text", "nugget")

    def list_judges(self, config: Config) -> tuple[JudgeName, ...]:
        """See Program."""
        is_searched = config.nuggets.method == "search"
        return (*self.judges, *SEARCH_JUDGES) if is_searched else self.judges

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return (*self.shown, *EXPECTED_NUGGET_MEASURES)

    def has_agents(self, config: Config) -> bool:
        """See Program."""
        return config.nuggets.method == "search" and config.data.nuggets is None

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        need_answers(collection)
        if config.nuggets.method == "search":
            check_search(config, collection)
            if config.nuggets.start != "window":
                return
        if not makes_bank(config, collection):
            return
        if not collection.candidates and collection.banks is None:
            what = "a nugget bank (data.nuggets) or candidates to make one (data.candidates)"
            raise InputError(f"nuggets needs {what}")
        if "relevance" not in config.program:  # checks them too
            check_candidates(config, collection)

    async def judge(self, run: Run) -> None:
        """See Program."""
        banks = await _banks(run)
        run.results.notes[FAILED] = [topic for topic, bank in banks.items() if bank is None]
        where = run.config.data.nuggets or run.config.data.candidates or "nuggets"
        why = "nuggets, so it is excluded from the nugget scores"
        with_nuggets = {topic for topic, bank in banks.items() if bank is None or bank.nuggets}
        exclude(run, EXCLUDED, with_nuggets, "no_nuggets", why, where)
        run.results.notes[WITHOUT_BANK] = await _assign(run, banks)

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        path = folder.need(ASSIGNMENTS)
        is_expected = False
        plain: list[tuple[str, str]] = []  # answers whose nuggets have no sub-narrative
        n_rows = 0
        for row in read_assignments(path, folder.problems, folder.where):
            is_expected |= any(each.probabilities is not None for each in row.nuggets)
            verdicts = [assigned.label for assigned in row.nuggets]
            length = count_words(row.answer_text) if row.answer_text else row.response_length
            values = _values(row, verdicts, length)
            if not values.keys() & set(NARRATIVE_MEASURES):
                plain.append((row.run_id, row.topic_id))
            board.add(row.run_id, row.topic_id, values)
            n_rows += 1
        measures: tuple[str, ...] = NUGGET_MEASURES
        if len(plain) < n_rows:
            measures += NARRATIVE_MEASURES
            for run_id, topic_id in plain:
                board.add(run_id, topic_id, dict.fromkeys(NARRATIVE_MEASURES, UNDEFINED))
        if is_expected:
            measures += EXPECTED_NUGGET_MEASURES
            for row in read_assignments(path, Problems(), folder.where):
                board.add(row.run_id, row.topic_id, _compute_expected(row))
        for run_id, topic_id, *n_words in folder.notes.get(WITHOUT_BANK, ()):
            board.add(run_id, topic_id, dict.fromkeys(measures, NOT_JUDGED))
            for n in n_words:
                board.add(run_id, topic_id, length_value(n))
        failed, ungraded = folder.notes.get(FAILED, ()), folder.notes.get(UNGRADED, {})
        board.bound(measures, dict.fromkeys(failed, 0) | ungraded)
        board.bound((LENGTH,), dict.fromkeys(failed, 1))  # it may have no nuggets and be excluded
        board.mark_failed((), (*measures, LENGTH))
        scores = [
            name for name in MEASURES if name != LENGTH
        ]  # the length of an answer is always known
        board.exclude(scores, folder.notes.get(EXCLUDED, ()))

    def values(self, answers: Answers) -> dict[tuple[str, str], dict[str, Value]]:
        """See Program."""
        return {
            at: nugget_values(
                [one.label for one in judgements],
                [one.importance for one in judgements],
                None,
                [one.sub_narrative for one in judgements],
            )
            for at, judgements in answers.items()
        }

    def items(self, folder: Folder) -> JudgedItems:
        """Return each nugget of an answer; an answer without nuggets is one unjudged item."""
        without = [cell[:2] for cell in folder.notes.get(WITHOUT_BANK, ())]
        assigned = read_assignments(folder.need(ASSIGNMENTS), folder.problems)
        return nugget_items(assigned, without, lambda seen: folder.list_counted(seen, EXCLUDED))

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield each nugget of an answer."""
        for _, row in assignments_with_lines(lines(ASSIGNMENTS)):
            for assigned in row.nuggets:
                nugget = assigned.nugget
                yield reference_judgement(
                    *(row, NUGGET, nugget.id, nugget.text, assigned.label),
                    importance=nugget.importance and nugget.importance.value,
                    sub_narrative=nugget.sub_narrative,
                    asked={"run_id": row.run_id, "nuggets": nugget.id},
                    question=row.query,
                    **explanation(assigned),
                )

    def read_stored_texts(self, lines: Iterable[Line]) -> CellTexts:
        """See Program."""
        for line, answer in assignments_with_lines(lines):
            texts = {"question": answer.query, "answer_text": answer.answer_text}
            for nugget, item in read_nuggets(line.objects("nuggets") or []):
                cell = (answer.topic_id, answer.run_id, nugget.id)
                yield cell, {**texts, "nugget": nugget.text, **read_texts(item, REMARKS)}

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """Yield the question; the assignments have answer and nugget."""
        topics = load_collection(config.data, config.run.limit).topics
        for cell in wanted:
            yield cell, {"question": topics[cell[0]].question} if cell[0] in topics else {}


def nugget_items(
    assigned: Iterable[Assignment],
    without_bank: Iterable[tuple[str, str]],
    counted_of: Callable[[Iterable[str]], Sequence[str]],
) -> JudgedItems:
    """Return the nuggets of all answers, and one item for each answer whose nuggets are missing.

    Args:
        without_bank: (run, topic) of those answers.
        counted_of: returns the topics of means, given topics with answers.
    """
    collected = Collected(FAMILIES)
    defined: dict[str, set[str]] = {family: set() for family in FAMILIES}
    for row in assigned:
        collected.topics[row.topic_id] = None
        worth = {
            family: [weight[assigned.nugget.importance] for assigned in row.nuggets]
            for family, weight in NUGGET_WEIGHTS.items()
        }
        worth["SN"] = narrative_weights([each.nugget.sub_narrative for each in row.nuggets])
        totals = {family: sum(of_family) for family, of_family in worth.items()}
        for family, total in totals.items():
            if total:
                defined[family].add(row.topic_id)
        for i, each in enumerate(row.nuggets):
            weights = {f: w[i] / totals[f] for f, w in worth.items() if totals[f]}
            cell = (row.topic_id, row.run_id, each.nugget.id)
            collected.add(cell, row.run_id, each.label, each.probabilities, weights)
    for run_id, topic_id in without_bank:
        collected.topics[topic_id] = None
        collected.add((topic_id, run_id, ""), run_id, None, None, dict.fromkeys(FAMILIES, 1.0))
        for of_family in defined.values():
            of_family.add(topic_id)
    every = counted_of(collected.topics)
    # Excluded: 0/0 for every answer, such as V without vital nuggets.
    nothing = {family: collected.topics.keys() - of_family for family, of_family in defined.items()}
    counted = {f: [t for t in every if t not in nothing[f]] for f in defined}
    if collected.topics.keys() == nothing["SN"] or not _any_narrative(collected):
        counted["SN"] = []
    families = {name: name.removesuffix("_strict") for name in GAINS}
    families = {name: family for name, family in families.items() if counted[family]}
    return collected.items("nuggets", NUGGET_KIND.labels, NUGGET_KIND.key, families, GAINS, counted)


def _any_narrative(collected: Collected) -> bool:
    """Return whether a judged nugget has a sub-narrative."""
    return any(
        w and cell[2] for w, cell in zip(collected.weights["SN"], collected.index, strict=True)
    )


async def _banks(run: Run) -> Banks:
    """Return the given nuggets, or make nuggets from the relevant candidates."""
    collection, results = run.collection, run.results
    topics = collection.topics
    banks = {topic: bank for topic, bank in (collection.banks or {}).items() if topic in topics}
    if not makes_bank(run.config, collection):
        results.write(BANKS, map(bank_row, banks.values()))
        return {**banks}
    grades: Mapping[str, Mapping[str, int | None]] = collection.qrels
    is_searched, reads_candidates = run.config.nuggets.method == "search", True
    if is_searched:
        reads_candidates = run.config.nuggets.start == "window"
    if reads_candidates and not grades:  # nobody graded the candidates
        if run.config.nuggets.min_grade == 0 and "relevance" not in run.config.program:
            ranked = collection.candidates.items()
            grades = {topic: dict.fromkeys(ranking.passage_ids, 0) for topic, ranking in ranked}
        else:
            grades = await candidate_grades(run)
    if not is_searched:
        return await _make_banks(run, grades, banks)
    relevant = {topic: _relevant(run, topic, grades) for topic in topics}
    found = await search_banks(run, {topic: texts for topic, texts in relevant.items() if texts})
    results.write(BANKS, map(bank_row, filter(None, found.values())))
    return found


def _relevant(run: Run, topic_id: str, grades: Mapping[str, Mapping[str, int | None]]) -> list[str]:
    """Return the texts of a topic's relevant candidates, in order."""
    collection, least = run.collection, run.config.nuggets.min_grade
    ranking, of_topic = collection.candidates.get(topic_id), grades.get(topic_id, {})
    return [
        collection.passages[name].text
        for name in (ranking.passage_ids if ranking else ())
        if (grade := of_topic.get(name)) is not None
        and grade >= least
        and name in collection.passages
    ]


async def _make_banks(
    run: Run,
    grades: Mapping[str, Mapping[str, int | None]],
    existing: Mapping[str, NuggetBank],
) -> Banks:
    """Create, rate, sort and cut a list of nuggets for each topic with a relevant passage.

    Args:
        existing: existing lists; new lists are added.

    A topic without a relevant passage has no bank, unless a missing grade leaves that open.
    Source: arXiv:2411.09607, the numbers of `NuggetsConfig`.
    """
    collection, results, numbers = run.collection, run.results, run.config.nuggets
    nuggetizer, importance, keep = (
        run.judge_set["nuggetizer"],
        run.judge_set["importance"],
        numbers.keep,
    )

    async def make(question: str, passages: list[str]) -> tuple[dict[str, Any], list[Provenance]]:
        texts, n_cut, calls = await nuggetizer.create(question, passages)
        importances, more = await importance.label(question, texts)
        rated = sorted(zip(texts, importances, strict=True), key=lambda pair: pair[1] != "vital")
        kept = [[text, str(label)] for text, label in rated[:keep]]
        return {"nuggets": kept, "n_cut": n_cut}, [*calls, *more]

    topics = {name: topic for name, topic in collection.topics.items() if name not in existing}

    def items() -> Iterator[Item]:
        for topic in topics.values():
            if passages := _relevant(run, topic.id, grades):
                yield Item({"topic_id": topic.id}, (topic.question, passages))

    missing = {
        topic: n
        for topic in topics
        if (n := sum(grade is None for grade in grades.get(topic, {}).values()))
    }
    banks: Banks = {
        topic: None
        for topic in topics
        if topic in collection.failed_candidates
        or (topic in missing and not _relevant(run, topic, grades))
    }
    results.notes[UNGRADED] = {topic: n for topic, n in missing.items() if topic not in banks}
    banks |= existing
    judges = ("nuggetizer", "importance")
    stage = makes("nuggets", judges, make, items, made=MADE, settings={"keep": keep})
    new = {}
    for ids, made in await run.session.make_stage(stage, results):
        topic = topics[ids["topic_id"]]
        banks[topic.id] = None
        if made is not None:
            banks[topic.id] = new[topic.id] = _bank(topic, made["nuggets"])
            if n_cut := made["n_cut"]:
                results.count("nuggets beyond the longest list", n_cut)
    results.write(BANKS, map(bank_row, (*existing.values(), *new.values())))
    return banks


async def _assign(run: Run, banks: Banks) -> list[tuple[str, str, int]]:
    """Judge which nuggets answers state.

    Returns: (run, topic, words) of answers without a bank.
    """
    points = {t: None if bank is None else bank.nuggets for t, bank in banks.items()}
    count_name = "answers without text (all nuggets not_support)"
    without_bank = []
    async with look_for(run, points, [LOOK], "not_support", count_name) as answers:
        with run.results.open(ASSIGNMENTS) as rows:
            for answer, verdicts in answers:
                bank = banks[answer.topic_id]
                if bank is None or verdicts is None:
                    n_words = count_words(answer.text)
                    without_bank.append((answer.run_id, answer.topic_id, n_words))
                else:
                    rows.write(assignment_row(_assignment(answer, bank, verdicts)))
    return without_bank


def _bank(topic: Topic, kept: list[list[str]]) -> NuggetBank:
    ids = nugget_ids([text for text, _ in kept])
    nuggets = tuple(
        Nugget(id=name, text=text, importance=Importance(label))
        for name, (text, label) in zip(ids, kept, strict=True)
    )
    return NuggetBank(topic_id=topic.id, query=topic.text, nuggets=nuggets)


def _values(row: Assignment, labels: Sequence[str | None], length: int | None) -> dict[str, Value]:
    """Compute the measures of an answer from labels of its nuggets."""
    nuggets = [assigned.nugget for assigned in row.nuggets]
    importances = [nugget.importance for nugget in nuggets]
    return nugget_values(labels, importances, length, [one.sub_narrative for one in nuggets])


def _compute_expected(row: Assignment) -> dict[str, Value]:
    """Compute the six nugget measures of an answer from probabilities."""
    gains = NUGGET_GAINS["A"]
    chances = [chances_of_label(each.label, each.probabilities, gains) for each in row.nuggets]
    return expected_nugget_scores(chances, [each.nugget.importance for each in row.nuggets])


def _assignment(answer: Answer, bank: NuggetBank, verdicts: list[dict[str, Any]]) -> Assignment:
    assigned = tuple(
        AssignedNugget(nugget=nugget, **verdict)
        for nugget, verdict in zip(bank.nuggets, verdicts, strict=True)
    )
    return Assignment(
        run_id=answer.run_id,
        topic_id=answer.topic_id,
        query=bank.query,
        answer_text=answer.text,
        response_length=count_words(answer.text),
        nuggets=assigned,
    )
