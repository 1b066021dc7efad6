"""Commands of a development loop: `judge gate`, `judge watch`. Only `cli.app` imports them."""
