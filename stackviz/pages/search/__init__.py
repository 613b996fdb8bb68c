"""One search over everything: `/search/`, its suggestions, the prepared index behind them, and words of machines."""
