"""The section of a judge in a config, with its jury, cascade and verifier."""

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
    """A member from its short forms: a model, or settings of the judge among its own."""
    if isinstance(value, str):
        return {"judge": {"model": value}}
    if not isinstance(value, dict) or "judge" in value:
        return value
    own = {name: value[name] for name in value if name in MemberConfig.model_fields}
    return {**own, "judge": {name: value[name] for name in value if name not in own}}


PEOPLE: Literal["people"] = "people"  # in the place of a cascade's last stage


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
    """Several judges in the place of one: what they say is combined (docs/juries.md)."""

    members: Annotated[tuple[MemberConfig, ...], BeforeValidator(_as_members)] = Field(
        min_length=1, description="models, or settings of a judge with its name and replicates"
    )
    method: Literal["vote", "median", "mean"] = Field(
        default="median", description="vote, median or mean of the members' labels"
    )
    quorum: Whole | None = Field(
        default=None, ge=1, description="members that must have judged; default: more than half"
    )
    ties: Literal["between", "worst", "unjudged"] | None = Field(
        default=None,
        description="what a tie becomes; default: between, for labels without order unjudged",
    )
    adjudicator: str | None = Field(
        default=None, description="model that decides where members differ, a name under models:"
    )
    spread: Whole = Field(
        default=1,
        ge=1,
        description="distance of the lowest and highest vote from which the adjudicator decides",
    )


class GuaranteeConfig(Section):
    """What a cascade's state promises of the labels that it keeps."""

    agree: float = Field(gt=0, lt=1, description="share of kept labels that people agree with")
    confidence: float = Field(
        default=0.9, gt=0.5, lt=1, alias="with", description="share of fits in which that holds"
    )
    unit: Literal["topic", "item"] = Field(
        default="topic", description="what the bound counts: topics, or items"
    )


class StageConfig(Section):
    """A stage of a cascade: a judge, or a jury of them."""

    judge: JudgeConfig = Field(description="what of it differs from the judge's own settings")


class CascadeConfig(Section):
    """Judges one after the other, the next asked where one is not sure (docs/agents.md)."""

    stages: Annotated[tuple[StageConfig | Literal["people"], ...], BeforeValidator(_as_stages)] = (
        Field(min_length=2, description="judges or models, cheapest first; people may be the last")
    )
    state: InputPath | None = Field(default=None, description="file of judge cascade fit")
    confidence: Literal["calibrated", "agreement", "margin"] | None = Field(
        default=None, description="confidence of a label; with a state, the state's"
    )
    threshold: float | None = Field(
        default=None, description="without a state: confidence from which a label is kept"
    )
    share: float | None = Field(
        default=None, ge=0, le=1, description="share that the state must have been fitted for"
    )
    guarantee: GuaranteeConfig | None = Field(
        default=None, description="what the state has to promise, or the run is refused"
    )

    @model_validator(mode="after")
    def _decides(self) -> CascadeConfig:
        if (self.state is None) is (self.threshold is None):
            raise ValueError("wanted a state (judge cascade fit) or a threshold, and not both")
        if self.state is None and (self.share is not None or self.guarantee is not None):
            at = "share" if self.guarantee is None else "guarantee"
            raise ValueError(f"{at}: wanted a state that was fitted for it (judge cascade fit)")
        if self.state is None and self.confidence == "calibrated":
            raise ValueError("confidence: calibrated is what a state has (judge cascade fit)")
        if PEOPLE in self.stages[:-1]:
            raise ValueError("stages: people can only be the last")
        return self


class UnsureConfig(Section):
    """When a label is not sure: where any of these holds."""

    score: tuple[float, float] | None = Field(
        default=None, description="verify if the score is between these two"
    )
    labels: tuple[str, ...] = Field(default=(), description="verify these labels")
    spread: Whole | None = Field(
        default=None, ge=1, description="verify if votes of a jury are this far apart"
    )


class VerifyConfig(Section):
    """A second look at labels that are not sure (docs/agents.md)."""

    model: str = Field(default="default", description="model that verifies, a name under models:")
    when: UnsureConfig = Field(description="labels that are verified: score, labels, spread")

    def check(self, is_jury: bool) -> None:
        """Raise ValueError where nothing, or nothing that there can be, is to be verified."""
        if self.when.score is None and not self.when.labels and self.when.spread is None:
            raise ValueError("when: wanted score, labels or spread")
        if self.when.spread is not None and not is_jury:
            raise ValueError("when.spread: wanted of a judge that is a jury")


# Settings that few judges have (`judges.table.Kind.settings`), with their defaults.
_OF_FEW = {"grades": None, "titles": True}


class _JudgeConfig(Section):
    """Which model answers for a judge, and what of the judge differs from its defaults."""

    model: str = Field(default="default", description="a name under models:")
    window: Whole | None = Field(
        default=None,
        ge=1,
        description="items in one call: passages, nuggets, claims, criteria (10); questions, "
        "key points (1)",
    )
    grades: Literal[2, 3] | None = Field(
        default=None, description="labels of the assigner; 2 drops partial_support"
    )
    demonstrations: InputPath | None = Field(
        default=None, description="JSONL of worked examples; not with state"
    )
    example: bool = Field(
        default=True, description="show the worked example of judges that make lists or requests"
    )
    titles: bool = Field(
        default=True, description="show titles of passages to support and relevance"
    )
    state: InputPath | None = Field(
        default=None, description="judge file of judge calibrate, or of DSPy"
    )
    evidence: bool | Literal["required"] | None = Field(
        default=None,
        description="quotes for each label; required: no label without one; default: on for "
        "the lexical judge",
    )
    reasoning: bool | None = Field(default=None, description="a short reason before each label")
    instructions: TextOrFile | None = Field(
        default=None, description="text or file that replaces the judge's instructions"
    )
    prompt: InputPath | None = Field(
        default=None,
        description="prompt file that replaces the judge's whole prompt; not with instructions",
    )
    jury: JuryConfig | None = Field(
        default=None, description="several judges as one; judges of items"
    )
    cascade: CascadeConfig | None = Field(
        default=None, description="a better judge for uncertain items; judges of items"
    )
    verify: VerifyConfig | None = Field(
        default=None,
        description="a second look at uncertain labels; judges of items that can quote",
    )

    def variant(self, name: str) -> Variant | None:
        """The class that these settings choose in the place of the judge of this name, if any."""
        return find_variant(name, dict(self))

    def load(self, name: str) -> Any:
        """The class of the judge of this name, as these settings choose it."""
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
        """Whether files say what the judge is asked, or how its scores are read."""
        files = (self.demonstrations, self.state, self.instructions, self.prompt)
        state = self.cascade.state if self.cascade is not None else None
        return any(each is not None for each in (*files, state))

    def check(self, name: str) -> None:
        """Raise ValueError for settings that the judge of this name has not, or not together."""
        kind = find_judge(name) or BUILT_IN["item"]
        if self.window is not None and not kind.is_windowed:
            raise ValueError(f"judges.{name}.window: it judges one thing at a time")
        for field, default in _OF_FEW.items():
            if getattr(self, field) != default and field not in kind.settings:
                few = " and ".join(each for each, one in BUILT_IN.items() if field in one.settings)
                raise ValueError(f"judges.{name}.{field}: a setting of {few} alone")
        self._check_variant(name)
        if self.demonstrations is not None and not kind.home:
            raise ValueError(f"judges.{name}.demonstrations: it asks by prompts of its own")
        if self.demonstrations is not None and self.state is not None:
            raise ValueError(f"judges.{name}.demonstrations: state has its own; take one")
        if not self.example and not kind.has_example:
            with_one = ", ".join(each for each, kind in BUILT_IN.items() if kind.has_example)
            raise ValueError(f"judges.{name}.example: only {with_one} have one")
        if self.state is not None and not kind.can_be_fitted:
            raise ValueError(f"judges.{name}.state: it asks by prompts of its own")
        says_why = self.evidence is not None or self.reasoning is not None
        if says_why and not kind.says_why:
            what = f"only {', '.join(explaining_judges())} say why"
            at = "reasoning" if self.evidence is None else "evidence"
            raise ValueError(f"judges.{name}.{at}: {what}")
        if self.prompt is not None and self.instructions is not None:
            raise ValueError(f"judges.{name}.prompt: it has instructions of its own; take one")
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
            raise ValueError(f"judges.{name}: it asks by prompts of its own; set the model")

    def _check_variant(self, name: str) -> None:
        """Raise ValueError for settings of another package that the judge of this name has not."""
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
                raise ValueError(f"judges.{name}.{changed[0]}: a setting of {kind.judge} alone")


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
        default=None, pattern=r"^[\w.-]+$", description="in votes and reports; else its model"
    )
    replicates: int = Field(
        default=1, ge=1, le=100, description="how often it is asked, each a member of its own"
    )
    temperature: float | None = Field(
        default=None, ge=0, description="of its requests; else that of its model"
    )

    @model_validator(mode="after")
    def _is_no_jury(self) -> MemberConfig:
        for name in ("jury", "cascade", "verify", "window", "grades"):
            if getattr(self.judge, name) is not None:
                raise ValueError(f"{name}: wanted of the judge, not of a member")
        return self


JuryConfig.model_rebuild()
StageConfig.model_rebuild()
CascadeConfig.model_rebuild()


ADJUDICATOR = "adjudicator"


class Member(NamedTuple):
    """A member: its name, what it is as a judge, which replicate, and its own temperature."""

    name: str
    settings: JudgeConfig
    replicate: int = 0
    temperature: float | None = None


def list_members(judge: JudgeConfig) -> list[Member]:
    """The members of a judge's jury, and then its adjudicator, if there is one.

    A member has the settings of the judge where it says nothing else, but not its fit, which is
    that of the whole jury. Replicates are members of their own, `NAME-1`, `NAME-2`.

    Raises: ValueError for a jury of one, or a name that is there twice.
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
            raise ValueError(f"{what} called {name!r}; give the member a `name`")
    if jury.quorum is not None and jury.quorum > len(members):
        raise ValueError(f"quorum: it is {jury.quorum}, there are {len(members)} members")
    if jury.adjudicator is not None:
        settings = judge.model_copy(update=own | {"model": jury.adjudicator})
        members.append(Member(ADJUDICATOR, settings))
    return members


def without_verifier(judge: JudgeConfig) -> JudgeConfig:
    """The judge whose labels are verified, or a jury of judges."""
    return judge.model_copy(update={"verify": None})


def make_verifier(judge: JudgeConfig) -> JudgeConfig:
    """The judge that verifies: as the first, but for its model, without its fit."""
    assert judge.verify is not None
    own = {"jury": None, "cascade": None, "verify": None, "state": None, "evidence": True}
    return judge.model_copy(update=own | {"model": judge.verify.model})


def check_jury(name: str, judge: JudgeConfig, models: Iterable[str], *, labels_items: bool) -> None:
    """Raise ValueError for a jury that cannot sit.

    Args:
        name: of the judge. models: the names under `models:`.
        labels_items: whether the judge does, which is what a jury decides on.
    """
    at = f"judges.{name}.jury"
    if not labels_items:
        raise ValueError(f"{at}: only {', '.join((*item_judges(), 'item'))} can be a jury")
    try:
        members = list_members(judge)
    except ValueError as error:
        raise ValueError(f"{at}: {error}") from None
    names = list(dict.fromkeys(["default", *models]))
    for member in members:
        if (model := member.settings.model) not in names:
            raise ValueError(
                f"{at}: {member.name}: no model {model!r}; there is {', '.join(names)}"
            )


def stages(judge: JudgeConfig) -> list[JudgeConfig]:
    """The settings of the stages of a judge's cascade, people left out.

    A stage has the settings of the judge where it says nothing else, but no fit or jury of it.
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
    """The settings of all who are asked: of each stage, each member of a jury, and a verifier."""
    settings = []
    for one in [judge] if judge.cascade is None else stages(judge):
        settings += [one] if one.jury is None else [member.settings for member in list_members(one)]
    return settings if judge.verify is None else [*settings, make_verifier(judge)]


def check_explainer(name: str | None, models: Mapping[str, Any]) -> None:
    """Raise ValueError unless this is one of the models, and one that writes; None: nobody is."""
    if name is None:
        return
    if name not in models:
        raise ValueError(
            f"run.explainer: no model {name!r}; there is {', '.join(models) or 'none'}"
        )
    if models[name].gives_labels_alone or models[name].way == "lexical":
        raise ValueError(f"run.explainer: {name!r} writes no text; name a chat model")


def check_cascade(
    name: str, judge: JudgeConfig, models: Collection[str], *, labels_items: bool
) -> None:
    """Raise ValueError for a cascade that cannot be asked.

    Args:
        name: of the judge. models: the names under `models:`.
        labels_items: whether the judge does, which is what a cascade decides on.
    """
    at = f"judges.{name}.cascade"
    cascade = judge.cascade
    assert cascade is not None
    if not labels_items:
        raise ValueError(f"{at}: only {', '.join((*item_judges(), 'item'))} can be a cascade")
    for setting in ("jury", "state"):
        if getattr(judge, setting) is not None:
            raise ValueError(f"judges.{name}.{setting}: wanted of a stage of the cascade, not here")
    if judge.verify is not None or any(stage.verify is not None for stage in stages(judge)):
        raise ValueError(f"judges.{name}.verify: not with a cascade, which asks again by itself")
    names = list(dict.fromkeys(["default", *models]))
    for number, settings in enumerate(stages(judge), 1):
        if settings.jury is not None:
            check_jury(name, settings, models, labels_items=True)
        elif settings.model not in names:
            what = f"no model {settings.model!r}; there is {', '.join(names)}"
            raise ValueError(f"{at}: stage {number}: {what}")
