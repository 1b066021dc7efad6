"""`judge probe --faults`: faults planted by code, and whether a judge sees them. Imports what
analysis imports, and the items of a probe; only the command line may import it."""
