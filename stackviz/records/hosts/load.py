"""Bring the database to what the curated files of public hosts say, without touching what people have corrected."""

from pathlib import Path

from django.conf import settings
from django.db import transaction

from stackviz.records.catalog.models import Accelerator, CatalogueLoad, Vendor
from stackviz.records.curated.change import Change, Counts, LoadSummary, loading, wait_for_other_loads
from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.hosts.files import DATA, CardLine, HostFiles, HostLine, hosts_data_version, read_hosts
from stackviz.records.hosts.models import Host, HostCard, HostComponent, HostEdition, HostLoad

HOST_COLUMNS = [  # what a line decides
    "slug", "title", "vendor", "form", "system", "kernel", "cpu", "cpu_cores", "memory_bytes", "virtualisation",
    "seen_on", "is_month_only", "source_url", "source_kind", "note", "teaches", "same_machine_as",
    "state", "reason",
]  # fmt: skip
CARD_COLUMNS = [
    "host", "index", "reported_name", "accelerator", "memory_bytes", "driver_version", "power_limit_w",
    "pcie_generation", "pcie_lanes", "compute_capability", "gpu_cores",
]  # fmt: skip
COMPONENT_COLUMNS = ["host", "name", "value", "state"]

LEFT_OUT = "left out"  # the version that is loaded with DEMO=0


def load_hosts(folder: Path = DATA, *, force: bool = False) -> LoadSummary:
    """Load the curated files in one transaction. Cheap when they are loaded already, unless `force`.

    Load the catalogue first: cards are linked to its accelerators. With DEMO=0 none are loaded, and those that were
    are removed. Raises CuratedDataError, and changes nothing, when the files are wrong.
    """
    is_wanted = settings.DEMO
    files_version = hosts_data_version(folder)[:40] if is_wanted else LEFT_OUT
    version = f"{files_version}-{(CatalogueLoad.latest_version() or 'none')[:12]}"
    if HostLoad.latest_version() == version and not force:
        return LoadSummary("public hosts", version)
    files = read_hosts(folder) if is_wanted else HostFiles(version, (), (), ())
    with transaction.atomic():
        wait_for_other_loads()
        if HostLoad.latest_version() == version and not force:
            return LoadSummary("public hosts", version)
        with loading(version) as reason:
            tables = _load(files, reason)
        summary = LoadSummary("public hosts", version, tables)
        HostLoad.objects.create(version=version, summary=str(summary))
        HostEdition.renew()
    return summary


def _load(files: HostFiles, reason: str) -> dict[str, Counts]:
    vendors = dict(Vendor.objects.values_list("slug", "pk"))
    if unknown := sorted({line.vendor for line in files.hosts} - vendors.keys()):
        raise CuratedDataError([f"hosts.csv:1: vendor: load the catalogue first: it lacks {', '.join(unknown)}"])
    wanted = {line.slug: host_of(line, vendors[line.vendor], line.slug) for line in files.hosts}
    host_counts = Change(Host, wanted).apply(HOST_COLUMNS, reason)
    hosts = dict(Host.objects.filter(data_key__isnull=False).values_list("data_key", "pk"))  # some were deleted here
    sheets = dict(Accelerator.objects.values_list("slug", "pk"))
    cards = {
        (key := f"{line.host}/{line.index}"): card_of(line, hosts[line.host], sheets.get(line.accelerator), key)
        for line in files.cards
        if line.host in hosts
    }
    components = {
        (key := f"{line.host}/{line.name}"): HostComponent(
            data_key=key, host_id=hosts[line.host], name=line.name, value=line.value, state=line.state
        )
        for line in files.components
        if line.host in hosts
    }
    return {
        "hosts": host_counts,
        "cards": Change(HostCard, cards).apply(CARD_COLUMNS, reason),
        "components": Change(HostComponent, components).apply(COMPONENT_COLUMNS, reason),
    }


def host_of(line: HostLine, vendor_id: int, data_key: str | None = None) -> Host:
    """Return the line as a host that is not saved."""
    return Host(
        data_key=data_key,
        slug=line.slug,
        title=line.title,
        vendor_id=vendor_id,
        form=line.form,
        system=line.system,
        kernel=line.kernel,
        cpu=line.cpu,
        cpu_cores=line.cpu_cores,
        memory_bytes=line.memory_bytes,
        virtualisation=line.virtualisation,
        seen_on=line.seen_on,
        is_month_only=line.is_month_only,
        source_url=line.source_url,
        source_kind=line.source_kind,
        note=line.note,
        teaches=line.teaches,
        same_machine_as=line.same_machine_as,
    )


def card_of(line: CardLine, host_id: int, accelerator_id: int | None, data_key: str | None = None) -> HostCard:
    """Return the line as a card that is not saved; `accelerator_id`: None where no spec sheet is certain."""
    return HostCard(
        data_key=data_key,
        host_id=host_id,
        index=line.index,
        reported_name=line.reported_name,
        accelerator_id=accelerator_id,
        memory_bytes=line.memory_bytes,
        driver_version=line.driver_version,
        power_limit_w=line.power_limit_w,
        pcie_generation=line.pcie_generation,
        pcie_lanes=line.pcie_lanes,
        compute_capability=line.compute_capability,
        gpu_cores=line.gpu_cores,
    )
