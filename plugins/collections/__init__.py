"""Making of collections: CRUX from summaries, Long2RAG from questions, and their verification by
people. It imports the core; only entry points name it, and annotate for its sheets."""
