"""The relevance task: grade each candidate passage, and score their ranking."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ...metrics import Value, ranking_scores
from ...records.documents import read_candidates
from ...records.kinds import Cell
from ...records.reading.fields import read_lines
from ...records.reading.problems import InputError
from ...records.relevance import (
    RELEVANCE_KIND,
    RelevanceLabel,
    relevance_row,
    relevance_with_lines,
)
from ...records.rows import Passage, Ranking, ScoreRow, Topic
from ...records.topics import number_texts
from ..config.base import find_variant
from ..config.sections import Config
from ..engine.manifest import read_manifest
from ..engine.stage import Item, labels, make_rows
from ..inputs import Collection, load_collection
from .judged_items import MEAN_GAIN, ItemScale
from .program import CellTexts, Folder, Meaning, Meanings, Program, Run, Texts
from .scoreboard import Scoreboard

if TYPE_CHECKING:
    from ...judges import ItemJudge

# arXiv:2406.06519 uses its grades in such measures; computed by ir_measures.
RANKING_MEASURES = ("nDCG@10", "P(rel=2)@10", "AP(rel=2)")

# topic -> passage -> grade; None: asked but not judged
Grades = Mapping[str, Mapping[str, int | None]]


def ranking_rows(grades: Grades, candidates: Mapping[str, Ranking]) -> list[ScoreRow]:
    """Return score rows of the candidates, each measure followed by its mean over topics.

    A passage without a grade is removed from the ranking, since ir_measures would count it as not
    relevant; its topic has the bounds 0 and 1. Topics keep the order of `grades`.
    """
    judged = {
        topic: {name: grade for name, grade in of_topic.items() if grade is not None}
        for topic, of_topic in grades.items()
    }
    run = {
        topic: [name for name in candidates[topic].passage_ids if name in labelled]
        for topic, labelled in judged.items()
        if labelled
    }
    failed = [topic for topic, ranking in candidates.items() if ranking.failed is not None]
    if not (grades or failed):
        return []
    scores = ranking_scores(judged, run, RANKING_MEASURES).by_topic if run else {}
    run_id = next(iter(candidates.values())).run_id
    board = Scoreboard([*grades, *failed])
    board.mark_failed(((run_id, topic) for topic in failed), RANKING_MEASURES)
    for topic, of_topic in grades.items():
        n = len(judged[topic])
        for measure in RANKING_MEASURES:
            value = scores.get(measure, {}).get(topic)
            low, high = (value, value) if n == len(of_topic) else (0.0, 1.0)
            board.add(run_id, topic, {measure: Value(value, n, len(of_topic) - n, low, high)})
    return list(board.rows())


FILE = "relevance.jsonl"


class Relevance(Program):
    """Grade each candidate separately; the grades score the ranking (arXiv:2406.06519).

    The scale is the judge's; settings of another package may change it.
    """

    name = "relevance"
    paper = (
        "UMBRELA: UMbrela is the (Open-Source Reproduction of the) Bing RELevance Assessor",
        "2406.06519",
    )
    needs = (("candidates",), "contexts")
    judges = ("relevance",)
    kind, judged, files = "relevance", FILE, (FILE,)
    reads = ("question", "title", "passage")
    meanings: ClassVar[Meanings] = {
        "nDCG": Meaning(
            "How early the well graded passages come, compared with their best order.",
            says="reaches {} of the best possible nDCG",
        ),
        "P(rel=2)": "Share of the passages above the cut that are graded 2 or better.",
        "AP(rel=2)": "Average precision, where grades of 2 or better are relevant.",
    }

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return RANKING_MEASURES

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        if not collection.candidates:
            raise InputError(
                "relevance grades candidates: add a file (data.candidates, --candidates)"
            )
        check_candidates(config, collection)

    async def judge(self, run: Run) -> None:
        """See Program."""
        await candidate_grades(run)

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """Compute the ranking measures; reads the candidates again for their order."""
        named, path = folder.setting("data", "candidates"), folder.need(FILE)
        judged = list(relevance_with_lines(read_lines(path, folder.problems)))
        if named is None and "judged_elsewhere" in folder.notes:
            return  # grades of another tool, without an order
        candidates = Path(named or "")
        if not candidates.is_file():
            what = f"{candidates} is missing, so there are no ranking measures"
            folder.problems.skip(path, 1, "no_candidates_file", what)
            return
        rankings = read_candidates(candidates, folder.problems).rankings
        ranked = {topic: set(ranking.passage_ids) for topic, ranking in rankings.items()}
        grades: dict[str, dict[str, int | None]] = {}
        for line, row in judged:
            if row.passage_id not in ranked.get(row.topic_id, ()):
                what = f"passage {row.passage_id!r} of topic {row.topic_id!r}, wanted one of"
                line.error("no_candidate", f"{what} the candidates ({candidates})")
            grades.setdefault(row.topic_id, {})[row.passage_id] = row.grade
        folder.problems.raise_errors()
        if (topics := folder.topics) is not None:
            rankings = {topic: ranking for topic, ranking in rankings.items() if topic in topics}
            grades = {topic: of_topic for topic, of_topic in grades.items() if topic in topics}
        board.extend(ranking_rows(grades, rankings))

    def scale(self, folder: Path) -> ItemScale | None:
        """See Program: for another scale than UMBRELA's."""
        settings = read_manifest(folder).get("config", {}).get("judges", {}).get(self.name) or {}
        if (variant := find_variant(self.name, settings)) is None:
            return None
        return ItemScale(
            judge=self.name,
            inputs=variant.reads,
            key=RELEVANCE_KIND.key,
            labels=variant.labels,
            is_ordered=True,
            gains=variant.gains,
            measure=MEAN_GAIN,
        )

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """See Program."""
        data = load_collection(config.data, config.run.limit)
        for cell in wanted:
            topic, passage = data.topics.get(cell[0]), data.passages.get(cell[1])
            yield cell, _make_texts(topic, passage)


def _make_texts(topic: Topic | None, passage: Passage | None) -> Texts:
    """Return the texts of a passage and its topic, for a judge or a person."""
    texts = {}
    if topic is not None:
        texts = {"question": topic.question, "sub_narratives": number_texts(topic.sub_narratives)}
    if passage is not None:
        texts |= {"title": passage.title, "passage": passage.text}
    return texts


async def candidate_grades(run: Run) -> Mapping[str, Mapping[str, int | None]]:
    """Return grades of candidates by topic and passage, None: not judged; asked once per run."""
    if run.grades is not None:
        return run.grades
    collection = run.collection
    judge: ItemJudge = run.judge_set["relevance"]
    is_for_banks = "relevance" not in run.config.program
    banked = collection.banks or {} if is_for_banks else {}

    def items() -> Iterator[Item]:
        for topic_id, topic in collection.topics.items():
            if topic_id in banked:
                continue
            ranking = collection.candidates.get(topic_id)
            for name in ranking.passage_ids if ranking else ():
                if (passage := collection.passages.get(name)) is not None:
                    ids = {"topic_id": topic_id, "passage_id": name}
                    texts = _make_texts(topic, passage)
                    inputs = tuple(texts[name] for name in judge.inputs)
                    yield Item(ids, (*inputs, *judge.list_optional_texts(texts)))

    grades: dict[str, dict[str, int | None]] = {}
    stage = labels("relevance", run.judge_set, "relevance", items)
    async with run.session.judge_stage(stage, run.results) as outcome:
        with run.results.open(FILE) as rows:
            for item in items():
                [verdict] = make_rows(outcome(item), 1)
                label = verdict.pop("label")
                grade = None if label is None else int(label)
                row = RelevanceLabel(**item.ids, grade=grade, **verdict)
                grades.setdefault(row.topic_id, {})[row.passage_id] = grade
                rows.write(relevance_row(row))
    run.grades = grades
    return grades


def makes_bank(config: Config, collection: Collection) -> bool:
    """Return whether to make nuggets from candidates, for all or some topics."""
    if "nuggets" not in config.program or collection.banks is None:
        return "nuggets" in config.program
    return config.nuggets.fill and not collection.topics.keys() <= collection.banks.keys()


def check_candidates(config: Config, collection: Collection) -> None:
    """Note candidates without a text or grade, and topics without any.

    Raises: InputError for topics without a text that the judge needs.
    """
    where = config.data.candidates or "candidates"
    is_graded = makes_bank(config, collection) and bool(collection.qrels)
    banked = collection.banks or {} if "relevance" not in config.program else {}
    if (variant := config.judge("relevance").variant("relevance")) is not None and not is_graded:
        topics = [topic for name, topic in collection.topics.items() if name not in banked]
        for name, without in variant.needs.items():
            _need_text(config, topics, name, without)
    for topic in (topic for topic in collection.topics if topic not in banked):
        ranking = collection.candidates.get(topic)
        ids = ranking.passage_ids if ranking else ()
        with_text = [i for i in ids if i in collection.passages]
        for passage_id in ids:
            if passage_id not in collection.passages:
                what = f"candidate {passage_id!r} of topic {topic!r} has no text in the passages"
                collection.problems.skip(where, 0, "candidate_without_text", what)
        if is_graded:
            grades = collection.qrels.get(topic, {})
            for passage_id in with_text:
                if passage_id not in grades:
                    what = f"candidate {passage_id!r} of topic {topic!r} has no grade in the qrels"
                    collection.problems.skip(where, 0, "candidate_without_grade", what)
        elif not with_text:
            what = f"topic {topic!r} has no candidate with text"
            collection.problems.skip(where, 0, "no_candidates", what)


def _need_text(config: Config, topics: Sequence[Topic], name: str, without: str) -> None:
    """Raise InputError for topics without a text. without: the setting that works without."""
    if lacking := [topic.id for topic in topics if not _make_texts(topic, None).get(name)]:
        where = config.data.topics or config.data.candidates or "topics"
        what = f"{len(lacking)} of {len(topics)} topics have none, the first {lacking[0]!r}"
        raise InputError(f"{where}: wanted {name} of each topic; {what} ({without})")
