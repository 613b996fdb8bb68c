"""What a passive scanner looks for: headers, cookies, forms, scripts. What a page says is nobody's matter here."""

import re
from html.parser import HTMLParser

LOADING_STYLE = re.compile(r"url\(|image\(|import|expression|behavior", re.IGNORECASE)
TOLD = (
    "Traceback (most recent call last):\n  File", "site-packages/", "django.core", "DJANGO_SETTINGS_MODULE", "Request Method:",
    "sqlite3.", "psycopg.", "OperationalError at", "/usr/lib/python", "SECRET_KEY",
)  # fmt: skip
TOLD_IN_HEADERS = {"server", "x-powered-by", "x-runtime", "x-debug-toolbar", "x-aspnet-version", "via"}
REFERRER = {"same-origin", "no-referrer", "strict-origin", "strict-origin-when-cross-origin"}


class Page(HTMLParser):
    """What a scanner reads of a page; `faults`: what is wrong with its markup."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self._form: dict[str, bool] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self._check_attributes(tag, named)
        if tag == "style" or (tag == "script" and not named.get("src") and "json" not in named.get("type", "")):
            self.faults.append(f"inline {tag}")
        if tag == "form":
            self._form = {"posts": named.get("method", "").lower() == "post", "has a token": False}
        if tag == "input" and named.get("name") == "csrfmiddlewaretoken" and self._form:
            self._form["has a token"] = bool(named.get("value"))

    def _check_attributes(self, tag: str, named: dict[str, str]) -> None:
        for name, value in named.items():
            if name.startswith("on") or value.strip().lower().startswith(("javascript:", "vbscript:", "data:text")):
                self.faults.append(f"script in {tag} {name}")
            if name == "style" and LOADING_STYLE.search(value):
                self.faults.append(f"style of {tag}: {value}")
            is_loaded = name in {"src", "srcset", "action", "formaction", "data", "poster"} or (name, tag) == (
                "href",
                "link",
            )
            if is_loaded and value.startswith("http://") and named.get("rel") != "canonical":
                self.faults.append(f"mixed content: {value}")
        if named.get("target") == "_blank" and not {"noopener", "noreferrer"} & set(named.get("rel", "").split()):
            self.faults.append(f"a new window with its opener: {named.get('href')}")
        if tag in {"script", "link"} and re.match("(https?:)?//", named.get("src", "")):
            self.faults.append(f"a script of another site: {named['src']}")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._form:
            if self._form["posts"] and not self._form["has a token"]:
                self.faults.append("a form that posts without a token")
            self._form = None


def policy_of(answer) -> dict[str, list[str]]:
    rules = (rule.split() for rule in answer.headers.get("Content-Security-Policy", "").split(";") if rule.strip())
    return {name: values for name, *values in rules}


def header_faults(answer) -> list[str]:
    """Of any answer, whatever is in it."""
    faults = [f"header {name}" for name in answer.headers if name.lower() in TOLD_IN_HEADERS]
    if answer.headers.get("X-Content-Type-Options") != "nosniff":
        faults.append("types are guessed")
    if answer.headers.get("Referrer-Policy") not in REFERRER:
        faults.append(f"referrer: {answer.headers.get('Referrer-Policy')}")
    if "max-age" not in answer.headers.get("Strict-Transport-Security", ""):
        faults.append("no HSTS")
    stored = (cookie for cookie in answer.cookies.values() if cookie["max-age"] != 0)  # 0: it is deleted
    open_cookies = (cookie for cookie in stored if not is_guarded(cookie))
    return faults + [f"cookie {cookie.OutputString()}" for cookie in open_cookies]


def is_guarded(cookie) -> bool:
    return bool(cookie["secure"] and cookie["httponly"] and cookie["samesite"] in {"Lax", "Strict"})


def page_faults(answer, address: str, text: str) -> list[str]:
    """Of an HTML page besides."""
    policy = policy_of(answer)
    scripts = policy.get("script-src", policy.get("default-src", ["nothing said"]))
    faults = [f"script-src {scripts}"] if set(scripts) - {"'self'", "'none'"} else []
    faults += [
        f"{name} {values}"
        for name, values in policy.items()
        if "'unsafe-eval'" in values or ("*" in values and name != "frame-ancestors")
    ]
    if "'unsafe-inline'" in policy.get("default-src", []):
        faults.append("everything may be inline")
    faults += [f"no rule for {name}" for name in ("base-uri", "form-action", "frame-ancestors") if name not in policy]
    if policy.get("object-src", policy.get("default-src")) != ["'none'"]:
        faults.append("objects may be loaded")
    is_embed = address.startswith("/embed/")
    wanted = (None, ["*"]) if is_embed else ("DENY", ["'none'"])
    if (answer.headers.get("X-Frame-Options"), policy.get("frame-ancestors")) != wanted:
        faults.append(f"frames: {answer.headers.get('X-Frame-Options')}, {policy.get('frame-ancestors')}")
    faults += Page(text).faults
    return faults + [f"told: {words}" for words in TOLD if words in text]
