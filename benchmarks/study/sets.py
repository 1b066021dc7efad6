"""Judged data as items: the texts that a judge reads, and people's labels.

Each set is a folder of DATA, laid out as docs/benchmarks/data.md says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from nuggetjudge.records.nuggets import NUGGET_KIND
from nuggetjudge.records.questions import RATING_KIND
from nuggetjudge.records.support import SUPPORT_KIND

ETA = "3"  # the grade from which a text answers a question, arXiv:2506.20051
ANNOTATORS = ("a1", "a2", "a3")
BINARY = ("0", "1")
GRADES = ("0", "1", "2", "3")
HALF = 0.5


class Item(NamedTuple):
    """One judgement of people.

    Attributes:
        ids: as label files have them; they name the item.
        inputs: of its judge.
        label: of people, on the scale of its set.
        by: annotator -> label, where several labelled the set.
        weight: of the item in the score of its run.
        recorded: published judge -> the label that it gave, on the scale of the set.
    """

    ids: dict[str, str]
    inputs: dict[str, str]
    label: str
    by: Mapping[str, str] = {}
    weight: float = 1.0
    recorded: Mapping[str, str] = {}

    @property
    def cell(self) -> tuple[str, ...]:
        """The values of its ids."""
        return tuple(self.ids.values())


class Question(NamedTuple):
    """A yes or no question: the lowest label that means yes, for people and for the judge.

    "" for both: the labels are compared as they are.
    """

    text: str
    people: str
    judge: str


@dataclass(frozen=True)
class JudgedSet:
    """Items of one folder, and the built-in judge that they are for.

    Attributes:
        name: the folder, and which part of it.
        read: the folder -> its items.
        scale: labels of people, worst to best.
        questions: yes or no, each a row of a table.
        measure, gains: of a run's score; label -> what it earns. No gains: the share that says
            yes to the first question.
        settings: of the judge, that belong to the set.
    """

    name: str
    judge: str
    read: Callable[[Path], Iterator[Item]]
    scale: tuple[str, ...]
    questions: tuple[Question, ...]
    measure: str = ""
    gains: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Its name as that of a file."""
        return "-".join([*self.name.split(), self.judge])

    def is_in(self, data: Path) -> bool:
        """Whether its folder is there."""
        return (data / self.name.split()[0]).is_dir()

    def items(self, data: Path) -> Iterator[Item]:
        """The items, in the order of the file."""
        return self.read(data / self.name.split()[0])


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file."""
    with path.open(encoding="utf-8") as rows:
        yield from map(json.loads, rows)


def _trec_nuggets(folder: Path) -> Iterator[Item]:
    for row in lines(folder / "nugget_assignments.jsonl"):
        for number, nugget in enumerate(row["nuggets"]):
            yield Item(
                {"topic_id": row["qid"], "run_id": row["run_id"], "nugget_id": str(number)},
                {
                    "question": row["query"],
                    "answer": row["answer_text"],
                    "nugget": nugget["text"],
                },
                nugget["assignment"],
                weight=float(nugget["importance"] == "vital"),
            )


def _trec_support(folder: Path) -> Iterator[Item]:
    passages = {row["docid"]: row["text"] for row in lines(folder / "passages.jsonl")}
    for row in lines(folder / "pairs.jsonl"):
        if row["condition"].startswith("from_scratch"):
            yield Item(
                {
                    "topic_id": row["topic_id"],
                    "run_id": row["run_id"],
                    "sentence_id": str(row["sentence_idx"]),
                    "passage_id": f"{row['docid']}:{row['citation_idx']}",
                },
                {"sentence": row["sentence"], "passage": passages[row["docid"]]},
                SUPPORT_KIND.labels[row["label"]],
                weight=float(row["citation_idx"] == 0),
            )


def _ikat(folder: Path, unit: str, text: str, *, by_name: bool = False) -> Iterator[Item]:
    """`by_name`: only of runs that the data knows by their names, and does not infer."""
    for row in lines(folder / "pairs.jsonl"):
        if row["run_mapping"] == "by_name" or not by_name:
            ids = {"topic_id": row["turn_id"], "run_id": row["run_code"]}
            inputs = {unit: row["nugget"], text: row["response"]}
            if unit == "nugget":
                inputs["question"] = NO_QUESTION
            ids[f"{unit}_id"] = row["nugget_id"]
            yield Item(ids, inputs, str(row["matched"]))


def _attribution(folder: Path) -> Iterator[Item]:
    for row in lines(folder / "claims.jsonl"):
        inputs = {"sentence": row["claim"], "passage": "\n".join(row["references"])}
        ids = {"topic_id": _short(row["question"] or row["id"]), "passage_id": row["id"]}
        yield Item(ids, inputs, str(row["label"]))


def _expertqa(folder: Path) -> Iterator[Item]:
    for row in lines(folder / "claims.jsonl"):
        evidence = "\n".join(part["text"] for part in row["evidence"])
        ids = {"topic_id": row["qid"], "sentence_id": str(row["claim_idx"])}
        yield Item(ids, {"sentence": row["claim"], "passage": evidence}, str(row["full"]))


def _wice(folder: Path) -> Iterator[Item]:
    for row in lines(folder / "pairs.jsonl"):
        ids = {"topic_id": row["topic_id"]}
        inputs = {"sentence": row["sentence"], "passage": row["passage"]}
        # The fine-tuned models say how likely support is, of no partial support.
        by_chance = {
            name: SUPPORT_KIND.labels[-1 if chance >= HALF else 0]
            for name, chance in (row.get("p_supported") or {}).items()
        }
        recorded = {**(row.get("votes") or {}), **by_chance}
        yield Item(ids, inputs, row["label"], recorded=recorded)


def _summhay(folder: Path) -> Iterator[Item]:
    topics = {row["topic_id"]: row["query"] for row in lines(folder / "topics.jsonl")}
    nuggets = {row["nugget_id"]: row["text"] for row in lines(folder / "nuggets.jsonl")}
    answers = {
        (row["topic_id"], row["run_id"]): "\n".join(row["sentences"])
        for row in lines(folder / "answers.jsonl")
    }
    for row in lines(folder / "pairs.jsonl"):
        ids = {name: row[name] for name in ("topic_id", "run_id", "nugget_id")}
        inputs = {
            "question": topics[row["topic_id"]],
            "answer": answers[row["topic_id"], row["run_id"]],
            "nugget": nuggets[row["nugget_id"]],
        }
        yield Item(ids, inputs, row["label"], recorded=row["votes"])


def _grounded(read: Callable[[Path], Iterator[Item]], folder: Path) -> Iterator[Item]:
    """Items of the support judge as the groundedness judge reads them."""
    for item in read(folder):
        texts = {"statement": item.inputs["sentence"], "context": item.inputs["passage"]}
        yield item._replace(inputs=texts, recorded={})  # of judges of citations


def _graded(folder: Path) -> Iterator[Item]:
    for row in lines(folder / "pairs.jsonl"):
        ids = {"topic_id": row["qid"], "passage_id": row["docid"]}
        inputs = {"question": row["query"], "passage": row["passage"]}
        recorded = {name: str(grade) for name, grade in row.get("llm", {}).items()}
        yield Item(ids, inputs, str(row["relevance"]), recorded=recorded)


def _answered(folder: Path) -> Iterator[Item]:
    """Which questions reports answer: by most of three annotators."""
    reports = {row["report_id"]: row["text"] for row in lines(folder / "reports.jsonl")}
    for row in lines(folder / "human_t1.jsonl"):
        yield Item(
            {
                "topic_id": row["qid"],
                "run_id": row["report_id"].rpartition("/")[2],
                "passage_id": row["report_id"],
                "question_id": str(row["question_idx"]),
            },
            {"question": row["question"], "context": reports[row["report_id"]]},
            str(row["majority"]),
            {name: str(row[name]) for name in ANNOTATORS},
        )


def _rated(folder: Path) -> Iterator[Item]:
    """How well passages answer questions: yes where the mean of the annotators is at least ETA."""
    texts = {row["docid"]: row["text"] for row in lines(folder / "passages.jsonl")}
    for row in lines(folder / "human_t2.jsonl"):
        if row["passage_available"]:
            ids = {"topic_id": row["qid"], "passage_id": row["docid"]}
            by = {name: row[name] for name in ANNOTATORS if row.get(name) is not None}
            yield Item(
                ids | {"question_id": str(row["question_idx"])},
                {"question": row["question"], "context": texts[row["docid"]]},
                BINARY[fmean(by.values()) >= int(ETA)],
                {name: BINARY[rating >= int(ETA)] for name, rating in by.items()},
            )


def _rated_by_a_model(folder: Path) -> Iterator[Item]:
    texts = {row["docid"]: row["text"] for row in lines(folder / "passages.jsonl")}
    questions = {row["qid"]: row["sub_questions"] for row in lines(folder / "queries.jsonl")}
    for row in lines(folder / "llm_ratings.jsonl"):
        for question in questions[row["qid"]] if row["own_topic"] else ():
            ids = {"topic_id": row["qid"], "passage_id": row["docid"]}
            inputs = {"question": question["text"], "context": texts[row["docid"]]}
            label = str(row["ratings"][question["idx"]])
            yield Item(ids | {"question_id": str(question["idx"])}, inputs, label)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]


NO_QUESTION = "(not given)"  # of answers to a turn of a conversation that the data does not hold
_FULL = Question("claim: attributable or not", "1", "full")
_GRADES = tuple(Question(f"passage: grade >= {n}", n, n) for n in ("1", "2"))
_EACH = Question("all labels", "", "")
_PRESENT = tuple(
    Question(f"nugget: {text}", label, label)
    for text, label in (
        ("support or not", "support"),
        ("at least in part, or not", "partial_support"),
    )
)
_CITED = tuple(
    Question(f"citation: {text}", label, label)
    for text, label in (("full or not", "full"), ("at least in part, or not", "partial"))
)
_KEY_POINT = Question("key point: stated or not", "1", "yes")

TREC_NUGGETS = JudgedSet(
    "rag24_nuggets", "assigner", _trec_nuggets, NUGGET_KIND.labels,
    (_PRESENT[0], _EACH),
    "V_strict", {"support": 1.0, "partial_support": 0.0, "not_support": 0.0},
)  # fmt: skip
IKAT_NUGGETS = JudgedSet(
    "ikat24_nugget_match", "assigner", partial(_ikat, unit="nugget", text="answer"), BINARY,
    (Question("nugget: matched or not", "1", "support"),), "matched", settings={"grades": 2},
)  # fmt: skip
IKAT_POINTS = JudgedSet(
    "ikat24_nugget_match", "entailment", partial(_ikat, unit="key_point", text="response"), BINARY,
    (_KEY_POINT,), "stated",
)  # fmt: skip
IKAT_BY_NAME = JudgedSet(
    "ikat24_nugget_match by name", "entailment",
    partial(_ikat, unit="key_point", text="response", by_name=True), BINARY,
    (_KEY_POINT._replace(text="the same"),), "stated",
)  # fmt: skip
TREC_SUPPORT = JudgedSet(
    "rag24_support from scratch", "support", _trec_support, SUPPORT_KIND.labels,
    (_CITED[0], _EACH),
    "precision of first citations", SUPPORT_KIND.gains,
)  # fmt: skip
SUMMHAY = JudgedSet(
    "summhay", "assigner", _summhay, NUGGET_KIND.labels, (*_PRESENT, _EACH),
    "coverage", NUGGET_KIND.gains,
)  # fmt: skip
WICE = JudgedSet("wice", "support", _wice, SUPPORT_KIND.labels, (*_CITED, _EACH))
ATTRIBUTION = JudgedSet("attributionbench", "support", _attribution, BINARY, (_FULL,))
EXPERTQA = JudgedSet(
    "expertqa_support", "support", _expertqa, BINARY,
    (_FULL._replace(text="claim: complete or not"),),
)  # fmt: skip
# What the groundedness judge calls supported: full support, by people.
GROUNDED = tuple(
    JudgedSet(
        name, "groundedness", partial(_grounded, read), scale,
        (Question("statement: supported or not", scale[-1], "supported"),),
    )
    for name, read, scale in (
        (TREC_SUPPORT.name, _trec_support, SUPPORT_KIND.labels),
        ("wice", _wice, SUPPORT_KIND.labels),
        ("attributionbench", _attribution, BINARY),
        ("expertqa_support", _expertqa, BINARY),
    )
)  # fmt: skip
TREC_RELEVANCE = JudgedSet("rag24_relevance", "relevance", _graded, GRADES, (*_GRADES, _EACH))
DL23 = JudgedSet("dl23_llmjudge", "relevance", _graded, GRADES, (*_GRADES, _EACH))
CRUX_REPORTS = JudgedSet(
    "crux_duc task 1", "answerability", _answered, BINARY,
    (Question("report: answers the question", "1", ETA),), "coverage",
)  # fmt: skip
CRUX_PASSAGES = JudgedSet(
    "crux_duc task 2", "answerability", _rated, BINARY,
    (Question("passage: grade >= 3", "1", ETA),),
)  # fmt: skip
CRUX_BY_MODEL = JudgedSet(
    "crux_duc by a model", "answerability", _rated_by_a_model, RATING_KIND.labels,
    (Question("passage: grade >= 3", ETA, ETA),),
)  # fmt: skip
# In the order of docs/benchmarks/lexical-judge.md.
ALL = (
    TREC_NUGGETS, SUMMHAY, IKAT_NUGGETS, IKAT_POINTS, IKAT_BY_NAME, TREC_SUPPORT, WICE,
    ATTRIBUTION, EXPERTQA, *GROUNDED, TREC_RELEVANCE, DL23, CRUX_REPORTS, CRUX_PASSAGES,
    CRUX_BY_MODEL,
)  # fmt: skip
OF_PEOPLE = tuple(one for one in ALL if one not in (IKAT_BY_NAME, CRUX_BY_MODEL))
