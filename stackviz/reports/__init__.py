"""What pages show of one report, whoever made it: an agent, a dump, a plan. No models of its own."""
