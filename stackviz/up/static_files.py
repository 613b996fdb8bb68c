"""Scripts, styles and pictures gathered for serving: only when one of them changed since the last start."""

import hashlib
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def collect() -> str:
    """Gathers, names by content and compresses all files, or finds that nothing changed -> what was done, in words."""
    if settings.DEBUG:
        return "served from where they are (DEBUG)"
    root = Path(settings.STATIC_ROOT)
    stamp = root / ".collected"
    wanted = fingerprint()
    if stamp.exists() and stamp.read_text() == wanted:
        return "up to date"
    # Without the stamp an earlier turn was cut off, perhaps in the middle of a file; with it, only what is new is made.
    was_cut_off = not stamp.exists()
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", verbosity=0, interactive=False, clear=was_cut_off)
    stamp.write_text(wanted)
    return f"{sum(1 for path in root.rglob('*') if path.is_file())} files"


def fingerprint() -> str:
    """Changes when any file is added, removed or edited, or when the way they are stored does."""
    digest = hashlib.sha256(f"{django.__version__} {settings.STORAGES['staticfiles']}".encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
