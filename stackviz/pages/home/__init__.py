"""Home, glossary, health, and what is shown when something went wrong. No models."""
