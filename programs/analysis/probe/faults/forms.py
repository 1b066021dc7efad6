"""What can be planted for a judge, what it cannot see, and what has no certain direction."""

from __future__ import annotations

from .....judges import ItemJudge
from .....judges.lexical.criteria import required_text
from .....judges.own import OwnJudge
from .cases import FAULTS, Form
from .values import VALUES

_CONTENT_STAYS = ("duplication", "reordering", "padding")
_IN_ANSWERS = ("negation", *VALUES, "omission", *_CONTENT_STAYS)
_IN_SENTENCES = ("citation-swap", "negation", *VALUES, "duplication", "padding")
_UNCITED = "answers are judged without their citations"
_ALONE = "each sentence is judged by itself, with what it cites"
_REMOVED = "nothing is asked; support_recall counts it, support_precision does not"
_QUESTION = "a question does not say its answer"

_CRITERION = Form(
    *("criterion", "response", "source"),
    plants=_IN_ANSWERS,
    blind=dict.fromkeys(("citation-swap", "citation-removal"), _UNCITED),
    needed=required_text,
)

FORMS = {  # by judge
    "criterion": _CRITERION,
    "binary_criterion": _CRITERION,
    "assigner": Form(
        *("nugget", "answer", "source"),
        plants=_IN_ANSWERS,
        blind=dict.fromkeys(("citation-swap", "citation-removal"), _UNCITED),
    ),
    "support": Form(
        *("sentence", "passage", "target"),
        plants=_IN_SENTENCES,
        blind={"omission": _ALONE, "reordering": _ALONE, "citation-removal": _REMOVED},
    ),
    "entailment": Form(
        *("key_point", "response", "source"),
        plants=_IN_ANSWERS,
        blind=dict.fromkeys(("citation-swap", "citation-removal"), _UNCITED),
    ),
    "answerability": Form(
        *("question", "context", "source"),
        plants=_CONTENT_STAYS,
        blind=dict.fromkeys(("citation-swap", "citation-removal"), _UNCITED),
    ),
}


def form_of(judge: ItemJudge) -> Form | None:
    """What can be planted for a judge; None where nothing says what it looks for in what.

    That of a judge of your own is its lexical rule: the best label is of items whose `look_for`
    stands in what `in` names.
    """
    if (form := FORMS.get(judge.name)) is not None:
        return form
    rule = judge.definition.lexical if isinstance(judge, OwnJudge) else None
    if rule is None:
        return None
    blind = dict.fromkeys(("omission", "reordering"), "each item is judged by itself")
    blind["citation-removal"] = "an item without what it cites is not asked about"
    return Form(rule.look_for, rule.source, "target", plants=_IN_SENTENCES, blind=blind)


def why_not(judge: ItemJudge) -> str:
    """Why a judge has no form."""
    if judge.name == "relevance":
        return "it judges passages, and faults are planted in what systems wrote"
    return "nothing says what it looks for in what; for a YAML file its `lexical:` section does"


def unplanted(form: Form) -> dict[str, str]:
    """The faults that are not planted for want of a direction, with the reason."""
    return {name: _QUESTION for name in FAULTS if name not in (*form.plants, *form.blind)}
