"""Contexts to evaluate: first stage, fusion, reranking. Nothing is here yet."""
