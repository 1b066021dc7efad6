"""Before anything is asked: is the data there that the programs need, and what will they take?"""

from __future__ import annotations

from typing import get_args

from ..records.reading.problems import InputError
from ..records.rows import Nugget, NuggetBank
from .config.sections import Config, JudgeName, ProgramName
from .engine.estimates import (
    KEYED_TOKENS,
    LABEL_TOKENS,
    NUGGET_TOKENS,
    Asked,
    Estimate,
    estimated,
    placeholder,
    reply_tokens,
)
from .engine.panel import Panel
from .inputs.collection import Collection
from .protocols.coverage.plan import check_coverage, coverage_estimates
from .protocols.items import ItemCollection, ItemStage
from .protocols.keypoints.plan import check_keypoints, keypoint_estimates
from .protocols.nuggets import AssignStage, BankStage
from .protocols.relevance import RelevanceStage
from .protocols.support import SupportStage

_JUDGES: dict[ProgramName, tuple[JudgeName, ...]] = {
    "relevance": ("relevance",),
    "nuggets": ("relevance", "nuggetizer", "importance", "assigner"),
    "support": ("support",),
    "coverage": ("subquestions", "answerability"),
    "keypoints": (
        *("keypoint_extractor", "keypoint_merger", "keypoint_filter"),
        *("entailment", "claim_extractor", "claim"),
    ),
}


def judges_of(config: Config) -> list[JudgeName]:
    """The judges that the programs of a run may ask."""
    if "items" in config.program:
        return [config.items.name]
    return [name for program in config.program for name in _JUDGES[program]]


def check_data(config: Config, collection: Collection) -> None:
    """Raise InputError if a program cannot run on this data; list what it will leave out."""
    if not config.program:
        raise InputError(f"no program: name {', '.join(get_args(ProgramName))} (program:)")
    if isinstance(collection, ItemCollection):
        return  # checked as it was read
    if "relevance" in config.program and not collection.candidates:
        raise InputError("relevance grades candidates: name a file (data.candidates, --candidates)")
    if {"nuggets", "support", "keypoints"} & set(config.program) and not collection.n_answers:
        raise InputError("no answers: name the runs to judge (data.runs, --runs)")
    has_texts = config.data.passages or collection.passages or collection.files_with_documents
    if "support" in config.program and collection.cited and not has_texts:
        what = "name a file of them (data.passages, --passages)"
        raise InputError(f"support: no cited passage has a text; {what}")
    if "coverage" in config.program:
        check_coverage(config, collection)
    if "keypoints" in config.program:
        check_keypoints(config, collection)
    needs_bank = "nuggets" in config.program
    if needs_bank and collection.banks is None and not collection.candidates:
        what = "a nugget bank (data.nuggets) or candidates to make one (data.candidates)"
        raise InputError(f"nuggets needs {what}")
    uses_candidates = "relevance" in config.program or (needs_bank and collection.banks is None)
    if uses_candidates:
        _check_candidates(config, collection, needs_bank and collection.banks is None)


def _check_candidates(config: Config, collection: Collection, makes_bank: bool) -> None:
    where = config.data.candidates or "candidates"
    for topic in collection.topics:
        ranking = collection.candidates.get(topic)
        ids = ranking.passage_ids if ranking else ()
        with_text = [i for i in ids if i in collection.passages]
        for passage_id in ids:
            if passage_id not in collection.passages:
                what = f"candidate {passage_id!r} of topic {topic!r} has no text in the passages"
                collection.problems.skip(where, 0, "candidate_without_text", what)
        if makes_bank and collection.qrels:
            grades = collection.qrels.get(topic, {})
            for passage_id in with_text:
                if passage_id not in grades:
                    what = f"candidate {passage_id!r} of topic {topic!r} has no grade in the qrels"
                    collection.problems.skip(where, 0, "candidate_without_grade", what)
        elif not with_text:
            what = f"topic {topic!r} has no candidate with text"
            collection.problems.skip(where, 0, "no_candidates", what)


def estimate(config: Config, collection: Collection, panel: Panel) -> list[Estimate]:
    """Calls, tokens and money by judge, as if nothing were in the cache or the journal.

    Exact in calls where the nuggets are given; where they are to be made, `keep` nuggets a topic
    are assumed, and all candidates where grades are to be made too.
    """
    if isinstance(collection, ItemCollection):
        judge = panel.item_judge(config.items.judge or "")
        items = ItemStage(collection, judge)
        asked = Asked.of(judge.prompt(judge.predictor), map(items.inputs, items.items()))
        return [estimated(config, config.items.name, asked, LABEL_TOKENS * judge.window)]
    found: list[Estimate] = []
    makes_bank = "nuggets" in config.program and collection.banks is None
    must_grade = makes_bank and not collection.qrels
    if "relevance" in config.program or must_grade:
        stage = RelevanceStage(collection, panel.relevance)
        asked = Asked.of(panel.relevance.prompt("judge"), map(stage.inputs, stage.items()))
        found.append(estimated(config, "relevance", asked, LABEL_TOKENS))
    if "nuggets" in config.program:
        found += _bank_estimates(config, collection, panel, must_grade) if makes_bank else []
        banks: dict[str, NuggetBank | None] = dict(collection.banks or {})
        if makes_bank:
            assumed = _assumed_nuggets(config.nuggets.keep)
            banks = {
                t.id: NuggetBank(topic_id=t.id, query=t.text, nuggets=assumed)
                for t in collection.topics.values()
            }
        banks = {topic: bank for topic, bank in banks.items() if topic in collection.topics}
        assign = AssignStage(collection, banks, panel.assigner)
        asked = Asked.of(panel.assigner.prompt("assign"), map(assign.inputs, assign.items()))
        found.append(estimated(config, "assigner", asked, reply_tokens(panel.assigner)))
    if "support" in config.program:
        support = SupportStage(collection, panel.support, config.support.citations)
        asked = Asked.of(panel.support.prompt("judge"), map(support.inputs, support.items()))
        found.append(estimated(config, "support", asked, LABEL_TOKENS))
    if "coverage" in config.program:
        found += coverage_estimates(config, collection, panel)
    if "keypoints" in config.program:
        found += keypoint_estimates(config, collection, panel)
    return found


def _bank_estimates(
    config: Config, collection: Collection, panel: Panel, must_grade: bool
) -> list[Estimate]:
    grades: dict[str, dict[str, int]] = dict(collection.qrels)
    if must_grade:
        least = config.nuggets.min_grade
        grades = {t: dict.fromkeys(r.passage_ids, least) for t, r in collection.candidates.items()}
    stage = BankStage(collection, grades, panel.nuggetizer, panel.importance, config.nuggets)
    most, window = config.nuggets.most, panel.nuggetizer.window
    update, rate = panel.nuggetizer.prompt("update"), panel.importance.prompt("rate")
    create, rated = Asked(), Asked()
    for item in stage.items():
        question, passages = item.payload
        for start in range(0, len(passages), window):
            batch = {str(i): text for i, text in enumerate(passages[start : start + window])}
            inputs = {"question": question, "limit": most, "nuggets": [], "passages": batch}
            create.add(update, inputs, NUGGET_TOKENS * most if start else 0)
        for start in range(0, most, panel.importance.window):
            size = min(panel.importance.window, most - start)
            inputs = {"question": question, "nuggets": {}}
            rated.add(rate, inputs, NUGGET_TOKENS * size)
    return [
        estimated(config, "nuggetizer", create, NUGGET_TOKENS * most),
        estimated(config, "importance", rated, KEYED_TOKENS * panel.importance.window),
    ]


def _assumed_nuggets(n: int) -> tuple[Nugget, ...]:
    size = NUGGET_TOKENS - 2  # beside its number
    return tuple(Nugget(id=f"n{i}", text=placeholder(size)) for i in range(n))
