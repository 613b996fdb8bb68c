"""A stack somebody is only planning: what fits, what to install, what will not work. No models."""
