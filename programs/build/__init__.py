"""Collections made of summaries or questions: CRUX, Long2RAG, people's verification. Imports
protocols and engine; only the command line imports it."""
