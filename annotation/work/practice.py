"""Items to try the app on, made up by us: five of each kind, with the label and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...records.evidence import text_hash
from ..store.events import Kind
from .wording import ShownText, is_of_narratives, judge_input, shown_name


class Practice(NamedTuple):
    """An item with its label. `why`: in words, shown when somebody has tried it."""

    texts: list[ShownText]
    label: str
    why: str


_Texts = tuple[str, ...]
_Item = tuple[_Texts, str, str]

_CANAL = "why did the canal close"
_CANAL_ANSWER = (
    "The canal closed in 1961, after the railway had taken most of its coal. By then two of its "
    "nine locks leaked."
)
_BREAD = "why does sourdough keep longer than other bread"
_BREAD_ANSWER = (
    "The acids in sourdough slow the growth of mould. They also hold water in the crumb, so the "
    "loaf stays soft for longer."
)
_OWLS = "how do owls hunt in the dark"
_OWLS_PASSAGE = (
    "A barn owl's ears are set at different heights. From the tiny delay between them it can place "
    "a mouse under snow, without seeing it."
)

# The names of the texts, then the items.
_NAMES: dict[Kind, _Texts] = {
    "nuggets": ("question", "answer_text", "nugget"),
    "support": ("question", "sentence", "passage"),
    "relevance": ("question", "passage"),
    "ratings": ("question", "context"),
    "keypoints": ("key_point", "response"),
    "rubric": ("question", "response", "criterion"),
    "verify": ("question", "text", "spans"),
    "bank": ("question", "nugget", "passage"),
}
_ITEMS: dict[Kind, list[_Item]] = {
    "nuggets": [
        (
            (_CANAL, _CANAL_ANSWER, "The railway took over the canal's coal traffic"),
            "support",
            "The answer says it in other words: most of its coal went to the railway.",
        ),
        (
            (_CANAL, _CANAL_ANSWER, "The canal closed in 1961 by an act of parliament"),
            "partial_support",
            "The year is there, the act of parliament is not.",
        ),
        (
            (_CANAL, _CANAL_ANSWER, "A drought left the canal without water"),
            "not_support",
            "Nothing is said of a drought. That locks leaked is another matter.",
        ),
        (
            (_CANAL, _CANAL_ANSWER, "All of the canal's locks were sound when it closed"),
            "not_support",
            "The answer says the opposite: two of them leaked.",
        ),
        (
            (_CANAL, _CANAL_ANSWER, "The canal had nine locks"),
            "support",
            "It is said in passing; that is enough.",
        ),
    ],
    "support": [
        (
            (_OWLS, "Barn owls can find a mouse by hearing alone.", _OWLS_PASSAGE),
            "full",
            "It can place the mouse without seeing it: that is hearing alone.",
        ),
        (
            (_OWLS, "Barn owls find prey by ear and see well at night.", _OWLS_PASSAGE),
            "partial",
            "Finding prey by ear is carried; nothing is said of how well they see.",
        ),
        (
            (_OWLS, "Owls fly without a sound.", _OWLS_PASSAGE),
            "none",
            "It may well be true, but this passage does not say it.",
        ),
        (
            (_OWLS, "A barn owl's ears are level with each other.", _OWLS_PASSAGE),
            "none",
            "The passage says otherwise: they are at different heights.",
        ),
        (
            (_OWLS, "Snow does not keep a mouse safe from a barn owl.", _OWLS_PASSAGE),
            "full",
            "It is not said in these words, but follows plainly.",
        ),
    ],
    "relevance": [
        (
            (_BREAD, "Sourdough's acids hold back mould and keep the crumb moist for days."),
            "3",
            "It answers the whole question.",
        ),
        (
            (_BREAD, "Loaves with more acid mould later, one of many things bakers noticed."),
            "2",
            "There is an answer in it, though sourdough has to be read into it.",
        ),
        (
            (_BREAD, "Sourdough is raised by wild yeast and bacteria instead of baker's yeast."),
            "1",
            "It is about sourdough, but does not say why it keeps.",
        ),
        (
            (_BREAD, "Cut the hedge in autumn, when the birds have left their nests."),
            "0",
            "It has nothing to do with the question.",
        ),
        (
            (_BREAD, "Keep bread in a cloth bag, not in the fridge, and it will last longer."),
            "1",
            "It is about bread that lasts, but not about why sourdough does.",
        ),
    ],
    "ratings": [
        (
            ("In which year did the canal close?", _CANAL_ANSWER),
            "5",
            "The year is all that was asked for, and it is there.",
        ),
        (
            ("What state were the locks in, and who had to repair them?", _CANAL_ANSWER),
            "3",
            "The first half is answered well, the second not at all.",
        ),
        (
            ("What happened to the towns along the canal?", _CANAL_ANSWER),
            "0",
            "Towns are not mentioned.",
        ),
        (
            ("Why did the railway take the coal?", _CANAL_ANSWER),
            "1",
            "The text says that it did, which touches the question, but not why.",
        ),
        (
            ("How many locks were there, and how many of them leaked?", _CANAL_ANSWER),
            "5",
            "Both numbers are there.",
        ),
    ],
    "keypoints": [
        (
            ("Acid slows mould on bread.", _BREAD_ANSWER),
            "yes",
            "The first sentence states it.",
        ),
        (
            ("Sourdough dries out sooner than other bread.", _BREAD_ANSWER),
            "no",
            "The answer says that it holds water: both cannot be right.",
        ),
        (
            ("Sourdough is easier to digest.", _BREAD_ANSWER),
            "neutral",
            "The answer is silent on it.",
        ),
        (
            ("Sourdough's crumb stays soft because it keeps its water.", _BREAD_ANSWER),
            "yes",
            "It is there in another order.",
        ),
        (
            ("Sourdough holds off mould for at least a week.", _BREAD_ANSWER),
            "neutral",
            "That it holds off mould is there; for how long is not, and that is the point.",
        ),
    ],
    "rubric": [
        (
            (_CANAL, _CANAL_ANSWER, "Gives the year in which the canal closed"),
            "met",
            "1961 is there.",
        ),
        (
            (_CANAL, _CANAL_ANSWER, "Says how many locks leaked, of how many, and since when"),
            "partly",
            "Two of nine is there, since when is not.",
        ),
        (
            (_CANAL, _CANAL_ANSWER, "Names the company that ran the railway"),
            "not_met",
            "The railway is there, no company.",
        ),
        (
            (_BREAD, _BREAD_ANSWER, "Claims that sourdough needs no salt"),
            "not_met",
            "The criterion names a fault, and the answer has not got it.",
        ),
        (
            (_BREAD, _BREAD_ANSWER, "Gives two reasons why sourdough keeps"),
            "met",
            "Mould and water are two.",
        ),
    ],
    "verify": [
        (
            (_BREAD, "Acids in sourdough slow mould.", "acidity keeps moulds from growing"),
            "yes",
            "The words carry it, and an answer needs it.",
        ),
        (
            (_BREAD, "Sourdough never goes mouldy.", "acidity keeps moulds from growing as fast"),
            "no",
            "The words say slower, not never.",
        ),
        (
            (_OWLS, "Owls place prey by ear.", "from the delay it can place a mouse"),
            "yes",
            "The words carry it, and it is what was asked for.",
        ),
        (
            (_OWLS, "Owls live on every continent.", "found everywhere but in Antarctica"),
            "no",
            "One continent is missing; and it would not help to answer the question.",
        ),
        (
            (_CANAL, "The railway took the coal.", "the coal went by rail from then on"),
            "yes",
            "It is the same in other words.",
        ),
    ],
    "bank": [
        (
            (_OWLS, "Owls hear well and fly silently", _OWLS_PASSAGE),
            "split",
            "Two facts: an answer may have one and not the other.",
        ),
        (
            (_OWLS, "Barn owls have heart-shaped faces and live in barns", _OWLS_PASSAGE),
            "delete",
            "No passage says it, and it does not tell how they hunt.",
        ),
        (
            (_OWLS, "It hears the delay", _OWLS_PASSAGE),
            "edit",
            "Nobody could tell what this means: say who hears which delay, and what for.",
        ),
        (
            (_OWLS, "Owls find prey by hearing / Owls locate prey with their ears", _OWLS_PASSAGE),
            "merge",
            "Both say the same.",
        ),
        (
            (_OWLS, "Barn owls can hunt prey that they do not see", _OWLS_PASSAGE),
            "vital",
            "An answer that does not say so has not answered.",
        ),
    ],
}


def practice_of(kind: Kind, scale: Sequence[str]) -> list[Practice]:
    """Items to practise on; [] where ours have labels that this scale has not.

    Those of `bank` have what to do with a nugget as their label.
    """
    found = [
        Practice(
            [
                ShownText(judge_input(kind, name), shown_name(kind, name), text, text_hash(text))
                for name, text in zip(_NAMES[kind], texts, strict=True)
            ],
            label,
            why,
        )
        for texts, label, why in _ITEMS.get(kind, [])
    ]
    fits = kind == "bank" or {one.label for one in found} <= set(scale)
    fits = fits and not (
        kind == "relevance" and is_of_narratives(scale)
    )  # 3 is another grade there
    return found if fits else []
