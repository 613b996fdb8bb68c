"""The site's fixed words: why something is missing, the kinds of figure, states. Text only: no ORM, no request."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

Words = Mapping[str, str | Promise]

# Why there is no value: the wire format's reasons, then the site's own.
MISSING: Words = {
    "not_reported": _("not reported"),
    "not_supported": _("not supported"),
    "not_installed": _("not installed"),
    "not_applicable": _("not applicable"),
    "not_collected": _("not collected"),
    "withheld": _("withheld"),
    "failed": _("could not be read"),
    "timeout": _("timed out"),
    "not_published": _("not published"),
    "does_not_apply": _("does not apply"),
    "not_measured": _("not measured yet"),
    "unmatched": _("not in the catalogue"),
    "cannot_tell": _("cannot tell"),
}

# The five kinds of figure, and what each means (shown on hover; the glossary says more).
KINDS: Words = {
    "published": _("published"),
    "probed": _("probed"),
    "measured": _("measured"),
    "derived": _("derived"),
    "cited": _("cited"),
}
KIND_MEANINGS: Words = {
    "published": _("a vendor's or third party's figure, with its source and condition"),
    "probed": _("read by the agent from the system or the driver"),
    "measured": _("timed on the machine by the agent"),
    "derived": _("computed from other figures; the formula is shown"),
    "cited": _("measured and published by somebody else, with a link"),
}

# States of a component and severities of a finding.
STATES: Words = {
    "described": "",
    "fits": _("fits"),
    "warning": _("warning"),
    "broken": _("broken"),
    "absent": _("absent"),
    "unknown": _("unknown"),
    "note": _("note"),
    "cannot-tell": _("cannot tell"),
}

# Each language is offered under its native name.
NATIVE_NAMES: Mapping[str, str] = {"en": "English", "zh-hans": "简体中文"}


def missing_text(reason: str | None) -> str:
    """Why a value is missing, in words; "unknown" for an unknown reason or none."""
    return _missing_text(reason or "", get_language())


def evidence_text(value: str) -> str:
    """A value of a finding's evidence: rules write `none (not_installed)`, which a page says in words."""
    if value.startswith("none (") and value[6:-1] in MISSING:
        return missing_text(value[6:-1])
    return missing_text("not_reported") if value == "not reported" else value


@lru_cache(maxsize=128)
def _missing_text(reason: str, _language: str | None) -> str:
    return str(MISSING.get(reason, _("unknown")))


def joined(parts: Sequence[object]) -> str:
    """Return the words on one line with middle dots between them, without the empty ones."""
    return " · ".join(str(part) for part in parts if part not in (None, ""))
