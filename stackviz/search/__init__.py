"""One search over everything: `/search/`, its suggestions, and the prepared index behind them. No models."""
