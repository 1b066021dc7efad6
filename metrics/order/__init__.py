"""How far two rankings of the same runs agree. Imports numpy and scipy only."""
