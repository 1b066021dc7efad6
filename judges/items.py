"""The base class of judges that give each item one label, and the code that judges many items."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import dspy

from ..backends.errors import JudgeError
from ..backends.gateway import Reply
from ..backends.loop import task_group
from ..backends.prompt import Scorer
from ..records.judgements import Evidence, Provenance, Reason, Unjudged
from .explaining import ExplainingJudge
from .in_dspy import Field, Fit, JudgeMetric
from .verdicts import Listed, Verdict, as_one, label_alone

if TYPE_CHECKING:
    from .fitted import Correction, JudgeFile

Overlap = Callable[[str, str, Mapping[str, float]], float]  # of two texts, with weights of words
AskOnce = Callable[  # items of one call
    [Sequence[Mapping[str, str]]], Awaitable[tuple[list[Verdict | Unjudged], Provenance]]
]


class ItemJudge(ExplainingJudge):
    """A judge that gives each item one label, the base class of such judges.

    Running, measuring and fitting use only its attributes.

    Args:
        model: the model that answers: `"lexical"`, a name of LiteLLM such as `"openai/gpt-4o"`, or
            a ModelConfig. None: the LM of `dspy.context(lm=...)` or `dspy.configure`.
        backend: an open Backend, shared with other judges, instead of `model`.

    Attributes:
        name, version: the name in a config; a version that is raised when scores change.
        kind, key: the kind of its label files, and the ids that identify an item in them.
        inputs: the texts that decide one item, named as in its label files.
        optional: inputs that are shown if they are known, such as a title.
        source: the input in which the others are looked for; None: none of them.
        listed: the input of which one call takes up to `window`; None: one item a call.
        predictor, output: the question, and the field of the reply that holds the label.
        answer_type: the type of a label in a prediction: a str, an enum or an int.
        scale: the labels, worst to best.
        gains: the gain of each label, in [0, 1].
        quotable: the inputs that the judge can quote, each with the input that is looked for in it
            ("": all others). {}: it cannot quote. None: `source`, or all inputs without a source.
        groundless: the labels that need no evidence; None: the labels with gain 0.
        is_ordered: whether the labels have an order; if not, only unweighted figures apply.
        overlap: the lexical score: how much of a text is found in `source`.
        is_derived: whether code derives the label from several replies; then prompts are not
            fitted.
        required_text: the part of a listed text that must be in `source`; by default, all of it.
        window: the largest number of items in a call, >= 1; above 1 only if `listed` is set.
        correction: a fitted map from scores to labels; None: keep the labels of the model.
        fitted_words: the weights of the lexical score, by word stem; None: not fitted.

    >>> from nuggetjudge.judges import SupportJudge
    >>> isinstance(SupportJudge("lexical"), ItemJudge)
    True
    """

    kind: ClassVar[str]
    key: tuple[str, ...]
    optional: tuple[str, ...] = ()
    answer_type: Any = str
    scale: tuple[str, ...]
    is_ordered: bool = True
    is_derived: ClassVar[bool] = False
    overlap: Overlap | None = None
    window: int = 1
    required_text: Callable[[str], str] = str
    correction: Correction | None = None
    fitted_words: Mapping[str, float] | None = None  # from its judge file

    async def verdicts(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], Provenance]:
        """Judge, in one call, items that share every input but `listed`.

        Args:
            items: the `inputs` of each item, at most `window` of them.
            topic_id: the topic, whose correction a fitted judge applies.

        Returns: a verdict for each item, in order, and the provenance of the call. An item whose
            label lacks the evidence that it needs is `Unjudged(ungrounded)`.
        Raises: JudgeError if there is no judgement; ValueError for more items than a call takes.
        """
        if not 0 < len(items) <= self.window:
            raise ValueError(f"wanted 1 to {self.window} items in a call, got {len(items)}")
        reply = await self.ask(self.predictor, **self.call_inputs(items))
        is_alone = not (reply.scores or reply.probabilities or self.correction or self.says_why)
        if self.listed is None:
            if is_alone:  # the case of most large runs
                return [label_alone(str(reply.values[self.output]))], reply.provenance
            return [self._verdict(reply, None, items[0], topic_id)], reply.provenance
        if is_alone:
            labels = reply.values[self.output]
            return [label_alone(str(labels[key])) for key in make_keys(items)], reply.provenance
        both = zip(make_keys(items), items, strict=True)
        listed = [self._verdict(reply, key, item, topic_id) for key, item in both]
        return listed, reply.provenance

    async def judge_items(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], tuple[Provenance, ...]]:
        """Judge as `verdicts` does, and return the provenance of each call, several for a jury.

        A decision model answers each question separately. If one answer fails, the others are
        requested again without it, and only its item is Unjudged.

        Args:
            items: the `inputs` of each item, at most `window` of them.
            topic_id: the topic, whose correction a fitted judge applies.

        Returns: an outcome for each item, in order, and the provenance of each call.
        Raises: JudgeError if no item has a judgement; ValueError for more items than a call takes.
        """
        return await self.ask_apart(items, lambda part: self.verdicts(part, topic_id))

    async def ask_apart(
        self, items: Sequence[Mapping[str, str]], ask: AskOnce
    ) -> tuple[list[Verdict | Unjudged], tuple[Provenance, ...]]:
        """Ask about the items with `ask`; if a decision model's answer fails, ask about each half.

        Args:
            items: the `inputs` of each item of the call.
            ask: asks about some of the items in one call.

        Returns: an outcome for each item, in order, and the provenance of each call.
        Raises: JudgeError if the whole call failed, or the answer to its only question.
        """
        try:
            verdicts, call = await ask(items)
        except JudgeError as error:
            if len(items) == 1 or not self._answers_apart(error):
                raise
            half = len(items) // 2
            parts: list[Verdict | Unjudged] = []
            calls: tuple[Provenance, ...] = ()
            for part in (items[:half], items[half:]):
                try:
                    found, made = await self.ask_apart(part, ask)
                except JudgeError as fault:
                    parts += [Unjudged(fault.reason, fault.detail, fault.raw)] * len(part)
                else:
                    parts, calls = parts + found, calls + made
            return parts, calls
        return verdicts, (call,)

    async def in_windows(self, items: Sequence[Mapping[str, str]]) -> list[Verdict]:
        """Judge any number of items as `verdicts` does, window by window.

        Args:
            items: the `inputs` of each item.

        Returns: a verdict for each item, in order.
        Raises: JudgeError for the first item without a judgement.
        """
        verdicts: list[Verdict] = []
        for start in range(0, len(items), self.window):
            batch, _ = await self.verdicts(items[start : start + self.window])
            verdicts += (
                require_verdict(each, f"item {start + i}: ") for i, each in enumerate(batch, 1)
            )
        return verdicts

    @property
    def _is_asked_apart(self) -> bool:
        """Whether each item of a call is a separate question, as for a decision model."""
        return self.backend is not None and self.backend.config.gives_labels_alone

    def _answers_apart(self, error: JudgeError) -> bool:
        config = self.backend.config if self.backend is not None else None
        if config is None or not self._is_asked_apart:
            return False
        of_one = (Reason.ERROR,) if config.recorded_judge else (Reason.REFUSED,)
        return error.reason in (*of_one, Reason.UNPARSEABLE)

    @property
    def most_calls(self) -> int:
        """Return the largest number of calls for one item; a jury calls each member."""
        return 1

    def call_inputs(self, items: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """Return the inputs of the call for these items: shared ones, and listed ones by number.

        Args:
            items: the `inputs` of each item of the call.
        """
        name = self.listed
        if name is None:
            return dict(items[0])
        if isinstance(items, Listed) and items.name == name:  # the form in a run
            inputs, texts = items.shared.copy(), items.texts
        else:
            inputs, texts = dict(items[0]), [item[name] for item in items]
        del inputs[name]
        inputs[self.several] = dict(zip(make_keys(items), texts, strict=True))
        return inputs

    def optional_inputs(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the optional inputs that are among these texts.

        Args:
            texts: texts by the name of their input; blank ones are left out.
        """
        return {name: text for name in self.optional if (text := texts.get(name, "")).strip()}

    def list_optional_texts(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        """Return the optional texts in the order of `optional`, "" for a gap before the last.

        Args:
            texts: texts by the name of their input.
        """
        optional = self.optional_inputs(texts)
        n = max((i for i, name in enumerate(self.optional, 1) if name in optional), default=0)
        return tuple(optional.get(name, "") for name in self.optional[:n])

    async def verdict(
        self, topic_id: str | None = None, **inputs: str
    ) -> tuple[Verdict, Provenance]:
        """Judge one item.

        Args:
            topic_id: the topic, whose correction a fitted judge applies.
            inputs: the texts of the item, by the names in `inputs` and `optional`.

        Returns: the verdict, and the provenance of the call.
        Raises: JudgeError if there is no judgement.
        """
        verdicts, provenance = await self.verdicts([inputs], topic_id)
        return require_verdict(verdicts[0]), provenance

    async def decide(self, **inputs: str) -> dspy.Prediction:
        """Judge one item in one call; `judge(...)` calls this.

        Args:
            inputs: the texts of the item, by the names in `inputs` and `optional`.

        Returns: the prediction, see `prediction`.
        Raises: ValueError for unknown or missing inputs; JudgeError if there is no judgement.
        """
        optional = {name: inputs.pop(name) for name in type(self).optional if name in inputs}
        if inputs.keys() != set(self.inputs):
            wanted, got = (", ".join(names) or "none" for names in (self.inputs, inputs))
            raise ValueError(f"wanted the inputs {wanted}, got {got}")
        verdict, _ = await self.verdict(**inputs, **self.optional_inputs(optional))
        return self.prediction(verdict)

    def prediction(self, outcome: Verdict | Sequence[Verdict], **more: Any) -> dspy.Prediction:
        """Make the prediction that a call of the judge returns.

        For one verdict: `label`, `score`, `probabilities`, `evidence`, `is_quoted`,
        `rationale`, and the label again, as `answer_type`, under the name of the reply's field.
        For several verdicts, each field is a list in their order: `verdicts`, `scores`,
        `probabilities`, `evidence`, `are_quoted`, `rationales`.

        Args:
            outcome: the verdict on one item, or the verdicts on several.
            more: further fields.

        Returns: the prediction with these fields.
        """
        name = self.output.removesuffix("s")
        if isinstance(outcome, Verdict):
            return dspy.Prediction(
                **{"label": outcome.label, name: self.answer_type(outcome.label)},
                score=outcome.score,
                probabilities=outcome.probabilities,
                evidence=_list_quotes(outcome),
                is_quoted=outcome.is_quoted,
                rationale=outcome.rationale,
                **more,
            )
        labels = [each.label for each in outcome]
        return dspy.Prediction(
            **{"verdicts": labels, f"{name}s": [self.answer_type(label) for label in labels]},
            scores=[each.score for each in outcome],
            probabilities=[each.probabilities for each in outcome],
            evidence=[_list_quotes(each) for each in outcome],
            are_quoted=[each.is_quoted for each in outcome],
            rationales=[each.rationale for each in outcome],
            **more,
        )

    def copy_with_fit(self, state: JudgeFile) -> Self:
        """Return a copy of this judge with the prompts, correction and word weights of a file.

        Args:
            state: the judge file.

        Returns: the copy; this judge stays unchanged.
        Raises: ValueError if the file belongs to another judge, version or scale, has a question or
            labels that this judge does not have, or has cut-offs for scores of another model.
        """
        changed = super().copy_with_fit(state)
        state.check_scores(self.has_logprobs, self.window)
        changed.take_fit(state)
        changed.fitted_on |= self.fitted_on
        return changed

    def fit(self) -> JudgeFile | None:
        """Return the parts of a judge file that the judge uses; None: none."""
        if not (self.correction or self.fitted_words or self.fitted_prompts or self.fitted_on):
            return None
        return self.identify()

    def identify(self) -> JudgeFile:
        """Return what `fit` does, also for a judge without a fit: name, version, labels, model."""
        from .fitted import JudgeFile

        return JudgeFile(
            judge=self.name,
            version=self.version,
            scale=self.scale,
            model=self.model_name,
            logprobs=self.has_logprobs,
            window=None if self._is_asked_apart else self.window,
            prompts=dict(self.fitted_prompts),
            correction=self.correction,
            fitted_on=tuple(sorted(self.fitted_on)),
            words=dict(self.fitted_words) if self.fitted_words is not None else None,
        )

    def take_fit(self, state: JudgeFile | None) -> None:
        """Apply the correction and word weights of a judge file, but not its prompts.

        Args:
            state: the judge file; None: remove the fit.

        Raises: ValueError like `copy_with_fit`.
        """
        if state is not None:
            state.check(self.name, self.version, self.scale, self.model_name)
            state.check_scores(self.has_logprobs, self.window)
        plain = self.__dict__.pop("_plain_scorers", self.scorers)
        words = state.words if state is not None else None
        self.scorers = plain
        self._prompts.clear()  # they hold the scorer
        if words is not None:
            self._plain_scorers = plain
            self.scorers = {self.predictor: self.make_weighted_scorer(words)}
        self.correction = state.correction if state is not None else None
        self.fitted_words = words
        self.fitted_prompts = dict(state.prompts) if state is not None else {}
        self.fitted_on = frozenset(state.fitted_on) if state is not None else frozenset()

    def named_parameters(self) -> list[tuple[str, Any]]:
        """Return the parameters of dspy.Module, and `fit`, which holds the rest of a fit."""
        return [*super().named_parameters(), ("fit", Fit(self))]

    def metric(self, **fields: Field) -> JudgeMetric:
        """Return the labels' gain as a metric: `dspy.Evaluate(metric=judge.metric(...))`.

        Args:
            fields: an input of the judge -> the field of prediction or example that holds it.

        Returns: the metric, `metric(example, prediction)`; see JudgeMetric, also for failed
            judgements.

        >>> import dspy
        >>> from nuggetjudge.judges import SupportJudge
        >>> score = SupportJudge("lexical").metric(sentence="answer", passage="context")
        >>> answered = dspy.Prediction(answer="Wind moves decks.")
        >>> score(dspy.Example(context="Wind moves decks."), answered)
        1.0
        """
        return JudgeMetric(self, fields)

    def make_weighted_scorer(self, words: Mapping[str, float]) -> Scorer:
        """Return the lexical score under fitted word weights.

        Args:
            words: the weight of each word stem, >= 0.

        Returns: a function from the inputs of a call to its scores.
        Raises: ValueError if the judge has no lexical score.
        """
        overlap, output, source = self.overlap, self.output, self.source
        if overlap is None or source is None or self.quotable is None:
            raise ValueError(f"the {self.name} judge has no lexical score to weight")
        wanted = self.quotable[source]

        def score(inputs: Mapping[str, Any]) -> dict[str, Any]:
            text = inputs[source]
            if self.listed is None:
                return {output: overlap(inputs[wanted], text, words)}
            return {output: {i: overlap(t, text, words) for i, t in inputs[self.several].items()}}

        return score

    def _take_window(self, window: int) -> None:
        if window < 1:
            raise ValueError(f"window must be 1 or more, got {window}")
        self.window = window

    def _list_shown_fields(self) -> dict[str, Any]:
        return {**super()._list_shown_fields(), "fitted": self.fit() is not None}

    def _verdict(
        self, reply: Reply, key: str | None, item: Mapping[str, str], topic_id: str | None
    ) -> Verdict | Unjudged:
        label, score, chances = reply.at(self.output, key)
        if chances is not None:
            chances = {name: chances[name] for name in self.scale}
            score = sum(p * i for i, p in enumerate(chances.values())) / (len(self.scale) - 1)
        verdict = Verdict(str(label), score, chances)
        if self.correction is not None:
            verdict = self.correction.verdict(verdict, self.scale, topic_id)
        if (outside := reply.get_outside(self.output, key)) is not None:
            verdict = verdict._replace(outside_probability=outside)
        if not self.says_why:
            return verdict
        return self.add_explanation(verdict, reply, key, item)


@lru_cache(maxsize=1000)
def _keys(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(1, n + 1)))


def make_keys(items: Sequence[Any]) -> tuple[str, ...]:
    """Return keys for the items of a call: "1", "2" and so on."""
    return _keys(len(items))


def require_verdict(verdict: Verdict | Unjudged, where: str = "") -> Verdict:
    """Return the verdict. Raises: JudgeError if the item is unjudged."""
    if isinstance(verdict, Verdict):
        return verdict
    raise JudgeError(verdict.reason, f"{where}{verdict.detail}", verdict.raw)


def _list_quotes(verdict: Verdict) -> list[Evidence] | None:
    return None if verdict.evidence is None else list(verdict.evidence)


ANSWER_IDS = ("topic_id", "run_id")  # identify an answer if the listed input has no id


class JudgedItem(Protocol):
    """An item: its ids, named as in label files, and the inputs of its judge."""

    @property
    def ids(self) -> Mapping[str, str]: ...
    @property
    def inputs(self) -> Mapping[str, str]: ...


def answers(judge: ItemJudge, items: Iterable[JudgedItem]) -> list[list[int]]:
    """Group the items that a judge may take together, and return the indices of each group.

    A judge that lists an input takes together the items about one answer, wherever they are in
    `items`: items that share every other input and every id except that of the listed text
    (`nugget_id`, or `question_id` in a list of questions). Items without such an id are grouped by
    topic and run. Other judges take each item alone. Groups are in the order of their first item.
    Memory holds only indices and a hash of each answer.
    """
    groups: dict[bytes | int, list[int]] = {}
    for index, item in enumerate(items):
        key = index if judge.listed is None else _answer(judge.listed, judge.inputs, item)
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def calls(judge: ItemJudge, items: Iterable[JudgedItem]) -> list[list[int]]:
    """Return the indices of the items of each call: the groups of `answers`, cut at the window."""
    size, groups = judge.window, answers(judge, items)
    return [group[i : i + size] for group in groups for i in range(0, len(group), size)]


async def judge_items(
    judge: ItemJudge, items: Sequence[JudgedItem], *, concurrency: int = 32
) -> list[tuple[Verdict | Unjudged, Provenance | None]]:
    """Judge items, a bounded number at once.

    Args:
        concurrency: the largest number of calls at the same time.

    Returns: a verdict for each item or the reason why there is none, and the provenance of its
        call; only the first item of a window has it.
    Raises: EndpointUnusable if no request can succeed.
    """
    return await judge_calls(judge, items, calls(judge, items), concurrency=concurrency)


async def judge_calls(
    judge: ItemJudge,
    items: Sequence[JudgedItem],
    together: Iterable[list[int]],
    *,
    concurrency: int = 32,
) -> list[tuple[Verdict | Unjudged, Provenance | None]]:
    """Judge items as `judge_items` does, with the indices of the items of each call given."""
    outcomes: dict[int, tuple[Verdict | Unjudged, Provenance | None]] = {}
    waiting = iter(together)

    async def work(waiting: Iterator[list[int]]) -> None:
        for indexes in waiting:
            topic_id = items[indexes[0]].ids.get("topic_id")
            try:
                inputs = [items[i].inputs for i in indexes]
                verdicts, made = await judge.judge_items(inputs, topic_id)
            except JudgeError as error:
                missing = Unjudged(error.reason, error.detail, error.raw)
                outcomes.update((i, (missing, None)) for i in indexes)
            else:
                call = made[0] if len(made) == 1 else as_one(judge.model_name, made)
                for n, (i, verdict) in enumerate(zip(indexes, verdicts, strict=True)):
                    outcomes[i] = (verdict, call if n == 0 else None)

    async with task_group() as group:
        for _ in range(concurrency):
            group.create_task(work(waiting))
    return [outcomes[i] for i in range(len(items))]


def _answer(listed: str, names: Sequence[str], item: JudgedItem) -> bytes:
    own, ids = f"{listed}_id", item.ids
    named = sorted(ids.keys() - {own}) if own in ids else [n for n in ANSWER_IDS if n in ids]
    shared = [item.inputs[name] for name in names if name != listed]
    key = repr(([(name, ids[name]) for name in named], shared))
    return hashlib.blake2b(key.encode(), digest_size=16).digest()
