"""How names of accelerators are compared: as the rules do it, which lab machines run too."""

from stackviz.rules.card_names import normalized

__all__ = ["normalized"]
