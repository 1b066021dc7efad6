"""What a judge's errors go with, by labels of people: length, position, runs, citations. Imports
analysis, scoring, protocols and engine; analysis and the command line may import it."""
