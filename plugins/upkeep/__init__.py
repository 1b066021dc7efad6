"""Commands for config files, prompts, models, endpoints and the cache. Nothing imports it; its
commands are registered by an entry point."""
