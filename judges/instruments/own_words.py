"""What every judge can be asked in: other instructions, or a prompt file in place of its prompt."""

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
        own_words: what of the prompt is the user's. instruments: the prompt file that takes the
            place of a question's prompt, by the question's name.
    """

    own_words: Literal["instructions", "prompt"] | None = None
    instruments: Mapping[str, Instrument] = {}

    def with_instructions(self, text: str, question: str | None = None) -> Self:
        """A copy of this judge with other instructions; fields, fence and reply stay.

        Args:
            question: its name, of a judge that asks several questions.

        Raises: ValueError for blank instructions, where `question` has to be given, and if this
            judge has a fitted prompt.
        """
        if not text.strip():
            raise ValueError("the instructions are blank")
        changed, name = self._to_be_reworded(question)
        predict: dspy.Predict = changed.question(name)  # type: ignore[attr-defined]  # of Judge
        predict.signature = replace_instructions(predict.signature, text.strip())
        changed.own_words = changed.own_words or "instructions"
        return changed

    def with_prompt(self, source: str | Path | Instrument, question: str | None = None) -> Self:
        """A copy of this judge asked in the words of a prompt file (docs/instruments.md).

        Judged text stands in such a prompt as it is, without the fence of our own, and the judge
        neither quotes nor gives reasons, unless the reply is its own JSON.

        Args:
            source: a prompt file, or a template of another project. Its `window` becomes the
                judge's.
            question: as for `with_instructions`.

        Raises: InputError with file and line for what is wrong in the file, or does not fit this
            judge; ValueError as `with_instructions`.
        """
        instrument = source if isinstance(source, Instrument) else read_instrument(Path(source))
        changed, name = self._to_be_reworded(question)
        judge: Any = changed
        if (window := instrument.definition.window) is not None:
            _check_window(judge, window, instrument)
            judge.window = window
        judge.own_words = "prompt"
        judge.instruments = {**judge.instruments, name: instrument}
        prompt: InstrumentPrompt = judge.prompt(name)  # raises what does not fit
        prompt.check_window(getattr(judge, "window", 1))
        outputs = set(prompt.output_names)
        if not set(getattr(judge, "evidence", ())) <= outputs:
            judge.evidence, judge.requires_evidence = {}, False
        if getattr(judge, "rationale", None) not in outputs:
            judge.rationale = None
        return changed

    def check_takes(self, fitted: Mapping[str, object]) -> None:
        """Raise ValueError if there are fitted prompts, and this judge has words of its own."""
        if fitted and self.own_words is not None:
            what = f"it has a fitted prompt, and the judge {self.own_words} of its own"
            raise ValueError(f"{what}; take one of them")

    def find_prompt(
        self,
        name: str,
        signature: type[dspy.Signature],
        baseline: Baseline | None,
        scorer: Scorer | None,
    ) -> Prompt | None:
        """The prompt of a file for this question; None: it is asked in the judge's own words."""
        if (instrument := self.instruments.get(name)) is None:
            return None
        return InstrumentPrompt(
            instrument, signature, getattr(self, "output", None), baseline, scorer
        )

    @staticmethod
    async def ask_worded(prompt: Prompt, inputs: Mapping[str, Any], lm: dspy.BaseLM) -> Reply:
        """Ask one of DSPy's own models in the words of a file. Raises: JudgeOutputError."""
        (reply,) = await lm.acall(messages=prompt.messages(inputs))
        text = reply if isinstance(reply, str) else str(reply.get("text") or "")
        return Reply(prompt.parse(text, inputs), Provenance(model=str(lm.model)))

    def _to_be_reworded(self, question: str | None) -> tuple[Self, str]:
        """A copy, and the name of the question that is to be put in other words."""
        judge: Any = self
        names = list(judge.questions())
        if question is None and len(names) == 1:
            question = names[0]
        if question is None or question not in names:
            raise ValueError(f"name one of the questions of this judge: {', '.join(names)}")
        if getattr(self, "fitted_prompts", None):
            raise ValueError("the judge has a fitted prompt; take one of them")
        return judge.deepcopy(), question


def _check_window(judge: Any, window: int, instrument: Instrument) -> None:
    if not hasattr(judge, "window"):
        raise instrument.wrong("window", f"{type(judge).__name__} judges one thing at a time")
    if window > 1 and getattr(judge, "listed", "") is None:
        what = f"this judge takes 1 a call; make it with window={window}, if it has one"
        raise instrument.wrong("window", what)
