"""The software bill of materials of the site, as CycloneDX 1.6 JSON: `make sbom`, or `python -m tools.sbom [FILE]`.

The distributions of requirements.txt as they are installed, with who needs whom. Hashes of their files are in
requirements-hashed.txt.
"""

import json
import re
import sys
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = ROOT / "dist" / "sbom.cdx.json"


def pinned(file: Path = ROOT / "requirements.txt") -> dict[str, str]:
    """Name -> version of each line of a file of requirements."""
    lines = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", file.read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in lines}


def bill(names: dict[str, str], now: datetime) -> dict[str, Any]:
    """The document for these distributions. Raises SystemExit for one that is not installed in this version."""
    packages = {name: _installed(name, version) for name, version in sorted(names.items())}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text()).get("project", {})
    root = {"type": "application", "bom-ref": "accelweb", "name": "accelweb", "version": project.get("version", "0")}
    references = {name: _purl(name, each.version) for name, each in packages.items()}
    needs = {
        name: sorted(references[need] for need in _needs(each) if need in references) for name, each in packages.items()
    }
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, " ".join(references.values()) + now.isoformat()).urn,
        "version": 1,
        "metadata": {"timestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": root},
        "components": [_component(name, each) for name, each in packages.items()],
        "dependencies": [
            {"ref": "accelweb", "dependsOn": sorted(references.values())},
            *({"ref": references[name], "dependsOn": names} for name, names in needs.items()),
        ],
    }


def _installed(name: str, version: str) -> Distribution:
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        sys.exit(f"{name} is not installed: run `make check` first")
    if installed.version.partition("+")[0] != version:
        sys.exit(
            f"{name} is installed as {installed.version}, and requirements.txt has {version}: run `make check` first"
        )
    return installed


def _component(name: str, installed: Distribution) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": _purl(name, installed.version),
        "name": name,
        "version": installed.version,
        "purl": _purl(name, installed.version),
    }
    summary = installed.metadata["Summary"]
    if summary:
        component["description"] = summary
    if licenses := list(_licenses(installed)):
        component["licenses"] = licenses
    return component


def _licenses(installed: Distribution) -> Iterator[dict[str, Any]]:
    """The SPDX expression where the package has one, else the names of its classifiers, else its own first line."""
    metadata = installed.metadata
    if expression := metadata["License-Expression"]:
        yield {"expression": expression}
        return
    classifiers = metadata.get_all("Classifier") or []
    names = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License :: ")]
    if not names and (text := (metadata["License"] or "").strip()):
        names = [text.splitlines()[0][:100]]
    yield from ({"license": {"name": name}} for name in names)


def _needs(installed: Distribution) -> Iterator[str]:
    for text in installed.requires or ():
        need = Requirement(text)
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            yield canonicalize_name(need.name)


def _purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version.replace('+', '%2B')}"


def main(arguments: list[str]) -> None:
    file = Path(arguments[0]) if arguments else DEFAULT
    file.parent.mkdir(parents=True, exist_ok=True)
    document = bill(pinned(), datetime.now(UTC))
    file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"{file}: {len(document['components'])} distributions")


if __name__ == "__main__":
    main(sys.argv[1:])
