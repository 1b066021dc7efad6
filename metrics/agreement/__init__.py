"""How far labels agree: coefficients of counts, between two judges or many annotators, with
intervals. Imports `metrics`, numpy and scipy; every folder but records and backends may import
it."""
