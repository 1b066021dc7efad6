"""Commands, and parts of their output, on how far a judge can be trusted. Imports programs;
only the list of commands and other commands may import it."""
