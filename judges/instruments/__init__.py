"""Prompts of the user's own or of published tools, in the place of a judge's."""
