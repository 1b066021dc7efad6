"""Programs beside the core's, as TREC and other tools have them: battles of answers (`arena/`),
reports compared with lists of questions (`argue/`), rubrics with signed weights (`rubric/`).

They come to the core by the entry points of pyproject.toml alone, as another package's programs do
(docs/extending.md). May import every folder of the core, and `plugins.report` for its sections.
"""
