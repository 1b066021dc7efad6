"""The evidence program: what carries the sentences whose citations do not."""
