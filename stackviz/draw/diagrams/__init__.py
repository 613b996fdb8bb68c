"""Layers -> boxes in rows with the links between them, as HTML, sentences and SVG; pictures of memory. No request."""
