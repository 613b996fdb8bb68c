"""The packages that are compiled for one torch: which of them goes with it, and how all are installed in one command.

A torch that is replaced alone leaves them behind, and they no longer load.
"""

from stackviz.rules.compatibility import Requirement, Tables
from stackviz.rules.look import Look
from stackviz.rules.versions import is_below, major_minor, numbers

__all__ = ["COMPANIONS", "fits", "for_torch", "found_companions", "line_specs", "torch_packages"]

COMPANIONS = {"torchvision": "TorchVision", "torchaudio": "TorchAudio"}


def found_companions(look: Look) -> list[str]:
    """The companions that this machine has."""
    return [slug for slug in COMPANIONS if look.software(slug)]


def fits(row: Requirement, torch: str) -> bool:
    """Whether a release of a companion, by its row, goes with this torch."""
    if row.low and not row.values:
        return not is_below(torch, row.low)
    return any(_same_release(torch, release) for release in row.values.split())


def _same_release(version: str, other: str) -> bool:
    return numbers(version)[:3] == numbers(other)[: len(numbers(version)[:3])] or major_minor(version) == other


def for_torch(tables: Tables, slug: str, torch: str) -> str:
    """The newest release of a companion that goes with this torch; "" if the tables name none."""
    fitting = [row.version for row in tables.rows(slug, "needs", "pytorch") if fits(row, torch)]
    return fitting[-1] if fitting else ""


def line_specs(look: Look, tables: Tables, line: str) -> list[str]:
    """The companions found, as pip takes them beside torch of a release line: 'torchvision==0.26.*'.

    Where the tables do not say which, the name alone: pip looks for one that takes the torch in the same command.
    """
    return [_line_spec(tables, slug, line) for slug in found_companions(look)]


def _line_spec(tables: Tables, slug: str, line: str) -> str:
    lines = {
        major_minor(row.version)
        for row in tables.rows(slug, "needs", "pytorch")
        if any(major_minor(release) == line for release in row.values.split())
    }
    return f"'{slug}=={lines.pop()}.*'" if len(lines) == 1 else slug


def torch_packages(look: Look) -> str:
    """torch and the companions found, by name."""
    return " ".join(["torch", *found_companions(look)])
