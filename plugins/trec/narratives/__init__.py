"""Relevance of a passage to a long narrative, graded 0-4 by the number of parts that it answers.

`whole` asks for the grade. `parts` asks about each sub-narrative separately, and code computes the
grade. The setting `judges.relevance.sub_narratives` selects one of them. The folder may import the
core and the settings of `plugins/trec`.
"""
