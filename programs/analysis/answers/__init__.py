"""Answers with all their judgements, and how they are shown as text. Imports protocols, engine and
inputs; report, evaluation and the command line may import it."""
