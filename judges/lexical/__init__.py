"""The lexical twin of every judge: word overlap instead of a model. Imports nothing above `judges`;
each judge imports its own twin."""
