"""The sections and files that the tasks and judges of this folder add to a config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from ...judges.table import Variant
from ...programs.config.base import Input, JudgeSettings, Section, Whole
from ...records.reading.problems import Problems


def _read_question_lists(paths: Sequence[Path], problems: Problems) -> Mapping[str, Any]:
    from .argue.lists import read_question_lists

    return read_question_lists(paths, problems)


NAME = "question_lists"  # in `data:`
QUESTION_LISTS = Input(
    "questions with accepted answers, for argue",
    (".json", ".json.gz", ".jsonl", ".jsonl.gz"),
    _read_question_lists,
)


def _read_rubrics(paths: Sequence[Path], problems: Problems) -> Mapping[str, Any]:
    from .rubric.rubrics import read_rubrics

    return read_rubrics(paths[0], problems)


RUBRICS = Input(
    "rubrics; made if missing",
    (),
    _read_rubrics,
    is_made=True,
    query=lambda rubric: rubric.query,
    texts=lambda rubric: {"criterion_id": {one.id: one.text for one in rubric.criteria}},
)


def _as_lines(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class ArenaConfig(Section):
    """Which answers meet, and what counts (docs/protocols/arena.md)."""

    design: Literal["balanced", "seeded", "active"] = Field(
        default="balanced",
        description="which answers meet: balanced, seeded (random), active (where the order "
        "is least certain)",
    )
    battles: Whole | None = Field(
        default=None, ge=1, description="battles to judge; default: each pair of runs on each topic"
    )
    round: Whole = Field(
        default=100, ge=1, description="active: battles between two looks at the order"
    )
    seed: Whole = Field(default=0, ge=0, description="seed of the choice of battles")
    criteria: Annotated[tuple[str, ...], BeforeValidator(_as_lines)] = Field(
        default=(), description="what makes an answer better: a text or a list"
    )


class ArgueConfig(Section):
    """How long a report may be, and what becomes of a longer one."""

    limit: Whole | None = Field(default=1024, ge=1, description="longest report; null: any")
    unit: Literal["words", "characters"] = Field(
        default="words", description="unit of the limit: words as TREC RAG counts, or characters"
    )
    over: Literal["keep", "cut", "reject"] = Field(
        default="keep",
        description="a longer report: keep, cut after the last sentence that fits, or reject "
        "(scores 0)",
    )


class RubricConfig(Section):
    """What a rubric is made of where none is given, and how its criteria are graded."""

    n: Whole = Field(default=20, ge=1, le=200, description="criteria made for a topic, at most 200")
    kind: Literal["given", "binary", "three_way"] = Field(
        default="given", description="grade criteria as given, or all binary or three_way"
    )


BEST_GRADE = 4
GAINS = {str(grade): grade / BEST_GRADE for grade in range(BEST_GRADE + 1)}
_WORDS = Path(__file__).with_name("narratives") / "words.toml"
_READS = ("question", "sub_narratives", "title", "passage")
_WHOLE = Variant(
    f"{__package__}.narratives.whole:NarrativeRelevanceJudge",
    f"{__package__}.narratives.grades:NarrativeGrade",
    GAINS,
    _READS,
    _WORDS,
)
_BY_PARTS = _WHOLE._replace(
    home=f"{__package__}.narratives.parts:PartwiseRelevanceJudge",
    needs={"sub_narratives": "judges.relevance.sub_narratives: together goes without"},
)


class NarrativeSettings(JudgeSettings):
    """Grades of relevance by the parts of a narrative (docs/protocols/narratives.md)."""

    judge: ClassVar[str] = "relevance"
    variants: ClassVar[tuple[Variant, ...]] = (_WHOLE, _BY_PARTS)

    scale: Literal["umbrela", "rag2025"] = Field(
        default="umbrela",
        description="grades of relevance: umbrela 0-3, or rag2025 0-4 by parts of a narrative",
    )
    sub_narratives: Literal["together", "each"] = Field(
        default="together",
        description="rag2025: together, one question; each: one for each sub-narrative",
    )

    def choose(self) -> Variant | None:
        """See JudgeSettings."""
        if self.scale == "umbrela":
            return None
        return _BY_PARTS if self.sub_narratives == "each" else _WHOLE

    def check(self, asked_for_labels: str) -> None:
        """See JudgeSettings."""
        if self.sub_narratives != "each":
            return
        if self.scale != "rag2025":
            raise ValueError("sub_narratives: each is of scale rag2025")
        if asked_for_labels:
            what = "the grade is made of labels of sub-narratives, and nobody is asked for it"
            raise ValueError(f"{asked_for_labels}: {what}")
