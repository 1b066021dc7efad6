"""Collections made of summaries or questions: CRUX, Long2RAG, people's verification. Imports
protocols and what is below, not pipelines or scoring; only the command line may import it."""
