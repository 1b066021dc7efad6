"""How far the evidence program can be trusted, by labels of people."""
