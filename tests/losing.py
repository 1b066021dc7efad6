"""Small random collections, a judge that rolls dice, and judgements of it that get lost.

What is judged depends on the item and a seed alone, so that a run without losses and one with them
are judged alike: the difference between them is what the losses did.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from of_plugins import of_plugins

from nuggetjudge.programs.config.base import load_inputs
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine import session
from nuggetjudge.programs.engine.stage import Ask, Item, Work
from nuggetjudge.programs.run import judge_collection
from nuggetjudge.programs.scoring.result import Result
from nuggetjudge.records.judgements import Judged, Reason, Unjudged

WORDS = ("tide", "moon", "kelp", "bay", "rock", "salt", "gull", "mast", "sail", "fog", "lamp")
LABELS = {
    "relevance": ("0", "0", "1", "2", "3"),
    "assignments": ("not_support", "partial_support", "support"),
    "support": ("none", "partial", "full"), "pool": tuple("001345"), "ratings": tuple("001345"),
    "filter": ("no", "yes", "yes"), "entailments": ("no", "neutral", "yes"),
    "precision": ("no", "yes"), "items": ("none", "partial", "full"),
}  # fmt: skip
PATTERNS = {
    "data.runs",
    *(f"data.{name}" for name, one in load_inputs().items() if one.suffixes),
}
Lost = Callable[[str, Item], bool]  # of a stage and an item


def nothing_lost(stage: str, item: Item) -> bool:
    """For the run that others are compared with."""
    return False


class World:
    """Files of topics, passages, runs, reports, documents and items under `folder`."""

    def __init__(self, folder: Path, seed: int, *, n_topics: int = 4, n_runs: int = 3) -> None:
        self.folder, self.seed = folder, seed
        dice = random.Random(seed)

        def text(n: int) -> str:
            return " ".join(dice.choices(WORDS, k=n)).capitalize() + "."

        topics = [f"t{i}" for i in range(n_topics)]
        passages = {f"{t}:{d}#{d}": text(6) for t in topics for d in range(dice.randint(0, 5))}
        self._put(
            "topics.jsonl",
            [{"id": t, "title": text(5), "domain": dice.choice("ab")} for t in topics],
        )
        self._put("passages.jsonl", [{"id": name, "text": t} for name, t in passages.items()])
        own = {t: [name for name in passages if name.startswith(f"{t}:")] for t in topics}
        self._put("candidates.jsonl", [{"topic_id": t, "docids": own[t]} for t in topics if own[t]])
        self._put("reports.jsonl", [{"id": t, "report": text(9)} for t in topics])
        documents = [{"qid": t, "docid": f"{t}-{d}", "text": text(8)} for t in topics for d in "ab"]
        self._put("documents.jsonl", [row for row in documents if dice.random() < 0.8])
        answers, items, ranked = [], [], []
        lists = [(t, self._bank(dice, t)) for t in topics if dice.random() < 0.9]
        self._put("lists.jsonl", [{"query_id": t, "nugget_bank": bank} for t, bank in lists])
        for run_id in (f"r{i}" for i in range(n_runs)):
            for topic in topics:
                if dice.random() < 0.7:
                    names = dice.sample(own[topic], dice.randint(0, len(own[topic])))
                    ranked += [(run_id, topic, rank, name) for rank, name in enumerate(names)]
                if dice.random() < 0.25:
                    continue  # the run does not answer it
                names = dice.sample(own[topic], dice.randint(0, len(own[topic])))
                cited = list(range(len(names)))
                sentences = [
                    {"text": text(5), "citations": dice.sample(cited, dice.randint(0, len(cited)))}
                    for _ in range(dice.randint(0, 4))
                ]
                row = {
                    "run_id": run_id, "topic_id": topic, "references": names, "answer": sentences,
                }  # fmt: skip
                answers.append(row)
                items += [
                    {"topic_id": topic, "run_id": run_id, "sentence_id": i, "passage_id": "p"}
                    | {"sentence": text(4), "passage": text(4)}
                    for i in range(dice.randint(1, 3))
                ]
        self._put("answers.jsonl", answers)
        self._put("items.jsonl", items)
        for run_id in (f"r{i}" for i in range(n_runs)):
            ranked.append((run_id, "t0", 8, "z:0#0"))  # so that each has a file
            lines = [
                f"{t} Q0 {name} {rank + 1} {9 - rank} {run}\n"
                for run, t, rank, name in ranked
                if run == run_id
            ]
            (folder / f"{run_id}.run").write_text("".join(lines), encoding="utf-8")

    def _bank(self, dice: random.Random, topic: str) -> list[dict[str, Any]]:
        """Questions of one to three answers, folded by AND or OR."""
        return [
            {
                "question": f"{topic} {n}?",
                "aggregator_type": dice.choice(("AND", "OR")),
                "importance": dice.choice(("vital", "okay", None)),
                "answers": [{"answer": f"a{i}"} for i in range(dice.randint(1, 3))],
            }
            for n in range(dice.randint(1, 3))
        ]

    def _put(self, name: str, rows: list[Any]) -> None:
        lines = [json.dumps(row) + "\n" for row in rows]
        (self.folder / name).write_text("".join(lines), encoding="utf-8")

    def judged(self, out: str, settings: dict[str, Any], lost: Lost = nothing_lost) -> Result:
        """A run with this judge; `settings` as in `SETTINGS`."""
        files = {
            name: str(self.folder / value) if isinstance(value, str) else value
            for name, value in settings.items()
            if name.startswith("data.")
        }
        files = {
            name: [value] if name == "data.passages" or name in PATTERNS else value
            for name, value in files.items()
        }
        files |= {
            name: [str(self.folder / one) for one in value]
            for name, value in files.items()
            if name == "data.retrieval"
        }
        given = {**settings, **files, "run.out": self.folder / out, "run.cache": False}
        if "data.topics" not in given and "data.items" not in given:
            given["data.topics"] = self.folder / "topics.jsonl"
        with losing(self.seed, lost):
            return judge_collection(load_config(None, given, (), "lexical"))


ANSWERS = {"data.runs": "answers.jsonl", "data.passages": "passages.jsonl"}
CANDIDATES = {**ANSWERS, "data.candidates": "candidates.jsonl"}
CONTEXTS = {
    "program": ["coverage"], **ANSWERS, "data.reference": "reports.jsonl",
    "data.retrieval": ["r0.run", "r1.run"], "coverage.n": 3, "coverage.k": 2,
}  # fmt: skip
SETTINGS: dict[str, dict[str, Any]] = {
    "nuggets": {"program": ["nuggets"], **CANDIDATES},
    "nuggets, support, relevance": {"program": ["relevance", "nuggets", "support"], **CANDIDATES},
    "support of all": {"program": ["support"], **ANSWERS, "support.citations": "all"},
    "coverage": CONTEXTS,
    "coverage, k required": {**CONTEXTS, "coverage.k": "required"},
    "coverage, all answerable": {**CONTEXTS, "coverage.answerable": "all", "coverage.k": 3},
    "coverage, own passages": {**CONTEXTS, "coverage.own_only": True},
    "coverage of answers": {
        **{name: value for name, value in CONTEXTS.items() if name != "data.retrieval"},
        "coverage.contexts": "answers",
    },
    "keypoints": {"program": ["keypoints"], **ANSWERS, "data.documents": "documents.jsonl"},
    "items": {"program": ["items"], "data.items": "items.jsonl", "items.judge": "support"},
    "closed loop": {
        "program": ["nuggets", "support", "coverage", "keypoints"],
        **{name: value for name, value in CANDIDATES.items() if name != "data.runs"},
        "data.reference": "reports.jsonl",
        "data.documents": "documents.jsonl",
        "coverage.n": 3,
        "pipelines": {"one": "bm25 1", "two": "bm25 3"},
        "generate": {"k": 3},
    },
}
for each in of_plugins("losing_cases.py"):
    SETTINGS |= each.SETTINGS
    LABELS |= each.LABELS


@contextmanager
def losing(seed: int, lost: Lost) -> Iterator[None]:
    """Runs in here are judged by dice, and lose what `lost` says."""

    async def rolled(work: Work, concurrency: int, ask: Ask | None = None) -> None:
        for pending in work.left():
            if pending is not None:
                name, item = work.stage.name, pending.item
                if lost(name, item):
                    work.finish(pending, Unjudged(Reason.REFUSED, "lost"))
                else:
                    dice = random.Random(f"{seed} {name} {item.digest()}")
                    work.finish(pending, Judged(_values(name, item, dice)))

    with patch.object(session, "run_here", rolled):
        yield


def _values(stage: str, item: Item, dice: random.Random) -> dict[str, Any]:
    """The values of an item: a label of each verdict, or what a maker makes."""
    if stage in LABELS:
        has_chances = stage in ("assignments", "support", "criteria") and dice.random() < 0.3
        labels = dice.choices(LABELS[stage], k=item.n)
        chances = {"probabilities": {LABELS[stage][0]: 0.25, LABELS[stage][-1]: 0.75}}
        return {"verdicts": [{"label": x} | (chances if has_chances else {}) for x in labels]}
    return {"made": _made(stage, item, dice)}


def _made(stage: str, item: Item, dice: random.Random) -> Any:
    assert item.payload is not None
    texts = [f"{stage} {word}" for word in dice.sample(WORDS, 5)]
    if stage == "nuggets":
        kept = [[text, dice.choice(("okay", "vital"))] for text in texts[: dice.randint(0, 4)]]
        return {"nuggets": kept, "n_cut": 0}
    if stage == "questions":
        return texts[: dice.randint(1, 3)]
    if stage == "answers":
        _, names, _ = item.payload
        if not names:
            return None
        indices = range(len(names))
        return [
            {"text": text, "citations": dice.sample(indices, dice.randint(0, len(indices)))}
            for text in texts[: dice.randint(1, 3)]
        ]
    if stage == "rubrics":
        weights = [dice.choice((1, 2, 5)), *dice.choices((-5, -2, 1, 3), k=dice.randint(0, 4))]
        kinds = ("binary", "three_way")
        return [(text, w, dice.choice(kinds)) for text, w in zip(texts, weights, strict=False)]
    if stage == "extract":
        return [(text, ("span",) if dice.random() < 0.8 else (), ()) for text in texts[:2]]
    if stage == "merge":
        _, points = item.payload
        return [(f"point {i}", (i,)) for i in range(len(points))]
    assert stage == "claims", stage
    return texts[: dice.randint(0, 3)]
