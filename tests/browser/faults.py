"""What a program can find wrong with a page that is open: barriers in the light and in the dark, a window too narrow.

A page is visited once for all of it: what costs is axe, and then loading the page.
"""

from axe_playwright_python.base import AXE_SCRIPT

WIDTHS = (360, 768, 1440)
# The dark has other colours and nothing else (tests/web/test_static.py): no other rule can find more there.
COLOUR_RULES = ["color-contrast", "link-in-text-block"]

# axe reads each colour of each element anew, which is a third of its time. There are about thirty different ones.
_REMEMBER_COLOURS = """() => {
  const color = axe.commons.color.Color.prototype, parse = color.parseString, known = new Map();
  color.parseString = function (text) {
    if (!known.has(text)) {
      parse.call(this, text);
      known.set(text, [this.red, this.green, this.blue, this.alpha]);
    }
    [this.red, this.green, this.blue, this.alpha] = known.get(text);
    return this;
  };
}"""
# Contrast is measured of what is seen: nothing may be on its way to another colour.
_RUN = """async ([within, rules]) => {
  const ends = (animation) => animation.effect.getComputedTiming().endTime !== Infinity;
  await Promise.allSettled(document.getAnimations().filter(ends).map((animation) => animation.finished));
  const options = { resultTypes: ["violations"] };
  if (rules.length) options.runOnly = { type: "rule", values: rules };
  const { violations } = await axe.run(within, options);
  return violations.flatMap(({ id, impact, nodes }) => nodes.slice(0, 4).map(
    (node) => `${id} (${impact}): ${node.html.slice(0, 200)}: ${node.failureSummary}`));
}"""


def faults_of(
    page, *, within: str = "html", widths: tuple[int, ...] = WIDTHS, schemes: tuple[str, ...] = ("light", "dark")
) -> list[str]:
    """Every fault that axe finds, light and dark, and every width at which the page scrolls sideways."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
        page.evaluate(_REMEMBER_COLOURS)
    found = []
    for scheme in schemes:
        rules = COLOUR_RULES if scheme == "dark" else []
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {fault}" for fault in page.evaluate(_RUN, [within, rules])]
    size = page.viewport_size
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        if over := page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"):
            found.append(f"{width} px: scrolls sideways by {over} px")
    page.set_viewport_size(size)
    return found
