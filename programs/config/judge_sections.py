"""The section of a judge in a config, and its jury, cascade and verifier."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, create_model, model_validator

from ...judges.table import BUILT_IN, Variant, explaining_judges, find_judge, item_judges
from ...records.reading.settings import InputPath, TextOrFile
from .base import Section, Whole, find_variant, load_judge_settings


def _as_members(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return [_as_member(member) for member in value]


def _as_member(value: Any) -> Any:
    """Expand the short forms of a member: a model, or judge settings beside its own."""
    if isinstance(value, str):
        return {"judge": {"model": value}}
    if not isinstance(value, dict) or "judge" in value:
        return value
    own = {name: value[name] for name in value if name in MemberConfig.model_fields}
    return {**own, "judge": {name: value[name] for name in value if name not in own}}


PEOPLE: Literal["people"] = "people"  # may replace a cascade's last stage


def _as_stages(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    for number, stage in enumerate(value, 1):
        if isinstance(stage, dict) and "judge" not in stage:
            wanted = "wanted a name under models:, people, or {judge: {model: NAME}}"
            raise ValueError(f"stage {number}: got {stage}, {wanted}")
    return [
        {"judge": {"model": stage}} if isinstance(stage, str) and stage != PEOPLE else stage
        for stage in value
    ]


class JuryConfig(Section):
    """Several judges instead of one; their labels are combined (docs/juries.md)."""

    members: Annotated[tuple[MemberConfig, ...], BeforeValidator(_as_members)] = Field(
        min_length=1, description="models, or settings of a judge with name and replicates"
    )
    method: Literal["vote", "median", "mean"] = Field(
        default="median", description="how to combine the members' labels"
    )
    quorum: Whole | None = Field(
        default=None, ge=1, description="minimum members that judged; default: more than half"
    )
    ties: Literal["between", "worst", "unjudged"] | None = Field(
        default=None,
        description="result of a tie; default: between, or unjudged for labels without order",
    )
    adjudicator: str | None = Field(
        default=None, description="model that decides if members differ, a name under models:"
    )
    spread: Whole = Field(
        default=1,
        ge=1,
        description="smallest distance of lowest and highest vote that goes to the adjudicator",
    )


class GuaranteeConfig(Section):
    """The guarantee of a cascade's state for the labels that it keeps."""

    agree: float = Field(gt=0, lt=1, description="share of kept labels that agree with people")
    confidence: float = Field(
        default=0.9, gt=0.5, lt=1, alias="with", description="confidence level of the guarantee"
    )
    unit: Literal["topic", "item"] = Field(
        default="topic", description="sampling unit of the guarantee"
    )


class StageConfig(Section):
    """A stage of a cascade: a judge or a jury."""

    judge: JudgeConfig = Field(description="settings that differ from the judge's own")


class CascadeConfig(Section):
    """A chain of judges; uncertain items go to the next judge (docs/agents.md)."""

    stages: Annotated[tuple[StageConfig | Literal["people"], ...], BeforeValidator(_as_stages)] = (
        Field(min_length=2, description="judges or models, cheapest first; people may be last")
    )
    state: InputPath | None = Field(default=None, description="file of judge cascade fit")
    confidence: Literal["calibrated", "agreement", "margin"] | None = Field(
        default=None, description="kind of confidence; default with a state: the state's"
    )
    threshold: float | None = Field(
        default=None, description="lowest confidence of a kept label, without a state"
    )
    share: float | None = Field(
        default=None, ge=0, le=1, description="share that the state must be fitted for"
    )
    guarantee: GuaranteeConfig | None = Field(
        default=None, description="guarantee that the state must have"
    )

    @model_validator(mode="after")
    def _decides(self) -> CascadeConfig:
        if (self.state is None) is (self.threshold is None):
            raise ValueError("wanted either a state (from judge cascade fit) or a threshold")
        if self.state is None and (self.share is not None or self.guarantee is not None):
            at = "share" if self.guarantee is None else "guarantee"
            raise ValueError(f"{at}: needs a state; fit one with judge cascade fit")
        if self.state is None and self.confidence == "calibrated":
            raise ValueError("confidence: calibrated needs a state; fit one with judge cascade fit")
        if PEOPLE in self.stages[:-1]:
            raise ValueError("stages: people can only be the last stage")
        return self


class UnsureConfig(Section):
    """Conditions under which a label is uncertain; one is enough."""

    score: tuple[float, float] | None = Field(
        default=None, description="verify if the score is between these two values"
    )
    labels: tuple[str, ...] = Field(default=(), description="verify these labels")
    spread: Whole | None = Field(
        default=None, ge=1, description="verify if the votes of a jury are this far apart"
    )


class VerifyConfig(Section):
    """Verification of uncertain labels by a model (docs/agents.md)."""

    model: str = Field(default="default", description="model that verifies, a name under models:")
    when: UnsureConfig = Field(description="labels to verify: by score, labels or spread")

    def check(self, is_jury: bool) -> None:
        """Raise ValueError unless the conditions can hold."""
        if self.when.score is None and not self.when.labels and self.when.spread is None:
            raise ValueError("when: wanted score, labels or spread")
        if self.when.spread is not None and not is_jury:
            raise ValueError("when.spread: only for a judge with a jury")


# Settings of few judges (`judges.table.Kind.settings`), with their defaults.
_OF_FEW = {"grades": None, "titles": True}


class _JudgeConfig(Section):
    """The model of a judge, and the settings that differ from its defaults."""

    model: str = Field(default="default", description="a name under models:")
    window: Whole | None = Field(
        default=None,
        ge=1,
        description="items per call; default: 10 passages, nuggets, claims or criteria; 1 question "
        "or key point",
    )
    grades: Literal[2, 3] | None = Field(
        default=None, description="number of labels of the assigner; 2 drops partial_support"
    )
    demonstrations: InputPath | None = Field(
        default=None, description="JSONL file of worked examples; not with state"
    )
    example: bool = Field(
        default=True, description="show the built-in example to judges that make lists or requests"
    )
    titles: bool = Field(
        default=True, description="show passage titles to the judges support and relevance"
    )
    state: InputPath | None = Field(
        default=None, description="judge file from judge calibrate or DSPy"
    )
    evidence: bool | Literal["required"] | None = Field(
        default=None,
        description="ask for a quote with each label; required: labels without one are unjudged; "
        "default: on for the lexical judge",
    )
    reasoning: bool | None = Field(
        default=None, description="ask for a short reason before each label"
    )
    instructions: TextOrFile | None = Field(
        default=None, description="text or file to use as the judge's instructions"
    )
    prompt: InputPath | None = Field(
        default=None,
        description="prompt file to use instead of the judge's prompt; not with instructions",
    )
    jury: JuryConfig | None = Field(
        default=None, description="several judges as one; only judges of items"
    )
    cascade: CascadeConfig | None = Field(
        default=None, description="a better judge for uncertain items; only judges of items"
    )
    verify: VerifyConfig | None = Field(
        default=None,
        description="verify uncertain labels; only judges of items that can quote",
    )

    def variant(self, name: str) -> Variant | None:
        """Return the class that these settings choose instead of the judge of this name, if any."""
        return find_variant(name, dict(self))

    def load(self, name: str) -> Any:
        """Return the class that these settings choose for the judge of this name."""
        kind = self.variant(name) or find_judge(name)
        assert kind is not None  # the config names no other
        return kind.load()

    @property
    def is_composed(self) -> bool:
        """Whether several models take part: a jury, a cascade or a verifier."""
        return (self.jury, self.cascade, self.verify) != (None, None, None)

    @property
    def says_why(self) -> bool:
        """Whether quotes or reasons are asked for."""
        return bool(self.evidence or self.reasoning)

    @property
    def has_files(self) -> bool:
        """Whether files define the prompt of the judge or how its scores are read."""
        files = (self.demonstrations, self.state, self.instructions, self.prompt)
        state = self.cascade.state if self.cascade is not None else None
        return any(each is not None for each in (*files, state))

    def check(self, name: str) -> None:
        """Raise ValueError for settings that the judge of this name does not have or combine."""
        kind = find_judge(name) or BUILT_IN["item"]
        if self.window is not None and not kind.is_windowed:
            raise ValueError(f"judges.{name}.window: this judge takes one item per call")
        for field, default in _OF_FEW.items():
            if getattr(self, field) != default and field not in kind.settings:
                few = " and ".join(each for each, one in BUILT_IN.items() if field in one.settings)
                raise ValueError(f"judges.{name}.{field}: only {few} can have this setting")
        self._check_variant(name)
        if self.demonstrations is not None and not kind.home:
            raise ValueError(f"judges.{name}.demonstrations: this judge uses its own prompts")
        if self.demonstrations is not None and self.state is not None:
            raise ValueError(f"judges.{name}.demonstrations: state has its own; use one of them")
        if not self.example and not kind.has_example:
            with_one = ", ".join(each for each, kind in BUILT_IN.items() if kind.has_example)
            raise ValueError(f"judges.{name}.example: only {with_one} have an example")
        if self.state is not None and not kind.can_be_fitted:
            raise ValueError(f"judges.{name}.state: this judge uses its own prompts")
        says_why = self.evidence is not None or self.reasoning is not None
        if says_why and not kind.says_why:
            what = f"only {', '.join(explaining_judges())} can explain labels"
            at = "reasoning" if self.evidence is None else "evidence"
            raise ValueError(f"judges.{name}.{at}: {what}")
        if self.prompt is not None and self.instructions is not None:
            raise ValueError(
                f"judges.{name}.prompt: has its own instructions; remove judges.{name}.instructions"
            )
        if self.verify is not None:
            if not (kind.labels_items or name == "item") or not kind.says_why:
                can = [each for each in item_judges() if each in explaining_judges()]
                what = f"only {', '.join((*can, 'item'))} can be verified"
                raise ValueError(f"judges.{name}.verify: {what}")
            try:
                self.verify.check(self.jury is not None)
            except ValueError as error:
                raise ValueError(f"judges.{name}.verify.{error}") from None
        if not kind.home and (self.prompt or self.instructions) is not None:
            raise ValueError(f"judges.{name}: this judge uses its own prompts; set only its model")

    def _check_variant(self, name: str) -> None:
        """Raise ValueError for settings that belong to another judge of another package."""
        adjudicator = self.jury.adjudicator if self.jury is not None else None
        asked = {"prompt": self.prompt, "verify": self.verify, "jury.adjudicator": adjudicator}
        asked_for_labels = next((at for at, value in asked.items() if value is not None), "")
        for kind in load_judge_settings().values():
            settings = kind.model_construct(**{at: getattr(self, at) for at in kind.model_fields})
            if kind.judge == name:
                try:
                    settings.check(asked_for_labels)
                except ValueError as error:
                    raise ValueError(f"judges.{name}.{error}") from None
            elif changed := [
                at for at, value in settings if value != kind.model_fields[at].default
            ]:
                raise ValueError(
                    f"judges.{name}.{changed[0]}: only {kind.judge} can have this setting"
                )


if TYPE_CHECKING:
    JudgeConfig = _JudgeConfig
else:
    JudgeConfig = create_model(
        "JudgeConfig",
        __base__=_JudgeConfig,
        __module__=__name__,
        __doc__=_JudgeConfig.__doc__,
        **{
            name: (field.annotation, field)
            for kind in load_judge_settings().values()
            for name, field in kind.model_fields.items()
        },
    )


class MemberConfig(StageConfig):
    """A member of a jury."""

    name: str | None = Field(
        default=None, pattern=r"^[\w.-]+$", description="name in votes; default: its model"
    )
    replicates: int = Field(
        default=1, ge=1, le=100, description="times to ask it; each reply is one vote"
    )
    temperature: float | None = Field(
        default=None, ge=0, description="temperature of its requests; default: its model's"
    )

    @model_validator(mode="after")
    def _is_no_jury(self) -> MemberConfig:
        for name in ("jury", "cascade", "verify", "window", "grades"):
            if getattr(self.judge, name) is not None:
                raise ValueError(f"{name}: set it for the judge, not for a member")
        return self


JuryConfig.model_rebuild()
StageConfig.model_rebuild()
CascadeConfig.model_rebuild()


ADJUDICATOR = "adjudicator"


class Member(NamedTuple):
    """A member: name, judge settings, number of the replicate, temperature."""

    name: str
    settings: JudgeConfig
    replicate: int = 0
    temperature: float | None = None


def list_members(judge: JudgeConfig) -> list[Member]:
    """List the members of a judge's jury, and last its adjudicator, if any.

    A member inherits the settings of the judge, except the state, which belongs to the whole jury.
    Replicates are separate members, `NAME-1`, `NAME-2`.

    Raises: ValueError for a jury of one, or a duplicate name.
    """
    jury = judge.jury
    assert jury is not None
    own = {"jury": None, "state": None, "verify": None}
    members: list[Member] = []
    for member in jury.members:
        given = member.judge.model_fields_set
        changes = own | {name: getattr(member.judge, name) for name in given}
        settings = judge.model_copy(update=changes)
        name = member.name or settings.model
        several = member.replicates > 1
        members += [
            Member(f"{name}-{i + 1}" if several else name, settings, i, member.temperature)
            for i in range(member.replicates)
        ]
    names = [member.name for member in members]
    if len(members) < 2:
        raise ValueError(f"wanted 2 or more members, got {', '.join(names) or 'none'}")
    for name in names:
        if names.count(name) > 1 or name == ADJUDICATOR:
            what = "the adjudicator is" if name == ADJUDICATOR else "two members are"
            raise ValueError(f"{what} named {name!r}; give the member another `name`")
    if jury.quorum is not None and jury.quorum > len(members):
        raise ValueError(f"quorum: {jury.quorum} is more than the {len(members)} members")
    if jury.adjudicator is not None:
        settings = judge.model_copy(update=own | {"model": jury.adjudicator})
        members.append(Member(ADJUDICATOR, settings))
    return members


def without_verifier(judge: JudgeConfig) -> JudgeConfig:
    """Return the judge or jury whose labels are verified."""
    return judge.model_copy(update={"verify": None})


def make_verifier(judge: JudgeConfig) -> JudgeConfig:
    """Return the verifier: the same judge with another model and without its state."""
    assert judge.verify is not None
    own = {"jury": None, "cascade": None, "verify": None, "state": None, "evidence": True}
    return judge.model_copy(update=own | {"model": judge.verify.model})


def check_jury(name: str, judge: JudgeConfig, models: Iterable[str], *, labels_items: bool) -> None:
    """Raise ValueError for an invalid jury.

    Args:
        name: name of the judge. models: the names under `models:`.
        labels_items: whether the judge labels items, as a jury must.
    """
    at = f"judges.{name}.jury"
    if not labels_items:
        raise ValueError(f"{at}: only {', '.join((*item_judges(), 'item'))} can have a jury")
    try:
        members = list_members(judge)
    except ValueError as error:
        raise ValueError(f"{at}: {error}") from None
    names = list(dict.fromkeys(["default", *models]))
    for member in members:
        if (model := member.settings.model) not in names:
            raise ValueError(f"{at}: {member.name}: no model {model!r}; models: {', '.join(names)}")


def stages(judge: JudgeConfig) -> list[JudgeConfig]:
    """Return the settings of the stages of a judge's cascade, without people.

    A stage inherits the settings of the judge, except its state and jury.
    """
    cascade = judge.cascade
    assert cascade is not None
    own = {"jury": None, "state": None, "cascade": None, "verify": None}
    settings = []
    for stage in cascade.stages:
        if stage != PEOPLE:
            assert not isinstance(stage, str)
            changes = own | {
                name: getattr(stage.judge, name) for name in stage.judge.model_fields_set
            }
            settings.append(judge.model_copy(update=changes))
    return settings


def answering(judge: JudgeConfig) -> list[JudgeConfig]:
    """Return the settings of all that are asked: stages, members of juries, and a verifier."""
    settings = []
    for one in [judge] if judge.cascade is None else stages(judge):
        settings += [one] if one.jury is None else [member.settings for member in list_members(one)]
    return settings if judge.verify is None else [*settings, make_verifier(judge)]


def check_explainer(name: str | None, models: Mapping[str, Any]) -> None:
    """Raise ValueError unless the explainer is None or a model that writes text."""
    if name is None:
        return
    if name not in models:
        raise ValueError(f"run.explainer: no model {name!r}; models: {', '.join(models) or 'none'}")
    if models[name].gives_labels_alone or models[name].way == "lexical":
        raise ValueError(f"run.explainer: {name!r} writes no text; name a chat model")


def check_cascade(
    name: str, judge: JudgeConfig, models: Collection[str], *, labels_items: bool
) -> None:
    """Raise ValueError for an invalid cascade.

    Args:
        name: name of the judge. models: the names under `models:`.
        labels_items: whether the judge labels items, as a cascade must.
    """
    at = f"judges.{name}.cascade"
    cascade = judge.cascade
    assert cascade is not None
    if not labels_items:
        raise ValueError(f"{at}: only {', '.join((*item_judges(), 'item'))} can have a cascade")
    for setting in ("jury", "state"):
        if getattr(judge, setting) is not None:
            raise ValueError(f"judges.{name}.{setting}: set it for a stage of the cascade")
    if judge.verify is not None or any(stage.verify is not None for stage in stages(judge)):
        raise ValueError(f"judges.{name}.verify: not with a cascade; remove one of them")
    names = list(dict.fromkeys(["default", *models]))
    for number, settings in enumerate(stages(judge), 1):
        if settings.jury is not None:
            check_jury(name, settings, models, labels_items=True)
        elif settings.model not in names:
            what = f"no model {settings.model!r}; models: {', '.join(names)}"
            raise ValueError(f"{at}: stage {number}: {what}")
