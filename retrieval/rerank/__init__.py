"""What reorders a ranking: MMR, cross-encoders, RankLLM, windows for list-wise judges, greedy
coverage. Imports `retrieval` and backends, and asks no judge; `programs.pipelines` may import
it."""
