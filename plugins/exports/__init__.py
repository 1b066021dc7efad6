"""Results written where other tools look for them; asks nobody. Only users import it."""
