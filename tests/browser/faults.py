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
# Contrast is most of axe's time, and thousands of cells are alike: what passed once passes again if all that lies under
# and over its text has the same styles, and parents of the same styles. What axe is not sure of is not asked again either.
_REMEMBER_CONTRAST = """(known) => {
  const STYLES = ["color", "background-color", "background-image", "background-clip", "opacity", "visibility", "display",
    "filter", "mix-blend-mode", "text-shadow", "-webkit-text-fill-color", "-webkit-text-stroke", "font-size", "font-weight",
    "position", "z-index", "clip-path", "overflow", "text-indent", "text-decoration"];
  const digest = (text) => {
    let [a, b] = [0xdeadbeef, 0x41c6ce57];
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      [a, b] = [Math.imul(a ^ code, 2654435761), Math.imul(b ^ code, 1597334677)];
    }
    return (a >>> 0).toString(36) + (b >>> 0).toString(36);
  };
  let chains;
  const chainOf = (element) => {  // the styles of an element and of its parents
    if (!element) return "";
    if (!chains.has(element)) {
      const style = getComputedStyle(element), values = STYLES.map((name) => style.getPropertyValue(name));
      const parts = [chainOf(element.parentElement), element.localName, element.getAttribute("class"), ...values];
      chains.set(element, digest(parts.join(" ")));
    }
    return chains.get(element);
  };
  const keyOf = (element) => {
    const text = element.textContent.trim(), stacks = axe.commons.dom.getTextElementStack(element);
    const isOrdinary = text.length > 2 && /^[\\x20-\\x7e\\s]*$/.test(text);  // single characters and signs are a case apart
    const around = stacks.map((stack) => stack.map(chainOf).join(",")).join(";");
    return digest(`${chainOf(element)} ${around} ${isOrdinary ? "" : text}`);
  };
  const check = axe._audit.checks["color-contrast"], evaluate = check.evaluate;
  const results = new Map(known);
  check.evaluate = function (element, ...others) {
    const key = keyOf(element);
    if (results.has(key)) return results.get(key) ? true : undefined;
    const result = evaluate.call(this, element, ...others);
    if (result !== false) results.set(key, Boolean(result));
    return result;
  };
  axe.remembered = { begin: () => { chains = new Map(); }, results: () => [...results] };
}"""
# Contrast is measured of what is seen: nothing may be on its way to another colour.
_RUN = """async ([within, rules]) => {
  const ends = (animation) => animation.effect.getComputedTiming().endTime !== Infinity;
  await Promise.allSettled(document.getAnimations().filter(ends).map((animation) => animation.finished));
  const options = { resultTypes: ["violations"] };
  if (rules.length) options.runOnly = { type: "rule", values: rules };
  axe.remembered.begin();
  const { violations } = await axe.run(within, options);
  return violations.flatMap(({ id, impact, nodes }) => nodes.slice(0, 4).map(
    (node) => `${id} (${impact}): ${node.html.slice(0, 200)}: ${node.failureSummary}`));
}"""
_remembered: list[list[object]] = []  # what each kind of text came to, on all pages that this process has looked at


def faults_of(
    page, *, within: str = "html", widths: tuple[int, ...] = WIDTHS, schemes: tuple[str, ...] = ("light", "dark")
) -> list[str]:
    """Every fault that axe finds, light and dark, and every width at which the page scrolls sideways."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
        page.evaluate(_REMEMBER_COLOURS)
        page.evaluate(_REMEMBER_CONTRAST, _remembered)
    found = []
    for scheme in schemes:
        rules = COLOUR_RULES if scheme == "dark" else []
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {fault}" for fault in page.evaluate(_RUN, [within, rules])]
    _remembered[:] = page.evaluate("axe.remembered.results()")
    size = page.viewport_size
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        if over := page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"):
            found.append(f"{width} px: scrolls sideways by {over} px")
    page.set_viewport_size(size)
    return found
