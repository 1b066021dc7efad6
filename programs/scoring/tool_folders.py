"""What nuggetizer or RAGDoll judged, as a results folder: its files written in our layouts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ...records.assignments import assignment_row, read_assignments
from ...records.instruments.rubrics import (
    Rubric,
    read_rubrics,
    rubric_row,
    rubrics_of,
    verdict_row,
)
from ...records.judgements import Judged, Reason, Unjudged
from ...records.labels.kinds import FileKind
from ...records.nuggets import bank_row, read_nugget_banks
from ...records.reading.fields import Line, read_lines
from ...records.reading.problems import InputError, Problems
from ...records.relevance import read_relevance, relevance_row
from ...records.rows import NuggetBank
from ...records.scores import read_scores, write_scores
from ...records.support import SupportLabels, read_support, support_row
from ...records.tools.battles import read_battles
from ...records.tools.folders import ToolFolder
from ...records.tools.metric_rows import MEASURES
from ...records.tools.ragdoll import CitationKey, SupportJudgement, read_support_judgements
from ...records.tools.rubric_verdicts import read_verdicts
from ...records.writing.files import own_folder
from ..config.sections import Config
from ..engine.manifest import made_in
from ..engine.results import Results, RowWriter
from ..inputs.hashes import hash_of
from ..protocols.arena.standings import FILE as BATTLES
from ..protocols.nuggets import ASSIGNMENTS, BANKS, LEFT_OUT
from ..protocols.program import Folder
from ..protocols.relevance import FILE as RELEVANCE
from ..protocols.rubric.program import RUBRICS, VERDICTS
from ..protocols.scoreboard import Scoreboard
from ..protocols.support import FILE as SUPPORT
from ..protocols.table import chosen, empty_notes, program_files

PROGRAMS: dict[FileKind, str] = {
    "assignments": "nuggets", "support": "support", "relevance": "relevance", "battles": "arena",
    "verdicts": "rubric",
}  # fmt: skip
_NOT_SAID = "its file says that there is no label, and not why"
_ROUNDED = 5e-6  # tools write six digits
_INPUTS = "inputs"  # folder for what was judged: topics, answers, passages


def write_results(tool: ToolFolder, made: Path) -> Problems:
    """Write a results folder from another tool's files, with scores and manifest.

    What their tools count as 0, a judgement that failed, is unjudged here. What was judged is
    written beside it as far as their files have it, so that answers can be shown.

    Returns: what readers left out or doubted, and where the tool's own metrics differ from these.
    Raises: InputError for a broken file, with its line.
    """
    problems = Problems()
    for path, kind in tool.left.items():
        problems.skip(path, 0, "other_file", f"{kind}; wanted judgements, nuggets or metrics")
    programs = [name for kind, name in PROGRAMS.items() if kind in tool.files]
    with Results(made, program_files()) as results:
        reader = _Reader(tool, results, problems)
        writers: dict[FileKind, tuple[str, Callable[[RowWriter], None]]] = {
            "assignments": (ASSIGNMENTS, reader.assignments),
            "support": (SUPPORT, reader.support),
            "relevance": (RELEVANCE, reader.relevance),
            "battles": (BATTLES, reader.battles),
            "verdicts": (VERDICTS, reader.verdicts),
        }
        for kind, (name, write) in writers.items():
            if kind in tool.files:
                with results.open(name) as rows:
                    write(rows)
        problems.raise_errors()
        if reader.banks:
            results.write(BANKS, map(bank_row, reader.banks.values()))
        if reader.rubrics:
            results.write(RUBRICS, map(rubric_row, reader.rubrics.values()))
        config = reader.inputs(made, programs)
        topics = reader.judged_topics()
        data = {"topic_ids": topics, "run_ids": list(reader.runs), "not_made": []}
        of_config = config.model_dump(mode="json", by_alias=True)
        without = [topic for topic in topics if topic not in reader.banks]
        theirs = {str(path): hash_of(path) for paths in tool.files.values() for path in paths}
        notes = {**empty_notes(), "config": of_config, "data": data, LEFT_OUT: without}
        notes["judged_elsewhere"] = theirs
        folder = Folder(made, Problems(), notes=notes, is_written=False)
        board = Scoreboard(topics)
        board.ensure_runs(reader.runs)
        for program in chosen(programs):
            program.score(folder, board)
        scored = list(board.rows())
        write_scores(results.part("scores.jsonl"), results.part("scores.eval.txt"), scored)
        _hold_against_theirs(tool, scored, problems)
        results.list_problems(problems)
        results.publish(_manifest(results, notes, made, problems))
    return problems


@dataclass
class _Reader:
    """Reads their files once, each into its own file of ours, and keeps what was judged."""

    tool: ToolFolder
    results: Results
    problems: Problems
    topics: dict[str, str] = field(default_factory=dict)  # their texts, "" where not known
    answered: dict[str, None] = field(default_factory=dict)  # topics that some run answers
    runs: dict[str, None] = field(default_factory=dict)
    banks: dict[str, NuggetBank] = field(default_factory=dict)
    rubrics: dict[str, Rubric] = field(default_factory=dict)
    answers: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    passages: dict[str, str] = field(default_factory=dict)

    def assignments(self, rows: RowWriter) -> None:
        """Nuggets of answers; those of each topic are its bank, unless there is a file of banks."""
        for path in self.tool.files.get("nuggets", ()):
            self.banks |= read_nugget_banks(path, self.problems)
        given = self._once("assignments", read_assignments)
        for row in given:
            self._cell(row.run_id, row.topic_id, row.query)
            if row.answer_text:
                whole: dict[str, Any] = {"text": row.answer_text, "citations": []}
                self.answers[row.run_id, row.topic_id] = [whole]
            nuggets = tuple(each.nugget for each in row.nuggets)
            bank = NuggetBank(topic_id=row.topic_id, query=row.query, nuggets=nuggets)
            self.banks.setdefault(row.topic_id, bank)
            rows.write(assignment_row(row))
            ids = {"topic_id": row.topic_id, "run_id": row.run_id}
            for each in row.nuggets:
                named = {**ids, "nuggets": [each.nugget.id]}
                self._count("assignments", named, None if each.label else _unjudged())

    def support(self, rows: RowWriter) -> None:
        """Citations of sentences, with RAGDoll's reasons where its file of calls is there too."""
        calls: dict[CitationKey, SupportJudgement] = {}
        for path in self.tool.files.get("support_judgments", ()):
            calls |= read_support_judgements(path, self.problems)
        for call in calls.values():
            if call.docid is not None and call.passage:
                self.passages.setdefault(call.docid, call.passage)
        for row in self._once("support", read_support):
            at = (row.run_id, row.topic_id)
            self._cell(*at)
            self._keep_sentences(row)
            for sentence in row.sentences:
                place = (*at, sentence.id)
                if not sentence.citations:
                    rows.write(support_row(*place, citation=None, rank=None, label="none"))
                for each in sentence.citations:
                    name, rank = each.passage_id, each.rank
                    named = {"citation": name, "rank": rank, "label": each.label}
                    rows.write(support_row(*place, **named, leaning=each.known()))
                    ids = {"topic_id": row.topic_id, "run_id": row.run_id}
                    ids |= {"sentence": sentence.id, "citation": name}
                    call_of = calls.get((*place, rank)) if calls else None
                    why = None if each.label else _why(call_of, asked=bool(calls))
                    self._count("support", ids, why)

    def relevance(self, rows: RowWriter) -> None:
        """Grades of passages, without the ranking that these stood in: the files have none."""
        for path in self.tool.files["relevance"]:
            what = "grades without the order of the passages: no ranking measures"
            self.problems.keep(path, 0, "no_ranking", what)
            for row in read_relevance(path, self.problems):
                self.topics.setdefault(row.topic_id, "")
                rows.write(relevance_row(row))
                ids = {"topic_id": row.topic_id, "passage_id": row.passage_id}
                self._count("relevance", ids, None if row.grade is not None else _unjudged())

    def battles(self, rows: RowWriter) -> None:
        """Battles of answers, each in the order, or orders, in which it was judged."""
        for path in self.tool.files["battles"]:
            for battle in read_battles(path, self.problems):
                both = {"run_id": battle.run_id, "opponent_id": battle.opponent_id}
                for run_id in both.values():
                    self._cell(run_id, battle.topic_id)
                rows.write(battle.as_row())
                for said in filter(None, (battle.first, battle.second)):
                    why = None if said.label is not None else _unjudged()
                    self._count("battles", {"topic_id": battle.topic_id, **both}, why)

    def verdicts(self, rows: RowWriter) -> None:
        """Criteria of answers; those of each topic are its rubric, unless a file has them."""
        for path in self.tool.files.get("rubrics", ()):
            self.rubrics |= read_rubrics(path, self.problems)
        for path in self.tool.files["verdicts"]:
            for line in read_lines(path, Problems()):
                self._keep_graded(line)
        for row in self._once("verdicts", read_verdicts):
            self._cell(row.run_id, row.topic_id)
            rows.write(verdict_row(row))
            ids = {"topic_id": row.topic_id, "run_id": row.run_id}
            named = {**ids, "criteria": [row.criterion_id]}
            self._count("criteria", named, None if row.label else _unjudged())

    def _keep_graded(self, line: Line) -> None:
        """The question, the answer and the criteria of a graded answer, where it has them."""
        topic, run = line.optional_id("qid", "topic_id"), line.optional_id("run_id")
        if topic is None or run is None or "criteria" not in line.row:
            return
        self._cell(run, topic, line.optional_text("query"))
        if text := line.optional_text("answer_text"):
            self.answers[run, topic] = [{"text": text, "citations": []}]
        if topic not in self.rubrics:
            self.rubrics |= rubrics_of([line], linted=False)

    def judged_topics(self) -> list[str]:
        """Those that a run must answer; of passages alone those that have some."""
        return list(self.answered or self.topics)

    def inputs(self, made: Path, programs: list[str]) -> Config:
        """Write what was judged, and give the config that names it."""
        self.topics |= {t: b.query for t, b in self.banks.items() if not self.topics.get(t)}
        named = {
            "topics": [{"id": t, "title": text or t} for t, text in self.topics.items()],
            "runs": [
                _answer_row(run, topic, sentences)
                for (run, topic), sentences in self.answers.items()
            ],
            "passages": [{"docid": d, "text": text} for d, text in self.passages.items()],
        }
        folder = own_folder(made / _INPUTS)
        data = {}
        for name, rows in named.items():
            if rows:
                path = data[name] = folder / f"{name}.jsonl"
                path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
        settings = {"program": programs, "data": data, "support": {"citations": "all"}}
        return Config.model_validate({**settings, "run": {"out": made}})

    def _once(self, kind: FileKind, read: Callable[..., Iterator[Any]]) -> Iterator[Any]:
        """The rows of all files of a kind; an answer that two files have is an error."""
        seen: dict[tuple[str, str], Path] = {}
        for path in self.tool.files[kind]:
            for row in read(path, self.problems):
                first = seen.setdefault((row.run_id, row.topic_id), path)
                if first != path:
                    what = f"run {row.run_id!r}, topic {row.topic_id!r} is in {first} too"
                    raise InputError(f"{path}: {what}; name the folder, or file, of one judge")
                yield row

    def _cell(self, run_id: str, topic_id: str, query: str = "") -> None:
        self.runs[run_id] = self.answered[topic_id] = None
        self.topics[topic_id] = self.topics.get(topic_id) or query

    def _keep_sentences(self, row: SupportLabels) -> None:
        last = max((sentence.id for sentence in row.sentences), default=-1)
        sentences: list[dict[str, Any]] = [{"text": "", "citations": []} for _ in range(last + 1)]
        for each in row.sentences:
            cited = [citation.passage_id for citation in each.citations]
            sentences[each.id] = {"text": each.text, "citations": cited}
        if any(sentence["text"] for sentence in sentences):
            self.answers[row.run_id, row.topic_id] = sentences

    def _count(self, stage: str, ids: dict[str, Any], why: Unjudged | None) -> None:
        self.results.judged(stage, ids, why or Judged({}))


def _unjudged() -> Unjudged:
    return Unjudged(Reason.ERROR, _NOT_SAID)


def _why(call: SupportJudgement | None, *, asked: bool) -> Unjudged:
    """Why a citation has no label, by the tool's file of calls.

    Args:
        asked: whether there is such a file: a citation that it lacks had no text to be judged by.
    """
    if call is not None and call.reason is not None:
        return Unjudged(call.reason, call.detail, call.raw)
    if asked and call is None:
        return Unjudged(Reason.NO_PASSAGE, "the tool did not ask: it had no text of this passage")
    return _unjudged()


def _answer_row(run_id: str, topic_id: str, sentences: list[dict[str, Any]]) -> dict[str, Any]:
    references = list(dict.fromkeys(name for each in sentences for name in each["citations"]))
    answer = [
        {**each, "citations": [references.index(name) for name in each["citations"]]}
        for each in sentences
    ]
    return {"run_id": run_id, "topic_id": topic_id, "references": references, "answer": answer}


def _hold_against_theirs(tool: ToolFolder, scored: list[Any], problems: Problems) -> None:
    """Note, a row a file, how many of the tool's own values are others than these."""
    ours = {(row.run_id, row.topic_id, row.measure): row.value for row in scored}
    runs = {row.run_id for row in scored}
    for path in tool.files.get("scores", ()):
        found = Problems()
        rows = [row for row in read_scores(path, found) if row.topic_id != "all"]
        found.raise_errors()
        pairs = []
        for row in rows:
            run = row.run_id if row.run_id in runs or len(runs) > 1 else next(iter(runs))
            cell = (run, row.topic_id, MEASURES.get(row.measure, row.measure))
            if cell in ours:
                pairs.append((cell, row.value, ours[cell]))
        differ = [pair for pair in pairs if not _is_same(pair[1], pair[2])]
        if differ:
            (run, topic, measure), theirs, here = differ[0]
            what = f"{len(differ):,} of {len(pairs):,} values are others than the labels give here"
            example = f"{measure} of run {run!r}, topic {topic!r} is {theirs} there, {_said(here)}"
            problems.keep(path, 0, "other_metrics", f"{what}; {example} here")


def _is_same(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and abs(one - other) <= _ROUNDED)


def _said(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def _manifest(
    results: Results, notes: dict[str, Any], made: Path, problems: Problems
) -> dict[str, Any]:
    inputs = {str(path): hash_of(path) for path in sorted((made / _INPUTS).iterdir())}
    theirs = notes["judged_elsewhere"]
    digest = hashlib.sha256(orjson.dumps(theirs, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return {
        "fingerprint": digest,
        "versions": {},
        "inputs": inputs,
        "made_in": made_in(made),
        "judges": {},
        "answered_by": [],
        **notes,
        "problems": problems.counts(),
        "counts": {},
        "judged": dict(results.n_judged),
        "unjudged": dict(results.n_unjudged),
        "unjudged_by_reason": dict(results.reasons),
        "share_missing": results.share_missing,
        "limit_reached": None,
        "tokens": {},
        "this_time": {},
    }
