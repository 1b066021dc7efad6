"""What a request may take in tokens, and what they cost. Imports config; `backends` and who shows
a price may import it."""
