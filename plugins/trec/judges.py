"""The judges here, as a config names them; their classes are imported when they are asked."""

from ...judges.table import Kind

BATTLE = Kind(f"{__package__}.arena.judge:BattleJudge", labels_items=True, says_why=True)
ACCEPTED_ANSWER = Kind(
    f"{__package__}.argue.judge:AcceptedAnswerJudge",
    is_windowed=True,
    labels_items=True,
    says_why=True,
)
