"""Static files served out of installed packages: no copy of third-party JavaScript is committed, no CDN is used."""

import importlib.resources
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.checks import CheckMessage, Error
from django.core.files.storage import FileSystemStorage

# address under STATIC_URL -> (package that ships the file, its path inside the package)
INSTALLED_SCRIPTS = {
    "vendor/plotly/plotly.min.js": ("plotly", "package_data/plotly.min.js"),
}


class PackageFileStorage(FileSystemStorage):
    """A read-only storage over exactly the files of INSTALLED_SCRIPTS."""

    def path(self, name: str) -> str:
        package, inside = INSTALLED_SCRIPTS[Path(name).as_posix()]
        return str(importlib.resources.files(package).joinpath(inside))


class InstalledScriptFinder(BaseFinder):
    """Finds the files of INSTALLED_SCRIPTS; a package that no longer ships one fails at `check`."""

    storage = PackageFileStorage()

    def check(self, **_kwargs: object) -> list[CheckMessage]:
        return [
            Error(f"{package} does not ship {inside}", hint="pin a version that does", id="accelweb.E010")
            for package, inside in INSTALLED_SCRIPTS.values()
            if not importlib.resources.files(package).joinpath(inside).is_file()
        ]

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:  # noqa: ANN401, FBT001, FBT002 (Django's signature)
        if path not in INSTALLED_SCRIPTS:
            return []
        file = self.storage.path(path)
        return [file] if find_all or kwargs.get("all") else file

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[tuple[str, Any]]:  # noqa: ARG002
        return [(name, self.storage) for name in INSTALLED_SCRIPTS]
