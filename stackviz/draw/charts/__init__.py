"""Charts as plain data: frozen dataclasses in, Plotly figures (dicts) or bar lengths out. No ORM, no request."""
