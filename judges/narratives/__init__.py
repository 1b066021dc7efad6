"""Relevance of a passage to a long narrative, graded 0-4 by the parts of it that are answered.

`whole` asks for the grade, `parts` asks about each sub-narrative by itself and has code make the
grade. Imports judges, metrics, records; the table of judges names both, nothing else imports them.
"""

from .parts import PartwiseRelevanceJudge
from .whole import NarrativeRelevanceJudge

__all__ = ["NarrativeRelevanceJudge", "PartwiseRelevanceJudge"]
