"""What agents will take, and what they took: the least, the expected, the most.

Imports config and estimates; results, rehearsals, `programs.run` and the command import this.
"""
