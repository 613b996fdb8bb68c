"""The pages of machines: their list, one machine, its results and its coverage of operators. No models."""
