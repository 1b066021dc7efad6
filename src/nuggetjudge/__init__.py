"""LLM judges for long-form RAG: nuggets, support and relevance, measured against people.

Importing this reads no `.env`, opens no cache and configures nothing; the parts are loaded
when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
__version__ = "0.1.0"
