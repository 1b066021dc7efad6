"""Contexts found and answers written: indexes, retrieval pipelines, generation, the closed loop.
Imports protocols and engine; run and the command line import it."""
