"""The keypoints program: which key points an answer states, and which of its claims state one."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from ....metrics import KEY_POINT_MEASURES, Value, key_point_recall
from ....records.key_points import (
    KEY_POINT_KIND,
    claim_sets,
    entailments_with_lines,
    key_point_set_row,
    key_point_sets,
    read_entailments,
    read_key_point_sets,
)
from ....records.kinds import Cell
from ....records.reading.problems import InputError, Problems
from ....records.rows import Answer, KeyPoint
from ...config.sections import Config
from ...inputs import Collection, load_collection
from ..judged_items import JudgedItems, equal_items
from ..pieces import (
    AGAINST,
    KEY_POINT,
    MISSED,
    STATED,
    Answers,
    FileLines,
    Piece,
    Words,
    explanation,
    point_piece,
)
from ..points import check_questions, check_topics, leave_out, texts_of_points
from ..program import CellTexts, Folder, Meaning, Meanings, Program, Run, Texts, need_answers
from ..scoreboard import Scoreboard
from .judging import claims_of, entailed
from .making import make_key_points
from .scores import LEFT_OUT, UNMADE, UNMADE_TOPICS, group_rows, read_cells

KEY_POINTS, ENTAILMENTS, CLAIMS = "keypoints.jsonl", "entailments.jsonl", "claims.jsonl"


class KeyPoints(Program):
    """Long2RAG (arXiv:2410.23000): key points of documents, looked for one by one in answers."""

    name = "keypoints"
    paper = (
        "Long2RAG: Evaluating Long-Context & Long-Form Retrieval-Augmented Generation with Key "
        "Point Recall",
        "2410.23000",
    )
    judges_answers = True
    judges = (
        *("keypoint_extractor", "keypoint_merger", "keypoint_filter"),
        *("entailment", "claim_extractor", "claim"),
    )
    kind, judged, files = "keypoints", ENTAILMENTS, (KEY_POINTS, ENTAILMENTS, CLAIMS)
    besides = "claims"
    matrix = "points"
    words = Words(
        *("Key points", "key point", "state it", "those that the fewest runs state"),
        labels={
            "yes": (*STATED, "stated"),
            "neutral": (*MISSED, "not stated"),
            "no": (*AGAINST, "contradicted"),
        },
    )
    derived = ("rejected_keypoints.jsonl", "groups.jsonl")
    stages = ("entailments", "precision", "claims", "extract", "merge", "filter")
    makes: ClassVar[Mapping[str, str]] = {"keypoints": KEY_POINTS}
    notes: ClassVar[Mapping[str, Any]] = {UNMADE: [], LEFT_OUT: [], UNMADE_TOPICS: []}
    meanings: ClassVar[Meanings] = {
        "KPR": Meaning(
            "Share of the key points that an answer states.",
            says="states {} of the key points",
            orders=4,
        ),
        "KPP": "Share of an answer's claims that state a key point.",
        "KPF": "Harmonic mean of KPR and KPP.",
    }
    shown = tuple(meanings)
    reads = ("key_point", "response")
    file_kind = "entailments"
    without, of_points = LEFT_OUT, KEY_POINT_MEASURES

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return KEY_POINT_MEASURES if config.keypoints.precision else KEY_POINT_MEASURES[:1]

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        need_answers(collection)
        is_given = collection.key_points is not None
        by_topic = collection.key_points if is_given else collection.documents
        where = config.data.keypoints if is_given else config.data.documents
        assert by_topic is not None
        check_topics(by_topic, where or "key points", collection)
        if is_given:
            return
        if not collection.documents:
            what = "name them (data.keypoints) or documents to make them from"
            raise InputError(f"keypoints needs key points: {what} (data.documents)")
        what = "key points are what answers a question; name a file of topics (--topics)"
        check_questions(collection, what)

    async def judge(self, run: Run) -> None:
        """Have key points made where none are given, and look for them in answers."""
        collection, results, data = run.collection, run.results, run.config.data
        sets = collection.key_points
        if sets is None:
            by_topic = await make_key_points(run)
        else:
            by_topic = {topic: sets[topic] for topic in collection.topics if topic in sets}
        results.write(KEY_POINTS, map(key_point_set_row, filter(None, by_topic.values())))
        by_topic = {
            t: points for t, points in by_topic.items() if points is None or points.key_points
        }
        where = data.keypoints or data.documents or "key points"
        why = "key points, it is left out of their scores"
        leave_out(run, LEFT_OUT, by_topic, "no_key_points", why, where)
        results.notes[UNMADE_TOPICS] = [t for t, points in by_topic.items() if points is None]
        results.notes[UNMADE], lengths = await entailed(run, by_topic)
        if run.config.keypoints.precision:
            await claims_of(run, by_topic)
        cells = read_cells(Folder(results.folder, Problems(), notes=run.notes(), is_written=False))
        n_points = {t: len(points.key_points) for t, points in by_topic.items() if points}
        scored = [collection.topics[topic] for topic in by_topic]
        results.write("groups.jsonl", group_rows(cells, scored, n_points, lengths))

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        for cell in read_cells(folder):
            board.add(cell.run_id, cell.topic_id, cell.values())
        is_precise = folder.file(CLAIMS) is not None
        measures = KEY_POINT_MEASURES if is_precise else KEY_POINT_MEASURES[:1]
        board.leave_unmade((), measures)
        board.leave_open(measures, dict.fromkeys(folder.notes.get(UNMADE_TOPICS, ()), 0))
        board.leave_out(KEY_POINT_MEASURES, folder.notes.get(LEFT_OUT, ()))

    def values(self, answers: Answers) -> dict[tuple[str, str], dict[str, Value]]:
        """KPR alone: the claims behind KPP and KPF are each judge's own, and so no common cells."""
        return {
            at: {"KPR": key_point_recall([one.label for one in pieces if one.unit == KEY_POINT])}
            for at, pieces in answers.items()
        }

    def items(self, folder: Folder) -> JudgedItems:
        """Each key point of an answer; where they could not be made, one that was not judged."""
        cells: list[tuple[Cell, str, str | None, Mapping[str, float] | None]] = [
            ((row.topic_id, row.run_id, row.key_point_id), row.run_id, row.label, row.probabilities)
            for row in read_entailments(folder.need(ENTAILMENTS), folder.problems)
        ]
        for run_id, topic_id in folder.notes.get(UNMADE, ()):
            cells.append(((topic_id, run_id, ""), run_id, None, None))
        counted = folder.counted((cell[0] for cell, *_ in cells), LEFT_OUT)
        gains = {"KPR": {label: float(label == "yes") for label in KEY_POINT_KIND.labels}}
        return equal_items(
            cells, "keypoints", KEY_POINT_KIND.labels, KEY_POINT_KIND.key, gains, counted
        )

    def pieces(self, lines: FileLines) -> Iterator[Piece]:
        """Each key point of an answer, and each of its claims."""
        sets = key_point_sets(lines(KEY_POINTS))
        texts = {(topic, p.id): p.text for topic, of in sets.items() for p in of.key_points}
        for _, row in entailments_with_lines(lines(ENTAILMENTS)):
            name = row.key_point_id
            text, ids = texts.get((row.topic_id, name), ""), {"run_id": row.run_id}
            ids["key_points"] = name
            question = sets[row.topic_id].query if row.topic_id in sets else ""
            more = {"asked": ids, "question": question, **explanation(row)}
            yield point_piece(row, KEY_POINT, name, text, row.label, **more)
        for claim_set in claim_sets(lines(CLAIMS)):
            at, run = (
                (claim_set.run_id, claim_set.topic_id, (), "claim"),
                {"run_id": claim_set.run_id},
            )
            if claim_set.claims is None:
                yield Piece(*at, "", "", None, asked=run)
            for number, claim in enumerate(claim_set.claims or ()):
                ids = {**run, "claim": str(number)}
                yield Piece(
                    *at, str(number), claim.text, claim.label, asked=ids, **explanation(claim)
                )

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """See Program."""
        sets = read_key_point_sets(folder / KEY_POINTS, Problems())
        points = {topic: of_topic.key_points for topic, of_topic in sets.items()}

        def texts(question: str, answer: Answer, point: KeyPoint) -> Texts:
            return {"key_point": point.text, "response": answer.text}

        data = load_collection(config.data, config.run.limit)
        return texts_of_points(data, points, wanted, texts)
