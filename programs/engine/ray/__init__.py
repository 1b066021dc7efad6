"""The executor that spreads a stage over Ray workers. Imports engine; only the session opens it."""
