"""Judges that make texts: nuggets, sub-questions, key points, claims, requests, answers. Imports
`judges` and `judges.lexical`; programs and builds use them."""
