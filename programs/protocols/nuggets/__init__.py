"""The nuggets program: banks are made, looked for in answers, and scored.

It imports `protocols`, engine, inputs and, to search for nuggets, agents.
"""
