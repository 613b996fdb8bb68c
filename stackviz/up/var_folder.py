"""The folder that holds all of an installation: database, keys, logs. Made, checked and mended at each start."""

import os
import secrets
from pathlib import Path

from stackviz.up.errors import CannotStart

SECRET_KEY_BYTES = 50


def open_folder(path: Path) -> None:
    """Makes `path` for its owner only. Raises CannotStart where it cannot be written."""
    os.umask(0o077)  # the database holds password hashes, the folder holds keys
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CannotStart(
            f"{path} cannot be written ({error.strerror}). Free the path, or choose another folder with VAR_DIR=..."
        ) from None


def secret_key(path: Path) -> tuple[str, bool]:
    """The installation's secret -> (text, is_new). A missing or half-written file is made anew: only logins end."""
    kept = read_secret(path)
    if len(kept) >= SECRET_KEY_BYTES:
        return kept, False
    text = secrets.token_urlsafe(SECRET_KEY_BYTES)
    write_secret(path, text)
    return text, True


def read_secret(path: Path) -> str:
    """What the file holds; empty when it is not there. Raises CannotStart when it is there and cannot be read."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise CannotStart(
            f"{path} cannot be read ({error}). Mend its rights, or remove it: a new one is made"
        ) from None


def write_secret(path: Path, text: str) -> None:
    """Whole or not at all, readable by its owner only from the first byte on."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
