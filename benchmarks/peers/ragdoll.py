"""Calls and prompt characters of RAGDoll for our work: docs/benchmarks/ragdoll-calls.md.

    python -m benchmarks.peers.ragdoll

The work is that of the examples. Ours is counted as each prompt is asked, by judges that measure.
RAGDoll's is computed from what its sources say (castorini/RAGDoll, commit 1f06719): how many calls
a stage makes, the lengths of its templates without their fields, and how it writes what goes into
them. No word of a prompt of theirs is here. Retries and what its agent adds are left out on both
sides. Works by what each side makes: where a list is made, both are given the same one.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from itertools import combinations
from pathlib import Path
from typing import Any

from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.gateway import Backend, Reply
from nuggetjudge.backends.offline import LexicalBackend
from nuggetjudge.backends.prompt import Prompt
from nuggetjudge.judges.table import judge_names
from nuggetjudge.plugins.trec.rubric.rubrics import read_rubrics
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.programs.engine.judge_set import JudgeSet
from nuggetjudge.programs.inputs import Collection
from nuggetjudge.programs.run import judge_collection, load_data
from nuggetjudge.records.reading.problems import Problems

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WINDOW = 10  # of its config.py; ours too
# Characters of its templates without their fields, system message and user message together:
# nuggetizer/prompts.py, support/prompts.py, umbrela/prompts.py (bing), rubric/prompts.py,
# arena/prompts.py (without a rubric).
FIXED = {
    "create": 147 + 913,
    "importance": 143 + 557,
    "assign": 144 + 652,
    "support": 1113,
    "relevance": 1325,
    "rubric": 125 + 612,
    "arena": 3445,
}


@dataclass(frozen=True)
class Work:
    """Calls, and characters of their prompts, of both sides."""

    name: str
    what: str
    theirs: tuple[int, int]
    ours: tuple[int, int]

    def row(self) -> str:
        """A line of the table."""
        (n, chars), (m, own) = self.theirs, self.ours
        return (
            f"| {self.name} | {self.what} | {n:,} | {m:,} | {chars:,} | {own:,} | "
            f"{chars / n:,.0f} | {own / m:,.0f} |"
        )


class Counting(LexicalBackend):
    """Answers by words, and counts what a model would have been sent."""

    def __init__(self, model: ModelConfig) -> None:
        super().__init__(model)
        self.calls = self.chars = 0

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend."""
        self.calls += 1
        self.chars += sum(len(message["content"]) for message in prompt.messages(inputs))
        return await super().ask(prompt, inputs, replicate)


class CountingJudgeSet(JudgeSet):
    """Judges that measure, each entry of `models:` by itself."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, cache=None, budget=Budget())
        self.counts: dict[str, Counting] = {}

    def _open_backend(self, alias: str, model: ModelConfig) -> Backend:
        return self.counts.setdefault(alias, Counting(model))


def ours(data: Mapping[str, Any], *programs: str, **sections: Any) -> dict[str, tuple[int, int]]:
    """Calls and characters of a run, by judge; each judge has an entry of its own."""
    with tempfile.TemporaryDirectory() as out, redirect_stderr(StringIO()):
        config = Config.model_validate(
            {
                "program": list(programs),
                "data": dict(data),
                "models": {name: {"model": "lexical"} for name in ("default", *judge_names())},
                "judges": {name: {"model": name} for name in judge_names()},
                "run": {"out": out},
                **sections,
            }
        )
        judge_set = CountingJudgeSet(config)
        judge_collection(config, judge_set=judge_set)
    return {name: (count.calls, count.chars) for name, count in judge_set.counts.items()}


def windows(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """As both tools cut lists."""
    return (texts[i : i + WINDOW] for i in range(0, len(texts), WINDOW))


def added(prompts: Iterable[int]) -> tuple[int, int]:
    """Calls and characters of these prompts."""
    lengths = list(prompts)
    return len(lengths), sum(lengths)


def demo() -> Iterator[Work]:
    """Relevance, nuggets, support and battles of examples/demo."""
    folder = EXAMPLES / "demo"
    names = {"topics": "topics.tsv", "passages": "passages.jsonl", "candidates": "candidates.jsonl"}
    data: dict[str, Any] = {name: str(folder / file) for name, file in names.items()}
    data |= {"qrels": str(folder / "qrels.txt"), "runs": [f"{folder}/runs/*.jsonl"]}
    collection = _loaded(data, "nuggets")
    texts, topics = collection.passages, collection.topics
    pool = [(topics[t].text, texts[p].text) for t, r in collection.candidates.items()
            for p in r.passage_ids]  # fmt: skip
    theirs = added(FIXED["relevance"] + len(query) + len(text) for query, text in pool)
    graded = ours(data, "relevance")["relevance"]
    yield Work("relevance", f"{len(pool)} passages", theirs, graded)

    relevant = {t: [texts[p].text for p in ranking.passage_ids
                    if collection.qrels.get(t, {}).get(p, 0) >= 1]
                for t, ranking in collection.candidates.items()}  # fmt: skip
    theirs = added(
        FIXED["create"] + 2 * len(topics[t].text) + len(list_numbered(window)) + len("[]030")
        for t, passages in relevant.items()
        for window in windows(passages)
    )
    of_run = ours(data, "nuggets")
    n = sum(map(len, relevant.values()))
    yield Work("nuggets: create", f"{n} relevant passages, {len(topics)} topics", theirs,
               of_run["nuggetizer"])  # fmt: skip

    bank = {**data, "nuggets": str(folder / "nuggets.jsonl")}
    judged = _loaded(bank, "nuggets")
    nuggets = {t: [each.text for each in of.nuggets] for t, of in (judged.banks or {}).items()}
    answers = [answer for answer in judged.answers() if answer.text.strip()]
    theirs = added(
        FIXED["assign"] + len(topics[answer.topic_id].text) + len(answer.text)
        + len(str(list(window))) + len(str(len(window)))
        for answer in answers
        for window in windows(nuggets[answer.topic_id])
    )  # fmt: skip
    n = sum(len(nuggets[answer.topic_id]) for answer in answers)
    what = f"{n} nuggets in {len(answers)} answers"
    yield Work("nuggets: assign", what, theirs, ours(bank, "nuggets")["assigner"])

    cited = [
        (sentence.text, passages[citation.passage_id].text)
        for answer, passages in collection.read_cited_answers()
        for sentence in answer.sentences
        for citation in sentence.citations
        if citation.passage_id in passages
    ]
    theirs = added(FIXED["support"] + len(text) + len(passage) for text, passage in cited)
    every = ours(data, "support", support={"citations": "all"})["support"]
    yield Work("support", f"{len(cited)} citations", theirs, every)
    first = ours(data, "support")["support"]
    yield Work("support, first citations", "the track's rule; theirs judges all", theirs, first)

    by_topic: dict[str, list[str]] = {}
    for answer in answers:
        by_topic.setdefault(answer.topic_id, []).append(answer.text)
    theirs = added(
        FIXED["arena"] + len(topics[topic].text) + len(one) + len(other)
        for topic, written in by_topic.items()
        for one, other in combinations(written, 2)
    )
    n, both = theirs[0], ours(data, "arena")["battle"]
    yield Work("arena", f"{n} battles; here both orders", theirs, both)


def keypoints() -> Iterator[Work]:
    """Rubrics of examples/keypoints."""
    folder = EXAMPLES / "keypoints"
    rubrics = folder / "rubrics.jsonl"
    data = {"topics": str(folder / "topics.jsonl"), "runs": [str(folder / "answers")]}
    with_rubrics = {**data, "rubrics": str(rubrics)}
    collection = _loaded(with_rubrics, "rubric")
    criteria = {
        topic: [each.text for each in of.criteria]
        for topic, of in read_rubrics(rubrics, Problems()).items()
    }
    answers = [answer for answer in collection.answers() if answer.text.strip()]
    theirs = added(
        FIXED["rubric"] + len(collection.topics[answer.topic_id].text) + len(answer.text)
        + len(_listed(window)) + len(str(len(window)))
        for answer in answers
        for window in windows(criteria[answer.topic_id])
    )  # fmt: skip
    n = sum(len(criteria[answer.topic_id]) for answer in answers)
    by_judge = ours(with_rubrics, "rubric")
    mine = [by_judge[name] for name in ("criterion", "binary_criterion") if name in by_judge]
    own = (sum(n for n, _ in mine), sum(chars for _, chars in mine))
    yield Work("rubric: grade", f"{n} criteria of {len(answers)} answers", theirs, own)


def _loaded(data: Mapping[str, Any], program: str) -> Collection:
    return load_data(Config.model_validate({"program": [program], "data": dict(data)}))


def list_numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"[{i}] {text}" for i, text in enumerate(texts, 1))


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(f"{i}. {text}" for i, text in enumerate(texts, 1))


def main() -> None:
    """Print the table."""
    print("| work | of the examples | calls RAGDoll | calls here | characters RAGDoll | here | "
          "a call RAGDoll | here |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for work in (*demo(), *keypoints()):
        print(work.row())
    sys.stdout.flush()


if __name__ == "__main__":
    main()
