"""What accelerators are and how to work with them: chapters, calculations to try, the glossary. No models."""
