"""The table of judges: built-in ones, and those of other packages by an entry point."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..records.reading.problems import InputError

if TYPE_CHECKING:
    from ..records.rows import Label

GROUP = "nuggetjudge.judges"  # of entry points: NAME = "module:Class", or a Kind


class Kind(NamedTuple):
    """The class of a judge, and its settings in a config.

    Attributes:
        home: `module:Class`; "" if it has no class, so that only its model can be set.
        is_windowed: takes several items in a call (`judges.NAME.window`).
        labels_items: labels items, so that human labels can fit it.
        makes_lists: makes lists of texts, so that human lists can fit it.
        says_why: can be asked for evidence and reasons.
        has_example: shows a worked example, which a config can turn off.
        settings: fields of its config section that few judges have, such as titles.
        options: options of its class: the setting of each, as SECTION.FIELD, or FIELD of its own
            section.
        in_identity: options that are part of its identity, besides prompts, window and limit.
        spared_by: names of `data:` that may make it unnecessary.

    >>> BUILT_IN["support"].labels_items, BUILT_IN["support"].makes_lists
    (True, False)
    """

    home: str
    is_windowed: bool = False
    labels_items: bool = False
    makes_lists: bool = False
    says_why: bool = False
    has_example: bool = False
    settings: tuple[str, ...] = ()
    options: Mapping[str, str] = {}
    in_identity: tuple[str, ...] = ()
    spared_by: tuple[str, ...] = ()

    @property
    def can_be_fitted(self) -> bool:
        """Return whether a config can load a judge file for it (`judges.NAME.state`)."""
        return bool(self.home)

    def load(self) -> Any:
        """Return the class, after importing its module.

        Raises: ImportError or AttributeError if it does not exist.
        """
        return _load(self.home)


class Variant(NamedTuple):
    """A class that replaces a judge and has its own scale.

    Attributes:
        home: `module:Class`.
        scale: `module:Class` of its labels, a Label.
        gains: the gain of each label in [0, 1], worst first.
        reads: the texts of an item that it, or a person in its place, reads.
        words: TOML with the words for people who label by this scale.
        needs: texts that every item must have, each with the setting that makes it unnecessary.

    >>> gains = {"long": 0.0, "brief": 1.0}
    >>> words = Path("words.toml")
    >>> Variant("brevity:Strict", "brevity:Brevity", gains, ("answer",), words).labels
    ('long', 'brief')
    """

    home: str
    scale: str
    gains: Mapping[str, float]
    reads: tuple[str, ...]
    words: Path
    needs: Mapping[str, str] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels as text, worst to best."""
        return tuple(self.gains)

    def load_scale(self) -> type[Label]:
        """Return the class of the labels, which has their meanings."""
        scale: type[Label] = _load(self.scale)
        return scale

    def load(self) -> Any:
        """Return the class, after importing its module.

        Raises: ImportError or AttributeError if it does not exist.
        """
        return _load(self.home)


def _load(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(importlib.import_module(module), name)


def _ours(home: str, **what: Any) -> Kind:
    says_why = what.pop("says_why", what.get("labels_items", False))
    return Kind(f"{__package__}.{home}", says_why=says_why, **what)


BUILT_IN = {
    "nuggetizer": _ours(
        "nuggets:Nuggetizer",
        is_windowed=True,
        makes_lists=True,
        has_example=True,
        options={"limit": "nuggets.max_nuggets"},
        spared_by=("nuggets",),
    ),
    "assigner": _ours(
        "nuggets:NuggetAssigner",
        is_windowed=True,
        labels_items=True,
        settings=("grades",),
        options={"grades": "grades"},
    ),
    "support": _ours(
        "support:SupportJudge",
        labels_items=True,
        settings=("titles",),
        options={"titles": "titles"},
    ),
    "relevance": _ours(
        "relevance:RelevanceJudge",
        labels_items=True,
        settings=("titles",),
        options={"titles": "titles"},
        spared_by=("qrels", "nuggets"),
    ),
    "item": _ours("custom:CustomJudge", says_why=True),
    "subquestions": _ours(
        "questions:SubQuestionGenerator",
        makes_lists=True,
        has_example=True,
        spared_by=("questions",),
    ),
    "answerability": _ours("questions:AnswerabilityGrader", is_windowed=True, labels_items=True),
    "keypoint_extractor": _ours(
        "makers.keypoints:KeyPointExtractor",
        makes_lists=True,
        has_example=True,
        options={"rounds": "keypoints.rounds"},
        in_identity=("rounds",),
        spared_by=("keypoints",),
    ),
    "keypoint_merger": _ours(
        "makers.keypoints:KeyPointMerger", has_example=True, spared_by=("keypoints",)
    ),
    "keypoint_filter": _ours(
        "keypoints:KeyPointFilter",
        labels_items=True,
        says_why=False,
        options={"threshold": "keypoints.threshold", "samples": "keypoints.samples"},
        in_identity=("threshold", "samples"),
        spared_by=("keypoints",),
    ),
    "entailment": _ours("keypoints:EntailmentJudge", is_windowed=True, labels_items=True),
    "importance": _ours(
        "nuggets:NuggetImportance",
        is_windowed=True,
        labels_items=True,
        says_why=False,
        spared_by=("nuggets",),
    ),
    "claim_extractor": _ours("makers.keypoints:ClaimExtractor", makes_lists=True, has_example=True),
    "claim": _ours("keypoints:ClaimJudge", is_windowed=True, says_why=True),
    "question_decomposer": _ours("questions:QuestionDecomposer"),
    "nugget_proposer": _ours("nuggets:NuggetProposer"),
    "gap_writer": _ours("makers.queries:GapWriter"),
    "listwise": _ours("ranking:ListwiseRanker"),
    "setwise": _ours("ranking:SetwiseRanker"),
    "rankllm": Kind(""),
    "answer_writer": _ours(
        "makers.answer_writer:AnswerWriter",
        options={
            "words": "generate.words",
            "citations": "generate.citations",
            "instructions": "generate.instructions",
        },
        in_identity=("words", "citations"),
    ),
    "recheck": _ours("support:SupportJudge", says_why=True),
    "query_writer": _ours("makers.queries:QueryWriter"),
    "contradiction": _ours("support:ContradictionJudge", says_why=True),
    "groundedness": _ours(
        "groundedness:GroundednessJudge",
        is_windowed=True,
        labels_items=True,
        options={"context_words": "groundedness.context_words"},
        in_identity=("context_words",),
    ),
}


@cache
def find_judge(name: str) -> Kind | None:
    """Find a judge by its name; None if there is none.

    A judge of another package is imported, because its class describes it. A package may instead
    name a Kind, which needs no DSPy.

    Raises: InputError if the object is not a judge, or cannot be imported.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    for entry in entry_points(group=GROUP, name=name):
        from .base import Judge
        from .items import ItemJudge
        from .makers.lists import ListMaker

        try:
            loaded = entry.load()
        except Exception as error:  # another package's code may raise anything
            what = f"cannot be loaded ({type(error).__name__}: {' '.join(str(error).split())})"
            raise InputError(f"judge {name}: {entry.value} {what}") from error
        if isinstance(loaded, Kind):
            return loaded
        if not isinstance(loaded, type) or not issubclass(loaded, Judge):
            raise InputError(f"judge {name}: {entry.value} is not a judge class")
        labels_items = issubclass(loaded, ItemJudge)
        home = f"{entry.module}:{entry.attr}"
        is_windowed = labels_items and loaded.listed is not None
        makes_lists = issubclass(loaded, ListMaker)
        return Kind(home, is_windowed, labels_items, makes_lists, says_why=labels_items)
    return None


def judge_names() -> list[str]:
    """Return the names of all judges, the built-in ones first."""
    others = (entry.name for entry in entry_points(group=GROUP))
    return list(dict.fromkeys((*BUILT_IN, *others)))


def explaining_judges() -> list[str]:
    """Return the judges that can give reasons, by name."""
    return [name for name, kind in _loadable() if kind.says_why]


def item_judges() -> list[str]:
    """Return the judges that label items, by name; YAML files define further ones.

    A judge of another package that cannot be loaded is left out.
    """
    return [name for name, kind in _loadable() if kind.labels_items]


def list_makers() -> list[str]:
    """Return the judges that make lists, by name. One that cannot be loaded is left out."""
    return [name for name, kind in _loadable() if kind.makes_lists]


def _loadable() -> Iterator[tuple[str, Kind]]:
    for name in judge_names():
        with suppress(InputError):
            if (kind := find_judge(name)) is not None:
                yield name, kind
