"""What answers are, with everything that was judged of them. Imports protocols, engine and inputs;
report and the command line may import it."""
