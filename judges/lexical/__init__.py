"""Lexical baselines of the judges: word overlap instead of a model. Finds quotes; cuts texts into
sentences and segments. Imports no DSPy and only labels of `judges`: any folder may import it."""
