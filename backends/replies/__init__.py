"""Reading of replies: the reply as received, its one JSON object, and copies of the judged text.
Backends and token counts above import it; it imports their errors and tokens, and records."""
