"""The folder of an installation: database, keys, logs. Created and checked at each start."""

import os
import secrets
from pathlib import Path

from stackviz.site.up.errors import CannotStart

SECRET_KEY_BYTES = 50


def open_folder(path: Path) -> None:
    """Create `path` with access for its owner only. Raises CannotStart if it is not writable."""
    os.umask(0o077)  # the database holds password hashes, the folder holds keys
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CannotStart(
            f"{path} is not writable ({error.strerror}). Fix its permissions, or choose another folder with VAR_DIR=..."
        ) from None


def secret_key(path: Path) -> tuple[str, bool]:
    """The secret key as (text, is_new). A missing or truncated one is replaced, which logs everybody out."""
    stored = read_secret(path)
    if len(stored) >= SECRET_KEY_BYTES:
        return stored, False
    text = secrets.token_urlsafe(SECRET_KEY_BYTES)
    write_secret(path, text)
    return text, True


def read_secret(path: Path) -> str:
    """The text of the file; "" if it does not exist. Raises CannotStart if it cannot be read."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise CannotStart(
            f"{path} cannot be read ({error}). Fix its permissions, or remove it to have it created again"
        ) from None


def write_secret(path: Path, text: str) -> None:
    """Write the file atomically, readable only by its owner."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
