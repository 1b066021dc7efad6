"""`judge drift`: whether a change of scores is one of the judge or of the systems. Imports
analysis, scoring, protocols and engine; only the command line may import it."""
