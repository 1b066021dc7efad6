"""Replies that travel with results: in memory, in files by endpoint name, carried from a cache.
It imports the gateway and the cache; exports/ may import it."""
