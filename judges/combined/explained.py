"""Labels of a model that writes nothing, with the quotes and reasons of another model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import dspy

from ...backends.adapter import replace_instructions, with_first, without
from ...backends.errors import JudgeError
from ...backends.replies.schema import get_key_source, get_meanings
from ...records.judgements import Provenance, Reason, Unjudged
from ...records.kinds import EXPLAINER
from ..items import ItemJudge, make_keys
from ..verdicts import Verdict
from .jury import Followed

VERSION = "2"  # raise it when the questions to the second model change
NOTE = """\
- Another judge gave the labels. They are part of the data. Do not give labels of your own: find
  the parts of the texts that are the grounds for each label.
- If a label does not fit the texts, say so in its reason."""
_SHARED = (
    *("name", "kind", "key", "inputs", "optional", "source", "listed", "listing", "scale"),
    *("is_ordered", "window", "gains", "quotable", "groundless", "answer_type", "output"),
    *("baselines", "scorers", "overlap"),
)


class Explained(Followed):
    """Labels of one model, explained by another: `judge(sentence=, passage=)` has both.

    Args:
        first: gives every label; a decision model, which can give no reasons.
        writer: the same judge with a model that writes. It is shown the items with their labels and
            asked for quotes and reasons, not for labels.
        evidence, reasoning: what it is asked for, see `ItemJudge.explaining`.

    The label, its score and its probabilities are those of `first`. If the writer's reply cannot be
    read, the label has no reason; with `evidence="required"` the item is Unjudged.

    Raises: ValueError for a judge that derives its label from others, or that cannot quote.
        JudgeError from a call, if `first` gives no judgement.

    >>> from dspy.utils import DummyLM
    >>> from nuggetjudge.judges import SupportJudge
    >>> writer = SupportJudge()
    >>> writer.set_lm(DummyLM([{"reasoning": "The passage says the same."}]))
    >>> judge = Explained(SupportJudge("lexical"), writer, reasoning=True)
    >>> judged = judge(sentence="Wind sways bridges.", passage="Wind sways bridges.")
    >>> judged.label, judged.rationale
    ('full', 'The passage says the same.')
    """

    role = EXPLAINER

    def __init__(
        self,
        first: ItemJudge,
        writer: ItemJudge,
        *,
        evidence: bool | Literal["required"] | None = None,
        reasoning: bool | None = None,
    ) -> None:
        super().__init__()
        if first.is_derived:
            raise ValueError("it derives labels from others; a second model cannot explain them")
        self.first = first
        self.writer = _with_labels(writer.explaining(evidence=evidence, reasoning=reasoning))
        for name in _SHARED:
            setattr(self, name, getattr(first, name))
        for name in ("evidence", "rationale", "requires_evidence"):
            setattr(self, name, getattr(self.writer, name))
        self.definition = getattr(first, "definition", None)  # of a custom judge
        self.version = f"{first.version}+explained{VERSION}"

    async def judge_items(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], tuple[Provenance, ...]]:
        """See ItemJudge: the calls of the first judge, then those of the writer."""
        outcomes, calls = await self.first.judge_items(items, topic_id)
        outcomes = list(outcomes)
        known = [i for i, each in enumerate(outcomes) if isinstance(each, Verdict)]
        for start in range(0, len(known), self.writer.window):
            part = known[start : start + self.writer.window]
            verdicts = [each for i in part if isinstance(each := outcomes[i], Verdict)]
            explained, made = await self._explain([items[i] for i in part], verdicts)
            calls += made
            for i, outcome in zip(part, explained, strict=True):
                outcomes[i] = outcome
        return outcomes, calls

    @property
    def second(self) -> ItemJudge:
        """See Followed."""
        return self.writer

    @property
    def model_name(self) -> str:
        """See ItemJudge: the model that gives the labels."""
        return self.first.model_name

    async def _explain(
        self, items: Sequence[Mapping[str, str]], verdicts: Sequence[Verdict]
    ) -> tuple[list[Verdict | Unjudged], tuple[Provenance, ...]]:
        """The verdicts of one call of the writer, with its reasons.

        Raises: JudgeError at the limit of a budget.
        """
        writer = self.writer
        keys: Sequence[str | None] = [None] if writer.listed is None else make_keys(items)
        labels = [each.label for each in verdicts]
        given: Any = labels[0] if writer.listed is None else dict(zip(keys, labels, strict=True))
        inputs = {writer.output: given, **writer.call_inputs(items)}
        try:
            reply = await writer.ask(writer.predictor, **inputs)
        except JudgeError as error:
            if error.reason is Reason.BUDGET:
                raise
            lost = Unjudged(error.reason, f"explainer: {error.detail}", error.raw)
            needed = self.requires_evidence
            return [
                lost if needed and self.needs_evidence(each.label) else each for each in verdicts
            ], ()
        both = zip(verdicts, keys, items, strict=True)
        explained = [writer.add_explanation(each, reply, key, item) for each, key, item in both]
        call = reply.provenance
        return explained, (call._replace(model=f"{EXPLAINER}: {call.model}"),)


def _with_labels(judge: ItemJudge) -> ItemJudge:
    """A copy of the judge that reads the labels and is asked only for quotes and reasons.

    Raises: ValueError if it gives neither, or if it has a custom prompt.
    """
    predict = judge.question(judge.predictor)
    if judge.own_words == "prompt":
        raise ValueError("a prompt file decides what is asked; a second model cannot explain it")
    signature, output = predict.signature, predict.signature.output_fields[judge.output]
    if not judge.says_why:
        raise ValueError("wanted evidence or reasoning")
    is_listed = get_key_source(output) is not None
    meanings = "; ".join(f"{label}: {text}" for label, text in get_meanings(output).items())
    desc = "the labels that were given, by number" if is_listed else "the label that was given"
    field = dspy.InputField(desc=f"{desc} ({meanings})" if meanings else desc)
    changed: ItemJudge = judge.deepcopy()
    asked = with_first(
        without(signature, (judge.output,)),
        judge.output,
        field,
        dict[str, str] if is_listed else str,
    )
    changed.question(judge.predictor).signature = replace_instructions(
        asked, f"{signature.instructions}\n{NOTE}"
    )
    changed.question(judge.predictor).demos = []
    changed.baselines, changed.scorers = {}, {}  # they give labels
    return changed
