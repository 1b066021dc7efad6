"""What each judge is asked: the same items every time, of judged data where there is any."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from nuggetjudge import judges
from nuggetjudge.judges.base import Judge
from nuggetjudge.judges.keypoints import number_key_points
from nuggetjudge.judges.makers.answer_writer import AnswerWriter
from nuggetjudge.plugins.trec.narratives.parts import PartwiseRelevanceJudge
from nuggetjudge.plugins.trec.narratives.whole import NarrativeRelevanceJudge
from nuggetjudge.plugins.trec.rubric.judge import BinaryCriterionJudge, CriterionJudge
from nuggetjudge.plugins.trec.rubric.writer import RubricWriter

from ..study import sets
from ..study.sets import Item, lines

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "keypoints"
ITEMS, CALLS, FEW = 60, 20, 12  # of a judge; of a maker; of a maker with long replies
SLOW_ITEMS = 20  # of a judge with long replies, because it quotes and gives reasons
# Of a text, and of the answer that a window of items is about: for the time that they take.
MAX_CHARACTERS, MAX_OF_ANSWER = 800, 1200
SEED = 0


@dataclass(frozen=True)
class Case:
    """A judge and what it is asked.

    Attributes:
        make: the judge, given `backend=`.
        items: of a judge of items; the label "" is nobody's. asked: inputs of each call, of others.
        scale: of the labels that people gave the items; (): there are none.
        fold: label of the judge -> label on that scale, where they differ.
    """

    name: str
    make: Callable[..., Judge]
    items: Sequence[Item] = ()
    asked: Sequence[Mapping[str, Any]] = ()
    scale: Sequence[str] = ()
    fold: Mapping[str, str] = field(default_factory=dict)


def read_cases(data: Path) -> tuple[list[Case], dict[str, str]]:
    """All cases, those of judges of items first; and by name why a case cannot be had."""
    cases, skipped = [], {}
    for name, read in (_JUDGES | _MAKERS).items():
        try:
            cases.append(read(name, data))
        except FileNotFoundError as error:
            skipped[name] = f"{error.filename} is not there"
    return cases, skipped


def _chosen(of: sets.JudgedSet, data: Path) -> list[Item]:
    short = [
        i for i in of.items(data) if all(len(text) <= MAX_CHARACTERS for text in i.inputs.values())
    ]
    chosen = sorted(random.Random(SEED).sample(range(len(short)), min(ITEMS, len(short))))
    return [short[i] for i in chosen]


def _in_windows(of: sets.JudgedSet, listed: str, data: Path, size: int = 10) -> list[Item]:
    """Items of answers that have `size` of them, as many as go into a call."""
    full = [group[:size] for group in _answers(of, listed, data) if len(group) >= size]
    chosen = sorted(random.Random(SEED).sample(range(len(full)), ITEMS // size))
    return [item for i in chosen for item in full[i]]


def _answers(of: sets.JudgedSet, listed: str, data: Path) -> list[list[Item]]:
    """The items that share every input but the listed one, of short answers."""
    groups: dict[tuple[str, ...], list[Item]] = {}
    for item in of.items(data):
        shared = tuple(text for name, text in item.inputs.items() if name != listed)
        if sum(map(len, shared)) <= MAX_OF_ANSWER:
            groups.setdefault(shared, []).append(item)
    return list(groups.values())


def _support(name: str, data: Path) -> Case:
    of = sets.TREC_SUPPORT
    return Case(name, judges.SupportJudge, _chosen(of, data), scale=of.scale)


def _assigner(name: str, data: Path, *, explains: bool = False) -> Case:
    of = sets.TREC_NUGGETS

    def make(**options: Any) -> Judge:
        judge = judges.NuggetAssigner(window=2 if explains else 10, **options)
        return judge.explaining(evidence=True, reasoning=True) if explains else judge

    items = _in_windows(of, "nugget", data)
    return Case(name, make, items[:SLOW_ITEMS] if explains else items, scale=of.scale)


def _answerability(name: str, data: Path, *, window: int) -> Case:
    of = sets.CRUX_REPORTS
    groups = [list(g) for _, g in groupby(of.items(data), key=lambda i: i.inputs["context"])]
    chosen = [item for group in groups[::3] for item in group[:10]][:ITEMS]
    make = partial(judges.AnswerabilityGrader, window=window)
    fold = {str(n): sets.BINARY[n >= int(sets.ETA)] for n in range(6)}
    return Case(name, make, chosen, scale=of.scale, fold=fold)


def _relevance(name: str, data: Path) -> Case:
    of = sets.TREC_RELEVANCE
    return Case(name, judges.RelevanceJudge, _chosen(of, data), scale=of.scale)


def _importance(name: str, data: Path) -> Case:
    items = []
    for topic in _topics(data)[: ITEMS // 10]:
        for number, nugget in enumerate(topic["nuggets"][:10]):
            ids = {"topic_id": topic["qid"], "nugget_id": str(number)}
            inputs = {"question": topic["query"], "nugget": nugget["text"]}
            items.append(Item(ids, inputs, nugget["importance"]))
    return Case(name, judges.NuggetImportance, items, scale=("okay", "vital"))


def _topics(data: Path) -> list[dict[str, Any]]:
    """A row a topic: query and nuggets, ten at the least."""
    rows = lines(data / "rag24_nuggets" / "nugget_assignments.jsonl")
    by_topic = {row["qid"]: row for row in rows if len(row["nuggets"]) >= 10}
    return list(by_topic.values())


def _entailment(name: str, data: Path, *, window: int) -> Case:
    of = sets.IKAT_POINTS
    make = partial(judges.EntailmentJudge, window=window)
    fold = {"no": "0", "neutral": "0", "yes": "1"}
    if window == 1:
        return Case(name, make, _chosen(of, data), scale=of.scale, fold=fold)
    groups = [group for group in _answers(of, "key_point", data) if len(group) > 2]
    items = [item for group in groups for item in group[:window]][:SLOW_ITEMS]
    return Case(name, make, items, scale=of.scale, fold=fold)


def _claim(name: str, _: Path) -> Case:
    points = {row["qid"]: row["key_points"] for row in lines(EXAMPLES / "keypoints.jsonl")}
    items = []
    for row in lines(EXAMPLES / "labels" / "claims.jsonl"):
        key_points = number_key_points([point["text"] for point in points[row["topic_id"]]])
        for number, claim in enumerate(row["claims"]):
            ids = {"topic_id": row["topic_id"], "run_id": row["run_id"], "claim_id": str(number)}
            inputs = {"key_points": key_points, "claim": claim["text"]}
            items.append(Item(ids, inputs, claim["label"]))
    return Case(name, judges.ClaimJudge, items[:ITEMS], scale=("no", "yes"))


def _keypoint_filter(name: str, data: Path) -> Case:
    """Half of the points are of the question, half of another one: labels by construction."""
    topics = _topics(data)
    items = []
    for at, topic in enumerate(topics[: ITEMS // 10]):
        other = topics[(at + 1) % len(topics)]
        for number in range(10):
            source, label = ((topic, "yes"), (other, "no"))[number % 2]
            ids = {"topic_id": topic["qid"], "key_point_id": str(number)}
            text = source["nuggets"][number]["text"]
            items.append(Item(ids, {"question": topic["query"], "key_point": text}, label))
    return Case(name, judges.KeyPointFilter, items, scale=("no", "yes"))


def _criterion(name: str, _: Path, *, kind: str) -> Case:
    rubrics = {row["qid"]: row for row in lines(EXAMPLES / "rubrics.jsonl")}
    texts = {}
    for path in sorted((EXAMPLES / "answers").glob("*.jsonl")):
        for row in lines(path):
            text = " ".join(part["text"] for part in row["answer"])
            texts[row["topic_id"], row["run_id"]] = text
    items = []
    for row in lines(EXAMPLES / "labels" / "verdicts.jsonl"):
        rubric = rubrics[row["topic_id"]]
        (text,) = (c["text"] for c in rubric["criteria"] if c["id"] == row["criterion_id"])
        response = texts[row["topic_id"], row["run_id"]]
        inputs = {"question": rubric["query"], "response": response, "criterion": text}
        ids = {key: row[key] for key in ("topic_id", "run_id", "criterion_id")}
        items.append(Item(ids, inputs, row["label"] if row["kind"] == kind else ""))
    if kind == "binary":
        return Case(name, BinaryCriterionJudge, items, scale=("not_met", "met"))
    return Case(name, CriterionJudge, items, scale=("not_met", "partly", "met"))


def _battle(name: str, data: Path) -> Case:
    from nuggetjudge.plugins.trec.arena.judge import BattleJudge

    items = []
    for row in lines(data / "ragchecker_meta" / "pairs.jsonl"):
        answers = [row[model]["response"] for model in ("model1", "model2")]
        if sum(map(len, answers)) > MAX_CHARACTERS or not all(answers):
            continue
        better = sum(person["overall"] for person in row["human"])
        inputs = {"question": row["query"], "answer_a": answers[0], "answer_b": answers[1]}
        label = "tie" if not better else "ab"[better > 0]
        items.append(Item({"topic_id": row["pair_id"]}, inputs, label))
    chosen = sorted(random.Random(SEED).sample(range(len(items)), ITEMS))
    fold = {"both_bad": "tie", "tie": "tie", "a": "a", "b": "b"}
    items = [items[i] for i in chosen]
    return Case(name, BattleJudge, items, scale=("b", "tie", "a"), fold=fold)


def _accepted_answer(name: str, data: Path) -> Case:
    """Sentences of one report, each with the same ten answers, as a run asks."""
    from nuggetjudge.plugins.trec.argue.judge import AcceptedAnswerJudge, question_with_answer

    rows = [row for row in lines(data / "crux_duc" / "human_t1.jsonl") if row["answer_spans"]]
    report_id = rows[0]["report_id"]
    reports = {row["report_id"]: row["text"] for row in lines(data / "crux_duc" / "reports.jsonl")}
    answers = [
        question_with_answer(row["question"], row["answer_spans"].get("a1", "")[:120])
        for row in rows
        if row["report_id"] == report_id
    ][:10]
    items = []
    for at, sentence in enumerate(reports[report_id].split(". ")[:10]):
        for number, answer in enumerate(answers):
            ids = {"topic_id": "1", "run_id": "1", "sentence_id": str(at)}
            inputs = {"question": _request(data), "sentence": sentence, "answer": answer}
            items.append(Item(ids | {"question_id": str(number)}, inputs, ""))
    return Case(name, AcceptedAnswerJudge, items)


def _request(data: Path) -> str:
    return str(next(lines(data / "crux_duc" / "queries.jsonl"))["request"])


def _contradiction(name: str, data: Path) -> Case:
    of = sets.TREC_SUPPORT
    asked = [item.inputs for item in _chosen(of, data)]
    return Case(name, judges.ContradictionJudge, asked=asked)


def _narrative(name: str, data: Path, *, by_parts: bool = False) -> Case:
    """Passages of a topic one after the other, as a run asks; its sub-questions are the parts."""
    n_topics, n_passages, n_parts = (2, 3, 5) if by_parts else (3, 10, 8)
    passages: dict[str, list[dict[str, Any]]] = {}
    for row in lines(data / "crux_duc" / "passages.jsonl"):
        passages.setdefault(row["qid"], []).append(row)
    items = []
    for topic in list(lines(data / "crux_duc" / "queries.jsonl"))[:n_topics]:
        parts = number_key_points([each["text"] for each in topic["sub_questions"][:n_parts]])
        for row in passages[topic["qid"]][:n_passages]:
            ids = {"topic_id": topic["qid"], "passage_id": row["docid"]}
            inputs = {"question": topic["request"], "sub_narratives": parts}
            items.append(Item(ids, {**inputs, "passage": row["text"]}, ""))
    return Case(name, PartwiseRelevanceJudge if by_parts else NarrativeRelevanceJudge, items)


def _maker(
    name: str, data: Path, *, make: Callable[..., Judge], inputs: Callable[..., Any], n: int = CALLS
) -> Case:
    topics, reports = _topics(data), [_short(text) for text in _reports(data)]
    found = _passages(data)
    asked = []
    for at in range(n):
        topic = topics[at % len(topics)]
        passages = found[at * 3 % len(found) :][:3]
        asked.append(inputs(topic["query"], passages, topic["nuggets"], reports[at % len(reports)]))
    return Case(name, make, asked=asked)


def _reports(data: Path) -> list[str]:
    return [row["text"] for row in lines(data / "crux_duc" / "reports.jsonl")]


def _passages(data: Path) -> list[str]:
    return [row["text"] for row in lines(data / "crux_duc" / "passages.jsonl")]


def _short(text: str) -> str:
    return text[:MAX_OF_ANSWER].rpartition(". ")[0] + "."


def _texts(nuggets: Iterable[Mapping[str, str]], n: int) -> list[str]:
    return [nugget["text"] for nugget in nuggets][:n]


def _builder(name: str) -> Callable[..., Judge]:
    """A judge of the annex that builds collections, imported when it is made."""

    def make(**options: Any) -> Judge:
        judge: Judge = getattr(import_module("nuggetjudge.plugins.collections.judges"), name)(
            **options
        )
        return judge

    return make


_JUDGES: dict[str, Callable[[str, Path], Case]] = {
    "support": _support,
    "assigner": _assigner,
    "answerability": partial(_answerability, window=1),
    "answerability window": partial(_answerability, window=10),
    "relevance": _relevance,
    "importance": _importance,
    "entailment": partial(_entailment, window=1),
    "entailment window": partial(_entailment, window=2),
    "claim": _claim,
    "keypoint_filter": _keypoint_filter,
    "criterion": partial(_criterion, kind="three_way"),
    "binary_criterion": partial(_criterion, kind="binary"),
    "battle": _battle,
    "accepted_answer": _accepted_answer,
    "contradiction": _contradiction,
    "narrative": _narrative,
    "narrative by parts": partial(_narrative, by_parts=True),
    "assigner explaining": partial(_assigner, explains=True),
}
_MAKERS: dict[str, Callable[[str, Path], Case]] = {
    name: partial(_maker, make=make, inputs=inputs, n=n)
    for name, make, inputs, n in (
        ("question_scorer", _builder("QuestionScorer"), lambda q, p, k, r: {"question": q}, CALLS),
        (
            "question_decomposer",
            judges.QuestionDecomposer,
            lambda q, p, k, r: {"question": q},
            CALLS,
        ),
        (
            "query_writer",
            judges.QueryWriter,
            lambda q, p, k, r: {"question": q, "sentence": k[0]["text"], "wanted": 3},
            CALLS,
        ),
        (
            "gap_writer",
            judges.GapWriter,
            lambda q, p, k, r: {
                "question": q,
                "facets": [q],
                "nuggets": _texts(k, 5),
                "tried": [q],
            },
            CALLS,
        ),
        ("request_writer", _builder("RequestWriter"), lambda q, p, k, r: {"report": r}, FEW),
        (
            "question_evolver depth",
            _builder("QuestionEvolver"),
            lambda q, p, k, r: {"question": q, "way": "depth", "n": 2, "domain": "news"},
            FEW,
        ),
        (
            "question_evolver width",
            _builder("QuestionEvolver"),
            lambda q, p, k, r: {"question": q, "way": "width", "n": 2, "category": "why"},
            FEW,
        ),
        (
            "nuggetizer",
            partial(judges.Nuggetizer, limit=8),
            lambda q, p, k, r: {"question": q, "passages": p},
            FEW,
        ),
        (
            "subquestions",
            partial(judges.SubQuestionGenerator, rounds=1),
            lambda q, p, k, r: {"report": r, "n": 4},
            FEW,
        ),
        ("claim_extractor", judges.ClaimExtractor, lambda q, p, k, r: {"answer": p[0]}, FEW),
        (
            "keypoint_extractor",
            partial(judges.KeyPointExtractor, rounds=1),
            lambda q, p, k, r: {"question": q, "document": "\n\n".join(p[:2])},
            FEW,
        ),
        (
            "keypoint_merger",
            partial(judges.KeyPointMerger, repairs=0),
            lambda q, p, k, r: {"question": q, "texts": _texts(k, 6)},
            FEW,
        ),
        (
            "decontextualizer",
            _builder("Decontextualizer"),
            lambda q, p, k, r: {"document": p[0]},
            FEW,
        ),
        (
            "rubric_writer",
            RubricWriter,
            lambda q, p, k, r: {"question": q, "documents": p[:2], "n": 3},
            FEW,
        ),
        (
            "answer_writer",
            partial(AnswerWriter, words=50, repairs=0),
            lambda q, p, k, r: {
                "question": q,
                "passages": {f"p{i}": text for i, text in enumerate(p, 1)},
            },
            FEW,
        ),
        (
            "nugget_proposer",
            judges.NuggetProposer,
            lambda q, p, k, r: {
                "question": q,
                "facet": q,
                "passages": p[:2],
                "known": _texts(k, 3),
            },
            FEW,
        ),
    )
}
