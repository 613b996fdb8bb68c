"""What identifies a person or a machine in a text, homes, UUIDs, addresses, and secrets. All masking uses these."""

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

__all__ = [
    "HOME",
    "NETWORK_CARD",
    "UUID",
    "is_nobody",
    "is_telling",
    "mentions",
    "without_addresses",
    "without_homes",
    "without_names",
    "without_secrets",
]

UUID = re.compile(r"\b(?:GPU-|MIG-)?[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b")
NETWORK_CARD = re.compile(r"\b[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5,19}|(?:-[0-9A-Fa-f]{2}){5,19})\b")
HOME = re.compile(r"[\\/](?:homes?\d?|Users)[\\/]{1,3}~?([^/\\\s:;,'\"~]+(?:'[a-z]+(?=/))?)")
"""Group 1: whose it is."""

_OTHER_HOME = re.compile(
    r"[\\/](?:users|media|var/mail|var/spool/mail)/{1,3}[^/\\\s:;,'\"~]+"
    r"|(?<![\w/.~-])~[A-Za-z_][\w.-]{0,40}(?=/)"
    r"|(?<=\.\.\.)[\w.@-]{0,40}/(?:[\w.@-]{1,40}/)?(?=\.?(?:ana|mini|micro)?(?:conda|forge|mamba)|\.?venv|\.local|\.cache)"
)
"""Other folders of somebody's, and what is left of one where a tool cut the path."""
_FOLDER_WORDS = ("/users/", "\\users/", "/media/", "\\media/", "var/mail/", "var/spool/mail/", "~", "...")

_WINDOWS_HOME = re.compile(
    r"(?:\b[A-Z]:|(?:/mnt)?/[a-z](?=/))[\\/]{1,2}(?:Users|Documents and Settings)[\\/]{1,2}(?!~)"
    r"(?:[^\\/:;,\"<>|\r\n\t]+(?=[\\/])|[^\\/:;,'\"<>|\r\n\t]+)",
    re.IGNORECASE,
)
"""A folder's name may hold blanks there: without a backslash behind it, it goes on to the next mark or the end."""

_SHORTEST_NAME = 3
_LONGEST_NAME = 64
_NOBODY = frozenset(
    {
        "root", "user", "admin", "administrator", "guest", "nobody", "test", "ubuntu", "debian", "fedora",
        "centos", "linux", "windows", "macos", "darwin", "docker", "runner", "jenkins", "build", "builder",
        "ec2-user", "jovyan", "vscode", "codespace", "worker", "node", "server", "host", "localhost", "machine",
        "desktop", "laptop", "workstation", "box", "lab", "gpu", "cpu", "npu", "tpu", "cuda", "rocm", "metal",
        "mps", "xpu", "torch", "pytorch", "python", "nvidia", "amd", "intel", "apple", "device", "card",
        "driver", "kernel", "agent", "system", "mac", "macbook", "home", "dev",
    }
)  # fmt: skip
"""Names that identify nobody."""

_PRINTED_WORDS = frozenset(
    {
        "ada", "ampere", "blackwell", "fermi", "hopper", "kepler", "lovelace", "maxwell", "pascal", "tesla",
        "titan", "turing", "volta", "vega", "navi", "arc", "iris", "max", "min", "pro", "ultra", "air", "mini",
        "plus", "super", "nano", "core", "ray", "mark", "rose", "dell", "lenovo", "conda", "anaconda",
        "miniconda", "opt", "usr", "var", "tmp", "bin", "lib", "etc", "mnt", "data", "work", "public", "shared",
        "default", "none", "off", "auto", "true", "false", "yes", "not", "the", "and", "for", "all", "app",
        "apps",
    }
)  # fmt: skip
"""Words that tools print besides, be they somebody's name: they are masked only where they are said to be one."""


def is_nobody(name: str) -> bool:
    """Whether a name of a user or a host identifies nobody."""
    return name.lower() in _NOBODY


def is_telling(name: str) -> bool:
    """Return whether a name of a user or a host is masked everywhere: no word of tools, no number, not too short."""
    is_word = is_nobody(name) or name.lower() in _PRINTED_WORDS or not any(letter.isalpha() for letter in name)
    return _SHORTEST_NAME <= len(name) <= _LONGEST_NAME and not is_word


def without_names(text: str, stand_ins: Mapping[str, str]) -> str:
    """Replace each of the names in the text, in whatever case it is written."""
    lowered = text.lower()
    by_name = {name.lower(): stand_in for name, stand_in in stand_ins.items() if name.lower() in lowered}
    if not by_name:
        return text
    names = "|".join(re.escape(name) for name in sorted(by_name, key=len, reverse=True))
    pattern = re.compile(rf"(?<![A-Za-z0-9_])(?:{names})(?![A-Za-z0-9_])", re.IGNORECASE)
    return pattern.sub(lambda match: by_name.get(match[0].lower(), match[0]), text)


_LETTERS_LIKE = str.maketrans({"\u017f": "s", "\u0131": "i", "\u0130": "i", "\u212a": "k"})


def mentions(text: str, words: Iterable[str]) -> bool:
    """Whether a text has any of these words (in lower case), in whatever case; as regular expressions see it."""
    lowered = text.lower() if text.isascii() else text.translate(_LETTERS_LIKE).lower()
    return any(term in lowered for term in words)


_IPV6 = re.compile(
    r"(?<![0-9A-Za-z_])(?:[0-9A-Fa-f]{1,4}|:)"
    r"(?:(?::[0-9A-Fa-f]{0,4}){0,6}:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?::[0-9A-Fa-f]{0,4}){1,7})"
    r"(?![0-9A-Za-z_])(%[0-9A-Za-z]+)?"
)
_IPV4 = re.compile(r"(?<![\w.+-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w+-]|\.[0-9])")
_SAYS_VERSION = re.compile(r"(?:\b(?:version|release|driver|ver|v)\b\.?\s*[:=]?|==)\s*$", re.IGNORECASE)


def without_homes(text: str) -> str:
    """Home folders, of Linux, macOS and Windows, replaced by `~`."""
    if mentions(text, ("users", "documents and settings")):
        text = _WINDOWS_HOME.sub("~", text)
    text = HOME.sub("~", text)
    return _OTHER_HOME.sub("~", text) if mentions(text, _FOLDER_WORDS) else text


def without_addresses(
    text: str, stand_in: str, *, is_version: bool = False, go_on: Callable[[], None] = lambda: None
) -> str:
    """Addresses of the network, IPv4 and IPv6, replaced. `is_version`: four numbers with dots are no address here.

    `go_on` is called before each one is parsed, of which a line may hold a hundred thousand: it may raise.
    """

    def without_ipv6(match: re.Match[str]) -> str:
        return _without_ipv6(match, stand_in, go_on)

    def without_ipv4(match: re.Match[str]) -> str:
        return _without_ipv4(match, stand_in, go_on)

    text = _IPV6.sub(without_ipv6, text) if text.count(":") >= 2 else text
    return text if is_version else _IPV4.sub(without_ipv4, text)


def _without_ipv6(match: re.Match[str], stand_in: str, go_on: Callable[[], None]) -> str:
    """Short forms such as a::b are names in C++ as well: one that begins with a whole group is taken for an address."""
    text, zone = match[0].removesuffix(match[1] or ""), match[1] or ""
    for candidate in (text, text.removesuffix(":")):
        is_telling = candidate.find(":") == 4 or candidate.count(":") == 7 or "." in candidate
        is_telling = is_telling or candidate.lower().startswith(("64:ff9b:", "::ffff:"))
        if not is_telling or ":::" in candidate:
            continue
        go_on()
        with suppress(ValueError):
            address = ipaddress.IPv6Address(candidate)
            if not (address.is_loopback or address.is_unspecified):
                return f"{stand_in}{text[len(candidate) :]}"
    return f"{text}{zone}"


def _without_ipv4(match: re.Match[str], stand_in: str, go_on: Callable[[], None]) -> str:
    """A version may look the same: what the text calls one, and what is no address, stays."""
    if _SAYS_VERSION.search(match.string[max(0, match.start() - 20) : match.start()]):
        return match[0]
    go_on()
    with suppress(ValueError):
        address = ipaddress.IPv4Address(match[0])
        if not (address.is_loopback or address.is_unspecified):
            return stand_in
    return match[0]


# ---- what opens doors: passwords, keys and tokens, by their names or their form ------------------------------------

_LABELS = (
    "token", "secret", "password", "passwd", "passphrase", "(?-i:_PASS)", "(?-i:_PWD)", "api[_-]?key",
    "access[_-]?key(?:[_-]?id)?", "secret[_-]?key", "private[_-]?key", "signature", "(?-i:_KEY)",
)  # fmt: skip
_NAMED_SECRET = re.compile(
    rf"(?i)((?:{'|'.join(_LABELS)})[\"']?[ \t]{{0,5}}[:=][ \t]{{0,5}}[\"']?)(?!\[redacted\])([^\s\"',;&<>]{{4,400}})"
)
_AUTHORIZED = re.compile(
    r"(?i)(\bauthorization[\"']?[ \t]{0,5}:[ \t]{0,5}[\"']?(?:bearer|basic|token)?[ \t]{1,5}"
    r"|\bbearer[ \t]{1,5}(?=[\w.~+/-]{16})|\bwandb login (?=[0-9a-f]{40}))(?!\[redacted\])([^\s\"',;]{4,2000})"
)
_FORMS = re.compile(
    r"\b(?:(?:hf_|gh[pousr]_|github_pat_|glpat-|sk-|aw_|npm_|wandb_v\d_|pypi-|xox[abprs]-)[A-Za-z0-9_-]{16,400}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,60}|(?<![\w-])eyJ[\w-]{10,2000}\.[\w-]{10,2000}(?:\.[\w-]{0,2000})?)"
)
_URL = re.compile(r"(?<=://)[^\s/@:\[]{1,100}:[^\s/@]{1,200}@")
_PEM = re.compile(r"(?<=PRIVATE KEY-----\n)(?:[ \t>]{0,8}[A-Za-z0-9+/=:, -]{1,200}\n){1,400}")
_PEM_LINE = re.compile(r"^(?!-----).+$", re.MULTILINE)
_FORM_WORDS = (
    "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "aw_", "pypi-", "xox",
    "akia", "asia", "aiza", "eyj", "npm_", "wandb_v",
)  # fmt: skip
_LABEL_WORDS = ("token", "secret", "passw", "passphrase", "_pass", "_pwd", "key", "signature")
"""Without any of these, in lower case, no pattern above finds anything: looking for words is far quicker."""
_NO_SECRET = frozenset({"none", "null", "true", "false", "unknown", "not set", "unset"})


def without_secrets(text: str, stand_in: str) -> str:
    """Never fewer or more lines. What is no secret for certain, but is named as one, goes too."""

    def hidden(match: re.Match[str]) -> str:
        return match[0] if match[2].lower() in _NO_SECRET else f"{match[1]}{stand_in}"

    if mentions(text, _FORM_WORDS):
        text = _FORMS.sub(stand_in, text)
    if mentions(text, ("authorization", "bearer", "wandb login")):
        text = _AUTHORIZED.sub(hidden, text)
    if mentions(text, _LABEL_WORDS):
        text = _NAMED_SECRET.sub(hidden, text)
    text = _URL.sub(f"{stand_in}@", text) if "://" in text else text
    if "PRIVATE KEY-----" in text:
        text = _PEM.sub(lambda match: _PEM_LINE.sub(stand_in, match[0]), text)
    return text
