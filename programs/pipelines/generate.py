"""`judge generate`: answers with citations, written from what retrieval runs found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from ...backends.budget import Budget
from ...judges.makers.answer_writer import AnswerWriter
from ...records.judgements import Judged
from ..config.sections import Config, GenerateConfig
from ..engine.journal import Journal
from ..engine.making import DATASHEET, STATISTICS, Build, run_build
from ..engine.manifest import input_hashes, read_manifest
from ..engine.results import MANIFEST, Results
from ..engine.stage import Item
from .generate_files import COUNTED, answer_counts, answer_row, answers_datasheet
from .generate_plan import ANSWERS, JUDGES, PROGRAM, Contexts, generate_config, load_contexts


def generate(config: Config, *, quiet: bool = True, budget: Budget | None = None) -> dict[str, Any]:
    """Write the answers of each retrieval run in `config.run.out`, as `answers/<run>.jsonl`.

    Each topic's answer is made from the first `generate.k` passages of its ranking, whose ids are
    the answer's references. An answer that could not be made is not in the file, and is counted
    and listed in unjudged.jsonl: its topic has no answer, which scores 0 when the run is judged.

    Args:
        config: of its data topics, passages and retrieval are used; models, judges, generate and
            run; program is not.
        quiet: draw no progress bar.
        budget: shared with other programs; None: that of the config.

    Returns: the manifest that was written; `statistics.runs` has the counts of each run.
    Raises: InputError for bad input, EndpointUnusable when no request can succeed; what was
        made until then is in the folder's journal, and the same call goes on from there.
    """
    config = generate_config(config)
    inputs = input_hashes(config)
    contexts = load_contexts(config)
    problems = contexts.problems
    return run_build(_Answers, contexts, config, inputs, problems, quiet=quiet, budget=budget)


class AnswerStage:
    """One item per run and topic."""

    name = "answers"

    def __init__(self, contexts: Contexts, writer: AnswerWriter, settings: GenerateConfig) -> None:
        self._contexts = contexts
        self._writer = writer
        self._settings = settings

    def items(self) -> Iterator[Item]:
        """Runs in order, topics in order."""
        return self._contexts.items()

    def total(self) -> int:
        """Number of items."""
        return sum(map(len, self._contexts.names.values()))

    async def judge(self, item: Item) -> Judged:
        """One answer: its sentences, each with the places of the passages that it cites."""
        question, names, texts = item.payload
        passages = dict(zip(names, texts, strict=True))
        sentences, calls = await self._writer.write(question, passages)
        answer = [
            {"text": s.text, "citations": [names.index(c.passage_id) for c in s.citations]}
            for s in sentences
        ]
        return Judged({"answer": answer}, tuple(calls))

    def finish(self, journal: Journal, results: Results) -> dict[str, dict[str, int]]:
        """Write the answers of each run; what is in them, counted."""
        found = {}
        for run_id, items in groupby(enumerate(self.items()), key=lambda pair: pair[1].ids[0]):
            counts: Counter[str] = Counter()
            with results.open(answers_file(run_id)) as rows:
                for number, item in items:
                    outcome, (_, topic_id) = journal.outcome(number), item.ids
                    results.judged(self.name, {"run_id": run_id, "topic_id": topic_id}, outcome)
                    counts["topics"] += 1
                    if isinstance(outcome, Judged):
                        answer, names = outcome.values["answer"], item.payload[1]
                        topic, layout = self._contexts.topics[topic_id], self._settings.layout
                        rows.write(answer_row(run_id, topic, names, answer, layout))
                        counts.update(answer_counts(names, answer))
            found[run_id] = {what: counts[what] for what in COUNTED}
        return found


class _Answers(Build):
    """One stage, and a file for each run."""

    program, judges, files = PROGRAM, JUDGES, (STATISTICS, DATASHEET)
    given: Contexts

    async def make(self, results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
        """See Build."""
        folder = results.folder / ANSWERS
        folder.mkdir(exist_ok=True)
        for torn in folder.glob("*.part"):  # by a kill
            torn.unlink()
        stage = AnswerStage(self.given, self.panel.answer_writer, self.config.generate)
        journal = await self.session.journaled(stage, JUDGES)
        found = stage.finish(journal, results)
        journal.close()
        data = {
            "topic_ids": list(self.given.topics),
            "run_ids": list(found),
            "topics": len(self.given.topics),
            "runs": len(found),
            "passages": len(self.given.passages),
        }
        return {"runs": found}, data

    def datasheet(self, manifest: Mapping[str, Any]) -> str:
        """See Build."""
        return answers_datasheet(manifest)

    def _remove_others(self, results: Results) -> None:
        super()._remove_others(results)
        if (results.folder / MANIFEST).is_file():
            for run_id in read_manifest(results.folder, PROGRAM)["data"]["run_ids"]:
                if not results.unpublished(name := answers_file(run_id)).exists():
                    (results.folder / name).unlink(missing_ok=True)


def answers_file(run_id: str) -> str:
    """Where the answers of a run stand in the folder."""
    return f"{ANSWERS}/{run_id}.jsonl"
