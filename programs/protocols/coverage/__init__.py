"""CRUX (arXiv:2506.20051): sub-questions, ratings of passages and reports, coverage scores.
Imports `protocols`, engine and inputs; all that may import protocols may import it."""
