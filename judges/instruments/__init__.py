"""Prompts of the user's own or of published tools, in the place of a judge's. Imports backends and
records; `judges.base` and programs may import it."""
