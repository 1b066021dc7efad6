"""Long2RAG (arXiv:2410.23000): key points made, looked for in answers, and scored.
Imports engine and inputs; may be imported as any protocol."""
