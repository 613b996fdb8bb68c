"""What pages show of one report, from an agent, a dump or a plan. No models."""
