"""What each measure says, in one sentence: for whoever reads scores without the documentation."""

from __future__ import annotations

from typing import NamedTuple

from ...metrics.expected import SUFFIX
from .measure_values import LENGTH


class Meaning(NamedTuple):
    """What a measure says.

    `is_quality`: False where neither more nor less is better; `is_less_better`: less is.
    """

    text: str
    is_less_better: bool = False
    is_quality: bool = True


_LENIENT = "a fact stated in part counts half"
_STRICT = "only facts stated in full count"
_FIRST = "by its first citation"
_MEANINGS: dict[str, Meaning] = {
    "V_strict": Meaning(f"Share of the vital facts that an answer states; {_STRICT}."),
    "V": Meaning(f"Share of the vital facts that an answer states; {_LENIENT}."),
    "A_strict": Meaning(f"Share of all facts that an answer states; {_STRICT}."),
    "A": Meaning(f"Share of all facts that an answer states; {_LENIENT}."),
    "W_strict": Meaning(f"As A_strict, where an okay fact weighs half of a vital one; {_STRICT}."),
    "W": Meaning(f"As A, where an okay fact weighs half of a vital one; {_LENIENT}."),
    "SN": Meaning(
        f"Mean share of the facts of each sub-narrative that an answer states; {_LENIENT}."
    ),
    "SN_strict": Meaning(
        f"Mean share of the facts of each sub-narrative that an answer states; {_STRICT}."
    ),
    "SN_vital": Meaning("Share of the sub-narratives with a vital fact that is stated in full."),
    LENGTH: Meaning("Words of an answer, over the topics that the run answered.", False, False),
    "support_precision": Meaning(
        f"How far the sentences that cite something are carried, each {_FIRST}: "
        "1 in full, .5 in part."
    ),
    "support_recall": Meaning(
        f"How far all sentences are carried, each {_FIRST}; one that cites nothing counts 0."
    ),
    "support_precision_all": Meaning("As support_precision, by the mean over all citations."),
    "support_recall_all": Meaning("As support_recall, by the mean over all citations."),
    "support_precision_hard": Meaning("As support_precision; only support in full counts."),
    "support_recall_hard": Meaning("As support_recall; only support in full counts."),
    "support_precision_repaired": Meaning(
        "What support_precision would be with the suggested citations in place of the wrong ones."
    ),
    "support_recall_repaired": Meaning(
        "What support_recall would be with the suggested citations in place of the wrong ones."
    ),
    "cited_ok": Meaning("Share of the sentences whose citation carries them."),
    "wrong_citation": Meaning(
        "Share of the sentences whose citation does not carry them, but another passage does.", True
    ),
    "uncited_supported": Meaning(
        "Share of the sentences without citation that a passage carries.", True
    ),
    "partly_supported": Meaning("Share of the sentences that passages carry only in part.", True),
    "contradicted": Meaning("Share of the sentences that a passage contradicts.", True),
    "conflict": Meaning(
        "Share of the sentences that one passage carries and another contradicts.", True
    ),
    "not_found": Meaning("Share of the sentences that no passage found carries.", True),
    "question_coverage_supported": Meaning(
        "Share of the listed questions that sentences answer whose citations carry them."
    ),
    "question_coverage": Meaning(
        "Share of the listed questions that the report answers, whatever it cites."
    ),
    "question_coverage_weighted": Meaning(
        "As question_coverage_supported, where a vital question counts twice."
    ),
    "said_uncited": Meaning(
        "Share of the listed questions that the report answers, but only without a citation.", True
    ),
    "said_unsupported": Meaning(
        "Share of the listed questions that the report answers, but only where a citation fails.",
        True,
    ),
    "sentence_support": Meaning(
        "Share of the sentences that all their judged citations carry in full."
    ),
    "report_f1": Meaning("Harmonic mean of question_coverage_supported and sentence_support."),
    "over_length": Meaning("Share of the reports that are longer than allowed.", True),
    "coverage": Meaning("Share of the answerable sub-questions that the context answers."),
    "report_coverage": Meaning("Share of the answerable sub-questions that the answer answers."),
    "alpha_ndcg": Meaning(
        "How early the context's passages answer new sub-questions, "
        "against the best order of the pool."
    ),
    "alpha_ndcg_required": Meaning(
        "The same against the best order of the required passages alone; can be above 1."
    ),
    "density": Meaning("Answers per token of the context; 1 is as dense as the required passages."),
    "report_density": Meaning(
        "Answers per token of the answer; 1 is as dense as the required passages."
    ),
    "redundancy": Meaning(
        "Share of what the context's passages answer that one above answered before.", True
    ),
    "win_rate": Meaning(
        "Share of its battles that an answer wins, a tie as half; over the topics with battles."
    ),
    "strength": Meaning(
        "Bradley-Terry strength: 400 points more are odds of 10 to 1; the mean of runs is 1000."
    ),
    "elo": Meaning("Elo rating, the mean over random orders of the battles; runs start at 1000."),
    "battle_ties": Meaning("Share of battles that end in a tie.", False, False),
    "battle_splits": Meaning(
        "Share of battles where the judge says another thing when the answers change places.",
        False,
        False,
    ),
    "KPR": Meaning("Share of the key points that an answer states."),
    "KPP": Meaning("Share of an answer's claims that state a key point."),
    "KPF": Meaning("Harmonic mean of KPR and KPP."),
    "rubric": Meaning(
        "What an answer earns of its rubric's weights above 0, penalties taken off, from 0 to 1; "
        "a criterion met in part counts half."
    ),
    "rubric_strict": Meaning("As rubric; a criterion that is met in part counts nothing."),
    "rubric_unclipped": Meaning("As rubric, but penalties can take it below 0."),
    "rubric_earned": Meaning(
        "What an answer earns of its rubric's weights above 0, without penalties."
    ),
    "nDCG": Meaning("How early the well graded passages stand, against the best order of them."),
    "P(rel=2)": Meaning("Share of the passages above the cut that are graded 2 or better."),
    "AP(rel=2)": Meaning("Average precision, where grades of 2 or better are relevant."),
    "AP": Meaning("Average precision of the context's passages."),
    "R": Meaning("Share of the relevant passages that are in the context."),
}


def meaning(measure: str) -> Meaning:
    """What a measure says; of one of a judge of one's own, what its name says."""
    name, _, cut = measure.partition("@")
    if found := _MEANINGS.get(name):
        return found._replace(text=f"{found.text[:-1]}, of the first {cut}.") if cut else found
    if name.endswith(SUFFIX):
        found = meaning(name.removesuffix(SUFFIX))
        return found._replace(text=f"{found.text[:-1]}, by the judge's probabilities.")
    if name.startswith("share_"):
        label = name.removeprefix("share_")
        return Meaning(f"Share of the items that are labelled {label}.", False, False)
    return Meaning("What the items earn by their labels, on average.")
