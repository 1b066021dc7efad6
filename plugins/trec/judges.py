"""The judges here, as a config names them; their classes are imported when they are asked."""

from ...judges.table import Kind

BATTLE = Kind(f"{__package__}.arena.judge:BattleJudge", labels_items=True, says_why=True)
