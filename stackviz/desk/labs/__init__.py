"""What members do for their lab: add machines, keys, people and invitations, settings, the webhook. No models."""
