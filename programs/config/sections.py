"""The config of a run: what to judge, with which judges, and how. Errors name the line."""

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
    """Settings of `nuggets.method: search`; limits are per topic."""

    pipeline: SearchPipeline = Field(
        default=(as_step("bm25 50"), as_step("mmr 10")),
        validate_default=True,
        description="steps of each search, without a model; reads at most 20 passages",
    )
    rounds: Whole = Field(default=4, ge=1, le=20, description="maximum rounds of searches")
    calls: Whole = Field(default=80, ge=1, le=10_000, description="maximum calls per topic")


class QuestionsConfig(Section):
    """How to make the sub-questions of `coverage`."""

    method: Literal["report", "research"] = Field(
        default="report",
        description="make sub-questions from the reference report, or by research on the topic",
    )
    pipeline: SearchPipeline = Field(
        default=(as_step("bm25 5"),),
        validate_default=True,
        description="steps of the search for a question; grades at most 20 passages",
    )


MAX_PASSAGES = 10_000  # of a context


def _as_names(value: Any) -> Any:
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


def _number_or_required(most: int) -> BeforeValidator:
    """Accept a number from 1 to `most`, also as text, or `required`."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and value.isdecimal():
            value = int(value[:9])
        if value != "required" and (type(value) is not int or not 1 <= value <= most):
            raise ValueError(f"wanted 1 to {most:,}, or required")
        return value

    return BeforeValidator(check)


class CoverageConfig(Section):
    """Settings of coverage; the defaults are those of arXiv:2506.20051 unless noted."""

    n: Whole = Field(
        default=15, ge=1, le=100, description="sub-questions to make for a report or topic"
    )
    eta: int = Field(
        default=3, ge=1, le=5, description="lowest rating with which a text answers a question"
    )
    k: Annotated[Literal["required"] | Whole, _number_or_required(MAX_PASSAGES)] = Field(
        default=10,
        description="passages in a context; required: as many as the reference context Z*",
    )
    alpha: float = Field(default=0.5, ge=0, le=1, description="alpha of alpha-nDCG")
    weight: float = Field(default=0.5, gt=0, description="exponent of density")
    tokenizer: str = Field(
        default="words", description="how to count tokens: words, tiktoken:NAME or a .json file"
    )
    own_only: bool = Field(default=False, description="ignore passages of other topics")
    answerable: Literal["pool", "all"] = Field(
        default="pool", description="questions that count: those that the pool answers, or all"
    )
    contexts: Literal["retrieval", "answers"] = Field(
        default="retrieval",
        description="context: the ranking, or the passages that an answer cites",
    )


class EvidenceConfig(Section):
    """Which sentences to search evidence for, where, and how long (docs/agents.md)."""

    of: Annotated[
        tuple[Literal["none", "partial", "uncited", "full"], ...], BeforeValidator(_as_names)
    ] = Field(
        default=("none", "uncited"),
        min_length=1,
        description="sentences to search for, by the label of their first citation, or uncited",
    )
    labels: InputPath | None = Field(
        default=None, description="support labels to start from; default: ask the support judge"
    )
    pipeline: SearchPipeline = Field(
        default=(Bm25Step(step="bm25", hits=20),),
        description="steps of each search, without a model",
    )
    judged: int = Field(default=10, ge=1, le=100, description="passages to judge per search")
    queries: int = Field(
        default=3, ge=0, le=10, description="queries to write if the sentence itself finds nothing"
    )
    contradictions: int = Field(
        default=3, ge=0, le=20, description="passages to check for contradiction"
    )
    scope: Annotated[tuple[Literal["self", "reply", "corpus"], ...], BeforeValidator(_as_names)] = (
        Field(
            default=("self", "reply", "corpus"),
            min_length=1,
            description="self: cited passage; reply: answer's references; corpus: all passages",
        )
    )
    calls: Whole = Field(default=80, ge=1, le=1000, description="maximum calls per sentence")
    min_score: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="lowest score of a used suggestion; default: 0.7 for the lexical judge, else 0",
    )


class GenerateConfig(Section):
    """Settings of `judge generate`: context, length and layout of answers."""

    k: int = Field(default=10, ge=1, le=100, description="maximum passages per answer")
    words: Annotated[Literal["required"] | Whole, _number_or_required(100_000)] = Field(
        default=400,
        description="maximum words per answer; required: as many as the topic's reference context",
    )
    citations: Whole = Field(default=3, ge=1, description="maximum citations per sentence")
    layout: Literal["rag24", "rag25"] = Field(
        default="rag24", description="layout of TREC RAG 2024 (rag24), or 2025 and 2026 (rag25)"
    )
    instructions: InputPath | None = Field(
        default=None, description="file with instructions to use instead"
    )
    run_id: str | None = Field(
        default=None, min_length=1, description="run id; default: id of the retrieval run"
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

NAME_BYTES, PATH_BYTES = 255, 4096 - 200  # limits of Linux; 200 for files in a results folder


_QUOTING = ("support", "recheck")  # in the evidence task
_ITEM_JUDGES = ", ".join(name for name, kind in BUILT_IN.items() if kind.labels_items)
_SPENDING, _OUTPUT, _WORKERS = Flag(panel="Spending"), Flag(panel="Output"), Flag(panel="Workers")


def _as_list(value: Any) -> Any:
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


def _as_several(value: Any) -> Any:
    return [value] if isinstance(value, str | Path) else value


def as_share(value: Any) -> Any:
    """Read a share written as 2% or 0.02. Raises: ValueError for other text."""
    if not isinstance(value, str):
        return value
    try:
        return float(value[:-1]) / 100 if value.endswith("%") else float(value)
    except ValueError:
        raise ValueError("wanted a share such as 2% or 0.02") from None


def _own_judge(value: Any) -> Any:
    return value if not isinstance(value, str) or find_judge(value) else str(beside(value))


def _writable(path: Path) -> Path:
    """Check that a file system can hold the path and files in it."""
    if "\0" in str(path):
        raise ValueError("the path contains a NUL character")
    if any(len(os.fsencode(part)) > NAME_BYTES for part in path.parts):
        raise ValueError(f"a name in the path is longer than {NAME_BYTES} bytes")
    if len(os.fsencode(path.absolute())) > PATH_BYTES:
        raise ValueError(f"the path is longer than {PATH_BYTES} bytes")
    return path


Writable = Annotated[Path, AfterValidator(_writable)]


InputPaths = Annotated[tuple[InputPath, ...], BeforeValidator(_as_several)]
InputPatterns = Annotated[tuple[InputPattern, ...], BeforeValidator(_as_several)]


Seen = Literal["judge", "nuggets", "prompts"]  # parts of the evaluation that a system saw


def _as_seen(value: Any) -> Any:
    return () if value in ("none", None) else _as_list(value)


class _DataConfig(Section):
    """Input files, relative to the config file. `runs` takes files, folders and patterns."""

    topics: InputPath | None = Field(default=None, description="topics, TSV or JSONL")
    runs: InputPatterns = Field(default=(), description="run files, folders or patterns")
    passages: InputPaths = Field(default=(), description="passage texts, JSONL")
    candidates: InputPath | None = Field(
        default=None, description="ranked passages by topic, to grade or to make nuggets from"
    )
    qrels: InputPath | None = Field(default=None, description="relevance grades of the candidates")
    nuggets: InputPath | None = Field(default=None, description="nugget bank; default: create one")
    items: InputPath | None = Field(
        default=None, description="items with their ids and texts, JSONL or CSV"
    )
    questions: InputPath | None = Field(
        default=None, description="sub-questions; default: create them"
    )
    reference: InputPath | None = Field(
        default=None, description="reference reports, to rate and to make sub-questions from"
    )
    ratings: InputPaths = Field(default=(), description="known ratings of sub-questions")
    retrieval: InputPatterns = Field(
        default=(), description="retrieval runs (TREC); their first passages are the contexts"
    )
    keypoints: InputPath | None = Field(
        default=None, description="key points; default: create them"
    )
    documents: InputPath | None = Field(
        default=None, description="documents by topic, to make key points from"
    )
    index: InputPath | None = Field(
        default=None, description="folder of judge index, for pipelines"
    )
    pool: InputPath | None = Field(
        default=None, description="passage qrels that define which questions are answerable (P*)"
    )
    independence: dict[str, Annotated[tuple[Seen, ...], BeforeValidator(_as_seen)]] = Field(
        default_factory=dict,
        description="what a system saw of this evaluation, by run or pattern",
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
    """How to make nuggets; numbers are those of arXiv:2411.09607."""

    method: Literal["window", "search"] = Field(
        default="window",
        description="make nuggets from the relevant candidates (window), or search all passages",
    )
    start: Annotated[Literal["none", "window"] | Path, BeforeValidator(_start)] = Field(
        default="none", description="start a search from none, window, or a nugget bank"
    )

    min_grade: Whole = Field(
        default=1, ge=0, description="lowest grade of a used candidate; 0: use all"
    )
    max_nuggets: Whole = Field(
        default=30, ge=1, le=1000, description="maximum nuggets in the growing list"
    )
    keep: Whole = Field(default=20, ge=1, description="nuggets to keep, vital nuggets first")
    fill: bool = Field(default=False, description="make nuggets for topics missing in the bank")


class SupportConfig(Section):
    """Which citations to judge; arXiv:2504.15205 judges the first."""

    citations: Literal["first", "all"] | Annotated[Whole, Field(ge=1)] = Field(
        default="first", description="citations to judge per sentence: first, all or a number"
    )


class GroundednessConfig(Section):
    """What to judge in an answer, and against which context."""

    unit: Literal["sentences", "claims"] = Field(
        default="sentences",
        description="judge sentences, or claims that a model extracts from the answer",
    )
    contexts: Literal["answers", "candidates"] = Field(
        default="answers",
        description="judge against the answer's passages, or the topic's candidates",
    )
    context_words: Whole = Field(
        default=3000, ge=1, description="maximum words of context per call"
    )


class KeyPointsConfig(Section):
    """Settings of key points; the defaults are those of arXiv:2410.23000."""

    rounds: Whole = Field(
        default=2, ge=1, le=10, description="maximum calls per window of a document"
    )
    threshold: float = Field(
        default=0.7, ge=0, le=1, description="lowest score of a kept key point"
    )
    samples: Whole = Field(
        default=5, ge=1, le=100, description="replies per filter call without log-probabilities"
    )
    precision: bool | Literal["documents"] = Field(
        default=True,
        description="judge claims of answers, for KPP; documents: also against the documents",
    )


class ItemsConfig(Section):
    """Which judge labels the items of `data.items`, and from which fields."""

    judge: Annotated[str | None, BeforeValidator(_own_judge)] = Field(
        default=None, description=f"judge that labels items: {_ITEM_JUDGES}, or a YAML file"
    )
    fields: dict[str, str] = Field(
        default_factory=dict,
        description="INPUT=NAME, if items name an input or id differently",
    )

    @property
    def name(self) -> JudgeName:
        """The name of this judge's section under `judges:`."""
        kind = None if self.judge is None else find_judge(self.judge)
        return str(self.judge) if kind is not None and kind.labels_items else "item"

    @property
    def own(self) -> Path | None:
        """The file of a custom judge."""
        return Path(self.judge) if self.judge is not None and self.name == "item" else None


class RunSection(Section):
    """Results folder, limits and execution. `out` is relative to the working directory."""

    out: Annotated[Writable, _OUTPUT] = Field(default=Path("results"), description="results folder")
    force: Annotated[bool, _OUTPUT] = Field(
        default=False, description="replace the results of another run"
    )
    concurrency: Whole = Field(
        default=32,
        ge=1,
        le=100_000,
        description="judgements in progress at a time, over all models",
    )
    max_cost: Annotated[float | None, _SPENDING] = Field(
        default=None, gt=0, description="maximum dollars to spend"
    )
    max_calls: Annotated[Whole | None, _SPENDING] = Field(
        default=None, ge=1, description="maximum requests to send"
    )
    max_tokens: Annotated[Whole | None, _SPENDING] = Field(
        default=None, ge=1, description="maximum tokens to use"
    )
    explain: Annotated[bool, _OUTPUT] = Field(
        default=False, description="ask judges for quotes and reasons"
    )
    explainer: str | None = Field(
        default=None,
        description="model that explains labels of a decision model, a name under models:",
    )
    limit: Annotated[Whole | None, _SPENDING] = Field(
        default=None, ge=1, description="use only the first N topics or items"
    )
    offline: Annotated[bool, _SPENDING] = Field(
        default=False, description="use only cached replies; ask no model"
    )
    cache: Annotated[bool | Writable, _SPENDING] = Field(
        default=True, description="keep replies: true, false, or a folder"
    )
    allow_missing: Annotated[float, BeforeValidator(as_share), _OUTPUT] = Field(
        default=0.0, ge=0, le=1, description="share of judgements that may be missing, e.g. 2%"
    )
    executor: Annotated[ExecutorName, _WORKERS] = Field(
        default="local",
        description="who sends requests: this process, batches of the provider, or Ray workers",
    )
    batch: BatchConfig = Field(
        default=BatchConfig(), description="how to group requests into batches"
    )
    address: Annotated[str, _WORKERS] = Field(
        default="local", description="Ray cluster: local (starts one), auto or HOST:PORT"
    )
    workers: Annotated[Whole | None, _WORKERS] = Field(
        default=None, ge=1, le=100_000, description="Ray workers; default: as many as fit"
    )
    worker_gpus: float = Field(default=0.0, ge=0, description="GPUs per worker")

    @property
    def asks_elsewhere(self) -> bool:
        """Whether workers of an installed executor send the requests, not this process."""
        return self.executor not in HERE


class _Config(Section):
    """A whole config file."""

    program: Annotated[tuple[ProgramName, ...], BeforeValidator(_as_list)] = Field(
        default=(), description="tasks: one, a list, or names with commas; items only alone"
    )
    data: DataConfig = DataConfig()
    models: dict[str, ModelConfig] = Field(
        default_factory=dict, description="models, by names that you choose"
    )
    judges: dict[JudgeName, JudgeConfig] = Field(
        default_factory=dict, description="settings of judges, by name of judge"
    )
    nuggets: NuggetsConfig = NuggetsConfig()
    nugget_search: NuggetSearchConfig = NuggetSearchConfig()
    questions: QuestionsConfig = QuestionsConfig()
    support: SupportConfig = SupportConfig()
    evidence: EvidenceConfig = EvidenceConfig()
    coverage: CoverageConfig = CoverageConfig()
    keypoints: KeyPointsConfig = KeyPointsConfig()
    groundedness: GroundednessConfig = GroundednessConfig()
    retrieve: Pipeline = Field(default=(), description="one pipeline that retrieves contexts")
    pipelines: dict[str, Pipeline] = Field(
        default_factory=dict, description="several pipelines, by run name"
    )
    generate: GenerateConfig = GenerateConfig()
    items: ItemsConfig = ItemsConfig()
    run: RunSection = RunSection()

    @model_validator(mode="after")
    def _models_exist(self) -> Config:
        if "items" in self.program and len(self.program) > 1:
            raise ValueError("program: items cannot run with other tasks; run it alone")
        check_explainer(self.run.explainer, self.models)
        for name, judge in self.judges.items():
            judge.check(name)
            if judge.model != "default" and judge.model not in self.models:
                names = ", ".join(dict.fromkeys(["default", *self.models]))
                raise ValueError(f"judges.{name}.model: no model {judge.model!r}; models: {names}")
            if judge.verify is not None and judge.verify.model not in ("default", *self.models):
                names = ", ".join(dict.fromkeys(["default", *self.models]))
                what = f"no model {judge.verify.model!r}; models: {names}"
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
        """Whether the run retrieves contexts before judging."""
        return bool(self.retrieve or self.pipelines)

    @property
    def reads_named_passages(self) -> bool:
        """Whether a task reads all passages that answers list, cited or not."""
        return "groundedness" in self.program and self.groundedness.contexts == "answers"

    def get_models(self, judge: JudgeName) -> list[tuple[str, ModelConfig]]:
        """List `get_model` for all stages, members, the adjudicator, verifier and explainer."""
        aliases = dict.fromkeys(settings.model for settings in answering(self.judge(judge)))
        models = [(alias, self.model(alias)) for alias in aliases]
        explainer, section = self.run.explainer, self.judge(judge)
        is_asked = section.says_why and any(m.gives_labels_alone for _, m in models)
        if explainer is not None and is_asked and explainer not in aliases:
            models.append((explainer, self.model(explainer)))
        return models

    def has_explainer(self, judge: JudgeName) -> bool:
        """Return whether a decision model labels, and `run.explainer` explains its labels."""
        if self.run.explainer is None or not self.get_model(judge)[1].gives_labels_alone:
            return False
        return self.judge(judge).says_why

    def with_judge(self, name: JudgeName, settings: JudgeConfig) -> Config:
        """Return a copy with other settings of one judge; they are not checked."""
        return self.model_copy(update={"judges": {**self.judges, name: settings}})

    def get_model(self, judge: JudgeName) -> tuple[str, ModelConfig]:
        """Return the alias and entry of a judge's model; lexical if no model is named."""
        alias = self.judge(judge).model
        return alias, self.model(alias)

    def model(self, alias: str) -> ModelConfig:
        """Return an entry of `models:` with the price of this run; lexical if there is no entry."""
        entry = self.models.get(alias, ModelConfig(model="lexical"))
        if self.run.executor != "batch":
            return entry
        from ...backends.budget import get_batch_price  # LiteLLM's table, too slow for --help

        return entry.model_copy(update={"price": get_batch_price(entry)})

    def here(self) -> Config:
        """Return a copy that asks from this process, one request at a time."""
        return self.change("run", executor="local")

    def change(self, section: str, **settings: Any) -> Config:
        """Return a copy with other values of some settings of a section; they are not checked."""
        after = getattr(self, section).model_copy(update=settings)
        return self.model_copy(update={section: after})

    def section(self, kind: type[S]) -> S:
        """Return the section of a task from another package, by its class."""
        return next(value for value in dict(self).values() if isinstance(value, kind))

    def with_steps(self, change: Callable[[Sequence[AnyStep]], tuple[AnyStep, ...]]) -> Config:
        """Return a copy with each pipeline changed."""
        of_name = {name: change(steps) for name, steps in self.pipelines.items()}
        return self.model_copy(update={"retrieve": change(self.retrieve), "pipelines": of_name})

    def judge(self, name: JudgeName) -> JudgeConfig:
        """Return a judge's section, or its defaults.

        With `run.explain`, judges of items explain their labels, unless a prompt file replaces
        their prompt. Judges whose labels become suggestions of passages always quote.
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
