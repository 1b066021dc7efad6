"""Commands that stay and answer other programs. Imports the servers; only the list of commands
may import it."""
