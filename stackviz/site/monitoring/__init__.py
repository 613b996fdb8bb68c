"""What whoever runs the site sees of it: `/healthz`, `/readyz`, `/metrics`, the state of the site. No models."""
