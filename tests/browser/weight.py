"""What a visit of a page costs its reader: bytes that arrive, and what the browser itself says of paint and shifts.

visit = measure_visit(page, address)
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.browser.settled import settle

# The sum of all shifts is at least the "cumulative layout shift" of a browser, which is that of the worst five seconds.
_OBSERVE = """
  window.visitSeen = { paint: 0, shift: 0, shifted: [] };
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) visitSeen.paint = entry.startTime; })
    .observe({ type: "largest-contentful-paint", buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      visitSeen.shift += entry.value;
      for (const { node } of entry.sources) visitSeen.shifted.push(node?.outerHTML?.slice(0, 80) ?? node?.nodeName);
    }
  }).observe({ type: "layout-shift", buffered: true });
"""
_SCROLL = "(y) => scrollTo({ top: y, behavior: 'instant' })"
_HEIGHT = "document.documentElement.scrollHeight"
STEP = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """`sizes`: kind of file (Document, Stylesheet, Script, XHR) -> bytes with their heads, as they came over the wire.

    `paint_ms`: the largest contentful paint; `shift`: the sum of all layout shifts; `shifted`: what moved.
    """

    sizes: dict[str, int]
    requests: int
    paint_ms: float
    shift: float
    shifted: tuple[str, ...]

    @property
    def total(self) -> int:
        return sum(self.sizes.values())


def measure_visit(page: Any, address: str, *, is_read: bool = False, bytes_per_s: int | None = None) -> Visit:
    """Opens the address in this page; `is_read`: and scrolls to its end. What its context has cached is not sent again.

    `bytes_per_s`: over a line of this rate, so that the page arrives, and is drawn, part by part.
    """
    wire = page.context.new_cdp_session(page)
    kinds: dict[str, str] = {}
    sizes: Counter[str] = Counter()
    wire.on("Network.responseReceived", lambda event: kinds.update({event["requestId"]: event["type"]}))
    wire.on(
        "Network.loadingFinished",
        lambda event: sizes.update({kinds.get(event["requestId"], "Other"): int(event["encodedDataLength"])}),
    )
    wire.send("Network.enable")
    if bytes_per_s is not None:
        line = {"offline": False, "latency": 50, "downloadThroughput": bytes_per_s, "uploadThroughput": bytes_per_s}
        wire.send("Network.emulateNetworkConditions", line)
    page.add_init_script(_OBSERVE)
    answer = page.goto(address, wait_until="load")
    assert answer.status < 400, f"{address}: {answer.status}"
    page.wait_for_load_state("networkidle")
    if is_read:
        _read(page)
        page.wait_for_load_state("networkidle")
    seen = page.evaluate("visitSeen")
    wire.detach()
    return Visit(
        sizes=dict(sizes),
        requests=len(kinds),
        paint_ms=seen["paint"],
        shift=seen["shift"],
        shifted=tuple(seen["shifted"]),
    )


def _read(page: Any) -> None:
    """Scrolls to the end, a part of a window at a time, no faster than what is asked for arrives.

    What is asked for only when it is looked at arrives while it is looked at, and moves what is below it.
    """
    y = 0
    while y < page.evaluate(_HEIGHT):
        page.evaluate(_SCROLL, y)
        settle(page, unchanged_ms=100)
        y += STEP
