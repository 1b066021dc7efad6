"""Models that LiteLLM reaches, and its list of providers. Imports backends; `backends` alone may
import it, and the check of a model's name."""
