"""What people are told before they label: the project's own file, or a few words for each kind."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...records.reading.problems import InputError
from ..store.events import Kind

HASH_CHARS = 16
MOST_CHARS = 200_000

_TELL = "Where you cannot decide, say so (cannot tell): a guess is counted as your judgement."
_ALONE = "Go by the words in front of you, not by what you know or could look up."

DEFAULTS: dict[Kind, str] = {
    "nuggets": f"""Each item shows an answer and one fact. How much of it does the answer state?

all of it: everything in the fact can be read in the answer, in whatever wording.
part of it: some of it is there, or all but a detail that matters.
none of it: nothing of it is there, or the answer says the opposite.

How true, useful or well written the answer is does not matter here. {_ALONE}

{_TELL}""",
    "support": f"""Each item shows a sentence of an answer and the passage that it cites.

all of it: every claim of the sentence stands in the passage or plainly follows from it.
part of it: at least one claim does, at least one does not.
none of it: no claim does, or the passage says otherwise.

A sentence that is true but not carried by this passage is "none of it". {_ALONE}

{_TELL}""",
    "relevance": f"""Each item shows a question and a passage.

3: the passage is about the question and answers all of it.
2: there is an answer, but it is incomplete, unclear or hidden among other things.
1: it is about the same subject and answers nothing.
0: it is about something else.

Think of what a person who asks this most likely wants.

{_TELL}""",
    "ratings": f"""Each item shows a question and a text. How well does the text answer it?

5: completely, with all that was asked for.
4: nearly; a small thing is missing.
3: in good part, enough to count as an answer.
2: a little, not enough to count.
1: it touches the question.
0: not at all.

{_ALONE}

{_TELL}""",
    "keypoints": f"""Each item shows an answer and a key point. Does the answer state the point?

it states it: somebody who reads the answer learns the point, in whatever wording.
it does not say: the answer is silent on it, or says too little of it.
it says otherwise: the answer and the point cannot both be right.

{_ALONE}

{_TELL}""",
    "rubric": f"""Each item shows an answer and a criterion. Does the answer meet it?

all of it: everything that the criterion asks for is there, in whatever wording.
part of it: some of it is there, or all of it too vaguely to be of use.
none of it: it is missing, or wrong where it stands.

A criterion may name a fault. Then "all of it" says that the answer has the fault. {_ALONE}

{_TELL}""",
    "items": f"""Read all texts of an item, then give the label that fits best. {_ALONE}

{_TELL}""",
    "bank": """Make the list of facts that you would hold an answer to the question against.

Split: a fact is one statement that an answer either has or has not.
Merge: several that say the same are one.
Edit: mend wording that somebody could take in two ways.
Delete: what no passage states, or nobody who asks would want.
Add: what a good answer has and the list lacks.

When the list stands, say of each fact how much an answer needs it.

vital: without it an answer is not good.
okay: an answer is the better for it.""",
    "verify": f"""Each key point comes with the words of the documents that it was made of.

Do the quoted words carry it? yes: all of the point stands in them or follows from them.
Does it help to answer the question? yes: an answer without it lacks something.

Answer the second question also where the first is no.

{_TELL}""",
}

NARRATIVES = """Each item shows a long narrative, where they are known its parts, and a passage.

Count the parts of the narrative that the passage answers in detail: with facts, reasons, examples.

4: four parts or more.
3: two or three parts.
2: one part.
1: it is about the same subject and answers no part in detail.
0: it is about something else.

One grade less, but not below 1, where far more of the passage is about other matter."""


def guidelines_of(kind: Kind, path: Path | None = None, about: str = "") -> str:
    """The guidelines of a task, as plain text.

    Args:
        path: of the project's own. about: what the judge is asked, which its people are asked too
            where they have no file; "": what is said of the kind.

    Raises: InputError for a file that cannot be read, is empty or too long.
    """
    if path is None:
        return f"{about.strip()}\n\n{_TELL}" if about.strip() else DEFAULTS[kind]
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8, wanted plain text") from None
    if not text.strip():
        raise InputError(f"{path}: is empty, wanted guidelines")
    if len(text) > MOST_CHARS:
        raise InputError(f"{path}: {len(text):,} characters, wanted {MOST_CHARS:,} at most")
    return text


def guidelines_sha256(text: str) -> str:
    """What names guidelines in events: the start of their SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_CHARS]
