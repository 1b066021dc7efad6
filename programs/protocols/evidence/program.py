"""The evidence program: for sentences that their citations do not carry, what does?"""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from ....records.judgements import Judged, Outcome
from ....records.reading.problems import InputError
from ....records.rows import Answer, Passage, Sentence
from ....records.support import (
    NOT_SOUGHT,
    SentenceEvidence,
    Suggestion,
    read_sentence_evidence,
    sentence_evidence,
)
from ...config.base import JudgeName
from ...config.sections import Config
from ...engine.journal import object_of
from ...engine.stage import Item, acts
from ...inputs import Collection
from ..pieces import FileLines, Piece, explanation
from ..program import Folder, Meaning, Meanings, Program, Run, need_answers
from ..scoreboard import Scoreboard
from ..support import FILE as SUPPORT_FILE
from ..support import Labels, Support, labels_in
from .scores import MEASURES, REPAIRED, evidence_values

if TYPE_CHECKING:
    from ....agents import Agent, Corpus
    from ...engine.panel import Panel

FILE = "evidence.jsonl"
# Of the lexical judge's suggestions those are used that reach this score, for sentences of so many
# words: the rule is chosen on suggestions that were read (docs/agents.md); shorter sentences were
# headings and marks.
LEXICAL_LEAST, LEXICAL_WORDS = 0.7, 4
SUPPORT, RECHECK, UNCITED = "support", "recheck", "uncited"
_MADE = object_of(
    {
        "outcome": str,
        "suggestion": dict[str, Any] | None,
        "best": list[str],
        "contradiction": dict[str, Any] | None,
        "claims": list[dict[str, Any]],
        "queries": list[str],
    }
)

_TEXT = 2  # of a payload: where the sentence stands, see `EvidenceAgent.inputs`


class EvidenceSearch(Program):
    """An agent looks for evidence where a citation fails or is missing (`agents.evidence`).

    The support program's labels say where; they are judged here if it does not run too, or read
    from `evidence.labels`.
    """

    name = "evidence"
    judges_citations = True
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

    def judges_of(self, config: Config) -> tuple[JudgeName, ...]:
        """See Program; the second look needs a judge of its own."""
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
            what = "searches passages: name files of them (data.passages, --passages)"
            raise InputError(f"evidence {what}")

    async def judge(self, run: Run) -> None:
        """See Program."""
        labels, config = run.config.evidence.labels, run.config
        if labels is None and SUPPORT not in config.program:
            await Support().judge(run)
        path = labels or run.results.folder / f"{SUPPORT_FILE}.part"
        work = _Sentences(run, labels_in(path))
        agent = evidence_agent(config, run.panel, run.corpus(config.evidence.pipeline))
        judges = self.judges_of(config)
        stage = acts(self.name, judges, agent, work.items, made=_MADE)
        async with run.session.judged(stage, run.results) as outcome:
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
        board.leave_unmade((), MEASURES)

    def pieces(self, lines: FileLines) -> Iterator[Piece]:
        """What was found for each sentence for which evidence was sought, with its passage."""
        for row in sentence_evidence(lines(FILE)):
            if row.outcome == NOT_SOUGHT:
                continue
            finding = row.contradiction or row.suggestion
            name = str(row.sentence)
            ids = {"run_id": row.run_id, "sentence": name, "citation": row.citation}
            yield Piece(
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


class _Sentences:
    """The sentences that make a claim, each as what is known of it and what the agent gets."""

    def __init__(self, run: Run, labels: Labels) -> None:
        self._run, self._labels = run, labels
        self._of = run.config.evidence.of
        self._is_given = run.config.evidence.labels is not None

    def items(self) -> Iterator[Item]:
        """What the agent works on."""
        return (item for _, item in self.all() if item is not None)

    def all(self, *, count: bool = False) -> Iterator[tuple[SentenceEvidence, Item | None]]:
        """Each sentence; None in place of an item: nothing is sought for it."""
        for answer, passages in self._run.collection.cited_answers():
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
        """What is known before the search, and the label that says whether there is one."""
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


def evidence_agent(config: Config, panel: Panel, corpus: Corpus) -> Agent:
    """The agent of a config, with the judges of a panel."""
    from ....agents.evidence import EvidenceAgent, Plan

    settings = config.evidence
    return EvidenceAgent(
        corpus,
        support=panel[SUPPORT],
        recheck=panel[RECHECK] if RECHECK in config.judges else None,
        query_writer=panel["query_writer"],
        contradiction=panel["contradiction"],
        claim_extractor=panel["claim_extractor"],
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
    is_lexical = config.model_of(SUPPORT)[1].way == "lexical"
    least = config.evidence.least
    if least is None:
        least = LEXICAL_LEAST if is_lexical else 0.0
    if suggestion.label != "full" or (is_lexical and len(text.split()) < LEXICAL_WORDS):
        return False
    return suggestion.score is None or suggestion.score >= least
