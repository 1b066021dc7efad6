"""Long2RAG (arXiv:2410.23000): key points made, looked for in answers, and scored. Imports
`protocols`, engine and inputs; all that may import protocols may import it."""
