"""`judge export`: results written where other tools look for them. Only `app` imports it."""
