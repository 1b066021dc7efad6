"""How far two rankings of the same runs agree. Imports `metrics`, numpy and scipy; every folder
but records and backends may import it."""
