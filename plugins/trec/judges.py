"""The judges of this folder, by their names in a config; a class is imported when it is used."""

from typing import Any

from ...judges.table import Kind

BATTLE = Kind(f"{__package__}.arena.judge:BattleJudge", labels_items=True, says_why=True)
_GRADES: dict[str, Any] = {"is_windowed": True, "labels_items": True, "says_why": True}
CRITERION = Kind(f"{__package__}.rubric.judge:CriterionJudge", **_GRADES)
BINARY_CRITERION = Kind(f"{__package__}.rubric.judge:BinaryCriterionJudge", **_GRADES)
RUBRIC_WRITER = Kind(f"{__package__}.rubric.writer:RubricWriter", spared_by=("rubrics",))
ACCEPTED_ANSWER = Kind(f"{__package__}.argue.judge:AcceptedAnswerJudge", **_GRADES)
