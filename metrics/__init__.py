"""Measures: pure functions, numbers in and numbers out, without a model and without files.

`nugget_scores`, `support_scores` and `key_point_recall`, `key_point_precision`, `key_point_f1`
score one answer on one topic, `mean_over_topics` one run,
`ranking_scores` a retrieval run; `agreement` compares labels item by item, `reliability` those of
several annotators, and `taus` the orders that two judges put systems in. Scores come as a
`Value`: the number, the judgements behind it, those missing, and the bounds that the missing
leave. A module is loaded when one of its names is first used.
Import the rest from its module: intervals and tests from `inference`, `label_agreement`,
`rank_correlation` and `ppi`; sub-questions of a report from `coverage` and `ranking`.

Imports nothing else of ours; every folder may import it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
