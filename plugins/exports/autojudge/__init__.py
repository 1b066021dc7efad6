"""A TREC AutoJudge folder: what a judge gave, the replies behind it, and proof that it replays.
Imports programs, backends and records; cli/ may import it."""
