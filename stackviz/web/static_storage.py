"""Static files without their comments, named by content and compressed, without waiting for the last percent."""

import hashlib
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import brotli
from django.conf import settings
from django.core.files.base import ContentFile
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
        """Compress equal files once: most have a hashed name beside their own. Yields (path, compressed path)."""
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
