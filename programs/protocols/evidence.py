"""The evidence task: passages for sentences that their citations do not support."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from ...metrics import Value, support_scores
from ...metrics.answer_scores import UNDEFINED
from ...records.answers import answers_with_lines, read_references
from ...records.judgements import Judged, Outcome
from ...records.reading.fields import Line, read_lines
from ...records.reading.problems import InputError, Problems
from ...records.rows import Answer, Passage, Sentence
from ...records.support import (
    NOT_SOUGHT,
    OUTCOMES,
    SentenceEvidence,
    Suggestion,
    read_sentence_evidence,
    sentence_evidence,
)
from ...records.writing import NewFile, own_folder
from ..config.base import JudgeName
from ..config.sections import Config
from ..engine.folders import find_inputs
from ..engine.journal import make_object_type
from ..engine.stage import Item, acts
from ..inputs import Collection, expand_runs
from .judgements import FileLines, Judgement, explanation
from .program import Folder, Meaning, Meanings, Program, Run, need_answers
from .scoreboard import Scoreboard
from .support import FILE as SUPPORT_FILE
from .support import Labels, Support, labels_in

if TYPE_CHECKING:
    from ...agents import Agent, Corpus
    from ..engine.judge_set import JudgeSet

REPAIRED = ("support_precision_repaired", "support_recall_repaired")
MEASURES = (*OUTCOMES, *REPAIRED)
FILE = "evidence.jsonl"
# A suggestion of the lexical judge is used if it reaches this score and its sentence has this many
# words: chosen on suggestions that people read (docs/agents.md); shorter sentences were headings
# and marks.
LEXICAL_LEAST, LEXICAL_WORDS = 0.7, 4
SUPPORT, RECHECK, UNCITED = "support", "recheck", "uncited"
_MADE = make_object_type(
    {
        "outcome": str,
        "suggestion": dict[str, Any] | None,
        "best": list[str],
        "contradiction": dict[str, Any] | None,
        "claims": list[dict[str, Any]],
        "queries": list[str],
    }
)
_TEXT = 2  # position of the sentence in a payload, see `EvidenceAgent.inputs`
SUFFIX = "-repaired"
ORIGINAL, FROM = "original_citations", "repaired_from"


class EvidenceSearch(Program):
    """An agent searches evidence for failed or missing citations (`agents.evidence`).

    Support labels show which sentences; they are judged here if the support task does not run, or
    read from `evidence.labels`.
    """

    name = "evidence"
    judges_citations = True
    needs = (("passages",), "contexts")
    judges = (SUPPORT, "query_writer", "contradiction", "claim_extractor", RECHECK)
    kind, judged, files = "evidence", FILE, (FILE,)
    besides = "sentences"
    meanings: ClassVar[Meanings] = {
        "cited_ok": Meaning(
            "Share of the sentences whose citation supports them.",
            says="supports {} of its sentences by their citations",
        ),
        "wrong_citation": Meaning(
            "Share of the sentences that another passage supports, but not their citation.",
            True,
        ),
        "uncited_supported": Meaning(
            "Share of the sentences without citation that a passage supports.", True
        ),
        "partly_supported": Meaning(
            "Share of the sentences that passages support only in part.", True
        ),
        "contradicted": Meaning("Share of the sentences that a passage contradicts.", True),
        "conflict": Meaning(
            "Share of the sentences that one passage supports and another contradicts.", True
        ),
        "not_found": Meaning("Share of the sentences that no passage found supports.", True),
        **{
            f"{name}_repaired": (
                f"What {name} would be with the suggested citations in place of the wrong ones."
            )
            for name in ("support_precision", "support_recall")
        },
    }
    shown = (*MEASURES[1:3], "contradicted", "not_found", REPAIRED[0])

    def list_judges(self, config: Config) -> tuple[JudgeName, ...]:
        """See Program; the second check needs another judge."""
        return self.judges if RECHECK in config.judges else self.judges[:-1]

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return (*self.shown, *(name for name in MEASURES if name not in self.shown))

    def has_agents(self, config: Config) -> bool:
        """See Program."""
        return True

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        need_answers(collection)
        if not config.data.passages:
            what = "searches passages: add passage files (data.passages, --passages)"
            raise InputError(f"evidence {what}")

    async def judge(self, run: Run) -> None:
        """See Program."""
        labels, config = run.config.evidence.labels, run.config
        if labels is None and SUPPORT not in config.program:
            await Support().judge(run)
        path = labels or run.results.folder / f"{SUPPORT_FILE}.part"
        work = _Sentences(run, labels_in(path))
        agent = evidence_agent(config, run.judge_set, run.corpus(config.evidence.pipeline))
        judges = self.list_judges(config)
        stage = acts(self.name, judges, agent, work.items, made=_MADE)
        async with run.session.judge_stage(stage, run.results) as outcome:
            with run.results.open(FILE) as rows:
                for evidence, item in work.all(count=True):
                    if item is not None:
                        text = item.payload[_TEXT] if item.payload is not None else ""
                        evidence = _with_outcome(evidence, outcome(item), text, config)
                    rows.write(evidence.as_row())

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        rows = read_sentence_evidence(folder.need(FILE), folder.problems, folder.where)
        for (run_id, topic_id), of_answer in groupby(rows, lambda row: (row.run_id, row.topic_id)):
            board.add(run_id, topic_id, evidence_values(list(of_answer)))
        board.mark_failed((), MEASURES)

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield the result of each search for a sentence, with its passage."""
        for row in sentence_evidence(lines(FILE)):
            if row.outcome == NOT_SOUGHT:
                continue
            finding = row.contradiction or row.suggestion
            name = str(row.sentence)
            ids = {"run_id": row.run_id, "sentence": name, "citation": row.citation}
            yield Judgement(
                row.run_id,
                row.topic_id,
                (),
                "sentence",
                name,
                "",
                row.outcome,
                sentence=row.sentence,
                docid=finding.passage_id if finding else None,
                asked={field: value for field, value in ids.items() if value is not None},
                **(explanation(finding) if finding else {}),
            )


def evidence_values(sentences: Sequence[SentenceEvidence]) -> dict[str, Value]:
    """The measures of one answer, each in [0, 1].

    The share of its sentences with each outcome, where sentences without a search count in the
    total. And support_precision and support_recall (see `support_scores`) as if each used
    suggestion were the sentence's first citation.

    Args:
        sentences: all sentences of the answer that make a claim.

    >>> row = {"run_id": "r", "topic_id": "t", "outcome": "not_found"}
    >>> given = [SentenceEvidence(sentence=n, **row) for n in range(2)]
    >>> evidence_values(given)["not_found"].value
    1.0
    """
    counts = Counter(sentence.outcome for sentence in sentences)
    n_unjudged = counts[None]
    values = {name: _share(counts[name], len(sentences), n_unjudged) for name in OUTCOMES}
    repaired = support_scores([_labels(sentence) for sentence in sentences])
    by_first = (repaired["support_precision"], repaired["support_recall"])
    return values | dict(zip(REPAIRED, by_first, strict=True))


def _share(count: int, n: int, n_unjudged: int) -> Value:
    if not n:
        return UNDEFINED
    judged = n - n_unjudged
    value = count / judged if judged else None
    return Value(value, judged, n_unjudged, count / n, (count + n_unjudged) / n)


def _labels(sentence: SentenceEvidence) -> list[str | None]:
    """Return the label of the first citation after repair; [] without a citation."""
    if sentence.repaired is not None:
        return ["full"]
    if sentence.outcome is None:
        return [None]
    return [] if sentence.citation is None else [sentence.label]


class _Sentences:
    """The sentences that make a claim, with what is known and the inputs of the agent."""

    def __init__(self, run: Run, labels: Labels) -> None:
        self._run, self._labels = run, labels
        self._of = run.config.evidence.of
        self._is_given = run.config.evidence.labels is not None

    def items(self) -> Iterator[Item]:
        """Return the items of the agent."""
        return (item for _, item in self.all() if item is not None)

    def all(self, *, count: bool = False) -> Iterator[tuple[SentenceEvidence, Item | None]]:
        """Yield each sentence; None instead of an item if it needs no search."""
        for answer, passages in self._run.collection.read_cited_answers():
            for sentence in answer.sentences:
                if sentence.makes_claim:
                    evidence, why = self._before_search(answer, sentence)
                    if why == "no label" and self._is_given:
                        if count:
                            self._run.results.count("sentences whose citations have no label")
                        yield evidence, None
                    elif why in (*self._of, "no label"):
                        yield evidence, self._item(evidence, answer, sentence, passages)
                    else:
                        yield evidence, None

    def _before_search(self, answer: Answer, sentence: Sentence) -> tuple[SentenceEvidence, str]:
        """Return what is known before the search, and the label that decides whether to search."""
        at = {"run_id": answer.run_id, "topic_id": answer.topic_id, "sentence": sentence.id}
        if not sentence.citations:
            return SentenceEvidence(**at, outcome=NOT_SOUGHT), UNCITED
        pairs = self._labels.get((answer.run_id, answer.topic_id), {}).get(sentence.id, ())
        labels = dict(pairs)
        names = [citation.passage_id for citation in sentence.citations]
        name = next((name for name in names if labels.get(name)), names[0])
        label = labels.get(name)
        evidence = SentenceEvidence(**at, citation=name, label=label, outcome=NOT_SOUGHT)
        return evidence, label or "no label"

    def _item(
        self,
        evidence: SentenceEvidence,
        answer: Answer,
        sentence: Sentence,
        passages: Mapping[str, Passage],
    ) -> Item:
        ids = {"topic_id": answer.topic_id, "run_id": answer.run_id, "sentence": sentence.id}
        ids["citation"] = evidence.citation
        if evidence.citation is not None and evidence.label is None:
            return Item(ids, None, missing=f"citation {evidence.citation} has no support label")
        cited = (c.passage_id for each in answer.sentences for c in each.citations)
        names = list(dict.fromkeys((*answer.references, *cited)))
        shared = self._run.collection.passages
        inline = self._run.collection.files_with_documents
        documents = {
            name: [passages[name].title, passages[name].text]
            for name in (names if inline else ())
            if name in passages and passages[name] is not shared.get(name)
        }
        question = self._run.collection.topics[answer.topic_id].question
        first = (answer.topic_id, question, sentence.text, evidence.citation, evidence.label)
        return Item(ids, (*first, names, documents))


def evidence_agent(config: Config, judge_set: JudgeSet, corpus: Corpus) -> Agent:
    """Make the agent of a config, with the judges of a judge_set."""
    from ...agents.evidence import EvidenceAgent, Plan

    settings = config.evidence
    return EvidenceAgent(
        corpus,
        support=judge_set[SUPPORT],
        recheck=judge_set[RECHECK] if RECHECK in config.judges else None,
        query_writer=judge_set["query_writer"],
        contradiction=judge_set["contradiction"],
        claim_extractor=judge_set["claim_extractor"],
        plan=Plan(
            settings.scope,
            settings.judged,
            settings.queries,
            settings.contradictions,
        ),
        calls=settings.calls,
    )


def _with_outcome(
    before: SentenceEvidence, outcome: Outcome, text: str, config: Config
) -> SentenceEvidence:
    calls = len(outcome.provenance)
    if not isinstance(outcome, Judged):
        return before.model_copy(update={"outcome": None, "calls": calls})
    made = dict(outcome.values["made"])
    row = made.pop("suggestion")
    suggestion = None if row is None else Suggestion.model_validate(row)
    shown = suggestion is not None and _is_shown(suggestion, text, config)
    earlier = before.model_dump(exclude={*made, "suggestion", "shown", "calls"})
    return SentenceEvidence(**earlier, **made, suggestion=suggestion, shown=shown, calls=calls)


def _is_shown(suggestion: Suggestion, text: str, config: Config) -> bool:
    is_lexical = config.get_model(SUPPORT)[1].way == "lexical"
    least = config.evidence.min_score
    if least is None:
        least = LEXICAL_LEAST if is_lexical else 0.0
    if suggestion.label != "full" or (is_lexical and len(text.split()) < LEXICAL_WORDS):
        return False
    return suggestion.score is None or suggestion.score >= least


def export_repaired(folder: Path, out: Path) -> dict[str, int]:
    """Write the runs of a results folder with used suggestions as first citations.

    Run names end in `-repaired`, and `repaired_from` names the original run. A changed sentence has
    `original_citations` beside `citations`; new passages are added at the end of `references`.
    Files keep their names, and lines without a suggestion are copied.

    Args:
        out: a folder without files of these names; it is created if it does not exist.

    Returns: counts of answers, changed answers and sentences.
    Raises: InputError if the runs have changed since they were judged, or a file exists already.
    """
    changes: dict[tuple[str, str], dict[int, tuple[str, bool]]] = {}
    problems = Problems()
    evidence = folder / FILE
    if not evidence.is_file():
        raise InputError(f"{folder}: has no {FILE}; run `judge run evidence` first")
    for row in read_sentence_evidence(evidence, problems):
        if (name := row.repaired) is not None:
            of_answer = changes.setdefault((row.run_id, row.topic_id), {})
            of_answer[row.sentence] = (name, row.citation is not None)
    problems.raise_errors()
    inputs = find_inputs(folder)
    paths = expand_runs(inputs.config.data.runs)
    inputs.check("its answers cannot be repaired", of=paths)
    names = [path.name.removesuffix(".gz") for path in paths]
    for name, n in Counter(names).items():
        if n > 1 or (out / name).exists():
            what = "is there already" if n == 1 else "would be written for two of the runs"
            raise InputError(f"{out / name}: {what}; name another --out")
    own_folder(out)
    counts: Counter[str] = Counter(answers=0, changed_answers=0, changed_sentences=0)
    for path, name in zip(paths, names, strict=True):
        with NewFile(out / name) as file:
            for written in _rows(path, changes, counts):
                file.write(orjson.dumps(written, option=orjson.OPT_APPEND_NEWLINE))
    return dict(counts)


def _rows(
    path: Path,
    changes: Mapping[tuple[str, str], Mapping[int, tuple[str, bool]]],
    counts: Counter[str],
) -> Iterator[dict[str, Any]]:
    for line, answer in answers_with_lines(read_lines(path, Problems()), is_checked=True):
        of_answer = changes.get((answer.run_id, answer.topic_id), {})
        counts["answers"] += 1
        counts["changed_answers"] += bool(of_answer)
        counts["changed_sentences"] += len(of_answer)
        row = _change(line, of_answer)
        holder = row["metadata"] if isinstance(row.get("metadata"), dict) else row
        holder["run_id"] = answer.run_id + SUFFIX
        yield {**row, FROM: answer.run_id}


def _change(line: Line, changes: Mapping[int, tuple[str, bool]]) -> dict[str, Any]:
    row: dict[str, Any] = orjson.loads(orjson.dumps(line.row))
    if not changes:
        return row
    field = "answer" if row.get("answer") is not None else "responses"
    listed = list(read_references(line).listed)
    references = list(row.get("references") or ())
    for index, (name, replaces) in changes.items():
        item = row[field][index]
        item = {"text": item} if isinstance(item, str) else item
        before = item.get("citations")
        written = list(before or ())  # keys of a map, in any order
        if isinstance(before, dict):
            written = sorted(before, key=lambda key: -_weight(before[key]))
        rest = written[1:] if replaces else written
        by_index = any(type(each) is int for each in written) or not written
        if name not in listed:
            listed.append(name)
            references.append(name)
        first: Any = listed.index(name) if by_index else name
        others = [each for each in rest if each not in (name, first)]
        row[field][index] = {**item, "citations": [first, *others], ORIGINAL: before}
    return {**row, "references": references}


def _weight(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float("-inf")
