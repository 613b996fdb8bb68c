"""Finds what the modules of a package declare, so that a new module is registered by being there."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

__all__ = ["modules_of"]


def modules_of(package: ModuleType) -> list[ModuleType]:
    """Import the modules directly in a package and return them sorted by name. Reads folders and zip files alike."""
    names = sorted(module.name for module in iter_modules(package.__path__) if not module.ispkg)
    return [import_module(f"{package.__name__}.{name}") for name in names]
