"""What answers are, with everything that was judged of them, and how that is shown as text. Imports
protocols, engine and inputs; report, evaluation and the command line may import it."""
