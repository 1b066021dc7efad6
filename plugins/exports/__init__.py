"""Exports results to the formats of other tools, without a model. Only users import it."""
