"""Two to six of anything side by side: spec sheets, stacks, machines. No models."""
