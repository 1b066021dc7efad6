"""Relevance of a passage to a long narrative, graded 0-4 by the parts of it that are answered.

`whole` asks for the grade, `parts` asks about each sub-narrative by itself and has code make the
grade; the settings of `plugins/trec` say which (`judges.relevance.scale`). May import the core and
the settings of `plugins/trec`.
"""
