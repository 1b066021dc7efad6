"""vLLM in this process, as a transport. Imports `backends` and records, and vllm itself when a
model is opened; `backends` and `retrieval.rerank` may import it."""
