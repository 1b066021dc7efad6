"""Contexts found and answers written: indexes, retrieval pipelines, generation, the closed loop.
Imports protocols and what is below, not build or scoring; run and the command line may import
it."""
