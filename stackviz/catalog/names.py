"""How accelerator names are compared: the same way as in the rules, which also run on lab machines."""

from stackviz.rules.card_names import normalized

__all__ = ["normalized"]
