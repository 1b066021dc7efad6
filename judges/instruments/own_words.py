"""Changes to a judge's prompt: other instructions, or a prompt file instead of its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

import dspy

from ...backends.adapter import replace_instructions
from ...backends.gateway import Reply
from ...backends.prompt import Baseline, Prompt, Scorer
from ...records.judgements import Provenance
from .files import Instrument, read_instrument
from .prompt import InstrumentPrompt


class OwnWords:
    """A part of Judge; see `with_instructions` and `with_prompt`.

    Attributes:
        own_words: the changed part of the prompt. instruments: the prompt file that replaces a
            question's prompt, by the question's name.
    """

    own_words: Literal["instructions", "prompt"] | None = None
    instruments: Mapping[str, Instrument] = {}

    def with_instructions(self, text: str, question: str | None = None) -> Self:
        """Return a copy of this judge with other instructions; fields, fence and reply stay.

        Args:
            question: the name of the question, if the judge has several.

        Raises: ValueError for blank instructions, a missing `question`, or a judge with a fitted
            prompt.
        """
        if not text.strip():
            raise ValueError("the instructions are blank")
        changed, name = self._to_be_reworded(question)
        predict: dspy.Predict = changed.question(name)  # type: ignore[attr-defined]  # of Judge
        predict.signature = replace_instructions(predict.signature, text.strip())
        changed.own_words = changed.own_words or "instructions"
        return changed

    def with_prompt(self, source: str | Path | Instrument, question: str | None = None) -> Self:
        """Return a copy of this judge with the prompt of a prompt file (docs/instruments.md).

        Such a prompt holds the judged text unchanged, without our fence, and the judge gives
        neither quotes nor reasons, unless the reply is its own JSON.

        Args:
            source: a prompt file, or a template of another project. Its `window` becomes the
                judge's.
            question: see `with_instructions`.

        Raises: InputError with file and line for a fault in the file, or if it does not fit this
            judge; ValueError like `with_instructions`.
        """
        instrument = source if isinstance(source, Instrument) else read_instrument(Path(source))
        changed, name = self._to_be_reworded(question)
        judge: Any = changed
        if (window := instrument.definition.window) is not None:
            _check_window(judge, window, instrument)
            judge.window = window
        judge.own_words = "prompt"
        judge.instruments = {**judge.instruments, name: instrument}
        prompt: InstrumentPrompt = judge.prompt(name)  # raises if the file does not fit
        prompt.check_window(getattr(judge, "window", 1))
        outputs = set(prompt.output_names)
        if not set(getattr(judge, "evidence", ())) <= outputs:
            judge.evidence, judge.requires_evidence = {}, False
        if getattr(judge, "rationale", None) not in outputs:
            judge.rationale = None
        return changed

    def check_takes(self, fitted: Mapping[str, object]) -> None:
        """Raise ValueError if there are fitted prompts although this judge has a custom prompt."""
        if fitted and self.own_words is not None:
            what = f"it has a fitted prompt, but the judge {self.own_words} of its own"
            raise ValueError(f"{what}; choose one of them")

    def find_prompt(
        self,
        name: str,
        signature: type[dspy.Signature],
        baseline: Baseline | None,
        scorer: Scorer | None,
    ) -> Prompt | None:
        """The prompt of a file for this question; None if it has the judge's own prompt."""
        if (instrument := self.instruments.get(name)) is None:
            return None
        return InstrumentPrompt(
            instrument, signature, getattr(self, "output", None), baseline, scorer
        )

    @staticmethod
    async def ask_worded(prompt: Prompt, inputs: Mapping[str, Any], lm: dspy.BaseLM) -> Reply:
        """Ask a DSPy model with the prompt of a file. Raises: JudgeOutputError."""
        (reply,) = await lm.acall(messages=prompt.messages(inputs))
        text = reply if isinstance(reply, str) else str(reply.get("text") or "")
        return Reply(prompt.parse(text, inputs), Provenance(model=str(lm.model)))

    def _to_be_reworded(self, question: str | None) -> tuple[Self, str]:
        """A copy, and the name of the question whose prompt will change."""
        judge: Any = self
        names = list(judge.questions())
        if question is None and len(names) == 1:
            question = names[0]
        if question is None or question not in names:
            raise ValueError(f"choose one of the judge's questions: {', '.join(names)}")
        if getattr(self, "fitted_prompts", None):
            raise ValueError("the judge has a fitted prompt; choose one of them")
        return judge.deepcopy(), question


def _check_window(judge: Any, window: int, instrument: Instrument) -> None:
    if not hasattr(judge, "window"):
        raise instrument.wrong("window", f"{type(judge).__name__} judges one item at a time")
    if window > 1 and getattr(judge, "listed", "") is None:
        what = f"this judge takes 1 item a call; create it with window={window}, if it has a window"
        raise instrument.wrong("window", what)
