"""Batches of a provider, as a transport: requests gathered, sent, followed and collected.
Imports `backends` and records; `backends` opens it, and who names a run's ledger may import
that."""
