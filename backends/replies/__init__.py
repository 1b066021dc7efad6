"""What a model's reply is: as it came, the one JSON object in it, and what is no word of its own.
The transports, the gateway and `reply` import it; it imports their errors and tokens alone."""
