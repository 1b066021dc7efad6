"""Replies that travel with results, and answer once more in their place: in memory, in files by
endpoint name, taken from a cache. It imports the gateway and the cache; exports/ may import it."""
