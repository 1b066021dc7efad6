"""What agents did: read from results, compared with another run, proven from kept replies. Imports
engine and config; only the command line may import it."""
