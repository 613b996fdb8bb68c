"""A planned stack: what fits, what to install, what will not work. No models."""
