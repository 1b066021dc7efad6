"""Find contexts and write answers: indexes, retrieval pipelines, generation, the closed loop.
Imports protocols and folders below, not build or scoring; run and the command line may import
it."""
