"""`/data/`: everything public, written each night as files. No models."""
