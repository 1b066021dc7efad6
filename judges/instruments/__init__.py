"""Custom prompts, or prompts of published tools, in place of a judge's own. Imports backends and
records; `judges.base` and programs may import it."""
