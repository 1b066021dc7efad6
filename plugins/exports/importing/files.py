"""The files of another tool for a task: rows read once, judged texts kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ....programs.engine.results import Results
from ....records.judgements import Judged, Reason, Unjudged
from ....records.kinds import FileKind
from ....records.reading.problems import InputError, Problems
from ....records.writing import own_folder
from .folders import ToolFolder

NO_REASON = Unjudged(Reason.ERROR, "its file has no label and no reason")
INPUTS = "inputs"  # folder for the judged texts: topics, answers, passages


@dataclass
class ToolFiles:
    """Files of another tool, and the results folder that tasks write them to.

    Attributes:
        topics: texts of topics, "" if unknown. queries: texts next to nuggets, by topic.
        answered: topics that some run answers. runs: all runs, in order.
        answers: by run and topic, sentences as `text` and `citations`. passages: texts by id.
        late_notes: notes of the manifest by name, written after everything is read.
        asked: the requested kinds of files.
    """

    tool: ToolFolder
    results: Results
    problems: Problems
    topics: dict[str, str] = field(default_factory=dict)
    queries: dict[str, str] = field(default_factory=dict)
    answered: dict[str, None] = field(default_factory=dict)
    runs: dict[str, None] = field(default_factory=dict)
    answers: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    passages: dict[str, str] = field(default_factory=dict)
    late_notes: dict[str, Callable[[], Any]] = field(default_factory=dict)
    asked: set[FileKind] = field(default_factory=set)

    def files(self, kind: FileKind) -> Sequence[Path]:
        """The files of a kind."""
        self.asked.add(kind)
        return self.tool.files.get(kind, ())

    def once(self, kind: FileKind, read: Callable[..., Iterator[Any]]) -> Iterator[Any]:
        """The rows of all files of a kind. Raises: InputError for an answer in two files."""
        seen: dict[tuple[str, str], Path] = {}
        for path in self.files(kind):
            for row in read(path, self.problems):
                first = seen.setdefault((row.run_id, row.topic_id), path)
                if first != path:
                    what = f"run {row.run_id!r}, topic {row.topic_id!r} is in {first} too"
                    raise InputError(f"{path}: {what}; give the folder or file of one judge")
                yield row

    def cell(self, run_id: str, topic_id: str, query: str = "") -> None:
        """Record that a run answers a topic."""
        self.runs[run_id] = self.answered[topic_id] = None
        self.topics[topic_id] = self.topics.get(topic_id) or query

    def answer(self, run_id: str, topic_id: str, text: str) -> None:
        """Record the answer of a run, if its text is known."""
        if text:
            self.answers[run_id, topic_id] = [{"text": text, "citations": []}]

    def count(self, stage: str, ids: dict[str, Any], label: Any, why: Unjudged = NO_REASON) -> None:
        """Count an item; it is judged unless its label is None."""
        self.results.count_outcome(stage, ids, why if label is None else Judged({}))

    def list_judged_topics(self) -> list[str]:
        """The topics that a run must answer; for passages only, the topics with passages."""
        return list(self.answered or self.topics)

    def write_inputs(self, made: Path) -> dict[str, Path]:
        """Write the known judged texts; return the files by their names in a config."""
        self.topics |= {t: query for t, query in self.queries.items() if not self.topics.get(t)}
        named = {
            "topics": [{"id": t, "title": text or t} for t, text in self.topics.items()],
            "runs": [_answer_row(*cell, sentences) for cell, sentences in self.answers.items()],
            "passages": [{"docid": d, "text": text} for d, text in self.passages.items()],
        }
        folder, data = own_folder(made / INPUTS), {}
        for name, rows in named.items():
            if rows:
                path = data[name] = folder / f"{name}.jsonl"
                path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
        return data


def _answer_row(
    run_id: str, topic_id: str, sentences: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    references = list(dict.fromkeys(name for each in sentences for name in each["citations"]))
    answer = [
        {**each, "citations": [references.index(name) for name in each["citations"]]}
        for each in sentences
    ]
    return {"run_id": run_id, "topic_id": topic_id, "references": references, "answer": answer}
