"""A body -> a Report, or a ReportError that names the place. What is known is checked, what is not known is kept.

What each field may hold is in the annotations of `report`. `format` is checked first, so that a report of another
version is refused for that, whatever else differs.
"""

import re
from collections.abc import Iterable
from typing import Any

from stackviz.report.format.decode import BODY, check_tree, decode
from stackviz.report.format.limits import ReportError
from stackviz.report.format.report import FORMAT, REPORT, Report
from stackviz.report.format.unknown import check_unknown

__all__ = ["parse_report"]


def parse_report(body: bytes | bytearray | memoryview | str | dict[str, Any]) -> Report:
    """The report in a body (JSON bytes or text, or a document already decoded).

    Raises ReportError(path, problem); ReportTooLarge, which is one, for a body over LIMITS.body_bytes.
    """
    if isinstance(body, dict):
        check_tree(body, "", 1)
        document: object = body
    else:
        document = decode(body if isinstance(body, str) else bytes(body))
    if type(document) is not dict:
        raise ReportError(BODY, "is not a JSON object")
    _check_format(document)
    try:
        report: Report = REPORT.read({name: value for name, value in document.items() if name != "format"})
    except ReportError as error:
        raise ReportError(error.path.removeprefix("."), error.problem) from None
    check_unknown(REPORT, report)
    return report


def _check_format(document: dict[str, Any]) -> None:
    stated = document.get("format")
    if type(stated) is not int or stated != FORMAT:
        problem = f"is {stated!r:.80}; the format read here is {FORMAT}" if "format" in document else "is missing"
        raise ReportError("format", problem)


_CARD = re.compile(r"card (\d{1,6})(?: |$)")


def cards_named(evidence: Iterable[str]) -> frozenset[int]:
    """Indexes of the cards; none where a finding is about the machine, and so about all of them.

    >>> sorted(cards_named(["card 1", "card 1 pcie_width", "torch.version"]))
    [1]
    """
    return frozenset(int(match[1]) for match in map(_CARD.match, evidence) if match)
