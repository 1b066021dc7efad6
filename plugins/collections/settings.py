"""The section of a config that the building of collections brings."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from ...programs.config.base import Section

FORMS = ("snippet", "summary")  # of a document; a number is characters


def _check_conditions(value: str) -> str:
    names = [name.strip() for name in value.split(",")]
    for name in names:
        if name not in FORMS and not (name.isascii() and name.isdecimal() and int(name) > 0):
            raise ValueError(f"{name!r}, wanted snippet, summary or a number of characters above 0")
    if len(set(names)) < len(names):
        raise ValueError("wanted each once")
    return ",".join(names)


class Long2RagConfig(Section):
    """What `judge build long2rag` makes questions of, and how many (arXiv:2410.23000)."""

    min_points: int = Field(
        default=4, ge=0, le=5, description="points, 0 to 5, that a seed question needs"
    )
    evolve: int = Field(
        default=0,
        ge=0,
        le=20,
        description="new questions of each seed in depth, and as many in width; at most 20",
    )
    categorize: bool = Field(
        default=False, description="a judge gives each seed without a category one of eight"
    )
    domains: str = Field(
        default="", description="names with commas; new questions are made for each, not the seeds'"
    )
    per_pair: int = Field(
        default=0, ge=0, description="new questions kept of a category and domain; 0: all"
    )
    conditions: Annotated[str, AfterValidator(_check_conditions)] = Field(
        default="512,1024,2048,snippet,summary",
        description="forms of the documents besides the whole text: a number cuts them to so many "
        "characters; snippet, summary",
    )
    condition_words: int = Field(
        default=100, ge=1, le=1000, description="most words of a snippet, and of a summary"
    )

    def list_conditions(self) -> list[str]:
        """The conditions by name."""
        return self.conditions.split(",")

    def list_domains(self) -> list[str]:
        """The target domains by name, each once."""
        names = (name.strip() for name in self.domains.split(","))
        return list(dict.fromkeys(filter(None, names)))
