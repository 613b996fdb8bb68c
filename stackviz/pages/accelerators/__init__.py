"""The pages of the catalogue: list, spec sheets, change log, claims, feeds, and its API. No models."""
