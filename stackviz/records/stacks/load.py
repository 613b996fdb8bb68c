"""Load the curated files into the database without overwriting corrections.

A row whose digest differs from the loaded one was corrected here and is left alone (`catalog.change.Change`).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from django.db import transaction

from stackviz.records.catalog.models import CatalogueEdition, Source
from stackviz.records.curated.change import Change, Counts, LoadSummary, loading, wait_for_other_loads
from stackviz.records.stacks.files import DATA, REQUIREMENT_KEY, Line, StackFiles, read_stack_files, stacks_data_version
from stackviz.records.stacks.models import (
    Call,
    Component,
    Counterpart,
    Edition,
    Placement,
    Release,
    Requirement,
    Stack,
    StacksLoad,
    UnfilledRole,
)

Lines = TypeVar("Lines")
SOURCE_PREFIX = "stacks/"  # data_key of our sources: the catalogue's own files use bare keys
VENDOR_HOSTS = (
    "nvidia.com",
    "apple.com",
    "pytorch.org",
    "intel.com",
    "kernel.org",
    "jax.dev",
    "python.org",
    "numpy.org",
    "amd.com",
    "hiascend.com",
    "cloud.google.com",
    "tensorflow.org",
)


def load_stacks(folder: Path = DATA, *, force: bool = False) -> LoadSummary:
    """Load the curated files in one transaction; no-op if this version is loaded, unless `force`.

    Raises CuratedDataError without changing anything if the files have problems.
    """
    version = stacks_data_version(folder)
    if StacksLoad.latest_version() == version and not force:
        return LoadSummary("stacks", version)
    files = read_stack_files(folder)
    with transaction.atomic():
        wait_for_other_loads()
        if StacksLoad.latest_version() == version and not force:
            return LoadSummary("stacks", version)
        with loading(version) as reason:
            summary = LoadSummary("stacks", version, _Loader(files, reason).load())
        StacksLoad.objects.create(version=version, summary=str(summary))
        Edition.renew()
        CatalogueEdition.renew()  # sources are the catalogue's
    return summary


class _Loader:
    """One load, table by table: later tables refer to rows of earlier ones by the keys of the files."""

    def __init__(self, files: StackFiles, reason: str) -> None:
        self.files, self.reason = files, reason

    def load(self) -> dict[str, Counts]:
        return {
            "sources": self._sources(),
            "components": self._components(),
            "stacks": self._stacks(),
            "places": self._placements(),
            "calls": self._calls(),
            "counterparts": self._counterparts(),
            "unfilled roles": self._unfilled_roles(),
            "releases": self._releases(),
            "requirements": self._requirements(),
        }

    def _sources(self) -> Counts:
        """Load sources, except documents that the catalogue already has under another key."""
        ours = Source.objects.filter(data_key__startswith=SOURCE_PREFIX)
        others = {(row.title, row.url): row for row in Source.objects.exclude(pk__in=ours.values("pk"))}
        lines = [line for line in self.files.sources if (line["title"], line["url"]) not in others]
        wanted = {f"{SOURCE_PREFIX}{line['key']}": _source(line) for line in lines}
        counts = Change(Source, wanted, is_deleting=False).apply(["key", "title", "url", "kind"], self.reason)
        rows = {row.data_key: row for row in Source.objects.filter(data_key__startswith=SOURCE_PREFIX)}
        self.sources = {
            line["key"]: others.get((line["title"], line["url"])) or rows[f"{SOURCE_PREFIX}{line['key']}"]
            for line in self.files.sources
        }
        return counts

    def _components(self) -> Counts:
        wanted = {
            slug: Component(
                data_key=slug,
                slug=slug,
                name=line["name"],
                maker=line.get("maker", ""),
                layer=line["layer"],
                role=line["role"],
                what_it_is=line["is"],
                what_it_does=line["does"],
                see_version=line.get("see", ""),
                install=line.get("install", ""),
                docs_url=line.get("docs", ""),
                source=self.sources[line["source"]],
            )
            for slug, line in self.files.components.items()
        }
        wholes = self._known_wholes()
        for slug, row in wanted.items():
            row.part_of_id = wholes.get(self.files.components[slug].get("part_of", ""))
        changed = ["slug", "name", "maker", "layer", "role", "what_it_is", "what_it_does", "see_version", "install"]
        counts = Change(Component, wanted).apply([*changed, "docs_url", "source", "part_of"], self.reason)
        self.components = {row.data_key or "": row for row in Component.objects.filter(data_key__isnull=False)}
        if self._known_wholes() != wholes:
            self._components()
        return counts

    def _known_wholes(self) -> dict[str, int]:
        """Ids of the components that others are part of; on a first load they exist only after one round."""
        slugs = {line["part_of"] for line in self.files.components.values() if "part_of" in line}
        return dict(Component.objects.filter(data_key__in=slugs).values_list("data_key", "pk"))  # type: ignore[arg-type]

    def _stacks(self) -> Counts:
        wanted = {
            slug: Stack(
                data_key=slug,
                slug=slug,
                name=line["name"],
                vendor=line["vendor"],
                system=line["system"],
                summary=line["summary"],
                order=line["order"],
            )
            for slug, line in self.files.stacks.items()
        }
        counts = Change(Stack, wanted).apply(["slug", "name", "vendor", "system", "summary", "order"], self.reason)
        self.stacks = {row.data_key or "": row for row in Stack.objects.filter(data_key__isnull=False)}
        return counts

    def _placements(self) -> Counts:
        wanted = {
            f"{slug}/{component}": Placement(
                data_key=f"{slug}/{component}",
                stack=self.stacks[slug],
                component=self.components[component],
                order=order,
                version=version,
                role=role,
                note=note,
                since=self.files.since[slug].get(component, ""),
                until=self.files.until[slug].get(component, ""),
            )
            for slug, places in self._of_stacks(self.files.placements)
            for order, (component, version, role, note) in enumerate(places, start=1)
            if component in self.components
        }
        wanted |= self._around()
        changed = ["stack", "component", "order", "kind", "version", "role", "note", "since", "until"]
        return Change(Placement, wanted).apply(changed, self.reason)

    def _around(self) -> dict[str, Placement]:
        """Tools and what stands beside the layers."""
        kinds: tuple[tuple[Placement.Kind, Mapping[str, Iterable[str]]], ...] = (
            (Placement.Kind.TOOL, self.files.tools),
            (Placement.Kind.BESIDE, self.files.beside),
        )
        return {
            f"{slug}/{component}": Placement(
                data_key=f"{slug}/{component}",
                stack=self.stacks[slug],
                component=self.components[component],
                order=order,
                kind=kind,
            )
            for kind, around in kinds
            for slug, components in self._of_stacks(around)
            for order, component in enumerate(components, start=1)
            if component in self.components
        }

    def _calls(self) -> Counts:
        wanted = {
            f"{slug}/{caller}/{callee}": Call(
                data_key=f"{slug}/{caller}/{callee}",
                stack=self.stacks[slug],
                caller=self.components[caller],
                callee=self.components[callee],
            )
            for slug, calls in self._of_stacks(self.files.calls)
            for caller, callee in [*calls, *_pairs(self.files.tools[slug])]
            if {caller, callee} <= self.components.keys()
        }
        return Change(Call, wanted).apply(["stack", "caller", "callee"], self.reason)

    def _of_stacks(self, by_stack: Mapping[str, Lines]) -> Iterable[tuple[str, Lines]]:
        """The entries of stacks that were not deleted here."""
        return [(slug, lines) for slug, lines in by_stack.items() if slug in self.stacks]

    def _counterparts(self) -> Counts:
        wanted = {}
        for line in self.files.counterparts:
            key = f"{line['component']}/{line['other']}"
            if {line["component"], line["other"]} <= self.components.keys():
                wanted[key] = Counterpart(
                    data_key=key,
                    component=self.components[line["component"]],
                    other=self.components[line["other"]],
                    relation=line["relation"],
                    differs=line["differs"],
                    source=self.sources[line["source"]],
                )
        return Change(Counterpart, wanted).apply(["component", "other", "relation", "differs", "source"], self.reason)

    def _unfilled_roles(self) -> Counts:
        """Roles that were added here stay as they are."""
        ours = set(UnfilledRole.objects.filter(data_key=None).values_list("stack__slug", "role"))
        wanted = {
            f"{slug}/{line['role']}": UnfilledRole(
                data_key=f"{slug}/{line['role']}",
                stack=self.stacks[slug],
                role=line["role"],
                done_by=self.components.get(line["done_by"]),
                explanation=line["explanation"],
                source=self.sources[line["source"]],
            )
            for line in self.files.unfilled_roles
            for slug in line["stacks"].split()
            if slug in self.stacks and line["done_by"] in {"", *self.components} and (slug, line["role"]) not in ours
        }
        changed = ["stack", "role", "done_by", "explanation", "source"]
        return Change(UnfilledRole, wanted).apply(changed, self.reason)

    def _releases(self) -> Counts:
        wanted = {
            _release_key(line): Release(
                data_key=_release_key(line),
                component=self.components[line["component"]],
                version=line["version"],
                variant=line["variant"],
                line=line["line"],
                released=line["released"],
                support_ends=line["support_ends"],
                source=self.sources[line["source"]],
                note=line["note"],
            )
            for line in self.files.releases
            if line["component"] in self.components
        }
        _adopt(wanted)
        changed = ["component", "version", "variant", "line", "released", "support_ends", "source", "note"]
        counts = Change(Release, wanted).apply(changed, self.reason)
        self.releases = {row.data_key or "": row for row in Release.objects.filter(data_key__isnull=False)}
        return counts

    def _requirements(self) -> Counts:
        wanted = {}
        for line in self.files.requirements:
            key = "/".join(line[name] for name in REQUIREMENT_KEY)
            if _release_key(line) in self.releases:
                wanted[key] = Requirement(
                    data_key=key,
                    release=self.releases[_release_key(line)],
                    platform=line["platform"],
                    relation=line["relation"],
                    subject=line["subject"],
                    part=line["part"],
                    low=line["low"],
                    values=line["values"],
                    confidence=line["confidence"],
                    source=self.sources[line["source"]],
                    note=line["note"],
                )
        changed = [
            "release",
            "platform",
            "relation",
            "subject",
            "part",
            "low",
            "values",
            "confidence",
            "source",
            "note",
        ]
        return Change(Requirement, wanted).apply(changed, self.reason)


def _adopt(wanted: Mapping[str, Release]) -> None:
    """Give releases that were added here the key of their line: it is not inserted again, and their content stays."""
    keys = {(row.component_id, row.version, row.variant): key for key, row in wanted.items()}
    for row in Release.objects.filter(data_key__isnull=True):
        key = keys.get((row.component_id, row.version, row.variant))
        if key and not Release.objects.filter(data_key=key).exists():
            Release.objects.filter(pk=row.pk).update(data_key=key)


def _pairs(tools: Mapping[str, Iterable[str]]) -> Iterable[tuple[str, str]]:
    return ((tool, read) for tool, reads in tools.items() for read in reads)


def _source(line: Line) -> Source:
    host = urlsplit(line["url"]).hostname or ""
    is_vendor = any(host == known or host.endswith(f".{known}") for known in VENDOR_HOSTS)
    return Source(
        data_key=f"{SOURCE_PREFIX}{line['key']}",
        key=f"stacks-{line['key']}"[:80],
        title=line["title"],
        url=line["url"],
        kind=Source.Kind.MAKER if is_vendor else Source.Kind.COMMUNITY,
    )


def _release_key(line: Line) -> str:
    return "/".join((line["component"], line["version"], line["variant"]))
