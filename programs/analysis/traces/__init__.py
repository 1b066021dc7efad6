"""What agents did: read from results, compared with another run, and proven from its replies."""
