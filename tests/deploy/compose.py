"""Reads docker-compose.yml as compose would, so that its commands can run without a container engine."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.live import ROOT


class Unset(KeyError):
    """A variable the file insists on (`${NAME:?why}`); the text is its why."""


def interpolate(text: str, variables: dict[str, str]) -> str:
    """`${NAME:?why}`, `${NAME:-default}`, `${NAME}` and `$$`, as compose reads them."""

    def value(match: re.Match[str]) -> str:
        if match["escaped"]:
            return "$"
        found = variables.get(match["name"], "")
        if found:
            return found
        if match["how"] == ":?":
            raise Unset(match["word"])
        return match["word"] if match["how"] == ":-" else ""

    return re.sub(r"(?P<escaped>\$\$)|\$\{(?P<name>\w+)(?:(?P<how>:[-?])(?P<word>[^}]*))?\}", value, text)


def services(variables: dict[str, str], file: str = "docker-compose.yml") -> dict[str, dict[str, Any]]:
    """Every service with its values filled in. Raises Unset."""
    found: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / file).read_text())["services"]
    return {name: _filled(service, variables) for name, service in found.items()}


def merged(first: dict[str, dict[str, Any]], second: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Services of two files given to compose: values of the second one count, and its lists are added."""
    both = {name: dict(service) for name, service in first.items()}
    for name, service in second.items():
        for key, value in service.items():
            before = both.setdefault(name, {}).get(key)
            both[name][key] = before + value if isinstance(before, list) else value
    return both


def _filled(value: Any, variables: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, variables) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, variables) for inner in value]
    return interpolate(value, variables) if isinstance(value, str) else value


def healthcheck(service: dict[str, Any]) -> list[str]:
    """The check as a command: `CMD` as it is, `CMD-SHELL` through sh."""
    kind, *rest = service["healthcheck"]["test"]
    return rest if kind == "CMD" else ["sh", "-c", rest[0]]


def native(command: list[str], places: dict[str, str]) -> list[str]:
    """The command with the container's addresses and folders replaced by this machine's."""
    for inside, outside in places.items():
        command = [word.replace(inside, outside) for word in command]
    return command


def path_with_venv() -> str:
    """PATH as in the image: `python`, `celery`, `gunicorn` are those of the environment."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
