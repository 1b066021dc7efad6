"""Commands around judging: config files, prompts, models, endpoints, kept replies. Nothing
imports it; its commands come by an entry point."""
