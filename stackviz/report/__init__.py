"""What a machine says and what follows from it: format, importers, messages, rules. Standard library only."""
