"""The state of the site for whoever runs it: `/healthz`, `/readyz`, `/metrics`, a page in the admin. No models."""
