"""Which package index pip is set to, as far as it may be told: the kind of build it offers, never whose index it is.

Sources: pip's documentation, "Configuration" (which files, environment variables) and its option --index-url.
"""

import configparser
import re
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

from stackviz.report.format.facts.asking import MissingFact, Surroundings

__all__ = ["pip_index_url"]

_PUBLIC_HOST = re.compile(r"(?:[\w-]+\.)*(?:pytorch|pypi)\.org")
_BUILD = re.compile(r"cu\d{2,3}|cpu|xpu|rocm\d[\d.]*")
"""How torch's indexes name a kind of build, as a part of the path: .../whl/cu128."""


def pip_index_url(around: Surroundings) -> str:
    url = around.environ.get("PIP_INDEX_URL") or next(_in_files(around), None)
    if not url:
        raise MissingFact("not_applicable", "pip is set to no index of its own")
    return _shown(url)


def _shown(url: str) -> str:
    """The address of a public index without what may be secret in it; of any other, only the kind of build."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname or ""
    except ValueError:
        raise MissingFact("failed", "the address of the index cannot be read") from None
    if _PUBLIC_HOST.fullmatch(host):
        return f"{parts.scheme}://{host}{parts.path}"
    build = next((part for part in parts.path.split("/") if _BUILD.fullmatch(part)), None)
    if build is None:
        raise MissingFact("withheld", "pip is set to an index that is not a public one")
    return f"(another index)/{build}"


def _in_files(around: Surroundings) -> Iterator[str]:
    """The nearest first: of two files the one nearer to this environment counts, as it does for pip."""
    for path in _config_files(around):
        text = around.read(path)
        if not text:
            continue
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            continue
        for section in ("install", "global"):
            for option in ("index-url", "index_url"):
                if parser.has_option(section, option):
                    yield parser.get(section, option)


def _config_files(around: Surroundings) -> Iterator[str]:
    environ = around.environ
    if environ.get("PIP_CONFIG_FILE"):
        yield environ["PIP_CONFIG_FILE"]
    if around.system == "Windows":
        yield f"{sys.prefix}\\pip.ini"
        yield from (f"{environ[name]}\\pip\\pip.ini" for name in ("APPDATA", "PROGRAMDATA") if environ.get(name))
        return
    yield f"{sys.prefix}/pip.conf"
    home = environ.get("HOME")
    if home:
        if around.system == "Darwin":
            yield f"{home}/Library/Application Support/pip/pip.conf"
        yield f"{environ.get('XDG_CONFIG_HOME') or home + '/.config'}/pip/pip.conf"
        yield f"{home}/.pip/pip.conf"
    yield from ("/Library/Application Support/pip/pip.conf",) if around.system == "Darwin" else ("/etc/pip.conf",)
