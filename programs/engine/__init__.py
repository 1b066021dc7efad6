"""The engine that runs judgements: stages, journals, sessions, executors, results folders,
manifests. It knows no task. It imports inputs, config, judges and backends; everything above it in
programs/, calibration and the command line may import it."""
