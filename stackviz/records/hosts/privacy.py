"""What a public host must not say: who owns it, and a link that only its owner may open. No query."""

import ipaddress
import re
import unicodedata
from contextlib import suppress
from urllib.parse import parse_qsl, urlsplit

from django.utils.translation import gettext as _

from stackviz.base.private import (
    HOME,
    NETWORK_CARD,
    UUID,
    is_telling,
    without_addresses,
    without_homes,
    without_secrets,
)
from stackviz.records.catalog.never_named import forbidden_address_in
from stackviz.records.curated.rows import CONTROLS, is_source_page

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
_SERIAL = re.compile(
    r"\bserial(?: ?(?:number|no\.?))?\s*[:=#]?\s*(?=\w*\d)\w{6,}|\b(?:S/N|SN)\s*[:=#]\s*\w{6,}", re.IGNORECASE
)
_BARE_SERIAL = re.compile(r"\b(?:\d{13}|(?=\w*\d)(?=\w*[A-Z]{2})[A-Z0-9]{10,12})\b")  # of NVIDIA, of Apple
_PATH = re.compile(r"(?<![\w.)])(?:/[^\s/;,]+){2}|\b[A-Za-z]:[\\/]|\\\\[^\s\\]|://")
_NAME_IN_A_NETWORK = re.compile(r"(?i)\b[\w-]+\.(?:local|lan|internal|home|corp|home\.arpa)(?![\w.-])")
_PRIVATE_NAMES = (".local", ".internal", ".lan", ".home", ".corp", ".localhost", ".test", ".invalid", ".home.arpa")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")  # the last part of a short form such as 127.1; no name on the web ends in one
_KEYS = frozenset({"token", "access_token", "private_token", "key", "sig", "signature", "x-amz-signature", "auth"})
_FORGES = frozenset({"github.com", "gitlab.com", "codeberg.org", "huggingface.co", "gist.github.com"})


def private_part_of(text: str, source_url: str = "", *, is_version: bool = False) -> str:
    """Say what in a text identifies a person or a machine; "" if nothing does.

    `source_url`: the page of its source, whose account must not be named either. `is_version`: four numbers with dots
    are a version, not an address.
    """
    text = unicodedata.normalize("NFKC", text)  # ＠ is read as @
    if _EMAIL.search(text):
        return _("an e-mail address or a login")
    if HOME.search(text) or without_homes(text) != text:
        return _("the folder of a user")
    if UUID.search(text):
        return _("a UUID")
    if NETWORK_CARD.search(text) or without_addresses(text, "", is_version=is_version) != text:
        return _("an address of a network")
    if _SERIAL.search(text) or _BARE_SERIAL.search(text):
        return _("a serial number")
    if without_secrets(text, "") != text:
        return _("a password or key")
    account = _account_of(source_url)
    if is_telling(account) and re.search(rf"(?<![\w-]){re.escape(account)}(?![\w-])", text, re.IGNORECASE):
        return _("the account of the source")
    return ""


def private_part_of_value(text: str, *, is_version: bool = False) -> str:
    """Say what in a value that a tool printed identifies somebody; "" if nothing does.

    No version and no name of a product or model is a path or has an address: wherever it leads, its folders may be
    named after their owner.
    """
    if private := private_part_of(text, is_version=is_version):
        return private
    if _PATH.search(text):
        return _("a path")
    return _("the name of a machine") if _NAME_IN_A_NETWORK.search(text) else ""


def _account_of(address: str) -> str:
    """Return the account that a page of a forge belongs to; "" for other pages."""
    with suppress(ValueError):
        parts = urlsplit(address)
        if (parts.hostname or "") in _FORGES:
            return parts.path.strip("/").partition("/")[0]
    return ""


def problem_of_address(address: str) -> str:
    """Say why an address is not that of a page that everybody can open; "" if it may be one."""
    is_one_word = not re.search(r"\s", address) and not CONTROLS.search(address)  # urlsplit leaves ends of lines out
    if not (is_one_word and address.startswith(("https://", "http://")) and is_source_page(address)):
        return _("not the address of a page on the web")
    parts = urlsplit(address)
    if _is_in_a_private_network((parts.hostname or "").rstrip(".")):
        return _("a machine's address, not a page that everybody can open")
    pairs = [*parse_qsl(parts.query, keep_blank_values=True), *parse_qsl(parts.fragment, keep_blank_values=True)]
    if parts.username or any(name.lower() in _KEYS for name, _value in pairs):
        return _("holds a login or a token: such a page is not public")
    named = forbidden_address_in(address)
    return f"{named.address} must not be named: {named.reason}" if named else ""


def _is_in_a_private_network(host: str) -> bool:
    if host == "localhost" or host.endswith(_PRIVATE_NAMES) or _NUMBER.fullmatch(host.rpartition(".")[2]):
        return True
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return True
    return False
