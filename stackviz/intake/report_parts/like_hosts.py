"""Where the public hosts like one machine are listed."""

from collections.abc import Iterable
from urllib.parse import urlencode

from stackviz.intake.report_parts.cards import MatchedCard
from stackviz.report.format import Report
from stackviz.report.format.systems import family
from stackviz.web.http.addresses import address_by_name


def like_hosts_address(report: Report, cards: Iterable[MatchedCard]) -> str:
    """Return the address of the hosts most like this machine; "" where no card of it has a public sheet."""
    sheet = next((card.sheet for card in cards if card.sheet), None)
    if sheet is None:
        return ""
    system = "wsl2" if report.facts.get("os.wsl") else family(report.facts)
    fields = {
        "like": sheet.slug,
        "like_system": system,
        "like_driver": report.facts.get("nvidia.driver_version"),
        "like_torch": report.facts.get("torch.version"),
    }
    query = urlencode({name: value for name, value in fields.items() if value})
    return f"{address_by_name('machines:list')}?{query}#like"
