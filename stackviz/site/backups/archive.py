"""The file of a backup: a zip of parts and, written last, `manifest.json` with the SHA-256 of each.

Without its manifest a file is incomplete, and no part is used before all are verified. No Django here.
"""

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stackviz.site.backups.errors import BackupError

FORMAT = 1
MANIFEST = "manifest.json"
MANIFEST_BYTES = 4_000_000  # more is no manifest of ours
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What the backup is of. `migrations`: app and name of each that was applied; `extra`: what else a restore needs.

    `parts`: SHA-256 of each part, by its name.
    """

    taken_at: str
    site_version: str
    database: str
    migrations: list[list[str]]
    extra: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT


class BackupWriter:
    """A backup being written; the parts one after the other."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._zip = archive
        self._parts: dict[str, str] = {}

    def add(self, name: str, blocks: Iterable[bytes]) -> None:
        digest = hashlib.sha256()
        with self._zip.open(name, "w", force_zip64=True) as part:
            for block in blocks:
                digest.update(block)
                part.write(block)
        self._parts[name] = digest.hexdigest()

    def finish(self, manifest: Mapping[str, Any]) -> Manifest:
        """`manifest`: the fields of Manifest but `parts`."""
        whole = Manifest(**manifest, parts=self._parts)
        self._zip.writestr(MANIFEST, json.dumps(asdict(whole), indent=1))
        return whole


@contextmanager
def writing(path: Path) -> Iterator[BackupWriter]:
    """A BackupWriter whose file gets its name when it is whole and on the disk; only its owner may read it."""
    part = path.with_name(f".{path.name}.part")
    with suppress(FileNotFoundError):
        part.unlink()
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
                yield BackupWriter(archive)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        _sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Archive:
    """A verified backup. Raises BackupError for a file that is none, is incomplete, or was changed."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise BackupError(f"{path} is not a complete backup ({error})") from None
        self.manifest = self._read_manifest(path)
        self._verify(path)

    def close(self) -> None:
        self._zip.close()

    def _read_manifest(self, path: Path) -> Manifest:
        try:
            if self._zip.getinfo(MANIFEST).file_size > MANIFEST_BYTES:
                raise BackupError(f"{path} is not a backup of accelweb: its manifest is too large")
            manifest = json.loads(self._zip.read(MANIFEST))
            if manifest["format"] != FORMAT:
                raise BackupError(f"{path} has format {manifest['format']!r}; this release reads format {FORMAT}")
            return _well_formed(Manifest(**manifest))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError, RuntimeError, zipfile.BadZipFile):
            raise BackupError(f"{path} is not a complete backup of accelweb: it has no manifest") from None

    def _verify(self, path: Path) -> None:
        names = {name for name in self._zip.namelist() if name != MANIFEST}
        if names != set(self.manifest.parts):
            raise BackupError(f"{path} was changed: its parts are not those of its manifest")
        for name, expected in self.manifest.parts.items():
            digest = hashlib.sha256()
            try:
                for block in self.blocks(name):
                    digest.update(block)
            except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # RuntimeError: encrypted
                raise BackupError(f"{path} is damaged ({error})") from None
            if digest.hexdigest() != expected:
                raise BackupError(f"{path} is damaged: {name} is not what was written")

    def blocks(self, name: str) -> Iterator[bytes]:
        with self._zip.open(name) as part:
            while block := part.read(BLOCK_BYTES):
                yield block


def _well_formed(manifest: Manifest) -> Manifest:
    """Raises ValueError where a field is not of its kind: the file may have been written by anybody."""
    texts = [manifest.taken_at, manifest.site_version, manifest.database, *manifest.parts, *manifest.parts.values()]
    pairs = [tuple(pair) for pair in manifest.migrations]
    texts += [text for pair in pairs for text in pair]
    if not isinstance(manifest.extra, dict) or not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError("not a manifest")
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("not a manifest")
    return manifest
