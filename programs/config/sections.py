"""The config of a run: what is judged, by which judges and how. Errors name the line."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, create_model, model_validator

from ...backends.config import BatchConfig, ModelConfig
from ...judges.table import BUILT_IN, find_judge
from ...records.reading.settings import InputPath, InputPattern, beside
from .base import (
    HERE,
    ExecutorName,
    Flag,
    JudgeName,
    ProgramName,
    S,
    Section,
    Whole,
    load_inputs,
    load_sections,
)
from .judge_sections import JudgeConfig, answering, check_cascade, check_explainer, check_jury
from .pipelines import AnyStep, Bm25Step, Pipeline, SearchPipeline, as_step


class NuggetSearchConfig(Section):
    """How `nuggets.method: search` goes, for each topic."""

    pipeline: SearchPipeline = Field(
        default=(as_step("bm25 50"), as_step("mmr 10")),
        validate_default=True,
        description="steps of a search; what is left of it is read",
    )
    rounds: Whole = Field(default=4, ge=1, le=20, description="of searches, at most")
    calls: Whole = Field(default=80, ge=1, le=10_000, description="questions asked of models")


class QuestionsConfig(Section):
    """What sub-questions of `coverage` are made from."""

    method: Literal["report", "research"] = Field(
        default="report",
        description="from the reference report; research: from the topic, those that a passage "
        "answers",
    )
    pipeline: SearchPipeline = Field(
        default=(as_step("bm25 5"),),
        validate_default=True,
        description="steps of a search for one question; what is left of it is graded",
    )


MAX_PASSAGES = 10_000  # of a context


def _as_names(value: Any) -> Any:
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


def _number_or_required(most: int) -> BeforeValidator:
    """A number from 1 to `most`, also as text, or the word."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and value.isdecimal():
            value = int(value[:9])
        if value != "required" and (type(value) is not int or not 1 <= value <= most):
            raise ValueError(f"wanted 1 to {most:,}, or required")
        return value

    return BeforeValidator(check)


class CoverageConfig(Section):
    """The settings of arXiv:2506.20051; those that differ say so."""

    n: Whole = Field(
        default=15, ge=1, le=100, description="sub-questions made of a report or topic"
    )
    eta: int = Field(
        default=3, ge=1, le=5, description="rating, 1-5, from which a text answers a question"
    )
    k: Annotated[Literal["required"] | Whole, _number_or_required(MAX_PASSAGES)] = Field(
        default=10, description="passages of a context; required: as many as the topic's Z* has"
    )
    alpha: float = Field(default=0.5, ge=0, le=1, description="of alpha-nDCG")
    weight: float = Field(default=0.5, gt=0, description="exponent of the density")
    tokenizer: str = Field(
        default="words", description="what counts tokens: words, tiktoken:NAME or a .json file"
    )
    own_only: bool = Field(
        default=False, description="passages of other topics answer nothing, and are not asked"
    )
    answerable: Literal["pool", "all"] = Field(
        default="pool", description="which questions count: those that the pool answers, or all"
    )
    contexts: Literal["retrieval", "answers"] = Field(
        default="retrieval", description="answers: what an answer names is its context"
    )


class EvidenceConfig(Section):
    """For which sentences evidence is looked for, where, and how far (docs/agents.md)."""

    of: Annotated[
        tuple[Literal["none", "partial", "uncited", "full"], ...], BeforeValidator(_as_names)
    ] = Field(
        default=("none", "uncited"),
        min_length=1,
        description="sentences by the label of their first citation; uncited: without one",
    )
    labels: InputPath | None = Field(
        default=None, description="support labels of the runs; else the support judge gives them"
    )
    pipeline: SearchPipeline = Field(
        default=(Bm25Step(step="bm25", hits=20),),
        description="retrieval steps that search the passages",
    )
    judged: int = Field(
        default=10, ge=1, le=100, description="passages of each search that are judged"
    )
    queries: int = Field(
        default=3, ge=0, le=10, description="written where the sentence itself finds nothing"
    )
    contradictions: int = Field(
        default=3, ge=0, le=20, description="passages that are asked if they contradict it"
    )
    scope: Annotated[tuple[Literal["self", "reply", "corpus"], ...], BeforeValidator(_as_names)] = (
        Field(
            default=("self", "reply", "corpus"),
            min_length=1,
            description="looks at the cited passage again, the answer's own, all passages",
        )
    )
    calls: Whole = Field(
        default=80, ge=1, le=1000, description="of judges for one sentence, at most"
    )
    min_score: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="score of a suggestion that is used; else the lexical judge's cut-off, or 0",
    )


class GenerateConfig(Section):
    """What `judge generate` writes answers from, and in which layout."""

    k: int = Field(default=10, ge=1, le=100, description="passages of a context, at most")
    words: Annotated[Literal["required"] | Whole, _number_or_required(100_000)] = Field(
        default=400, description="of an answer (required: of its topic's Z*), at most"
    )
    citations: Whole = Field(default=3, ge=1, description="of a sentence, at most")
    layout: Literal["rag24", "rag25"] = Field(
        default="rag24", description="of TREC RAG 2024 or 2025"
    )
    instructions: InputPath | None = Field(
        default=None, description="a text that takes the place of the writer's own instructions"
    )
    run_id: str | None = Field(
        default=None, min_length=1, description="of the answers; else that of the retrieval run"
    )


__all__ = [
    "NAME_BYTES",
    "Config",
    "CoverageConfig",
    "DataConfig",
    "EvidenceConfig",
    "Flag",
    "GenerateConfig",
    "GroundednessConfig",
    "ItemsConfig",
    "JudgeConfig",
    "KeyPointsConfig",
    "NuggetSearchConfig",
    "NuggetsConfig",
    "QuestionsConfig",
    "RunSection",
    "SupportConfig",
]

NAME_BYTES, PATH_BYTES = 255, 4096 - 200  # of Linux; 200 for the files in a results folder


_QUOTING = ("support", "recheck")  # in the evidence program
_ITEM_JUDGES = ", ".join(name for name, kind in BUILT_IN.items() if kind.labels_items)
_SPENDING, _OUTPUT, _WORKERS = Flag(panel="Spending"), Flag(panel="Output"), Flag(panel="Workers")


def _as_list(value: Any) -> Any:
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


def _as_several(value: Any) -> Any:
    return [value] if isinstance(value, str | Path) else value


def as_share(value: Any) -> Any:
    """A share that is written as 2% or 0.02. Raises: ValueError for another text."""
    if not isinstance(value, str):
        return value
    try:
        return float(value[:-1]) / 100 if value.endswith("%") else float(value)
    except ValueError:
        raise ValueError("wanted a share such as 2% or 0.02") from None


def _own_judge(value: Any) -> Any:
    return value if not isinstance(value, str) or find_judge(value) else str(beside(value))


def _writable(path: Path) -> Path:
    """A path that a file system can hold, with room for the names of files in it."""
    if "\0" in str(path):
        raise ValueError("the path holds a NUL character")
    if any(len(os.fsencode(part)) > NAME_BYTES for part in path.parts):
        raise ValueError(f"a name in the path is longer than {NAME_BYTES} bytes")
    if len(os.fsencode(path.absolute())) > PATH_BYTES:
        raise ValueError(f"the path is longer than {PATH_BYTES} bytes")
    return path


Writable = Annotated[Path, AfterValidator(_writable)]


InputPaths = Annotated[tuple[InputPath, ...], BeforeValidator(_as_several)]
InputPatterns = Annotated[tuple[InputPattern, ...], BeforeValidator(_as_several)]


Seen = Literal["judge", "nuggets", "prompts"]  # of this evaluation, by a system that is judged


def _as_seen(value: Any) -> Any:
    return () if value in ("none", None) else _as_list(value)


class _DataConfig(Section):
    """Files, relative to the config file. `runs` takes files, folders and patterns."""

    topics: InputPath | None = Field(default=None, description="topics, TSV or JSONL")
    runs: InputPatterns = Field(default=(), description="run files, folders or patterns")
    passages: InputPaths = Field(default=(), description="passage texts, JSONL")
    candidates: InputPath | None = Field(
        default=None, description="ranked passages by topic, to make nuggets from or to grade"
    )
    qrels: InputPath | None = Field(default=None, description="relevance grades of the candidates")
    nuggets: InputPath | None = Field(default=None, description="a nugget bank: none is made then")
    items: InputPath | None = Field(
        default=None, description="items with their ids and texts, JSONL or CSV"
    )
    questions: InputPath | None = Field(
        default=None, description="sub-questions of the topics: none are made then"
    )
    reference: InputPath | None = Field(
        default=None, description="reference reports, to make sub-questions from and to rate"
    )
    ratings: InputPaths = Field(
        default=(), description="ratings of sub-questions that need not be asked for"
    )
    retrieval: InputPatterns = Field(
        default=(), description="retrieval runs (TREC), whose first passages are the contexts"
    )
    keypoints: InputPath | None = Field(
        default=None, description="key points of the topics: none are made then"
    )
    documents: InputPath | None = Field(
        default=None, description="documents by topic, to make key points from"
    )
    index: InputPath | None = Field(
        default=None, description="indexes of the passages, as judge index makes them"
    )
    pool: InputPath | None = Field(
        default=None, description="passage qrels: the passages that say what is answerable (P*)"
    )
    independence: dict[str, Annotated[tuple[Seen, ...], BeforeValidator(_as_seen)]] = Field(
        default_factory=dict,
        description="what the systems of runs saw of this evaluation, by name or pattern of runs: "
        "none, judge, nuggets, prompts",
    )


if TYPE_CHECKING:
    DataConfig = _DataConfig
else:
    DataConfig = create_model(
        "DataConfig",
        __base__=_DataConfig,
        __module__=__name__,
        __doc__=_DataConfig.__doc__,
        **{
            name: (
                (InputPatterns, Field(default=(), description=one.description))
                if one.suffixes
                else (InputPath | None, Field(default=None, description=one.description))
            )
            for name, one in load_inputs().items()
        },
    )


def _start(value: Any) -> Any:
    return str(value) if value in ("none", "window") else beside(value)


class NuggetsConfig(Section):
    """How nuggets are made, and the numbers of arXiv:2411.09607."""

    method: Literal["window", "search"] = Field(
        default="window",
        description="from the relevant candidates, in windows; or by a search of all passages",
    )
    start: Annotated[Literal["none", "window"] | Path, BeforeValidator(_start)] = Field(
        default="none", description="what a search starts from: none, window, or a nugget bank"
    )

    min_grade: Whole = Field(default=1, ge=0, description="relevance a candidate needs")
    max_nuggets: Whole = Field(default=30, ge=1, le=1000, description="longest list while it grows")
    keep: Whole = Field(default=20, ge=1, description="nuggets kept, vital ones first")
    fill: bool = Field(
        default=False, description="make nuggets of the topics that the given bank lacks"
    )


class SupportConfig(Section):
    """The rule of arXiv:2504.15205 is `first`."""

    citations: Literal["first", "all"] | Annotated[Whole, Field(ge=1)] = Field(
        default="first", description="citations of a sentence that are judged: first, all or k"
    )


class GroundednessConfig(Section):
    """What of an answer is held against its context, and what that context is."""

    unit: Literal["sentences", "claims"] = Field(
        default="sentences", description="claims: those that a model splits the answer into"
    )
    contexts: Literal["answers", "candidates"] = Field(
        default="answers",
        description="the passages that an answer names (references, contexts), or the candidates "
        "of its topic",
    )
    context_words: Whole = Field(
        default=3000, ge=1, description="words of a context in one call, at most"
    )


class KeyPointsConfig(Section):
    """The numbers of arXiv:2410.23000, and what may differ."""

    rounds: Whole = Field(default=2, ge=1, le=10, description="readings of a document, at most")
    threshold: float = Field(default=0.7, ge=0, le=1, description="score of a point that is kept")
    samples: Whole = Field(
        default=5, ge=1, le=100, description="of the filter, without log-probabilities"
    )
    precision: bool | Literal["documents"] = Field(
        default=True,
        description="judge the claims of answers, for KPP; documents: also against the documents",
    )


class ItemsConfig(Section):
    """Who labels the items of `data.items`, and by which of their fields."""

    judge: Annotated[str | None, BeforeValidator(_own_judge)] = Field(
        default=None, description=f"who labels items: {_ITEM_JUDGES}, or a YAML file"
    )
    fields: dict[str, str] = Field(
        default_factory=dict,
        description="INPUT=NAME, where items name an input of the judge, or id, otherwise",
    )

    @property
    def name(self) -> JudgeName:
        """The section under `judges:` that is about this judge."""
        kind = None if self.judge is None else find_judge(self.judge)
        return str(self.judge) if kind is not None and kind.labels_items else "item"

    @property
    def own(self) -> Path | None:
        """The file of a judge of your own."""
        return Path(self.judge) if self.judge is not None and self.name == "item" else None


class RunSection(Section):
    """Where results go and what a run may spend. `out` is relative to the working directory."""

    out: Annotated[Writable, _OUTPUT] = Field(
        default=Path("results"), description="folder that what is made is written to"
    )
    force: Annotated[bool, _OUTPUT] = Field(
        default=False, description="replace the results of another run in that folder"
    )
    concurrency: Whole = Field(
        default=32, ge=1, le=100_000, description="judgements under way at once"
    )
    max_cost: Annotated[float | None, _SPENDING] = Field(
        default=None, gt=0, description="dollars to spend at most"
    )
    max_calls: Annotated[Whole | None, _SPENDING] = Field(
        default=None, ge=1, description="requests to send at most"
    )
    max_tokens: Annotated[Whole | None, _SPENDING] = Field(
        default=None, ge=1, description="tokens to use at most"
    )
    explain: Annotated[bool, _OUTPUT] = Field(
        default=False, description="have judges of items quote and give reasons for their labels"
    )
    explainer: str | None = Field(
        default=None,
        description="a name under models:, who quotes and gives reasons for labels of a decision "
        "model",
    )
    limit: Annotated[Whole | None, _SPENDING] = Field(
        default=None, ge=1, description="take the first topics only (without topics: items)"
    )
    offline: Annotated[bool, _SPENDING] = Field(
        default=False, description="answer from the reply cache alone"
    )
    cache: Annotated[bool | Writable, _SPENDING] = Field(
        default=True, description="keep replies; or the folder to keep them in"
    )
    allow_missing: Annotated[float, BeforeValidator(as_share), _OUTPUT] = Field(
        default=0.0, ge=0, le=1, description="share of unjudged that is still complete, e.g. 2%"
    )
    executor: Annotated[ExecutorName, _WORKERS] = Field(
        default="local",
        description="who asks: this process, batches of the provider, or workers of a plugin",
    )
    batch: BatchConfig = Field(
        default=BatchConfig(), description="how requests are gathered into batches"
    )
    address: Annotated[str, _WORKERS] = Field(
        default="local",
        description="of the cluster: local starts one here, auto, HOST:PORT",
    )
    workers: Annotated[Whole | None, _WORKERS] = Field(
        default=None,
        ge=1,
        le=100_000,
        description="processes that ask; else as many as the cluster has room for",
    )
    worker_gpus: float = Field(default=0.0, ge=0, description="GPUs that a worker takes")

    @property
    def asks_elsewhere(self) -> bool:
        """Whether the workers of an installed executor ask, rather than this process."""
        return self.executor not in HERE


class _Config(Section):
    """A whole config file."""

    program: Annotated[tuple[ProgramName, ...], BeforeValidator(_as_list)] = Field(
        default=(), description="what is judged: one or more, on one load of the data"
    )
    data: DataConfig = DataConfig()
    models: dict[str, ModelConfig] = Field(
        default_factory=dict, description="who answers, by names of your choice"
    )
    judges: dict[JudgeName, JudgeConfig] = Field(
        default_factory=dict, description="what of a judge differs from its defaults"
    )
    nuggets: NuggetsConfig = NuggetsConfig()
    nugget_search: NuggetSearchConfig = NuggetSearchConfig()
    questions: QuestionsConfig = QuestionsConfig()
    support: SupportConfig = SupportConfig()
    evidence: EvidenceConfig = EvidenceConfig()
    coverage: CoverageConfig = CoverageConfig()
    keypoints: KeyPointsConfig = KeyPointsConfig()
    groundedness: GroundednessConfig = GroundednessConfig()
    retrieve: Pipeline = Field(default=(), description="steps that find contexts")
    pipelines: dict[str, Pipeline] = Field(
        default_factory=dict, description="several of them, by the names of their runs"
    )
    generate: GenerateConfig = GenerateConfig()
    items: ItemsConfig = ItemsConfig()
    run: RunSection = RunSection()

    @model_validator(mode="after")
    def _models_exist(self) -> Config:
        if "items" in self.program and len(self.program) > 1:
            raise ValueError("program: items are no runs with topics to answer, run them alone")
        check_explainer(self.run.explainer, self.models)
        for name, judge in self.judges.items():
            judge.check(name)
            if judge.model != "default" and judge.model not in self.models:
                names = ", ".join(dict.fromkeys(["default", *self.models]))
                raise ValueError(f"judges.{name}.model: no model {judge.model!r}; there is {names}")
            if judge.verify is not None and judge.verify.model not in ("default", *self.models):
                names = ", ".join(dict.fromkeys(["default", *self.models]))
                what = f"no model {judge.verify.model!r}; there is {names}"
                raise ValueError(f"judges.{name}.verify.model: {what}")
            kind = find_judge(name) or BUILT_IN["item"]
            labels_items = kind.labels_items or name == "item"
            if judge.cascade is not None:
                check_cascade(name, judge, self.models, labels_items=labels_items)
            elif judge.jury is not None:
                check_jury(name, judge, self.models, labels_items=labels_items)
        return self

    @property
    def has_pipelines(self) -> bool:
        """Whether the run retrieves contexts before they are judged."""
        return bool(self.retrieve or self.pipelines)

    @property
    def reads_named_passages(self) -> bool:
        """Whether a task reads all passages that answers name, cited or not."""
        return "groundedness" in self.program and self.groundedness.contexts == "answers"

    def get_models(self, judge: JudgeName) -> list[tuple[str, ModelConfig]]:
        """As `get_model`, of all stages, members, the adjudicator, verifier and explainer."""
        aliases = dict.fromkeys(settings.model for settings in answering(self.judge(judge)))
        models = [(alias, self.model(alias)) for alias in aliases]
        explainer, section = self.run.explainer, self.judge(judge)
        is_asked = section.says_why and any(model.way == "decision" for _, model in models)
        if explainer is not None and is_asked and explainer not in aliases:
            models.append((explainer, self.model(explainer)))
        return models

    def has_explainer(self, judge: JudgeName) -> bool:
        """Whether a decision model labels for the judge, and `run.explainer` says why."""
        if self.run.explainer is None or self.get_model(judge)[1].way != "decision":
            return False
        return self.judge(judge).says_why

    def with_judge(self, name: JudgeName, settings: JudgeConfig) -> Config:
        """The same with other settings of one judge, which are not checked."""
        return self.model_copy(update={"judges": {**self.judges, name: settings}})

    def get_model(self, judge: JudgeName) -> tuple[str, ModelConfig]:
        """The alias and entry of the model that answers for a judge; lexical when none is named."""
        alias = self.judge(judge).model
        return alias, self.model(alias)

    def model(self, alias: str) -> ModelConfig:
        """An entry of `models:`, with the price that this run pays; lexical when there is none."""
        entry = self.models.get(alias, ModelConfig(model="lexical"))
        if self.run.executor != "batch":
            return entry
        from ...backends.budget import get_batch_price  # LiteLLM's table: not for --help

        return entry.model_copy(update={"price": get_batch_price(entry)})

    def here(self) -> Config:
        """The same, for what only asks from this process, one request at a time."""
        return self.change("run", executor="local")

    def change(self, section: str, **settings: Any) -> Config:
        """The same with other values, which are not checked, of some settings of a section."""
        after = getattr(self, section).model_copy(update=settings)
        return self.model_copy(update={section: after})

    def section(self, kind: type[S]) -> S:
        """The section that a program of another package brings, by its class."""
        return next(value for value in dict(self).values() if isinstance(value, kind))

    def with_steps(self, change: Callable[[Sequence[AnyStep]], tuple[AnyStep, ...]]) -> Config:
        """The same with each of its pipelines changed."""
        of_name = {name: change(steps) for name, steps in self.pipelines.items()}
        return self.model_copy(update={"retrieve": change(self.retrieve), "pipelines": of_name})

    def judge(self, name: JudgeName) -> JudgeConfig:
        """A judge's section, or its defaults; with `run.explain` judges of items say why.

        Those whose labels become suggestions of passages always quote.

        A prompt file has words of its own for what its judge is asked.
        """
        section = self.judges.get(name, JudgeConfig())
        if name in _QUOTING and "evidence" in self.program and section.prompt is None:
            quotes = True if section.evidence is None else section.evidence
            section = section.model_copy(update={"evidence": quotes})
        kind = find_judge(name) if self.run.explain else None
        if kind is None or not kind.says_why or section.prompt is not None:
            return section
        explains = {"evidence": section.evidence, "reasoning": section.reasoning}
        return section.model_copy(
            update={n: True for n, value in explains.items() if value is None}
        )


if TYPE_CHECKING:
    Config = _Config
else:
    Config = create_model(
        "Config",
        __base__=_Config,
        __module__=__name__,
        __doc__=_Config.__doc__,
        **{name: (kind, kind()) for name, kind in load_sections().items()},
    )
