"""`judge probe`: the same items judged under changed conditions, and what that moved. Imports
analysis, scoring, protocols and engine; only the command line may import it."""
