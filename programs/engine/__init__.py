"""What runs judgements: stages, journals, sessions, executors, results folders, manifests. Knows
of no program. Imports inputs, config, judges and backends; everything above it in programs/,
calibration and the command line may import it."""
