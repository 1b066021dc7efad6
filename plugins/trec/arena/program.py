"""The arena task: blind battles of two answers, and the strengths of the runs."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from ....metrics.answer_scores import Value
from ....metrics.inference import Interval
from ....programs.config.sections import Config
from ....programs.inputs import Collection, load_collection
from ....programs.protocols.judged_items import ALL, ItemScale, JudgedItems
from ....programs.protocols.judgements import FileLines, Judgement
from ....programs.protocols.program import (
    CellTexts,
    Folder,
    Meaning,
    Meanings,
    Program,
    Run,
    need_answers,
)
from ....programs.protocols.scoreboard import Scoreboard, value_row
from ....programs.scoring.result import Result
from ....records.kinds import Cell
from ....records.reading.problems import InputError, Problems
from ....records.writing import own_folder
from ....views.table import Table
from .battles import BATTLE_GAINS, BATTLE_KEY, BATTLE_SCALE
from .judging import JUDGE, judge_battles
from .kind import battles_with_lines, read_battles
from .ragdoll import write_ragdoll_arena
from .standings import (
    ELO,
    FILE,
    SPLITS,
    STRENGTH,
    TIES,
    WIN_RATE,
    fit_ratings,
    sides,
    topic_values,
)
from .tables import standings_tables

INPUTS = ("question", "answer_a", "answer_b")


class Arena(Program):
    """Battles of two answers (arXiv:2306.05685, arXiv:2403.04132), each judged in both orders.

    Orders that disagree make a tie. A run without an answer loses where its opponent has one.
    """

    name = "arena"
    judges_answers = True
    judges = (JUDGE,)
    kind, judged, files = "battles", FILE, (FILE,)
    stages = ("battles",)
    meanings: ClassVar[Meanings] = {
        WIN_RATE: Meaning(
            "Share of its battles that an answer wins, a tie as half; over the topics with "
            "battles.",
            says="wins {} of its battles",
            is_of_answered=True,  # by design, a run may have no battle on a topic
        ),
        STRENGTH: Meaning(
            "Bradley-Terry strength: 400 points more are odds of 10 to 1; the mean of runs is "
            "1000.",
            unit="points",
        ),
        ELO: Meaning(
            "Elo rating, the mean over random orders of the battles; runs start at 1000.",
            unit="points",
        ),
        TIES: Meaning("Share of battles that end in a tie.", is_quality=False, is_of_answered=True),
        SPLITS: Meaning(
            "Share of battles where the judge says another thing when the answers change places.",
            is_quality=False,
            is_of_answered=True,
        ),
    }
    shown = tuple(meanings)
    file_kind, is_scored_alone = "battles", True
    tools: ClassVar[Mapping[str, str]] = {"ragdoll": "Write battles, in `arena/`."}
    reads = INPUTS

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return self.shown

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        need_answers(collection)
        if len(collection.run_ids) < 2:
            raise InputError(f"arena: answers of {len(collection.run_ids)} run, wanted two or more")

    async def judge(self, run: Run) -> None:
        """See Program."""
        battles = await judge_battles(run)
        with run.results.open(FILE) as rows:
            for battle in battles:
                rows.write(battle.as_row())
        counts = {
            "battles": len(battles),
            "battles whose orders disagree (ties)": sum(one.is_split for one in battles),
            "battles lost without an answer (not asked)": sum(one.is_forfeit for one in battles),
        }
        for what, n in counts.items():
            if n:
                run.results.count(what, n)

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        path = folder.need(FILE)
        battles = list(read_battles(path, folder.problems, folder.where))
        of_cells = topic_values(battles)
        for (run_id, topic_id), values in of_cells.items():
            board.add(run_id, topic_id, values)
        board.mark_failed((), (WIN_RATE, TIES, SPLITS))
        if not battles:
            return
        n_lost = sum(
            battle.label is None for battle in battles
        )  # of any run, because each rating depends on all battles
        fitted_ratings, names = fit_ratings(battles, resamples=0)
        for measure, ratings in ((STRENGTH, fitted_ratings.strengths), (ELO, fitted_ratings.elo)):
            for run_id, rating in zip(names, ratings, strict=True):
                n = sum(of_cells[cell][WIN_RATE].n for cell in of_cells if cell[0] == run_id)
                board.extend([value_row(run_id, "all", measure, _rating(rating, n, n_lost))])

    def export(self, tool: str, folder: Path, out: Path, problems: Problems) -> Mapping[str, int]:
        """See Program: RAGDoll's `arena/`, without battles lost because an answer is missing."""
        lines = Problems()
        battles = list(read_battles(folder / FILE, lines))
        lines.raise_errors()
        strengths = {
            row.run_id: row.value
            for row in Result(folder).scores
            if row.measure == STRENGTH and row.topic_id == ALL and row.value is not None
        }
        write_ragdoll_arena(own_folder(out / "arena"), battles, strengths)
        if forfeits := sum(battle.is_forfeit for battle in battles):
            what = f"{forfeits:,} battles that a run lost without an answer: RAGDoll has none such"
            problems.skip(folder / FILE, 0, "forfeit", what)
        failed = sum(battle.label is None for battle in battles)
        return {"arena/judgments": len(battles) - forfeits, "failed": failed}

    def scale(self, folder: Path) -> ItemScale:
        """See Program."""
        return ItemScale(
            judge=JUDGE,
            inputs=INPUTS,
            key=BATTLE_KEY,
            labels=BATTLE_SCALE,
            is_ordered=True,
            gains={str(label): gain for label, gain in BATTLE_GAINS.items()},
            measure=WIN_RATE,
        )

    def tables(self, path: Path) -> list[Table]:
        """See Program: the standings of the runs, and the wins by pair of runs."""
        return standings_tables(path)

    def items(self, folder: Folder) -> JudgedItems:
        """See Program: not supported, because a battle belongs to both of its runs.

        Raises: InputError.
        """
        what = "a battle belongs to two runs, so that labels of people correct no scores of battles"
        raise InputError(f"{folder.path}: {what}; judge agree compares them")

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield each battle of an answer, once for both sides; people label it once."""
        for _, battle in battles_with_lines(lines(FILE)):
            for run_id, opponent_id, label in sides(battle):
                is_own = run_id == battle.run_id
                verdicts = [one for one in (battle.first, battle.second) if one is not None]
                yield Judgement(
                    run_id,
                    battle.topic_id,
                    (battle.topic_id, battle.run_id, battle.opponent_id) if is_own else (),
                    "battle",
                    opponent_id,
                    "the orders disagree" if battle.is_split else "",
                    label,
                    reasoning=" / ".join(one.rationale for one in verdicts if one.rationale),
                    asked={"run_id": run_id, "opponent_id": opponent_id},
                )

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """See Program: answer A is that of `run_id`."""
        data = load_collection(config.data, config.run.limit)
        for topic_id, topic in data.topics.items():
            of_topic = [cell for cell in wanted if cell[0] == topic_id]
            if not of_topic:
                continue
            answers = {
                answer.run_id: answer.text for answer, _ in data.read_cited_answers(topic_id)
            }
            for cell in of_topic:
                texts = (topic.question, answers.get(cell[1], ""), answers.get(cell[2], ""))
                yield cell, dict(zip(INPUTS, texts, strict=True))


def _rating(interval: Interval, n: int, n_lost: int) -> Value:
    """A rating with the run's judged battles; missing battles could give it any value."""
    bound = None if n_lost else interval.value
    return Value(interval.value, n, n_lost, bound, bound)
