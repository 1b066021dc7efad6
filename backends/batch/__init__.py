"""Batches of a provider, as a transport: requests gathered, sent, followed and collected. Imports
`backends`; only `backends` opens it."""
