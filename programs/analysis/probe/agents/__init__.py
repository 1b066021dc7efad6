"""Do passages that talk to an agent decide how it ends, or what it searches for? Imports what its
neighbours in probe/ import, and agents; only the command line may import it."""
