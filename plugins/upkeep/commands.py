"""The commands for configs, prompts, models and the cache."""

from ...cli.commands import Command

COMMANDS = {
    name: Command(group, line, f"{__package__}.{home}:{name.replace('-', '_')}", place)
    for group, name, line, home, place in (
        ("most used", "init", "Write a config for your own files.", "configs", 70),
        ("upkeep", "models", "List open models that can judge, and their settings.", "models", 10),
        ("upkeep", "doctor", "Check a model's key, endpoint and features.", "models", 20),
        ("upkeep", "prompt", "Print the prompt of a judge, with your item.", "configs", 30),
        ("upkeep", "cache", "Show or clear cached replies and vectors.", "models", 40),
        ("upkeep", "schema", "Print the JSON Schema of config files.", "configs", 50),
        ("upkeep", "export-config", "Print the complete config of a run or a file.", "configs", 60),
    )
}
