"""Tasks of TREC and other tools.

`arena/` has battles of answers, `argue/` compares reports with lists of questions, `narratives/`
grades passages by the parts of a long question, and `rubric/` has rubrics with signed weights.

The core finds these tasks only by the entry points of pyproject.toml, like tasks of another package
(docs/extending.md). They may import every folder of the core, and `plugins.report` for its
sections.
"""
