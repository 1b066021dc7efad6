"""Lexical baselines of the judges: word overlap instead of a model. Finds quotes and cuts texts
into sentences and segments. Imports no DSPy, of `judges` only labels: any folder may import it."""
