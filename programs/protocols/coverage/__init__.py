"""CRUX (arXiv:2506.20051): sub-questions, ratings of passages and reports, coverage scores. Imports
the same as `protocols`; its table, scoring and analysis may import it."""
