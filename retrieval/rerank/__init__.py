"""What reorders a ranking: MMR, cross-encoders, RankLLM, windows for list-wise judges, greedy
coverage. Imports `retrieval`; asks no judge."""
