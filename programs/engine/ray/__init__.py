"""The executor that spreads a stage over Ray workers. Imports engine and config, and Ray itself
when a run asks for it; only the session may import it."""
