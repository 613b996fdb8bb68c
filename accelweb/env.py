"""Readers of environment variables that fail with the variable's name. Standard library only.

Every variable read here is in `.env.example` and in `docs/operations.md`; a test holds the three equal.
"""

import ipaddress
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class EnvError(ValueError):
    """An invalid value of an environment variable; the message names the variable and the fix."""


def env_text(name: str, default: str = "") -> str:
    """The variable stripped of white space; `default` if unset or empty."""
    return os.environ.get(name, "").strip() or default


def env_list(name: str, default: str = "") -> list[str]:
    """The comma-separated values, without empty ones."""
    return [part.strip() for part in env_text(name, default).split(",") if part.strip()]


def env_networks(name: str, default: str) -> list[Network]:
    """The networks of a list such as `10.0.0.0/8,::1`. Raises EnvError for what is none."""
    try:
        return [ipaddress.ip_network(text) for text in env_list(name, default)]
    except ValueError as error:
        raise EnvError(f"{name} holds what is no network: {error}") from None


def env_flag(name: str, *, default: bool = False) -> bool:
    """1/true/yes/on or 0/false/no/off. Raises EnvError on anything else."""
    text = env_text(name).lower()
    if not text:
        return default
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off"}:
        return False
    raise EnvError(f"{name}={text!r} is not a boolean: use 1 or 0")


def env_int(name: str, default: int, *, least: int = 0) -> int:
    """An integer of at least `least`. Raises EnvError otherwise."""
    text = env_text(name)
    if not text:
        return default
    try:
        number = int(text)
    except ValueError:
        raise EnvError(f"{name}={text!r} is not a whole number") from None
    if number < least:
        raise EnvError(f"{name}={number} is too small: use {least} or more")
    return number


def env_site(name: str) -> str:
    """The address of a site, such as `https://stacks.example.org`, without a slash at its end; "" if unset.

    Raises EnvError for anything that is more or less than a scheme, a host and perhaps a port.
    """
    text = env_text(name)
    problem = f"{name}={text!r} is no address of a site: write it as https://stacks.example.org, without a path"
    try:
        parts = urlsplit(text)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise EnvError(problem) from None
    host = parts.hostname or ""
    address = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"
    is_host = re.fullmatch(r"[a-z0-9.-]+|[0-9a-f:.]+", host)
    if text and (parts.scheme not in {"http", "https"} or not is_host or text.lower().removesuffix("/") != address):
        raise EnvError(problem)
    return address if text else ""


def env_secret(name: str, default_file: Path, fallback: str) -> str:
    """A secret from the variable, else from the file `<name>_FILE` names, else from `default_file`, else `fallback`.

    Raises EnvError when `<name>_FILE` is set and cannot be read.
    """
    if text := env_text(name):
        return text
    if named := env_text(f"{name}_FILE"):
        try:
            return Path(named).read_text().strip()
        except OSError as error:
            raise EnvError(f"{name}_FILE={named!r} cannot be read: {error.strerror}") from None
    try:
        return default_file.read_text().strip() or fallback
    except OSError:
        return fallback
