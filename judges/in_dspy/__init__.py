"""What a judge is to DSPy: an LM, a step of a trace, a parameter that is saved, a metric. Imports
backends, records and `judges.fitted`; the judges, and prompt searches, may import it."""
