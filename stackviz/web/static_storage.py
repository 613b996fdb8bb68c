"""Static files: found in installed packages too, stored without comments, named by content and compressed."""

import hashlib
import importlib.resources
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import brotli
from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.checks import CheckMessage, Error
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Of 11. Plotly's 4.8 MB take 0.5 s instead of 9.1 s and come out 11 % larger; a first start has someone waiting.
BROTLI_QUALITY = 9
# Of our own files: comments are a seventh of what a comparison's style sheets and scripts weigh compressed. Of a script
# only those that fill whole lines, which cannot be part of a text.
_COMMENTS = {
    ".css": re.compile(rb"/\*.*?\*/|(?<=\n)[ \t]+", re.DOTALL),
    ".js": re.compile(rb"^[ \t]*/\*.*?\*/[ \t]*\n", re.DOTALL | re.MULTILINE),
}


def without_comments(name: str, text: bytes) -> bytes:
    """The text of one of our style sheets or scripts (`css/base.css`) as it is sent; all other files as they are."""
    folder, suffix = Path(name).parts[0], Path(name).suffix
    comments = _COMMENTS.get(suffix) if folder in ("css", "js") else None
    return comments.sub(b"", text) if comments else text


class QuickCompressor(Compressor):  # type: ignore[misc]  # whitenoise has no types
    """As WhiteNoise's own, but for the quality."""

    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        return bytes(brotli.compress(data, quality=BROTLI_QUALITY))


class QuickCompressedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """`STORAGES["staticfiles"]` wherever DEBUG is off."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as WhiteNoise's
        super().__init__(*args, **kwargs)
        self._addresses: dict[str, str] = {}

    def url(self, name: str, force: bool = False) -> str:  # noqa: FBT001, FBT002 - as Django's
        """The file's address, put together once a process, as the manifest is read once: a page links fifteen files."""
        if force or settings.DEBUG:
            return str(super().url(name, force))
        if name not in self._addresses:
            self._addresses[name] = super().url(name)
        return self._addresses[name]

    def _save(self, name: str, content: Any) -> str:  # noqa: ANN401 - as Django's
        if Path(name).suffix in _COMMENTS:
            content = ContentFile(without_comments(name, b"".join(content.chunks())))
        return str(super()._save(name, content))

    def create_compressor(self, **kwargs: object) -> Compressor:
        return QuickCompressor(**kwargs)

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Compress equal files once: most have a hashed name too. Yields (path, compressed path)."""
        by_content = defaultdict(list)
        for path in sorted(paths):
            by_content[hashlib.sha256(Path(self.path(path)).read_bytes()).digest()].append(path)
        twins = {first: others for first, *others in by_content.values()}
        for path, compressed in super().compress_files(twins):
            yield path, compressed
            for twin in twins[path]:
                copied = twin + compressed.removeprefix(path)
                shutil.copy2(self.path(compressed), self.path(copied))
                yield twin, copied


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
