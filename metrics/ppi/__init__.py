"""Scores corrected with human labels (prediction-powered inference), with intervals. Imports
`metrics`, numpy and scipy; every folder but records and backends may import it."""
