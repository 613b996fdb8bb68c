"""Takes out of a text what opens doors: passwords, keys and tokens, by their names or their form."""

import re

__all__ = ["without_secrets"]

_LABELS = (
    "token", "secret", "password", "passwd", "passphrase", "(?-i:_PASS)", "(?-i:_PWD)", "api[_-]?key",
    "access[_-]?key(?:[_-]?id)?", "secret[_-]?key", "private[_-]?key", "signature", "(?-i:_KEY)",
)  # fmt: skip
_NAMED = re.compile(
    rf"(?i)((?:{'|'.join(_LABELS)})[\"']?[ \t]{{0,5}}[:=][ \t]{{0,5}}[\"']?)(?!\[redacted\])([^\s\"',;&<>]{{4,400}})"
)
_AUTHORIZED = re.compile(
    r"(?i)(\bauthorization[\"']?[ \t]{0,5}:[ \t]{0,5}[\"']?(?:bearer|basic|token)?[ \t]{1,5}"
    r"|\bbearer[ \t]{1,5}(?=[\w.~+/-]{16})|\bwandb login (?=[0-9a-f]{40}))(?!\[redacted\])([^\s\"',;]{4,2000})"
)
_FORMS = re.compile(
    r"\b(?:(?:hf_|gh[pousr]_|github_pat_|glpat-|sk-|aw_|npm_|pypi-|xox[abprs]-)[A-Za-z0-9_-]{16,400}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,60}|(?<![\w-])eyJ[\w-]{10,2000}\.[\w-]{10,2000}(?:\.[\w-]{0,2000})?)"
)
_URL = re.compile(r"(?<=://)[^\s/@:\[]{1,100}:[^\s/@]{1,200}@")
_PEM = re.compile(r"(?<=PRIVATE KEY-----\n)(?:[ \t>]{0,8}[A-Za-z0-9+/=:, -]{1,200}\n){1,400}")
_PEM_LINE = re.compile(r"^(?!-----).+$", re.MULTILINE)
_NO_SECRET = frozenset({"none", "null", "true", "false", "unknown", "not set", "unset"})


def without_secrets(text: str, stand_in: str) -> str:
    """Never fewer or more lines. What is no secret for certain, but is named as one, goes too."""

    def hidden(match: re.Match[str]) -> str:
        return match[0] if match[2].lower() in _NO_SECRET else f"{match[1]}{stand_in}"

    text = _AUTHORIZED.sub(hidden, _FORMS.sub(stand_in, text))
    text = _NAMED.sub(hidden, text)
    text = _URL.sub(f"{stand_in}@", text) if "://" in text else text
    if "PRIVATE KEY-----" in text:
        text = _PEM.sub(lambda match: _PEM_LINE.sub(stand_in, match[0]), text)
    return text
