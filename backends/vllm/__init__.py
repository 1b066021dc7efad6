"""vLLM in this process, as a transport. Imports `backends`; vllm itself is imported when a model is
opened."""
