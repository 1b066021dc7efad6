"""Custom judges: a YAML file declares what a judge reads, the question and the labels."""

from __future__ import annotations

import hashlib
import json
import keyword
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Self

import dspy
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from ..backends.prompt import Scorer
from ..metrics.answer_scores import SHARE
from ..records.kinds import key_fields
from ..records.reading.problems import InputError, did_you_mean, unreadable
from ..records.reading.settings import check_settings, read_settings_text
from ..records.rows import Label, Row
from .items import ItemJudge
from .lexical.overlap import weigh_overlap
from .table import item_judges, judge_names

ITEMS = "items"  # the section of a config, and the name of items without a run
# Other fields in files of items and labels, and the ids.
_FIELDS = {
    *("label", "annotator", "rationale", "raw", "score", "probabilities", "probability"),
    "outside_probability",
    *("chosen_by", "other_label", "model", "backend", "self"),
    *("evidence", "is_quoted", "method", "votes", "confidence", "superseded"),
}


def _word(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", text):
        raise ValueError("wanted a lower-case word of letters, digits and _, up to 64")
    return text


Word = Annotated[str, AfterValidator(_word)]
Text = Annotated[str, Field(pattern=r"\S")]
Line = Annotated[str, Field(pattern=r"^[^\n\r]*\S[^\n\r]*$")]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]


def _with_gains(value: Any) -> Any:
    """Turn a list of labels into a map without gains."""
    if not isinstance(value, list):
        return value
    if len(value) != len(set(map(str, value))):
        raise ValueError("a label occurs twice")
    return dict.fromkeys(value)


Labels = Annotated[
    dict[Word, Share | None],
    BeforeValidator(_with_gains),
    Field(min_length=2),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": {"type": "number"}},
                {"type": "array", "items": {"type": "string"}},
            ]
        }
    ),
]


class LexicalRule(Row):
    """How the judge labels without a model: by the overlap of one input with another."""

    look_for: str = Field(description="the input whose words are looked for")
    source: str = Field(alias="in", description="the input in which they are looked for")
    cuts: tuple[Share, ...] = Field(description="overlap at which each label but the worst begins")


class EvidenceRule(Row):
    """The quotes of the judge, if it is asked for evidence (`judges.item.evidence`)."""

    of: tuple[Word, ...] | None = Field(
        default=None,
        min_length=1,
        description="inputs that it quotes; default: the one of lexical.in, or all",
    )
    needed_for: tuple[Word, ...] | None = Field(
        default=None, description="labels that need a quote; default: labels with a gain above 0"
    )


class CustomJudgeDefinition(Row):
    """The content of a judge's YAML file: data only.

    Attributes:
        name: the name in judge files, a lower-case word of up to 64 letters, digits and `_`; no
            built-in judge may have it.
        question: the instructions for the model, with the meanings of the labels.
        inputs: the fields of an item that the judge reads: name -> what it holds. 1 or more.
        labels: 2 or more labels, worst to best: label -> gain in [0, 1], or a list. Ordered labels
            in a list have gains in equal steps; labels without an order have none.
        ordered: True if the labels have an order.
        measure: the name of the mean gain; None: `mean_gain`.
        lexical: how the judge labels without a model: `look_for` is the input whose words are
            looked for in the input `in`; `cuts` has, for each label but the worst, the overlap in
            [0, 1] from which an item gets it. None: the judge needs a model.
        evidence: what the judge quotes: `of` are the inputs (default: the input `in` of `lexical`,
            or all), `needed_for` the labels that need a quote (default: all but those with gain
            0). None: both defaults.

    Raises: ValueError (pydantic's ValidationError) for names that have another meaning, gains that
        do not ascend, and rules that name unknown inputs or labels.

    >>> definition = CustomJudgeDefinition(
    ...     name="tone", question="Is it polite?", inputs={"text": "the text"},
    ...     labels=["rude", "neutral", "polite"],
    ... )
    >>> definition.gains
    {'rude': 0.0, 'neutral': 0.5, 'polite': 1.0}
    """

    model_config = ConfigDict(json_schema_extra={"description": "A judge's YAML file: data only."})

    name: Word = Field(description="lower-case word, used in judge files")
    question: Text = Field(description="instructions for the model, with the labels' meanings")
    inputs: dict[Word, Line] = Field(min_length=1, description="field of an item -> what it holds")
    labels: Labels = Field(description="worst to best: label -> gain, or a list")
    ordered: StrictBool = Field(default=True, description="false: labels are names, not steps")
    measure: Word | None = Field(
        default=None, description="name of the mean gain; default: mean_gain"
    )
    lexical: LexicalRule | None = Field(default=None, description="labels without a model")
    evidence: EvidenceRule | None = Field(default=None, description="what the judge quotes")

    @field_validator("name")
    @classmethod
    def _is_new(cls, name: str) -> str:
        if name in judge_names() or name == ITEMS:
            raise ValueError("a built-in judge has this name")
        return name

    @field_validator("inputs")
    @classmethod
    def _are_free(cls, inputs: dict[str, str]) -> dict[str, str]:
        ids = {name for names in key_fields().values() for name in names}
        for name in inputs:
            if name in _FIELDS or name in ids or keyword.iskeyword(name):
                raise ValueError(f"the name {name!r} has another meaning in files of items")
            is_an_option = name in ("config", "demos", "lm", "signature", "new_signature")
            if is_an_option or hasattr(dspy.Signature, name) or hasattr(dspy.Prediction, name):
                raise ValueError(f"DSPy uses the name {name!r}")
        return inputs

    @model_validator(mode="after")
    def _check(self) -> Self:
        gains = [gain for gain in self.labels.values() if gain is not None]
        if gains and len(gains) < len(self.labels):
            raise ValueError("labels: wanted a gain for every label, or for none")
        if self.ordered and gains and (sorted(gains) != gains or gains[0] == gains[-1]):
            raise ValueError("labels: wanted gains that ascend from the worst label to the best")
        if self.measure is not None and not self.gains:
            raise ValueError("measure: labels without order and gains have no mean gain")
        for name in (*self.labels, *([self.measure] if self.measure else [])):
            if name == "length" or name.startswith(SHARE) or name.endswith(("_all", "_expected")):
                at = "measure" if name == self.measure else f"labels.{name}"
                raise ValueError(f"{at}: {name!r} is reserved for measures of several values")
        if self.lexical is not None:
            self._check_lexical(self.lexical)
        if self.evidence is not None:
            self._check_evidence(self.evidence)
        return self

    def _check_evidence(self, rule: EvidenceRule) -> None:
        for name in rule.of or ():
            if name not in self.inputs:
                raise ValueError(f"evidence.of: no input {name!r}; it has {_all(self.inputs)}")
        for name in rule.needed_for or ():
            if name not in self.labels:
                what = f"no label {name!r}; it has {_all(self.labels)}"
                raise ValueError(f"evidence.needed_for: {what}")

    def _check_lexical(self, rule: LexicalRule) -> None:
        for at, name in (("look_for", rule.look_for), ("in", rule.source)):
            if name not in self.inputs:
                raise ValueError(f"lexical.{at}: no input {name!r}; it has {_all(self.inputs)}")
        if not self.ordered:
            raise ValueError("lexical: overlap needs labels with an order")
        if len(rule.cuts) != len(self.labels) - 1:
            n = len(self.labels) - 1
            raise ValueError(f"lexical.cuts: {len(rule.cuts)} for {n + 1} labels, wanted {n}")
        if any(high < low for low, high in pairwise(rule.cuts)):
            raise ValueError(f"lexical.cuts: {list(rule.cuts)}, wanted ascending numbers")

    @property
    def scale(self) -> tuple[str, ...]:
        """Return the labels, worst to best."""
        return tuple(self.labels)

    @property
    def gains(self) -> dict[str, float]:
        """Return the gain of each label, in [0, 1]; {} for labels without gains and order."""
        own = {name: gain for name, gain in self.labels.items() if gain is not None}
        if own or not self.ordered:
            return own
        return {name: i / (len(self.labels) - 1) for i, name in enumerate(self.labels)}

    @property
    def quotable(self) -> dict[str, str]:
        """Return the inputs that it may quote, each with the input that is looked for in it.

        Returns: by the name of an input: the other input, or "" for all others.
        """
        rule = self.lexical
        sought = {} if rule is None else {rule.source: rule.look_for}
        if self.evidence is not None and self.evidence.of is not None:
            return {name: sought.get(name, "") for name in self.evidence.of}
        return sought or dict.fromkeys(self.inputs, "")

    @property
    def groundless(self) -> frozenset[str] | None:
        """Return the labels that need no quote; None: the labels with gain 0."""
        if self.evidence is None or self.evidence.needed_for is None:
            return None
        return frozenset(self.labels) - frozenset(self.evidence.needed_for)

    @property
    def version(self) -> str:
        """Return 12 hex digits of a hash of everything in the definition."""
        excluded = {"evidence"} if self.evidence is None else set()
        text = json.dumps(self.model_dump(mode="json", exclude=excluded))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class CustomJudge(ItemJudge):
    """Give each item a label of a definition: `judge(claim=, source=).label`.

    Args:
        definition: the definition, or its YAML file.
        model, backend: the model that answers, see `ItemJudge`.

    `key` holds the ids of the items, which the caller sets.

    Raises: InputError for a file that cannot be read or breaks a rule. JudgeError from a call, if
        there is no judgement.

    >>> rule = {"look_for": "claim", "in": "source", "cuts": [0.5]}
    >>> definition = CustomJudgeDefinition(
    ...     name="backed", question="Does the source back the claim?", labels=["no", "yes"],
    ...     inputs={"claim": "a claim", "source": "a source"}, lexical=rule,
    ... )
    >>> judge = CustomJudge(definition, "lexical")
    >>> judge(claim="Wind sways bridges.", source="Wind sways bridges.").label
    'yes'
    """

    kind = "other"
    predictor, output = "judge", "label"
    key: tuple[str, ...] = ()

    def __init__(self, definition: CustomJudgeDefinition | str | Path, *args: Any, **options: Any):
        super().__init__(*args, **options)
        if not isinstance(definition, CustomJudgeDefinition):
            definition = read_custom_judge(Path(definition))
        self.definition = definition
        self.name, self.version = definition.name, definition.version
        self.inputs = tuple(definition.inputs)
        self.scale, self.gains = definition.scale, definition.gains
        self.is_ordered = definition.ordered
        self.quotable, self.groundless = definition.quotable, definition.groundless
        self.judge = dspy.Predict(_signature(definition))
        if (rule := definition.lexical) is not None:
            self.source = rule.source
            self.scorers = {"judge": self.make_weighted_scorer({})}
            self.baselines = {"judge": self._baseline}

    def make_weighted_scorer(self, words: Mapping[str, float]) -> Scorer:
        """See ItemJudge: the weighted overlap of the two inputs of the lexical rule."""
        if (rule := self.definition.lexical) is None:
            return super().make_weighted_scorer(words)

        def score(inputs: Mapping[str, Any]) -> dict[str, Any]:
            return {"label": weigh_overlap(inputs[rule.look_for], inputs[rule.source], words)}

        return score

    def _baseline(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        rule = self.definition.lexical
        assert rule is not None
        score = self.make_weighted_scorer({})(inputs)["label"]
        return {"label": self.scale[sum(score >= cut for cut in rule.cuts)]}


def read_custom_judge(path: Path) -> CustomJudgeDefinition:
    r"""Read the YAML file of a judge.

    `yes`, `no`, `on` and `off` are words there; only `true` and `false` are truth values.

    Args:
        path: the YAML file.

    Returns: the definition in the file.
    Raises: InputError with file and line for each error.

    >>> from tempfile import TemporaryDirectory
    >>> lines = "name: tone", "question: Is it polite?", "inputs: {text: the text}"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tone.yaml")
    ...     _ = path.write_text("\n".join([*lines, "labels: [no, yes]"]))
    ...     read_custom_judge(path).scale
    ('no', 'yes')
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        names, near = ", ".join(item_judges()), did_you_mean(str(path), item_judges())
        wanted = f"wanted {names} or a judge's YAML file{near}"
        raise InputError(f"{path}: no such file; {wanted}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None
    data, lines = read_settings_text(path, text, "name: and question:")
    return check_settings(CustomJudgeDefinition, data, path, lines)


def _signature(definition: CustomJudgeDefinition) -> type[dspy.Signature]:
    members = {f"LABEL_{i}": name for i, name in enumerate(definition.scale)}
    new: Any = Label  # created like any enum
    labels = new("Label", members)
    fields = {
        name: (str, dspy.InputField(desc=desc)) for name, desc in definition.inputs.items()
    } | {"label": (labels, dspy.OutputField(desc="the label that fits"))}
    signature: type[dspy.Signature] = dspy.Signature(
        fields, definition.question.strip(), signature_name=definition.name
    )
    return signature


def _all(names: Any) -> str:
    return ", ".join(names) or "none"
