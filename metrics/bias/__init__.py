"""What a judge's errors and changes go with, with topics as clusters. Imports `metrics`, numpy and
scipy; every folder but records and backends may import it."""
