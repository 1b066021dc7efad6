"""Find contexts and write answers: indexes, retrieval pipelines, generation, the closed loop.

It imports `protocols` and the folders below, not `scoring`; `run` and the command line import it.
"""
