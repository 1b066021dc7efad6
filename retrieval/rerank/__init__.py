"""Rerankers: MMR, cross-encoders, RankLLM, windows for list-wise judges, greedy coverage.
Imports `retrieval` and backends, and calls no judge; `programs.pipelines` may import it."""
