"""Does a model fit, and how fast will it be: `/fit/` and its API. No models: the table of language models is a file."""
