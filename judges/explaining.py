"""Judges that give reasons: a short explanation, and quotes that are looked up in the texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, Self

import dspy
from annotated_types import MaxLen

from ..backends.adapter import with_first, without
from ..backends.gateway import Reply
from ..backends.replies.schema import KeyedBy, get_key_source
from ..records.judgements import Evidence, Reason, Unjudged, make_quote, make_unfound_quote
from .base import Judge
from .lexical.grounds import find_quote, reason, spans
from .verdicts import Verdict

REASONING = "reasoning"  # the field of a reply that holds the reason
MAX_QUOTES, QUOTE_CHARS, REASON_CHARS = 2, 160, 240  # per label; characters of each


def quote_field(name: str) -> str:
    """Return the name of the reply's field that quotes this input."""
    return f"{name}_quotes"


def with_reason(signature: Any, output: str) -> Any:
    """Return the signature with a field for a short reason, before the other fields of the reply.

    Args:
        output: the field that holds the label, or labels by number.
    """
    each, kind = _shape(signature, output, Annotated[str, MaxLen(REASON_CHARS)])
    desc = f"{each}the reason for the {output.removesuffix('s')}, in one short sentence"
    return _prepend(signature, REASONING, desc, kind)


def with_quotes(signature: Any, output: str, names: Sequence[str]) -> Any:
    """Return the signature with a field of quotes from each of these inputs, before the others.

    Raises: ValueError if an input already has the name of such a field.
    """
    quotes = Annotated[list[Annotated[str, MaxLen(QUOTE_CHARS)]], MaxLen(MAX_QUOTES)]
    each, kind = _shape(signature, output, quotes)
    for name in reversed(names):
        desc = (
            f"{each}the shortest excerpts of the {name.replace('_', ' ')} that decide the "
            f"{output.removesuffix('s')}, each contiguous and copied exactly; [] if there are none"
        )
        signature = _prepend(signature, quote_field(name), desc, kind)
    return signature


def _shape(signature: Any, output: str, kind: Any) -> tuple[str, Any]:
    """The wording and the type of a field for the items of a call, like the field of the labels."""
    listed = get_key_source(signature.output_fields[output])
    if listed is None:
        return "", kind
    return "for each number, ", Annotated[dict.__class_getitem__((str, kind)), KeyedBy(listed)]


def _prepend(signature: Any, name: str, desc: str, kind: Any) -> Any:
    if name in signature.fields:
        raise ValueError(f"it has a field {name!r}, which its reply needs for its reasons")
    return with_first(signature, name, dspy.OutputField(desc=desc), kind)


def look_up(of: str, value: Any, text: str) -> Iterator[Evidence]:
    """Find the quotes of a reply's field, each in the text that it quotes.

    Args:
        value: a quote, a list of them, or None; blank ones and repetitions are dropped.
    """
    quotes = [value] if isinstance(value, str) else value or ()
    for words in dict.fromkeys(quotes):
        if not words.strip():
            continue
        if (span := find_quote(words, text)) is not None:
            yield make_quote(of, text, *span)
        else:
            yield make_unfound_quote(of, words)


def by_rule(looked_for: Mapping[str, str], item: Mapping[str, str]) -> tuple[Evidence, ...]:
    """Return the evidence of word overlap: where an input has most of the wanted words."""
    return tuple(
        make_quote(name, item[name], *span)
        for name, needed in looked_for.items()
        for span in spans(needed, item[name])
    )


def make_ungrounded(verdict: Verdict) -> Unjudged:
    """Make the outcome of a label that needs a quote but has none from the judged text."""
    wrong = [each.quote for each in verdict.evidence or () if not each.is_quoted]
    why = f"not in the text: {wrong[0]!r:.80}" if wrong else "no quote"
    raw = json.dumps(verdict.as_row(), ensure_ascii=False)
    return Unjudged(Reason.UNGROUNDED, f"{verdict.label} without evidence: {why}", raw)


class ExplainingJudge(Judge):
    """A judge of items that can give reasons for its labels. See ItemJudge.

    Attributes:
        name: the name in a config, such as "support".
        inputs: the texts that decide one item, named as in its label files.
        source: the input in which the others are looked for; the lexical score weighs its words.
        listed: the input of which one call takes up to `window`; the items of a call share all
            others. None: one item a call.
        listing: the input of a call that lists them; None: `listed` with an s.
        predictor, output: the question, and the field of the reply that holds the labels.
        gains: the gain of each label, in [0, 1].
        quotable: the inputs that can be quoted, the most decisive first, each with the input that
            is looked for in it ("": all others). {}: the judge cannot give reasons. None: `source`,
            or all inputs if there is no source.
        groundless: labels that need no evidence; None: the labels with gain 0.
        evidence: fields of the reply that quote, each with the input that it quotes; {}: none.
        rationale: the field of the reply with a reason; None: the judge gives no reason.
        requires_evidence: whether a label that needs evidence fails without a quote.
        quotes_by_rule, reasons_by_rule: whether word overlap gives the quotes and reasons, because
            the model is lexical.
    """

    name: str
    inputs: tuple[str, ...]
    source: str | None = None
    listed: str | None = None
    listing: str | None = None
    predictor: str
    output: str
    gains: Mapping[str, float]
    quotable: Mapping[str, str] | None = None
    groundless: frozenset[str] | None = None
    evidence: Mapping[str, str] = {}
    rationale: str | None = None
    requires_evidence: bool = False
    quotes_by_rule: bool = False
    reasons_by_rule: bool = False

    def explaining(
        self,
        *,
        evidence: bool | Literal["required"] | None = None,
        reasoning: bool | None = None,
    ) -> Self:
        """Return a copy of this judge with or without reasons; None leaves a setting unchanged.

        A model is asked for reasons before the label. The lexical judge shows the words that it
        matched.

        Args:
            evidence: True: request the shortest parts of the judged texts that decide the label,
                and look each up. "required": a label without a quote that is found fails, see
                `needs_evidence`.
            reasoning: request a short reason.

        Raises: ValueError if the judge has nothing to quote, an input with such a name, or a prompt
            file that does not request it; also for other values.
        """
        if not (evidence is None or isinstance(evidence, bool) or evidence == "required"):
            raise ValueError(f"evidence: wanted True, False or 'required', got {evidence!r}")
        if not (reasoning is None or isinstance(reasoning, bool)):
            raise ValueError(f"reasoning: wanted True or False, got {reasoning!r}")
        changed: Self = self.deepcopy()
        if evidence is not None and bool(evidence) != bool(
            changed.evidence or changed.quotes_by_rule
        ):
            changed._ask_for_quotes(bool(evidence))
        if evidence is not None:
            changed.requires_evidence = evidence == "required"
        if reasoning is not None and reasoning != (
            changed.reasons_by_rule or changed.rationale is not None
        ):
            changed._ask_for_a_reason(reasoning)
        if changed.instruments:
            output_names = changed.prompt(changed.predictor).output_names
            lacking = [
                f for f in (*changed.evidence, changed.rationale) if f and f not in output_names
            ]
            if lacking:
                raise ValueError(f"the reply of its prompt file has no field {lacking[0]!r}")
        return changed

    @property
    def says_why(self) -> bool:
        """Whether verdicts have evidence or a rationale."""
        is_asked = self.evidence or self.rationale is not None
        return bool(is_asked or self.quotes_by_rule or self.reasons_by_rule)

    @property
    def quotes(self) -> Mapping[str, str]:
        """The inputs that can be quoted, see `quotable`."""
        if self.quotable is not None:
            return self.quotable
        return dict.fromkeys(self.inputs if self.source is None else (self.source,), "")

    def needs_evidence(self, label: str) -> bool:
        """Whether this label needs evidence in the text."""
        if self.groundless is not None:
            return label not in self.groundless
        return self.gains.get(label, 1.0) > 0

    def choose_sought_text(self, name: str, item: Mapping[str, str]) -> str:
        """Return the text whose words the lexical judge looks for in this input."""
        if sought := self.quotes[name]:
            return item[sought]
        return "\n".join(item[other] for other in self.inputs if other != name)

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge. The lexical judge's reasons take the place of a model's."""
        values = dict(reply.values)
        for field, name in self.evidence.items():
            if _is_empty(values.get(field), []):
                values[field] = self._each(inputs, partial(self._quotes, name))
        if self.rationale is not None and _is_empty(values.get(self.rationale), ""):
            values[self.rationale] = self._each(inputs, self._reason)
        return reply._replace(values=values)

    def add_explanation(
        self, verdict: Verdict, reply: Reply, key: str | None, item: Mapping[str, str]
    ) -> Verdict | Unjudged:
        """Return the verdict on an item, with the judge's reasons.

        It is Unjudged if it needs evidence but has none.
        """
        needs_evidence = self.needs_evidence(verdict.label)
        if self.evidence:
            evidence = tuple(
                each
                for field, name in self.evidence.items()
                for each in look_up(name, reply.at(field, key)[0], item[name])
            )
            verdict = verdict._replace(evidence=evidence)
        elif self.quotes_by_rule:
            sought = {
                name: self.choose_sought_text(name, item) for name in self.quotes if needs_evidence
            }
            verdict = verdict._replace(evidence=by_rule(sought, item))
        if self.rationale is not None:
            rationale = reply.at(self.rationale, key)[0]
            verdict = verdict._replace(rationale=rationale.strip() if rationale else None)
        elif self.reasons_by_rule:
            verdict = verdict._replace(rationale=self._reason(item))
        is_bare = not any(each.is_quoted for each in verdict.evidence or ())
        if self.requires_evidence and needs_evidence and is_bare:
            return make_ungrounded(verdict)
        return verdict

    @property
    def several(self) -> str:
        """The input of a call that lists the `listed` texts."""
        return self.listing or f"{self.listed}s"

    def _quotes(self, name: str, item: Mapping[str, str]) -> list[str]:
        offsets = spans(self.choose_sought_text(name, item), item[name])
        return [item[name][start:end] for start, end in offsets]

    def _reason(self, item: Mapping[str, str]) -> str:
        name = next(iter(self.quotes), None)
        return "" if name is None else reason(self.choose_sought_text(name, item), item[name])

    def _each(self, inputs: Mapping[str, Any], make: Callable[[Mapping[str, str]], Any]) -> Any:
        """Apply `make` to the item of a call, or to each of its items by number."""
        if self.listed is None:
            return make(inputs)
        listed = inputs[self.several].items()
        return {key: make({**inputs, self.listed: text}) for key, text in listed}

    def _ask_for_quotes(self, wanted: bool) -> None:
        """Start or stop requesting quotes; call it once for each change."""
        predict = getattr(self, self.predictor)
        if not wanted:
            if self.evidence:
                predict.signature = without(predict.signature, self.evidence)
            self.evidence, self.quotes_by_rule = {}, False
            return
        self._check_quotes()
        self.quotes_by_rule = self._is_lexical
        if not self._is_lexical:
            names = list(self.quotes)
            predict.signature = with_quotes(predict.signature, self.output, names)
            self.evidence = {quote_field(name): name for name in names}

    def _ask_for_a_reason(self, wanted: bool) -> None:
        predict = getattr(self, self.predictor)
        if not wanted:
            if self.rationale is not None:
                predict.signature = without(predict.signature, (self.rationale,))
            self.rationale, self.reasons_by_rule = None, False
            return
        self._check_quotes()
        self.reasons_by_rule = self._is_lexical
        if not self._is_lexical:
            predict.signature = with_reason(predict.signature, self.output)
            self.rationale = REASONING

    def _check_quotes(self) -> None:
        if not self.quotes:
            raise ValueError(f"the {self.name} judge has no text to quote, so it cannot explain")

    @property
    def _is_lexical(self) -> bool:
        return self.backend is not None and self.backend.config.way == "lexical"


def _is_empty(value: Any, nothing: object) -> bool:
    """Whether a field of a reply is missing, or empty for every item."""
    if isinstance(value, dict):
        return all(part == nothing for part in value.values())
    return value is None or value == nothing
