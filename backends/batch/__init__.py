"""Provider batches as a transport: gathers requests, sends them, and collects the replies.
Imports `backends` and records; `backends` opens it, and code that names a run's ledger may
import it."""
