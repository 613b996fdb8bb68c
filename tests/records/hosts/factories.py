"""Hosts for tests: `new_host` in memory, as they are loaded with cards and components; `add_host` in the database."""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import count
from typing import Any

from django.utils.text import slugify

from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.hosts.models import Host, HostCard, HostComponent

SOURCE = "https://github.com/example/benchmarks/issues/1"
_KEYS = count(1_000_000)


def new_host(
    vendor: str = "nvidia",
    *,
    title: str = "A host",
    cards: Sequence[Mapping[str, Any]] = (),
    components: Mapping[str, str | None] | None = None,
    **fields: Any,
) -> Host:
    """`components`: name -> version; "" for one whose version is not known, None for one that is absent."""
    host = Host(pk=next(_KEYS), **_fields_of_host(Vendor(slug=vendor, name=vendor), title, fields))
    rows = [HostCard(host=host, **{"index": index, **card}) for index, card in enumerate(cards)]
    host._prefetched_objects_cache = {  # type: ignore[attr-defined]
        "cards": rows,
        "components": [
            HostComponent(host=host, **_fields_of_component(*item)) for item in sorted((components or {}).items())
        ],
    }
    return host


def add_host(
    vendor: Vendor,
    *,
    title: str = "A host",
    cards: Sequence[Mapping[str, Any]] = (),
    components: Mapping[str, str | None] | None = None,
    **fields: Any,
) -> Host:
    """The same in the database, of a vendor that is there."""
    host = Host.objects.create(**_fields_of_host(vendor, title, fields))
    for index, card in enumerate(cards):
        HostCard.objects.create(host=host, **{"index": index, **card})
    for item in (components or {}).items():
        HostComponent.objects.create(host=host, **_fields_of_component(*item))
    return host


def card_fields(accelerator: Accelerator, **fields: Any) -> dict[str, Any]:
    return {"accelerator": accelerator, "reported_name": accelerator.name, **fields}


def _fields_of_host(vendor: Vendor, title: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    usual = {"slug": slugify(title), "seen_on": date(2026, 7, 1), "source_url": SOURCE, "source_kind": "issue"}
    return {"vendor": vendor, "title": title, **usual, **fields}


def _fields_of_component(name: str, version: str | None) -> dict[str, str]:
    state = "absent" if version is None else "installed" if version else "unknown"
    return {"name": name, "value": version or "", "state": state}
