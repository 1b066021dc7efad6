"""The lexical twin of every judge: word overlap instead of a model; and how quotes are looked for
and a text is cut into segments. Of `judges` it imports the labels alone; each judge may import its
own twin, the makers the segments; calibration, agents, probes and samples the overlap and the
sentences."""
