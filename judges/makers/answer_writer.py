"""Writes an answer with citations from passages; the lexical baseline copies sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Annotated, Any, Literal

import dspy
from annotated_types import MaxLen, MinLen
from typing_extensions import TypedDict

from ...backends.adapter import SETTING
from ...backends.errors import JudgeError, JudgeOutputError
from ...backends.gateway import Reply
from ...backends.prompt import Baseline
from ...backends.replies.schema import AtMost
from ...records.answers import count_words
from ...records.judgements import Provenance, Reason
from ...records.rows import Citation, Sentence
from ..base import Judge
from ..lexical.overlap import SENTENCE_FULL, content_words, measure_support, update_nuggets
from ..lexical.questions import subject_words
from ..lexical.segments import sentences

MAX_SENTENCE_WORDS = 40  # a longer one is usually a list or a table
MARKS = re.compile(r"(?<!\s)\s*\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]")  # citation marks such as [2, 3]
_BRACKETS = str.maketrans("", "", "[]")


def write_answer(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Sentences of the passages with words of the question, until the limit is reached.

    Sentences that say most come first; a sentence that mostly repeats another is skipped. Each
    cites its own passage, then others that support it. If no sentence fits: the first words.
    """
    passages = {n: _remove_marks(text) for n, text in inputs["passages"].items()}
    source: dict[str, str] = {}  # a sentence -> its passage
    for number, passage in passages.items():
        for sentence in sentences(passage):
            text = " ".join(sentence.split())
            if text[-1] in ".!。！" and count_words(text) <= MAX_SENTENCE_WORDS:
                source.setdefault(text, number)
    wanted_words = content_words(subject_words(inputs["question"]))
    about = [text for text in source if wanted_words & content_words(text)] or list(source)
    listed = {"question": inputs["question"], "nuggets": about, "passages": {}}
    answer, room = [], inputs["words"]
    for text in update_nuggets({**listed, "limit": len(about)})["updated"]:
        if (n := count_words(text)) <= room:
            room -= n
            answer.append((text, source[text]))
    if not answer:
        texts = ((" ".join(p.split()[: inputs["words"]]), n) for n, p in passages.items())
        answer = [(text, number) for text, number in texts if text][:1]
    return {
        "answer": [
            {"text": text, "citations": _find_cited(text, number, passages)[: inputs["citations"]]}
            for text, number in answer
        ]
    }


def _remove_marks(text: str) -> str:
    bare = MARKS.sub("", text)
    return bare.translate(_BRACKETS) if MARKS.search(bare) else bare  # a mark inside a mark


def _find_cited(text: str, source: str, passages: Mapping[str, str]) -> list[int]:
    others = (
        n for n in passages if n != source and measure_support(text, passages[n]) >= SENTENCE_FULL
    )
    return [int(source), *map(int, others)]


def write_unaided(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The first words of the question: without passages the baseline knows nothing else."""
    return {"answer": [" ".join(inputs["question"].split()[: inputs["words"]])]}


Way = Literal["passages", "memory"]  # the source of an answer
WORDS, CITATIONS = 400, 3  # most, per answer and per sentence: TREC RAG 2024 and 2026
REPAIRS = 2  # further calls after a reply that breaks a rule


class CitedText(TypedDict):
    """A sentence in the form of a reply."""

    text: Annotated[str, MinLen(1), MaxLen(1_000)]
    citations: list[int]


class WriteAnswer(dspy.Signature):  # type: ignore[misc]
    """Answer the question in a coherent text, using only the passages.

    - Put the most important information first.
    - Cite for each sentence the passages that state it, the best first. Do not write citation
      marks, such as [1], in the text.
    - The whole answer has at most `words` words, and each sentence at most `citations` citations.
    - If no passage answers the question, say so in one sentence without citations.
    - If `faults` is not empty, it lists what was wrong with `rejected`. Return the whole answer
      again, corrected.
    """

    question: str = dspy.InputField(desc="the question of the user")
    passages: dict[str, str] = dspy.InputField(desc="the passages to cite, by number")
    words: Annotated[int, SETTING] = dspy.InputField(desc="the most words that the answer may have")
    citations: Annotated[int, SETTING] = dspy.InputField(
        desc="the most citations that a sentence may have"
    )
    rejected: list[dict[str, Any]] = dspy.InputField(
        desc="your last answer, which must be corrected; empty at first"
    )
    faults: Annotated[list[str], SETTING] = dspy.InputField(
        desc="what was wrong with the rejected answer; empty at first"
    )
    answer: Annotated[list[CitedText], MinLen(1), AtMost("words")] = dspy.OutputField(
        desc="the sentences in order, each with the numbers of the passages that it cites"
    )


class WriteUnaided(dspy.Signature):  # type: ignore[misc]
    """Answer the question in a coherent text, from what you know.

    - Put the most important information first.
    - There are no sources. Do not name or cite any, and do not write citation marks, such as [1].
    - The whole answer has at most `words` words.
    - If you do not know the answer, say so in one sentence.
    - If `faults` is not empty, it lists what was wrong with `rejected`. Return the whole answer
      again, corrected.
    """

    question: str = dspy.InputField(desc="the question of the user")
    words: Annotated[int, SETTING] = dspy.InputField(desc="the most words that the answer may have")
    rejected: list[str] = dspy.InputField(
        desc="your last answer, which must be corrected; empty at first"
    )
    faults: Annotated[list[str], SETTING] = dspy.InputField(
        desc="what was wrong with the rejected answer; empty at first"
    )
    answer: Annotated[
        list[Annotated[str, MinLen(1), MaxLen(1_000)]], MinLen(1), AtMost("words")
    ] = dspy.OutputField(desc="the sentences in order")


class AnswerWriter(Judge):
    """Write an answer: `judge(question=, passages={id: text}).sentences`, each with citations.

    With `way="memory"` it reads no passages, writes from the model's own knowledge (direct
    prompting) and cites nothing.

    A citation is the id of a given passage. A sentence may have none, for example if it says that
    no passage answers. A reply without a sentence, with a blank sentence, an unknown or
    repeated citation, too many citations, marks such as `[1]` in the text or too many words is
    returned to the model with its faults, up to `repairs` times; nothing is dropped or cut.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        words: most words of an answer, >= 1; counted like the TREC RAG track (`count_words`).
            "required": each call sets the number.
        citations: most citations of a sentence, >= 1.
        repairs: most further calls after a wrong reply, >= 0.
        instructions: replace WriteAnswer's own; the fields and the rules stay.

    Raises: ValueError for numbers outside these ranges, or blank instructions. JudgeError from a
        call, if the last repair is still wrong (unparseable), or without passages (no request is
        made).

    >>> passages = {"a": "Wind moves bridges. Bees dance.", "b": "A bridge sways."}
    >>> written = AnswerWriter("lexical")(question="Why do bridges move?", passages=passages)
    >>> [(s.text, [c.passage_id for c in s.citations]) for s in written.sentences]
    [('Wind moves bridges.', ['a'])]
    """

    version = "3"
    examples: Mapping[str, str | list[str]] = {"way": ["passages", "memory"]}
    baselines: Mapping[str, Baseline] = {"compose": write_answer, "recall": write_unaided}

    def __init__(
        self,
        *args: Any,
        words: int | Literal["required"] = WORDS,
        citations: int = CITATIONS,
        repairs: int = REPAIRS,
        instructions: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        words = WORDS if words == "required" else words
        if min(words, citations) < 1 or repairs < 0:
            wanted = "words and citations must be 1 or more and repairs 0 or more"
            raise ValueError(f"{wanted}, got {words}, {citations} and {repairs}")
        if instructions is not None and not instructions.strip():
            raise ValueError("the instructions are blank")
        self.words = words
        self.citations = citations
        self.repairs = repairs
        own = WriteAnswer if instructions is None else WriteAnswer.with_instructions(instructions)
        self.compose = dspy.Predict(own)
        self.recall = dspy.Predict(WriteUnaided)

    async def decide(  # type: ignore[override]
        self, *, question: str, passages: Mapping[str, str], way: Way = "passages"
    ) -> dspy.Prediction:
        """Write an answer, with repairs; `judge(...)` calls this.

        Args:
            question: the question to answer.
            passages: id -> text, the best first.
            way: "passages", or "memory": write without passages and citations.

        Returns: a prediction with `sentences`, a list of Sentence.
        """
        source = None if way == "memory" else passages
        return dspy.Prediction(sentences=(await self.write(question, source))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: the sentences repeated up to the limit of words."""
        written: list[CitedText | str] = list(reply.values["answer"])
        sizes = [max(1, count_words(text)) for text in _texts(written)]
        left = inputs["words"] - sum(sizes)
        for sentence, size in cycle(zip(tuple(written), sizes, strict=True)):
            if (left := left - size) < 0:
                break
            written.append(sentence)
        return reply._replace(values={"answer": written})

    def first_inputs(
        self, question: str, passages: Mapping[str, str], words: int | None = None
    ) -> dict[str, Any]:
        """Return the inputs of the first call.

        Args:
            question: the question to answer.
            passages: id -> text, the best first.
            words: most words of this answer; None: those of the judge.

        Returns: the inputs by name; passages are numbered from 1.
        """
        return {
            "question": question,
            "passages": {str(number): text for number, text in enumerate(passages.values(), 1)},
            "words": words or self.words,
            "citations": self.citations,
            "rejected": [],
            "faults": [],
        }

    async def write(
        self, question: str, passages: Mapping[str, str] | None, words: int | None = None
    ) -> tuple[list[Sentence], list[Provenance]]:
        """Write an answer, with repairs.

        Args:
            question: the question to answer.
            passages: id -> text, the best first; None: write without any.
            words: most words of this answer; None: those of the judge.

        Returns: the sentences in order, at least one, and the provenance of each call.
        Raises: JudgeError as for a call of the judge.
        """
        if passages is None:
            inputs = self.first_inputs(question, {}, words)
            del inputs["passages"], inputs["citations"]
            return await self._compose("recall", inputs, [])
        if not passages:
            raise JudgeError(Reason.NO_PASSAGE, "there is no passage to write from")
        inputs = self.first_inputs(question, passages, words)
        return await self._compose("compose", inputs, list(passages))

    async def _compose(
        self, name: str, inputs: dict[str, Any], ids: Sequence[str]
    ) -> tuple[list[Sentence], list[Provenance]]:
        calls: list[Provenance] = []
        for _ in range(1 + self.repairs):
            reply = await self.ask(name, **inputs)
            calls.append(reply.provenance)
            answer = reply.values["answer"]
            written: list[CitedText] = [
                {"text": each, "citations": []} if isinstance(each, str) else each
                for each in answer
            ]
            if not (faults := self._faults(written, len(ids), inputs["words"])):
                return _sentences(written, ids), calls
            inputs |= {"rejected": answer, "faults": faults}
        detail = f"after {self.repairs} repairs: {'; '.join(faults)}"
        raise JudgeOutputError(Reason.UNPARSEABLE, detail, str(answer))

    def _faults(self, written: Sequence[CitedText], n_passages: int, words: int) -> list[str]:
        """All broken rules."""
        faults = [] if written else ["it has no sentence"]
        for nth, sentence in enumerate(written, 1):
            times = Counter(sentence["citations"])
            checks = {
                "has no text": not sentence["text"].strip(),
                "has citation marks in its text": MARKS.search(sentence["text"]),
                f"has more than {self.citations} citations": len(times) > self.citations,
            }
            for number, n in times.items():
                checks[f"cites {number}, which is not the number of a passage"] = (
                    not 1 <= number <= n_passages
                )
                checks[f"cites {number} more than once"] = n > 1
            faults += [f"sentence {nth} {what}" for what, is_so in checks.items() if is_so]
        n_words = count_words(" ".join(sentence["text"] for sentence in written))
        if n_words > words:
            faults.append(f"it has {n_words} words, wanted {words} at most")
        return faults


def _texts(written: Sequence[CitedText | str]) -> list[str]:
    return [each if isinstance(each, str) else each["text"] for each in written]


def _sentences(written: Sequence[CitedText], ids: Sequence[str]) -> list[Sentence]:
    return [
        Sentence(
            id=index,
            text=" ".join(sentence["text"].split()),
            citations=tuple(
                Citation(passage_id=ids[number - 1]) for number in sentence["citations"]
            ),
        )
        for index, sentence in enumerate(written)
    ]
