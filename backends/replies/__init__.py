"""What a model's reply is: its text as it came, the one JSON object in it, and what is no word of
its own."""
