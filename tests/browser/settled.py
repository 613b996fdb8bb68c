"""Wait until a page stands still: what is measured in pixels is measured after that, all in one call."""

PATIENCE_MS = 40_000
LEAST_FRAMES = 5  # in which a script sees what came into sight, however slowly a busy machine draws

# A part that comes into sight is asked for within 200 ms, the interval at which htmx looks; what it brings moves all below it.
_STAND_STILL = """async ([patience, unchanged, leastFrames]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const isComplete = () => document.readyState === "complete" && document.fonts.status === "loaded"
    && !document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added");
  const places = () => [...document.querySelectorAll("main, main > *, main section, .wide, footer")]
    .map((part) => Object.values(part.getBoundingClientRect().toJSON()).map(Math.round)).join(";");
  const end = performance.now() + patience;
  let before = "", since = performance.now(), frames = 0;
  while (performance.now() - since < unchanged || frames < leastFrames) {
    await frame();
    const now = isComplete() ? places() : "";
    frames += 1;
    if (!now || now !== before) [since, frames] = [performance.now(), 0];
    before = now;
    if (performance.now() > end) throw new Error(`the page still moves after ${patience} ms`);
  }
}"""


def settle(page, *, unchanged_ms: int = 400) -> None:
    """Return once everything is loaded and no part of the page has moved for `unchanged_ms`. A page that goes on
    moving fails the test."""
    page.evaluate(_STAND_STILL, [PATIENCE_MS, unchanged_ms, LEAST_FRAMES])
