"""Measures: pure functions, numbers in and numbers out, without models or files.

`nugget_scores`, `support_scores`, `key_point_recall`, `key_point_precision` and `key_point_f1`
score one answer to one topic; `mean_over_topics` scores one run; `ranking_scores` scores a
retrieval run. `agreement` compares labels item by item, `reliability` compares the labels of
several annotators, and `taus` compares the orders of systems by two judges. A score is a `Value`:
the number, the judgements behind it, the number of missing ones, and the bounds that the missing
ones leave. A module is loaded when one of its names is first used.
Import other functions from their modules: intervals and tests from `inference`, `label_agreement`,
`rank_correlation` and `ppi`; sub-questions of a report from `coverage` and `ranking`.

Imports no other folder of nuggetjudge; every folder may import it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
