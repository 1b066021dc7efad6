"""How far the evidence program can be trusted, by labels of people. Imports protocols and engine;
only the command line may import it."""
