"""A judge of items: each gets one label of a scale, alone or several in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from ..backends.gateway import Reply
from ..backends.prompt import Scorer
from ..records.judgements import Provenance
from ..records.labels.cells import LabelKind
from .base import Judge
from .fitted.correction import Correction
from .fitted.files import FittedPrompt, JudgeFile
from .verdicts import Verdict


class ItemJudge(Judge):
    """What running, measuring and fitting need to know of a judge that labels items.

    Attributes:
        name: as in a config, e.g. "support".
        kind, key: what its label files hold, and the ids that name an item in them.
        inputs: what one item is judged by, in the words of its label files.
        source: the input that the others are looked for in, whose words the lexical score weighs.
        listed: the input of which one call takes up to `window`; the items of a call share all
            others. None: one item a call.
        predictor, output: the question asked, and the field of the reply that holds the labels.
        evidence: the field of the reply that quotes `source`; None: the judge quotes nothing.
        scale: the labels, worst to best. gains: what each is worth, in [0, 1].
        is_ordered: whether the labels have an order; if not, only unweighted figures apply.
        correction: how scores become labels, from fitting; None: the model's labels stand.
    """

    name: str
    kind: ClassVar[LabelKind]
    key: tuple[str, ...]
    inputs: tuple[str, ...]
    source: str | None = None
    listed: str | None = None
    predictor: str
    output: str
    evidence: str | None = None
    scale: tuple[str, ...]
    gains: Mapping[str, float]
    is_ordered: bool = True
    window: int = 1
    correction: Correction | None = None
    fitted_on: frozenset[str] = frozenset()  # topics whose labels are in that file
    fitted_prompts: Mapping[str, FittedPrompt] = {}  # of the judge file it was made with,
    fitted_words: Mapping[str, float] | None = None  # and its word weights

    async def verdicts(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict], Provenance]:
        """One call for items that share every input but `listed`; verdicts in their order.

        Args:
            items: the `inputs` of each.
            topic_id: whose strictness a fitted judge takes into account.

        Raises: JudgeError when there is no judgement; ValueError for more items than a call takes.
        """
        if not 0 < len(items) <= self.window:
            raise ValueError(f"wanted 1 to {self.window} items in a call, got {len(items)}")
        reply = await self.ask(self.predictor, **self.asked(items))
        if self.listed is None:
            return [self._verdict(reply, None, items[0], topic_id)], reply.provenance
        keys = [str(number) for number in range(1, len(items) + 1)]
        if not (reply.scores or reply.probabilities or self.correction or self.evidence):
            labels = reply.values[self.output]  # alone, as in most large runs
            return [Verdict(str(labels[key])) for key in keys], reply.provenance
        both = zip(keys, items, strict=True)
        found = [self._verdict(reply, key, item, topic_id) for key, item in both]
        return found, reply.provenance

    async def judged(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict], tuple[Provenance, ...]]:
        """As `verdicts`, with each call that was made; a jury makes several."""
        found, call = await self.verdicts(items, topic_id)
        return found, (call,)

    async def in_windows(self, items: Sequence[Mapping[str, str]]) -> list[Verdict]:
        """As `verdicts` for any number of items: one call a window, one after the other."""
        found: list[Verdict] = []
        for start in range(0, len(items), self.window):
            found += (await self.verdicts(items[start : start + self.window]))[0]
        return found

    def asked(self, items: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """The inputs of the call for these items: what they share, the listed ones numbered."""
        asked: dict[str, Any] = dict(items[0])
        if self.listed is not None:
            del asked[self.listed]
            numbered = {str(i): item[self.listed] for i, item in enumerate(items, 1)}
            asked[f"{self.listed}s"] = numbered
        return asked

    async def verdict(
        self, topic_id: str | None = None, **inputs: str
    ) -> tuple[Verdict, Provenance]:
        """The verdict on one item. See `verdicts`."""
        found, provenance = await self.verdicts([inputs], topic_id)
        return found[0], provenance

    def fitted(self, state: JudgeFile) -> Self:
        """A copy of this judge with the prompts and correction of a judge file.

        Raises: ValueError if the file is of another judge, version or scale, or has cut-offs
            for scores of another model.
        """
        state.check(self.name, self.version, self.scale, self.model_name)
        state.check_scores(self.has_logprobs, self.window)
        twin: Self = self.deepcopy()
        questions = dict(twin.named_predictors())
        for name, prompt in state.prompts.items():
            if (predict := questions.get(name)) is None:
                raise ValueError(f"it has a prompt for {name!r}, the judge asks {self.predictor}")
            known = predict.signature.fields
            for field in (field for demo in prompt.demos for field in demo):
                if field not in known:
                    raise ValueError(f"an example has {field!r}, wanted {', '.join(known)}")
            asked = predict.signature.with_instructions(prompt.instructions)
            asked.__name__ = predict.signature.__name__  # DSPy calls the new one StringSignature
            predict.signature = asked
            predict.demos = [dict(demo) for demo in prompt.demos]
        twin.fitted_prompts = dict(state.prompts)
        twin.fitted_on = self.fitted_on | set(state.fitted_on)
        twin.correction = state.correction
        if state.words is not None:
            twin.fitted_words = state.words
            twin.scorers = {self.predictor: self.weighted_scorer(state.words)}
        return twin

    def weighted_scorer(self, words: Mapping[str, float]) -> Scorer:
        """The lexical score under fitted word weights. Raises: ValueError if it has none."""
        raise ValueError(f"the {self.name} judge has no lexical score to weight")

    @property
    def has_logprobs(self) -> bool:
        """Whether its scores come from the token log-probabilities of the model."""
        return self.backend is not None and self.backend.config.top_logprobs is not None

    @property
    def model_name(self) -> str:
        """The model that answers, as its config names it; "" for DSPy's own LM."""
        return self.backend.config.model if self.backend is not None else ""

    def _verdict(
        self, reply: Reply, key: str | None, item: Mapping[str, str], topic_id: str | None
    ) -> Verdict:
        label, score, chances = reply.at(self.output, key)
        if chances is not None:
            chances = {name: chances[name] for name in self.scale}
            score = sum(p * i for i, p in enumerate(chances.values())) / (len(self.scale) - 1)
        verdict = Verdict(str(label), score, chances)
        if self.correction is not None:
            verdict = self.correction.verdict(verdict, self.scale, topic_id)
        if self.evidence is None or self.source is None:
            return verdict
        return verdict.quoting(reply.at(self.evidence, key)[0], item[self.source])
