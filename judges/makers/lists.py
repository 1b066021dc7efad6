"""Shared parts of judges that make lists: loading, fitting, dry runs and worked examples.

Everything in the worked examples is made up for the prompts: no place, ship, firm or product is
real, so that an example cannot help with real data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import dspy

from ..base import Judge

ListKind = Literal["nuggets", "questions", "key_points", "claims"]
Inputs = Mapping[str, Any]
Spans = Mapping[str, Sequence[str]]


class ListMaker(Judge):
    """A judge that makes a list, which can be compared with a human list.

    Args:
        model, backend: the model that answers, see `ItemJudge`.

    Attributes:
        kind: the kind of files with human lists.
        made_from: the inputs of a list, the arguments of `make_texts`.
        predictor, output: the question, and the field of the reply that holds the list.

    >>> from nuggetjudge.judges import Nuggetizer
    >>> judge = Nuggetizer("lexical")
    >>> isinstance(judge, ListMaker), judge.kind, judge.made_from
    (True, 'nuggets', ('question', 'passages'))
    """

    kind: ClassVar[ListKind]
    made_from: ClassVar[tuple[str, ...]]
    predictor: ClassVar[str]
    output: ClassVar[str]

    async def make_texts(self, **inputs: Any) -> list[str]:
        """Make the texts of the list, in as many calls as needed.

        Args:
            inputs: the inputs of a list, by the names in `made_from`.

        Returns: the texts of the list, in order.
        Raises: JudgeError as for a call of the judge; TypeError if its class does not define it.
        """
        raise TypeError(f"{type(self).__name__} must define make_texts()")

    def example(self, inputs: Inputs, texts: Sequence[str], spans: Spans) -> dict[str, Any]:
        """Turn a human list into a worked example: a call whose reply is the list, ready for JSON.

        Args:
            inputs: the inputs of the list, by the names in `made_from`.
            texts: the texts of the human list.
            spans: of a text, if known, the verbatim words of the inputs that state it.

        Returns: the fields of the example, inputs and reply, by name.
        Raises: TypeError if the class of the judge does not define it.
        """
        raise TypeError(f"{type(self).__name__} must define example()")


UNKNOWN = "the result of a model's reply, unknown in advance"


def fill_up(texts: Sequence[str], most: int) -> list[str]:
    """Fill a list up to `most` texts: repeat the texts, each with a number.

    >>> fill_up(["Wind moves it."], 3)
    ['Wind moves it.', 'Wind moves it. 2', 'Wind moves it. 3']
    """
    repeated = texts or [UNKNOWN]
    more = range(len(texts), most)
    return [*texts, *(f"{repeated[n % len(repeated)]} {n + 1}" for n in more)]


def add_example(predict: dspy.Predict, example: dict[str, Any]) -> None:
    """Show this example before each question of a predictor."""
    predict.demos = [dspy.Example(**example).with_inputs(*predict.signature.input_fields)]


_CANAL = "Why did the Ostrel Canal close, and what is it used for now?"

# Essential facts first; the last two are worthwhile. Nothing asks who kept roses.
NUGGETS: dict[str, Any] = {
    "question": _CANAL,
    "passages": {
        "1": (
            "Barges last used the Ostrel Canal in 1987. That spring a landslide at Tarn Hill "
            "blocked it, and clearing the rock would have cost as much as three years of tolls. "
            "The lock keepers were known for their roses."
        ),
        "2": (
            "The Ostrel Canal is 14 kilometres long. Its northern half is dry and serves as a "
            "cycle path. The southern half still holds water, and rowing clubs train there."
        ),
    },
    "asked": _CANAL,
    "nuggets": ["Barges last used the Ostrel Canal in 1987"],
    "limit": 30,
    "updated": [
        "A landslide at Tarn Hill blocked the Ostrel Canal in 1987",
        "Clearing the Ostrel Canal would have cost three years of tolls",
        "The dry northern half of the Ostrel Canal is a cycle path",
        "Rowing clubs train on the southern half of the Ostrel Canal",
        "Barges last used the Ostrel Canal in 1987",
        "The southern half of the Ostrel Canal still holds water",
    ],
}

FERRY = (
    "The car ferry Marrin Star ran aground off Coldhaven on 3 February 2011 with 84 people "
    "aboard. Lifeboats took all of them ashore within five hours; two passengers broke bones. "
    "The inquiry found that the mate, alone on the bridge after a double shift, had fallen "
    "asleep and that the watch alarm had been switched off for months. It blamed the owner, "
    "Selwick Lines, for short crews and poor records. Selwick was fined 1.2 million, sold its "
    "two oldest ships and hired 30 seamen. Coldhaven, which lives on visitors, lost a third "
    "of its summer trade while the pier stayed closed. Since 2013 every ferry on that coast "
    "must carry two officers on the bridge at night."
)

SUBQUESTIONS: dict[str, Any] = {
    "report": FERRY,
    "known": ["When and where did the car ferry Marrin Star run aground?"],
    "wanted": 5,
    "questions": [
        "How were the people aboard the grounded ferry Marrin Star rescued in 2011?",
        "Why did nobody on the bridge of the Marrin Star prevent the grounding of 2011?",
        "What happened to the owner Selwick Lines after its ferry Marrin Star ran aground?",
        "How did the grounding of the Marrin Star affect summer trade in Coldhaven?",
        "Which safety rule for ferries on the Coldhaven coast took effect in 2013?",
    ],
}

_COATING = "Is the hull coating Velline worth its price for a ferry company?"

# The second point is stated in two separate places, so it has two spans.
KEY_POINTS: dict[str, Any] = {
    "question": _COATING,
    "document": (
        "Velline is a coating for the hulls of ships. In trials on six ferries in 2016 it cut "
        "fuel use by 4 percent. Barnacles, however, came back after 14 months. Its maker, Oder "
        "and Finch, also sells varnish for violins. A new coat costs more than the fuel that it "
        "saves in that time."
    ),
    "known": [],
    "points": [
        {
            "text": "In trials on six ferries in 2016, the hull coating Velline cut fuel use by 4 "
            "percent.",
            "spans": ["In trials on six ferries in 2016 it cut fuel use by 4 percent."],
        },
        {
            "text": "Barnacles come back after 14 months, before the hull coating Velline has "
            "saved what a new coat costs.",
            "spans": [
                "Barnacles, however, came back after 14 months.",
                "A new coat costs more than the fuel that it saves in that time.",
            ],
        },
    ],
}

# 1 and 3 are one fact, 2 contradicts both, and 4 is only about the same product.
MERGED_POINTS: dict[str, Any] = {
    "question": _COATING,
    "points": {
        "1": "The hull coating Velline cut the fuel use of ferries by 4 percent.",
        "2": "A shipping line found no effect of the hull coating Velline on fuel use.",
        "3": "In trials of 2016, ferries with the hull coating Velline used 4 percent less fuel.",
        "4": "A coat of Velline lasts for 14 months.",
    },
    "rejected": [],
    "faults": [],
    "merged": [
        {
            "text": "In trials of 2016, the hull coating Velline cut the fuel use of ferries by 4 "
            "percent.",
            "members": [1, 3],
        },
        {
            "text": "A shipping line found no effect of the hull coating Velline on fuel use.",
            "members": [2],
        },
        {"text": "A coat of Velline lasts for 14 months.", "members": [4]},
    ],
}

# One sentence has two claims, "it" becomes a name; the question, the remark about the answer
# and the repeated claim are left out.
CLAIMS: dict[str, Any] = {
    "answer": (
        "Is Velline worth its price? Here is what was found. In trials on six ferries in 2016 "
        "the hull coating cut fuel use by 4 percent, but barnacles came back after 14 months. A "
        "new coat costs more than the fuel that was saved. So Velline saved 4 percent of fuel."
    ),
    "claims": [
        "In trials on six ferries in 2016, the hull coating Velline cut fuel use by 4 percent.",
        "Barnacles came back 14 months after ferries were coated with Velline.",
        "A new coat of Velline costs more than the fuel that it saves.",
    ],
}
