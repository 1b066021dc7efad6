"""Do texts that talk to the judge decide its labels, and what does it cost to guard against them?
Imports what its neighbours in probe/ import; only the command line may import it."""
