"""The keypoints task (arXiv:2410.23000): key points that answers state, claims that state one."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from ...metrics import KEY_POINT_MEASURES, Value, count_words, key_point_recall
from ...metrics.answer_scores import IN_0_TO_1, make_failed
from ...metrics.key_points import (
    by_length,
    group_means,
    key_point_f1,
    key_point_precision,
    micro_recall,
)
from ...records.groundedness import join_context
from ...records.key_points import (
    KEY_POINT_KIND,
    Claim,
    ClaimSet,
    Entailment,
    claim_sets,
    claims_row,
    entailment_row,
    entailments_with_lines,
    key_point_set_row,
    key_point_sets,
    read_claims,
    read_entailments,
    read_key_point_sets,
)
from ...records.kinds import Cell
from ...records.reading.problems import InputError, Problems
from ...records.rows import Answer, KeyPoint, KeyPointSet, Topic
from ..config.base import JudgeName
from ..config.sections import Config
from ..engine.stage import Item, labels, make_rows
from ..inputs import Collection, load_collection
from .claims import AnswerId, extract_claims
from .judged_items import JudgedItems, equal_items
from .judgements import (
    AGAINST,
    KEY_POINT,
    MISSED,
    STATED,
    Answers,
    FileLines,
    Judgement,
    Words,
    explanation,
    reference_judgement,
)
from .key_point_making import make_key_points
from .program import CellTexts, Folder, Meaning, Meanings, Program, Run, Texts, need_answers
from .reference_items import (
    Look,
    check_questions,
    check_topics,
    exclude,
    look_for,
    read_reference_texts,
)
from .scoreboard import Scoreboard, is_of_answered

# Keys of the manifest: topics without key points; topics whose points could not be made, and
# (run, topic) of their answers.
EXCLUDED, FAILED = "topics_without_key_points", "cells_without_key_points"
FAILED_TOPICS = "topics_with_failed_key_points"
GROUNDEDNESS: JudgeName = "groundedness"
IN_DOCUMENTS = "claims_in_documents"  # a stage
SUFFIX_OF_DOCUMENTS = "_documents"  # of measures
Precision = bool | Literal["documents"]
_IS_STATED = {"supported": "yes", "contradicted": "no", "not_found": "no", None: None}
Sets = Mapping[str, KeyPointSet | None]  # by topic; None: they could not be made
LOOK = Look[KeyPoint](
    "entailments", "entailment", "key_points", lambda question, answer, texts: (texts, answer)
)
KEY_POINTS, ENTAILMENTS, CLAIMS = "keypoints.jsonl", "entailments.jsonl", "claims.jsonl"


class KeyPoints(Program):
    """Long2RAG (arXiv:2410.23000): judge whether answers state the key points of documents."""

    name = "keypoints"
    paper = (
        "Long2RAG: Evaluating Long-Context & Long-Form Retrieval-Augmented Generation with Key "
        "Point Recall",
        "2410.23000",
    )
    judges_answers = True
    needs = (("keypoints",), "key_points")
    judges = (
        *("keypoint_extractor", "keypoint_merger", "keypoint_filter"),
        *("entailment", "claim_extractor", "claim", GROUNDEDNESS),
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
    stages = ("entailments", "precision", IN_DOCUMENTS, "claims", "extract", "merge", "filter")
    makes: ClassVar[Mapping[str, str]] = {"keypoints": KEY_POINTS}
    notes: ClassVar[Mapping[str, Any]] = {FAILED: [], EXCLUDED: [], FAILED_TOPICS: []}
    meanings: ClassVar[Meanings] = {
        "KPR": Meaning(
            "Share of the key points that an answer states.",
            says="states {} of the key points",
            orders=4,
        ),
        "KPP": "Share of an answer's claims that state a key point.",
        "KPF": "Harmonic mean of KPR and KPP.",
        "KPP_documents": "Share of an answer's claims that the documents state.",
        "KPF_documents": "Harmonic mean of KPR and KPP_documents.",
    }
    shown = tuple(meanings)
    reads = ("key_point", "response")
    file_kind = "entailments"
    without, of_points = EXCLUDED, shown

    def list_judges(self, config: Config) -> tuple[JudgeName, ...]:
        """See Program: documents are read only for precision by documents."""
        return self.judges if config.keypoints.precision == "documents" else self.judges[:-1]

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return list_measures(config.keypoints.precision)

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        need_answers(collection)
        is_given = collection.key_points is not None
        by_topic = collection.key_points if is_given else collection.documents
        where = config.data.keypoints if is_given else config.data.documents
        assert by_topic is not None
        check_topics(by_topic, where or "key points", collection)
        if config.keypoints.precision == "documents":
            _need_documents(config, collection)
        if is_given:
            return
        if not collection.documents:
            what = "add a file (data.keypoints) or documents to make them from"
            raise InputError(f"keypoints needs key points: {what} (data.documents)")
        what = "key points need questions; add a topics file (--topics)"
        check_questions(collection, what)

    async def judge(self, run: Run) -> None:
        """Make key points if none are given, and judge whether answers state them."""
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
        why = "key points, so it is excluded from their scores"
        exclude(run, EXCLUDED, by_topic, "no_key_points", why, where)
        results.notes[FAILED_TOPICS] = [t for t, points in by_topic.items() if points is None]
        results.notes[FAILED], lengths = await judge_entailment(run, by_topic)
        if run.config.keypoints.precision:
            await write_claims(run, by_topic)
        cells = read_cells(Folder(results.folder, Problems(), notes=run.notes(), is_written=False))
        n_points = {t: len(points.key_points) for t, points in by_topic.items() if points}
        scored = [collection.topics[topic] for topic in by_topic]
        results.write("groups.jsonl", group_rows(cells, scored, n_points, lengths))

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        for cell in read_cells(folder):
            board.add(cell.run_id, cell.topic_id, cell.values())
        measures = list_measures(find_precision(folder))
        board.mark_failed((), measures)
        board.bound(measures, dict.fromkeys(folder.notes.get(FAILED_TOPICS, ()), 0))
        board.exclude(self.shown, folder.notes.get(EXCLUDED, ()))

    def values(self, answers: Answers) -> dict[tuple[str, str], dict[str, Value]]:
        """Return only KPR: the claims behind KPP and KPF differ between judges."""
        return {
            at: {
                "KPR": key_point_recall([one.label for one in judgements if one.unit == KEY_POINT])
            }
            for at, judgements in answers.items()
        }

    def items(self, folder: Folder) -> JudgedItems:
        """Return each key point of an answer; if they could not be made, one unjudged item."""
        cells: list[tuple[Cell, str, str | None, Mapping[str, float] | None]] = [
            ((row.topic_id, row.run_id, row.key_point_id), row.run_id, row.label, row.probabilities)
            for row in read_entailments(folder.need(ENTAILMENTS), folder.problems)
        ]
        for run_id, topic_id in folder.notes.get(FAILED, ()):
            cells.append(((topic_id, run_id, ""), run_id, None, None))
        counted = folder.list_counted((cell[0] for cell, *_ in cells), EXCLUDED)
        gains = {"KPR": {label: float(label == "yes") for label in KEY_POINT_KIND.labels}}
        return equal_items(
            cells, "keypoints", KEY_POINT_KIND.labels, KEY_POINT_KIND.key, gains, counted
        )

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield each key point and each claim of an answer."""
        sets = key_point_sets(lines(KEY_POINTS))
        texts = {(topic, p.id): p.text for topic, of in sets.items() for p in of.key_points}
        for _, row in entailments_with_lines(lines(ENTAILMENTS)):
            name = row.key_point_id
            text, ids = texts.get((row.topic_id, name), ""), {"run_id": row.run_id}
            ids["key_points"] = name
            question = sets[row.topic_id].query if row.topic_id in sets else ""
            more = {"asked": ids, "question": question, **explanation(row)}
            yield reference_judgement(row, KEY_POINT, name, text, row.label, **more)
        for claim_set in claim_sets(lines(CLAIMS)):
            at, run = (
                (claim_set.run_id, claim_set.topic_id, (), "claim"),
                {"run_id": claim_set.run_id},
            )
            if claim_set.claims is None:
                yield Judgement(*at, "", "", None, asked=run)
            for number, claim in enumerate(claim_set.claims or ()):
                ids = {**run, "claim": str(number)}
                yield Judgement(
                    *at, str(number), claim.text, claim.label, asked=ids, **explanation(claim)
                )

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """See Program."""
        sets = read_key_point_sets(folder / KEY_POINTS, Problems())
        points = {topic: of_topic.key_points for topic, of_topic in sets.items()}

        def texts(question: str, answer: Answer, point: KeyPoint) -> Texts:
            return {"key_point": point.text, "response": answer.text}

        data = load_collection(config.data, config.run.limit)
        return read_reference_texts(data, points, wanted, texts)


@dataclass
class KeyPointCell:
    """The judgements of an answer.

    Attributes:
        labels: yes, neutral, no or None (not judged) for each key point; None instead: the key
            points of its topic or the answer could not be made.
        claims: the claims of the answer, if `precision` is set; None: missing.
        precision: whether claims were judged; documents: also against documents.
    """

    topic_id: str
    run_id: str
    labels: list[str | None] | None = field(default_factory=list)
    claims: ClaimSet | None = None
    precision: Precision = False

    def values(self) -> dict[str, Value]:
        """Return KPR, and KPP and KPF if claims were judged, for each reading."""
        if self.labels is None:
            return dict.fromkeys(list_measures(self.precision), make_failed())
        recall = key_point_recall(self.labels)
        values = {"KPR": recall}
        claims = None if self.claims is None else self.claims.claims
        if self.precision:
            own = None if claims is None else [claim.label for claim in claims]
            values |= self._values_of(recall, own, "")
        if self.precision == "documents":
            held = None if claims is None else [_IS_STATED[claim.in_documents] for claim in claims]
            values |= self._values_of(recall, held, SUFFIX_OF_DOCUMENTS)
        return values

    def _values_of(
        self, recall: Value, labels: Sequence[str | None] | None, suffix: str
    ) -> dict[str, Value]:
        precision = key_point_precision(labels)
        both = key_point_f1(recall, precision)
        is_zero = recall.is_complete and recall.value == 0
        if precision.value is None and not (both.is_undefined or is_zero):
            # For an answer without a claim it is 0/0 and excluded from the mean, or 0.
            both = Value(None, both.n, both.n_unjudged, 0.0, 1.0)
        return {f"KPP{suffix}": precision, f"KPF{suffix}": both}


def list_measures(precision: Precision) -> tuple[str, ...]:
    """Return the measures for a setting of precision."""
    if not precision:
        return KEY_POINT_MEASURES[:1]
    by_documents = tuple(f"{name}{SUFFIX_OF_DOCUMENTS}" for name in KEY_POINT_MEASURES[1:])
    return KEY_POINT_MEASURES + (by_documents if precision == "documents" else ())


def find_precision(folder: Folder) -> Precision:
    """Return the setting of precision of a folder."""
    if folder.file(CLAIMS) is None:
        return False
    return "documents" if folder.setting("keypoints", "precision") == "documents" else True


def _need_documents(config: Config, collection: Collection) -> None:
    """Raise InputError for a topic without documents: all its claims would be unsupported."""
    where = config.data.documents or "data.documents"
    known = collection.key_points if collection.key_points is not None else collection.documents
    lost = [t for t in collection.topics if t in known and not collection.documents.get(t)]
    if lost:
        what = f"no document of topic {lost[0]!r}"
        raise InputError(f"{where}: {what}; keypoints.precision: documents needs one")


def read_cells(folder: Folder) -> list[KeyPointCell]:
    """Return the judgements of every answer."""
    cells: dict[tuple[str, str], KeyPointCell] = {}
    for row in read_entailments(folder.need("entailments.jsonl"), folder.problems):
        cell = cells.setdefault((row.run_id, row.topic_id), KeyPointCell(row.topic_id, row.run_id))
        if cell.labels is not None:
            cell.labels.append(row.label)
    excluded = folder.notes.get(EXCLUDED, ())
    failed = (cell for cell in folder.failed if cell[1] not in excluded)
    for run_id, topic_id in (*folder.notes.get(FAILED, ()), *failed):
        cells[run_id, topic_id] = KeyPointCell(topic_id, run_id, labels=None)
    if (path := folder.file("claims.jsonl")) is not None:
        for cell in cells.values():
            cell.precision = find_precision(folder)
        for claims in read_claims(path, folder.problems):
            if (claims.run_id, claims.topic_id) in cells:
                cells[claims.run_id, claims.topic_id].claims = claims
    folder.problems.raise_errors()
    return list(cells.values())


def group_rows(
    cells: Sequence[KeyPointCell],
    topics: Sequence[Topic],
    n_points: Mapping[str, int],
    lengths: Mapping[tuple[str, str], int],
) -> Iterator[dict[str, Any]]:
    """Return rows of each run: means by domain, category and length of answers, and micro recall.

    Args:
        topics: the topics that every run must answer.
        n_points: number of key points by topic, if known; unknown topics leave micro recall open.
        lengths: words of answers by topic and run, without answers that could not be made.

    `by` names the grouping, `group` the group. Groups of length are quartiles of the run's
    answers, named after the fewest and most words; `all` has Spearman's correlation of length and
    KPR.
    """
    by_run: dict[str, list[KeyPointCell]] = {}
    for cell in cells:
        by_run.setdefault(cell.run_id, []).append(cell)
    groups = {
        "domain": {topic.id: topic.domain for topic in topics},
        "category": {topic.id: topic.category for topic in topics},
    }
    unknown = [topic.id for topic in topics if topic.id not in n_points]
    for run_id, own in sorted(by_run.items()):
        values = {cell.topic_id: cell.values() for cell in own}
        for measure in dict.fromkeys(name for of_topic in values.values() for name in of_topic):
            of_measure = {t: v[measure] for t, v in values.items() if measure in v}
            every = None
            if not is_of_answered(measure):
                every = [topic.id for topic in topics]
                absent = dict.fromkeys(unknown, make_failed(value=0.0))
                of_measure = absent | of_measure
            for by, names in groups.items():
                if any(names.values()):
                    for group, (mean, n) in group_means(of_measure, names, every).items():
                        yield _row(run_id, by, group, measure, mean, n)
        labels: dict[str, Sequence[str | None]] = {t: ["neutral"] * n for t, n in n_points.items()}
        for cell in own:
            if cell.topic_id in n_points:
                own_labels = cell.labels
                labels[cell.topic_id] = own_labels or [None] * n_points[cell.topic_id]
        micro = micro_recall(labels)
        if unknown:
            micro = micro.widen(IN_0_TO_1, len(unknown))
        yield _row(run_id, "micro", "all", "KPR", micro, len(labels))
        with_length = [cell for cell in own if (cell.topic_id, run_id) in lengths]
        recalls = [values[cell.topic_id]["KPR"] for cell in with_length]
        quarters = by_length(recalls, [lengths[cell.topic_id, run_id] for cell in with_length])
        for part in quarters.bins:
            group, mean = f"{part.shortest:.0f}-{part.longest:.0f}", part.mean
            if n_lost := len(own) - len(with_length):  # the group is unknown
                mean = mean.widen(IN_0_TO_1, n_lost)
            yield _row(run_id, "length", group, "KPR", mean, part.n)
        row = {"run_id": run_id, "by": "length", "group": "all", "measure": "spearman_KPR"}
        yield {**row, "value": quarters.spearman, "n_topics": quarters.n}


def _row(
    run_id: str, by: str, group: str, measure: str, value: Value, n_topics: int
) -> dict[str, Any]:
    row = {"run_id": run_id, "by": by, "group": group, "measure": measure}
    return {**row, **asdict(value), "n_topics": n_topics}


async def judge_entailment(
    run: Run, sets: Sets
) -> tuple[list[tuple[str, str]], dict[AnswerId, int]]:
    """Judge whether answers state the key points, one by one or in windows.

    Returns: (run, topic) of answers whose key points could not be made; the words of each answer.
    Source: arXiv:2410.23000 asks about one key point at a time.
    """
    points = {
        t: None if point_set is None else point_set.key_points for t, point_set in sets.items()
    }
    failed: list[tuple[str, str]] = []
    lengths: dict[AnswerId, int] = {}
    count_name = "answers without text (state no key point)"
    async with look_for(run, points, [LOOK], "neutral", count_name) as answers:
        with run.results.open("entailments.jsonl") as rows:
            for answer, verdicts in answers:
                ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
                lengths[answer.topic_id, answer.run_id] = count_words(answer.text)
                if verdicts is None:
                    failed.append((answer.run_id, answer.topic_id))
                for point, verdict in zip(
                    points[answer.topic_id] or (), verdicts or (), strict=True
                ):
                    rows.write(entailment_row(Entailment(**ids, key_point_id=point.id, **verdict)))
    return failed, lengths


async def write_claims(run: Run, sets: Sets) -> None:
    """Write claims.jsonl: the claims of each answer, and which claims state a key point."""
    n_with_text = run.collection.n_with_text
    total = sum(n_with_text[t] for t, points in sets.items() if points is not None)
    claims = await extract_claims(
        run, "claims", lambda answer: sets.get(answer.topic_id) is not None, total
    )
    verdicts = await _precise(run, sets, claims)
    if run.config.keypoints.precision == "documents":
        held = await _hold_against_documents(run, claims)
        for answer, rows_of_answer in verdicts.items():
            for verdict, row in zip(rows_of_answer, held[answer], strict=True):
                verdict["in_documents"] = row["label"]
    with run.results.open("claims.jsonl") as rows:
        for (topic_id, run_id), texts in claims.items():
            of_answer = None
            if texts is not None:
                pairs = zip(texts, verdicts[topic_id, run_id], strict=True)
                of_answer = tuple(_claim(text, verdict) for text, verdict in pairs)
            rows.write(claims_row(ClaimSet(topic_id=topic_id, run_id=run_id, claims=of_answer)))


async def _precise(
    run: Run, sets: Sets, claims: Mapping[AnswerId, Sequence[str] | None]
) -> dict[AnswerId, list[dict[str, Any]]]:
    """Return verdicts on claims by answer, `yes` if a claim states a key point."""
    from ...judges.keypoints import number_key_points  # with which DSPy comes

    size = run.judge_set["claim"].window
    listed = {
        topic: number_key_points([point.text for point in points.key_points])
        for topic, points in sets.items()
        if points is not None
    }

    def items() -> Iterator[Item]:
        for (topic_id, run_id), texts in claims.items():
            for start in range(0, len(texts or ()) if listed[topic_id] else 0, size):
                window = list((texts or ())[start : start + size])
                ids = {"topic_id": topic_id, "run_id": run_id, "claim": start}
                yield Item(ids, (listed[topic_id], window), len(window))

    verdicts: dict[AnswerId, list[dict[str, Any]]] = {answer: [] for answer in claims}
    stage = labels("precision", run.judge_set, "claim", items)
    async with run.session.judge_stage(stage, run.results) as outcome:
        for item in items():
            of_answer = verdicts[item.ids["topic_id"], item.ids["run_id"]]
            of_answer += make_rows(outcome(item), item.n)
    return verdicts


async def _hold_against_documents(
    run: Run, claims: Mapping[AnswerId, Sequence[str] | None]
) -> dict[AnswerId, list[dict[str, Any]]]:
    """Return verdicts on claims by answer, against the documents of the topic."""
    judge, topics = run.judge_set[GROUNDEDNESS], run.collection.topics
    contexts = {
        topic: join_context(one.text for one in documents.values())
        for topic, documents in run.collection.documents.items()
    }

    def items() -> Iterator[Item]:
        for (topic_id, run_id), texts in claims.items():
            for start in range(0, len(texts or ()), judge.window):
                window = list((texts or ())[start : start + judge.window])
                ids = {"topic_id": topic_id, "run_id": run_id, "claim": start}
                asked = judge.list_optional_texts({"question": topics[topic_id].question})
                yield Item(ids, (window, contexts[topic_id], *asked), len(window))

    held: dict[AnswerId, list[dict[str, Any]]] = {answer: [] for answer in claims}
    stage = labels(IN_DOCUMENTS, run.judge_set, GROUNDEDNESS, items)
    async with run.session.judge_stage(stage, run.results) as outcome:
        for item in items():
            held[item.ids["topic_id"], item.ids["run_id"]] += make_rows(outcome(item), item.n)
    return held


def _claim(text: str, verdict: Mapping[str, Any]) -> Claim:
    names = ("label", "in_documents", "evidence", "rationale")
    fields = {name: verdict[name] for name in names if name in verdict}
    return Claim(text=text, **fields)
