"""The support task: does each cited passage support the sentence that cites it?"""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...metrics import Value, support_scores
from ...metrics.answer_scores import (
    SUFFIX,
    SUPPORT_GAINS,
    chances_of_label,
    expected_support_scores,
)
from ...records.kinds import Cell
from ...records.reading.fields import Line, as_int
from ...records.reading.problems import InputError, Problems
from ...records.rows import Answer, Passage, Sentence
from ...records.support import (
    SUPPORT_KIND,
    SupportLabels,
    SupportSentence,
    read_support,
    support_row,
    support_with_lines,
)
from ..config.sections import Config
from ..engine.results import Results
from ..engine.stage import Item, labels, make_rows
from ..inputs import Collection, load_collection
from .judged_items import Collected, JudgedItems
from .judgements import (
    MISSED,
    PARTLY,
    REMARKS,
    STATED,
    TEXTS,
    Answers,
    FileLines,
    Judgement,
    Words,
    explanation,
    read_texts,
)
from .program import CellTexts, Folder, Meaning, Meanings, Program, Run, need_answers
from .scoreboard import Scoreboard

if TYPE_CHECKING:
    from ...judges import ItemJudge

FILE = "support.jsonl"
# (run, topic) -> sentence -> passages of its citations with their labels
Labels = Mapping[tuple[str, str], Mapping[int, Sequence[tuple[str, str | None]]]]


_CITED = {"sentence": ("text",), "title": ("title",), "passage": ("passage",)}


class Support(Program):
    """One label for each sentence and judged citation (arXiv:2504.15205).

    Headings and sentences without text make no claim; they are counted and excluded. A sentence
    without citations is `none` without a call, and so is a citation of a passage that the system
    was not given (`Answer.not_given`). A citation of a passage without text in the data is
    `Unjudged(no_passage)`, never `none`.
    """

    name = "support"
    paper = (
        "Assessing Support for the TREC 2024 RAG Track: A Large-Scale Comparative Study of LLM "
        "and Human Evaluations",
        "2504.15205",
    )
    judges_answers = judges_citations = True
    needs = (("passages",), "contexts")
    judges = ("support",)
    kind, judged, files = "support", FILE, (FILE,)
    besides = "sentences by citation"
    matrix = "sentences"
    words = Words(
        *("Citations", "sentence", "fully supported"),
        labels={
            "full": (*STATED, "full support"),
            "partial": (*PARTLY, "partial support"),
            "none": (*MISSED, "no support"),
            "uncited": ("–", "o", "no citation"),
            "gap": ("", "o", "makes no claim"),
        },
    )
    meanings: ClassVar[Meanings] = {
        "support_precision": Meaning(
            "Mean support of the cited sentences, each by its first citation.",
            says="gets {} of full support from its citations",
            orders=6,
        ),
        "support_recall": "Mean support of all sentences; one without a citation scores 0.",
        "support_precision_all": "As support_precision, averaged over all citations of a sentence.",
        "support_recall_all": "As support_recall, averaged over all citations of a sentence.",
        "support_precision_hard": "As support_precision; partial support scores 0.",
        "support_recall_hard": "As support_recall; partial support scores 0.",
    }
    shown = tuple(meanings)
    n_official = 2
    file_kind, is_scored_alone = "support", True
    reads, may_lack = ("question", "sentence", "title", "passage"), ("question",)

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        names = list(_of_asked(support_scores([]), config.support.citations not in ("first", 1)))
        return (*names, *(name + SUFFIX for name in names))

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        need_answers(collection)
        data = config.data
        has_texts = data.passages or collection.passages or collection.files_with_documents
        if collection.cited and not has_texts:
            what = "name a file of them (data.passages, --passages)"
            raise InputError(f"support: no cited passage has a text; {what}")

    async def judge(self, run: Run) -> None:
        """See Program."""
        collection, results = run.collection, run.results
        citations = run.config.support.citations
        most = 1 if citations == "first" else None if citations == "all" else citations
        judge: ItemJudge = run.judge_set["support"]

        def items() -> Iterator[Item]:
            for answer, passages in collection.read_cited_answers():
                for sentence in answer.sentences:
                    if sentence.makes_claim:
                        yield from _items(judge, answer, sentence, passages, most).values()

        stage = labels("support", run.judge_set, "support", items, total=_total(collection, most))
        async with run.session.judge_stage(stage, results) as outcome:
            with results.open(FILE) as rows:
                for answer, passages in collection.read_cited_answers():
                    for sentence in _count_claims(answer, most, results):
                        at = (answer.run_id, answer.topic_id, sentence.id)
                        if not sentence.citations:
                            rows.write(support_row(*at, citation=None, rank=None, label="none"))
                        asked = _items(judge, answer, sentence, passages, most)
                        for rank, citation in enumerate(sentence.citations[:most]):
                            verdict: dict[str, Any] = {"label": "none"}
                            if rank in asked:
                                [verdict] = make_rows(outcome(asked[rank]), 1)
                            else:
                                results.count(
                                    "citations of passages that were not given (no support)"
                                )
                            name, label = citation.passage_id, verdict.pop("label")
                            rows.write(
                                support_row(
                                    *at, citation=name, rank=rank, label=label, label_scores=verdict
                                )
                            )

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program. `_all` measures appear only if more than the first citation was judged."""
        path = folder.need(FILE)
        every = folder.setting("support", "citations") not in ("first", 1)
        is_expected = False
        for row in read_support(path, folder.problems, folder.where):
            is_expected |= any(
                c.probabilities is not None for s in row.sentences for c in s.citations
            )
            verdicts = [[c.label for c in s.citations] for s in row.sentences]
            board.add(row.run_id, row.topic_id, _of_asked(support_scores(verdicts), every))
        board.mark_failed((), list(_of_asked(support_scores([]), every)))
        for row in read_support(path, Problems(), folder.where) if is_expected else ():
            board.add(row.run_id, row.topic_id, _of_asked(_compute_expected(row), every))

    def values(self, answers: Answers) -> dict[tuple[str, str], dict[str, Value]]:
        """See Program."""
        values = {}
        for at, judgements in answers.items():
            verdicts: dict[int | None, list[str | None]] = {}
            for one in judgements:
                of_sentence = verdicts.setdefault(one.sentence, [])
                of_sentence += [one.label] if one.docid is not None else []
            values[at] = support_scores(list(verdicts.values()))
        return values

    def items(self, folder: Folder) -> JudgedItems:
        """Return each judged citation of a sentence, with its weights."""
        families = {name: name.removesuffix("_hard") for name in SUPPORT_GAINS}
        collected = Collected(list(dict.fromkeys(families.values())))
        for row in read_support(folder.need(FILE), folder.problems):
            collected.topics[row.topic_id] = None
            n_citing = sum(bool(sentence.citations) for sentence in row.sentences)
            for sentence in row.sentences:
                for i, citation in enumerate(sentence.citations):
                    weights = _citation_weights(sentence, i, n_citing, len(row.sentences))
                    cell = (row.topic_id, row.run_id, str(sentence.id), citation.passage_id)
                    verdict = (citation.label, citation.probabilities)
                    collected.add(cell, row.run_id, *verdict, weights, is_first=i == 0)
        counted = dict.fromkeys(collected.weights, folder.list_counted(collected.topics))
        return collected.items(
            "support", SUPPORT_KIND.labels, SUPPORT_KIND.key, families, SUPPORT_GAINS, counted
        )

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield each judged citation of a sentence; a sentence without citations is `none`."""
        for _, row in support_with_lines(lines(FILE)):
            at = (row.topic_id, row.run_id)
            for sentence in row.sentences:
                name = str(sentence.id)
                for citation in sentence.citations:
                    docid = citation.passage_id
                    yield Judgement(
                        row.run_id,
                        row.topic_id,
                        (*at, name, docid),
                        "citation",
                        f"{name} {docid}",
                        sentence.text,
                        citation.label,
                        sentence=sentence.id,
                        docid=docid,
                        asked={"run_id": row.run_id, "sentence": name, "citation": docid},
                        **explanation(citation),
                    )
                if not sentence.citations:
                    fields = ("sentence", name, sentence.text, "none")
                    yield Judgement(row.run_id, row.topic_id, (), *fields, sentence=sentence.id)

    def read_stored_texts(self, lines: Iterable[Line]) -> CellTexts:
        """See Program."""
        for line in lines:
            named = [
                line.first(*names) for names in (("topic_id", "narrative_id", "qid"), ("run_id",))
            ]
            answer = [str(value[1]).strip() for value in named if value]
            question = read_texts(line, {"question": TEXTS["question"]})
            if "sentences" not in line.row:
                ids = [line.first(name) for name in ("sentence", "citation")]
                texts = read_texts(line, {**_CITED, **REMARKS})
                yield (*answer, *(str(value[1]).strip() for value in ids if value)), texts
                continue
            for position, item in enumerate(line.objects("sentences") or []):
                _, number = item.first("sentenceID", "sentence_id") or ("", position)
                texts = question | read_texts(item, {"sentence": ("text", "sentence")})
                for citation in item.objects("citations") or []:
                    name = citation.first("docid", "reference", "passage_id", "citation")
                    cell = (*answer, str(as_int(number)), str(name[1]).strip() if name else "")
                    yield cell, {**texts, **read_texts(citation, REMARKS)}

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """See Program."""
        data = load_collection(config.data, config.run.limit)
        for answer, passages in data.read_cited_answers():
            question = data.topics[answer.topic_id].question
            for sentence in answer.sentences:
                for citation in sentence.citations:
                    name = citation.passage_id
                    cell: Cell = (answer.topic_id, answer.run_id, str(sentence.id), name)
                    if cell in wanted and name in passages:
                        texts = {"question": question, "sentence": sentence.text}
                        passage = passages[name]
                        yield cell, {**texts, "title": passage.title, "passage": passage.text}


def labels_in(path: Path) -> Labels:
    """Return the labels of a support file. Raises: InputError with all errors."""
    problems = Problems()
    by_answer = {
        (row.run_id, row.topic_id): {
            sentence.id: [(each.passage_id, each.label) for each in sentence.citations]
            for sentence in row.sentences
        }
        for row in read_support(path, problems)
    }
    problems.raise_errors()
    return by_answer


def _of_asked(values: Mapping[str, Value], every: bool) -> dict[str, Value]:
    """Return the measures of an answer; `_all` measures only if every citation was judged."""
    return {name: value for name, value in values.items() if every or "_all" not in name}


def _compute_expected(row: SupportLabels) -> dict[str, Value]:
    """Compute the support measures of an answer from probabilities."""
    gains = SUPPORT_GAINS["support_precision"]
    return expected_support_scores(
        [
            [chances_of_label(c.label, c.probabilities, gains) for c in sentence.citations]
            for sentence in row.sentences
        ]
    )


def _items(
    judge: ItemJudge,
    answer: Answer,
    sentence: Sentence,
    passages: Mapping[str, Passage],
    most: int | None,
) -> dict[int, Item]:
    """Yield the citations of a sentence to judge, from the first `most`, by rank."""
    items: dict[int, Item] = {}
    for rank, citation in enumerate(sentence.citations[:most]):
        name = citation.passage_id
        if name in answer.not_given:
            continue
        named = {
            "topic_id": answer.topic_id,
            "run_id": answer.run_id,
            "sentence": sentence.id,
            "citation": name,
        }
        if (passage := passages.get(name)) is not None:
            titles = judge.optional_inputs({"title": passage.title}) if passage.title else {}
            items[rank] = Item(named, (sentence.text, passage.text, *titles.values()))
        else:
            items[rank] = Item(named, None, missing=f"passage {name} has no text in the data")
    return items


def _total(collection: Collection, most: int | None) -> int:
    """Count items with a text; an upper bound if reports include documents."""
    texts, inline = collection.passages, bool(collection.files_with_documents)
    return sum(
        n
        for (rank, passage_id), n in collection.cited.items()
        if (most is None or rank < most) and (inline or passage_id in texts)
    )


def _count_claims(answer: Answer, most: int | None, results: Results) -> Iterator[Sentence]:
    """Yield the judged sentences; count them and the others."""
    for sentence in answer.sentences:
        if sentence.is_heading or not sentence.text.strip():
            kind = "headings" if sentence.is_heading else "sentences without text"
            results.count(f"{kind} (make no claim)")
            if sentence.citations:
                results.count(f"citations of {kind} (not asked)", len(sentence.citations))
            continue
        results.count("sentences judged for support")
        if not sentence.citations:
            results.count("sentences without citation (no support)")
        if most is not None and len(sentence.citations) > most:
            more = len(sentence.citations) - most
            results.count(f"citations after the first {most} (not asked)", more)
        yield sentence


def _citation_weights(
    sentence: SupportSentence, at: int, n_citing: int, n_sentences: int
) -> dict[str, float]:
    """Return the weights of a citation in its answer's measures: by first, and by all."""
    share = 1 / len(sentence.citations)
    weights = {
        "support_precision_all": share / n_citing,
        "support_recall_all": share / n_sentences,
    }
    if at == 0:
        weights |= {"support_precision": 1 / n_citing, "support_recall": 1 / n_sentences}
    return weights
