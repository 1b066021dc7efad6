"""The sections of a config that one program reads alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ...records.reading.settings import InputPath
from .base import Section, Whole
from .pipeline import SearchPipeline
from .steps import Bm25Step

MOST_PASSAGES = 10_000  # of a context


def _as_names(value: Any) -> Any:
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


def _size_of_context(value: Any) -> Any:
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:9])
    if value != "required" and (type(value) is not int or not 1 <= value <= MOST_PASSAGES):
        raise ValueError(f"wanted 1 to {MOST_PASSAGES:,}, or required")
    return value


class CoverageConfig(Section):
    """The numbers of arXiv:2506.20051, and what of it differs where one says so."""

    n: Whole = Field(
        default=15, ge=1, le=100, description="sub-questions made of a report or topic"
    )
    eta: int = Field(
        default=3, ge=1, le=5, description="rating, 1-5, from which a text answers a question"
    )
    k: Annotated[Literal["required"] | Whole, BeforeValidator(_size_of_context)] = Field(
        default=10, description="passages of a context; required: as many as the topic's Z* has"
    )
    alpha: float = Field(default=0.5, ge=0, le=1, description="of alpha-nDCG")
    weight: float = Field(default=0.5, gt=0, description="exponent of the density")
    tokenizer: str = Field(
        default="words", description="what counts tokens: words, tiktoken:NAME or a .json file"
    )
    paper_zero: bool = Field(
        default=False, description="count unreadable ratings as 0, as the paper does"
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
    least: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="score of a suggestion that is used; else the lexical judge's cut-off, or 0",
    )


class Long2RagConfig(Section):
    """What `judge build long2rag` makes questions of, and how many (arXiv:2410.23000)."""

    least: int = Field(default=4, ge=0, le=5, description="points, 0-5, that a seed needs")
    evolve: int = Field(
        default=0, ge=0, le=20, description="new questions of each seed, in depth and in width"
    )


class GenerateConfig(Section):
    """What `judge generate` writes answers from, and in which layout."""

    k: int = Field(default=10, ge=1, le=100, description="passages of a context, at most")
    words: Whole = Field(default=400, ge=1, le=100_000, description="of an answer, at most")
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
