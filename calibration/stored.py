"""Human labels and stored labels of a cascade's judges, from files, and the cost of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backends.budget import compute_cost, get_price
from ..judges import CustomJudge, ItemJudge
from ..judges.combined.cascade import PEOPLE, measure_length
from ..judges.combined.confidence import Scale, Seen
from ..judges.table import find_judge, item_judges
from ..metrics.jury import JuryMethod, combine_votes
from ..programs.analysis.cell_texts import cell_texts
from ..programs.config.judge_sections import list_members
from ..programs.engine.manifest import read_folder_config, read_manifest
from ..programs.protocols.judged_files import find_judged_file
from ..records.kinds import Cell, LabelFile, find_kind
from ..records.labels import cell_run_aliases, read_labels, with_run_names
from ..records.reading.problems import InputError, Problems
from .votes import NONE, Codes, JuryVotes, read_jury_votes


@dataclass(frozen=True)
class Stored:
    """n items with human labels, as codes on `scale`; -1: no label.

    Attributes:
        judge: the judge's name. members: of the first stage, () for a single judge.
        method: how the members' votes are combined. names: of the first stage's judges, as given.
        seen: (n,) replies of the first stage; None: no label.
        panel: (n,) the median of the members' votes; for labels without order, the commonest.
        votes: (n, m) by each of `names`.
        cheap, expensive, truth: (n,) labels of the first stage, of the
            next (for people: the human ones), and of people. expensive_name: of the next.
        has_texts: whether lexical scores and lengths are known.
        models: by member, "" for a single judge: the model that answered, if known.
        costs: dollars per item of the first stage and of the next; None: unknown.
        n_off_scale: labels that are not on the scale, which count as none.
    """

    judge: str
    scale: Scale
    names: tuple[str, ...]
    members: tuple[str, ...]
    method: JuryMethod
    topics: tuple[str, ...] = field(repr=False)
    seen: tuple[Seen | None, ...] = field(repr=False)
    votes: Codes = field(repr=False)
    panel: Codes = field(repr=False)
    cheap: Codes = field(repr=False)
    expensive: Codes = field(repr=False)
    truth: Codes = field(repr=False)
    expensive_name: str
    has_texts: bool
    models: Mapping[str, str]
    costs: tuple[float | None, float | None]
    n_off_scale: int

    @property
    def is_right(self) -> NDArray[np.bool_]:
        """(n,) whether the first stage's label equals the human one, or is on its side of a cut."""
        return self._right(self.cheap)

    @property
    def next_right(self) -> NDArray[np.bool_]:
        """(n,) the same for the next stage's label."""
        return self._right(self.expensive)

    def _right(self, labels: Codes) -> NDArray[np.bool_]:
        pairs = zip(labels.tolist(), self.truth.tolist(), strict=True)
        return np.array([a != NONE and self.scale.is_same(a, b) for a, b in pairs], np.bool_)


def read_stored(
    labels: Path,
    results: Sequence[Path],
    problems: Problems,
    *,
    where: Mapping[str, Sequence[str]] | None = None,
    kind: str | None = None,
    votes: str = "votes",
    members: Sequence[str] = (),
    to_people: bool = False,
    method: JuryMethod = "median",
    cut: str | None = None,
    judge: str | None = None,
) -> Stored:
    """Read human labels with judges' labels, of which the last is the expensive judge's.

    Args:
        results: folders or files of judgements, one per judge, or one with the votes of
            several. The results of a jury are one stage, with its votes.
        votes, members: the field of one file's rows that holds member -> label, and the members to
            use, in order; all by default.
        to_people: uncertain items go to people, so there is no expensive judge.
        method: how several cheap judges' labels are combined.
        cut: a label; only labels on different sides of it differ.
        judge: a name or YAML file, if the kind of labels does not determine it.

    Raises: InputError for results that do not fit together, or no topics.
    """
    jury = read_jury_votes(
        results,
        problems,
        labels=labels,
        where=where,
        kind=kind,
        votes=votes,
        may_be_one=to_people,
    )
    of_people = read_labels(labels, Problems(), where)
    if jury.topics is None:
        raise InputError(f"{labels}: its items have no topic_id, which a fit of cascades needs")
    names = _choose(members, jury)
    indices = [jury.members.index(name) for name in names]
    cheap = indices if to_people else indices[:-1]
    if not cheap:
        raise InputError(
            f"{results[0]}: wanted a cheap judge and an expensive one, got only {names[0]}"
        )
    jury = jury.at(jury.truth != NONE)
    if not len(jury.cells):
        raise InputError(f"{labels}: no label for an item of {results[0]}; do their ids agree?")
    scale = Scale(jury.scale, jury.is_ordered, _get_code(cut, jury))
    file = _read_file(jury, results, cheap, of_people.kind, votes, is_alone=len(jury.members) == 1)
    stage = _Stage.of(jury, cheap, file, method, len(results) == 1 and not members)
    built = _find_judge(judge, of_people.kind, results)
    texts = _texts(built, of_people.kind, jury.cells, (*results, labels)) if built else {}
    return Stored(
        judge=built.name if built is not None else judge or str(of_people.kind),
        scale=scale,
        names=tuple(jury.members[j] for j in cheap),
        members=stage.members,
        method=stage.method,
        topics=tuple(jury.topics or ()),
        seen=_read_seen(jury, stage, file, texts, built),
        votes=jury.votes[:, cheap],
        panel=_panel(stage, jury),
        cheap=stage.labels,
        expensive=jury.truth if to_people else jury.votes[:, indices[-1]],
        truth=jury.truth,
        expensive_name=PEOPLE if to_people else jury.members[indices[-1]],
        has_texts=bool(texts),
        models=_models(results, stage, jury, cheap),
        costs=_costs(results, indices, to_people=to_people),
        n_off_scale=jury.n_off_scale,
    )


@dataclass(frozen=True)
class _Stage:
    """The first stage: its members' votes (n, m), none for a single judge, and its labels (n,)."""

    members: tuple[str, ...]
    votes: Codes
    labels: Codes
    method: JuryMethod

    @classmethod
    def of(
        cls,
        jury: JuryVotes,
        cheap: Sequence[int],
        file: LabelFile | None,
        method: JuryMethod,
        is_whole: bool,
    ) -> _Stage:
        code = {label: i for i, label in enumerate(jury.scale)}
        if len(cheap) == 1:
            labels = jury.votes[:, cheap[0]]
            votes_of = {} if file is None else file.votes
            names = tuple(dict.fromkeys(name for votes in votes_of.values() for name in votes))
            of = [[votes_of.get(cell, {}).get(name) for name in names] for cell in jury.cells]
            votes = np.array([[code.get(v or "", NONE) for v in row] for row in of], np.int64)
            return cls(names, votes.reshape(len(jury.cells), len(names)), labels, method)
        names = tuple(jury.members[j] for j in cheap)
        if is_whole and jury.labels is not None:  # the jury's own labels
            return cls(names, jury.votes[:, list(cheap)], jury.labels, jury.method)
        decided = "vote" if not jury.is_ordered else method
        labels = jury.decide(decided, cheap)
        return cls(names, jury.votes[:, list(cheap)], labels, decided)


def _choose(members: Sequence[str], jury: JuryVotes) -> tuple[str, ...]:
    if unknown := [name for name in members if name not in jury.members]:
        there = ", ".join(jury.members)
        raise InputError(f"--member {unknown[0]}: no such judge in the results, only {there}")
    if len(set(members)) < len(members):
        raise InputError("--member: wanted each name once")
    return tuple(members) or jury.members


def _get_code(cut: str | None, jury: JuryVotes) -> int | None:
    if cut is None:
        return None
    if not jury.is_ordered or cut not in jury.scale[1:]:
        wanted = ", ".join(jury.scale[1:])
        raise InputError(f"--cut {cut}: wanted a label of an ordered scale, one of {wanted}")
    return jury.scale.index(cut)


def _read_file(
    jury: JuryVotes,
    results: Sequence[Path],
    cheap: Sequence[int],
    kind: str,
    votes: str,
    *,
    is_alone: bool,
) -> LabelFile | None:
    """The judgements of a single cheap judge, with its scores; None if there are several."""
    if len(cheap) > 1 or (len(results) == 1 and not is_alone):
        return None
    path = find_judged_file(results[cheap[0]], kind)
    file = read_labels(path, Problems(), scale=jury.scale, votes=votes)
    return with_run_names(file, cell_run_aliases(jury.cells, file.cells, file.key_names))


def _find_judge(name: str | None, kind: str, results: Sequence[Path]) -> ItemJudge | None:
    """The lexical judge of such items; None if the judge is unknown."""
    declared = find_kind(kind)
    name = name or (declared.judge if declared is not None else "")
    if not name:
        return None
    if name in item_judges():
        kind_of_judge = find_judge(name)
        assert kind_of_judge is not None
        judge = kind_of_judge.load()(model="lexical")
        assert isinstance(judge, ItemJudge)
        return judge
    if not Path(name).is_file():
        names = ", ".join(item_judges())
        raise InputError(f"--judge {name}: wanted one of {names}, or a YAML file of your own")
    return CustomJudge(Path(name), "lexical")


def _texts(
    judge: ItemJudge, kind: str, cells: Sequence[Cell], paths: Sequence[Path]
) -> dict[Cell, dict[str, str]]:
    """The inputs of the judge by cell, {} unless one of the files has them for every cell."""
    for path in dict.fromkeys(paths):
        try:
            by_cell = cell_texts(path, kind, cells, Problems())
        except InputError:
            continue
        for texts in by_cell.values():
            if "answer_text" in texts:
                texts.setdefault("answer", texts["answer_text"])
        if all(texts.get(name, "").strip() for texts in by_cell.values() for name in judge.inputs):
            return {cell: {n: texts[n] for n in judge.inputs} for cell, texts in by_cell.items()}
    return {}


def _read_seen(
    jury: JuryVotes,
    stage: _Stage,
    file: LabelFile | None,
    texts: Mapping[Cell, Mapping[str, str]],
    judge: ItemJudge | None,
) -> tuple[Seen | None, ...]:
    lexical = _lexical(judge, [texts[cell] for cell in jury.cells]) if texts and judge else None
    means = jury.means([jury.members.index(name) for name in stage.members]) if not file else None
    made: list[Seen | None] = []
    for i, cell in enumerate(jury.cells):
        label = int(stage.labels[i])
        if label == NONE:
            made.append(None)
            continue
        score = file.scores.get(cell) if file else None
        if means is not None and stage.members:
            score = float(means[i])
        chances = file.probabilities.get(cell) if file else None
        row = zip(stage.members, stage.votes[i].tolist(), strict=True)
        made.append(
            Seen(
                label=label,
                score=score,
                votes={name: None if code == NONE else code for name, code in row},
                chances=tuple(chances.get(n, 0.0) for n in jury.scale) if chances else None,
                lexical=None if lexical is None else lexical[i],
                length=measure_length(judge, texts[cell]) if judge and texts else None,
            )
        )
    return tuple(made)


def _lexical(judge: ItemJudge, items: Sequence[Mapping[str, str]]) -> list[float | None] | None:
    """The lexical judge's score of each item; None if it has no rule for them."""
    from ..backends.loop import run_sync

    if judge.prompt(judge.predictor).baseline is None:
        return None

    async def score_all() -> list[float | None]:
        return [(await judge.verdict(**item))[0].score for item in items]

    return run_sync(score_all())


def _models(
    results: Sequence[Path], stage: _Stage, jury: JuryVotes, cheap: Sequence[int]
) -> dict[str, str]:
    """The model of each member, "" for a single judge, as far as manifests name it."""
    if len(results) < len(cheap) or (len(cheap) == 1 and stage.members):
        return {}
    names = {jury.members[j]: results[j] for j in cheap}
    models = {}
    for name, path in names.items():
        judges = read_manifest(path).get("judges", {}) if path.is_dir() else {}
        about: Mapping[str, Any] = next(iter(judges.values())) if len(judges) == 1 else {}
        model = about.get("model")
        if isinstance(model, dict) and model.get("model"):
            models[name if stage.members else ""] = str(model["model"])
    return models


def _panel(stage: _Stage, jury: JuryVotes) -> Codes:
    if len(stage.members) < 2:
        return stage.labels
    method: JuryMethod = "median" if jury.is_ordered else "vote"
    codes = [[code for code in row if code != NONE] for row in stage.votes.tolist()]
    k = len(jury.scale)
    made = [combine_votes(row, k, method, jury.ties) if row else None for row in codes]
    return np.array([NONE if code is None else code for code in made], np.int64)


def _costs(
    results: Sequence[Path], indices: Sequence[int], *, to_people: bool
) -> tuple[float | None, float | None]:
    if len(results) < len(indices):  # one file with several judges' votes
        return None, None
    each = [dollars(results[j]) for j in indices]
    cheap = each if to_people else each[:-1]
    priced = [cost for cost in cheap if cost is not None]
    return sum(priced) if len(priced) == len(cheap) else None, None if to_people else each[-1]


def dollars(path: Path) -> float | None:
    """Mean dollars per call; None for a file, several judges, or an unknown price.

    Also None for verified labels, whose tokens cannot be assigned to the verifier. Cached replies
    report no tokens: if no reply was paid for, the cost is unknown.
    """
    if not path.is_dir():
        return None
    manifest, config = read_manifest(path), read_folder_config(path)
    names = list(manifest.get("judges", {}))
    if len(names) != 1:
        return None
    settings = config.judge(names[0])
    if settings.cascade is not None or settings.verify is not None:
        return None
    models = {"": settings.model}
    if settings.jury is not None:
        models = {member.name: member.settings.model for member in list_members(settings)}
    if all(config.model(model).sends_nothing for model in models.values()):
        return 0.0
    total = 0.0
    for answered, tokens in manifest.get("tokens_by", {}).items():
        member = answered.partition(": ")[0] if settings.jury is not None else ""
        price = get_price(config.model(models[member])) if member in models else None
        if price is None:
            return None
        counts = [tokens.get(part, 0) for part in ("prompt", "cached", "completion")]
        total += compute_cost(price, *counts)
    n = sum(manifest["judged"].values())
    return total / n if total and n else None
