"""How builds of torch write their CUDA version: `cu128` is 12.8. Importers, rules and plans read it here."""

import re

__all__ = ["cuda_of", "variant_of"]

_VARIANT = re.compile(r"cu(\d{1,3})(\d)")
_CUDA = re.compile(r"(\d{1,3})\.(\d)(?:\.[\w.]{0,20})?")


def cuda_of(variant: str) -> str:
    """ "cu128" -> "12.8"; "" for what is no build with CUDA: "cpu", "cu", "custom"."""
    found = _VARIANT.fullmatch(variant)
    return f"{found[1]}.{found[2]}" if found else ""


def variant_of(cuda: str) -> str:
    """ "12.8" and "12.8.1" -> "cu128"; "" for what is no CUDA version: torch builds name both its numbers."""
    found = _CUDA.fullmatch(cuda.strip())
    return f"cu{found[1]}{found[2]}" if found else ""
