"""The evidence program: what carries the sentences whose citations do not. Imports `protocols`,
engine and agents; all that may import protocols may import it."""
