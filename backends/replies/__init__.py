"""What a model's reply is: as it came, the one JSON object in it, and what is no word of its own.
Backends import it, with what reads their replies or counts them above; it imports their errors and
tokens, and records."""
