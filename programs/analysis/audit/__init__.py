"""`judge audit`: a sample judged again by a judge of another family, and what that does to the
order of runs. Imports analysis, scoring, protocols, engine, inputs and backends; only the command
line may import it."""
