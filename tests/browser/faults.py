"""What a program can find wrong with a page that is open: barriers in the light and in the dark, a window too narrow,
and what is pressed too small, on a phone as well.

A page is visited once for all of it: what costs is axe, and then loading the page.
"""

from axe_playwright_python.base import AXE_SCRIPT

WIDTHS = (360, 768, 1440)
# The dark has other colours and nothing else (tests/web/test_static.py): no other rule can find more there.
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
# The only rule that a narrow window changes.
NARROW_RULES = ["target-size"]

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
  else options.rules = { "target-size": { enabled: true } };  // of WCAG 2.2, which axe leaves out unless asked
  axe.remembered.begin();
  const { violations } = await axe.run(within, options);
  return violations.flatMap(({ id, impact, nodes }) => nodes.slice(0, 4).map(
    (node) => `${id} (${impact}): ${node.html.slice(0, 200)}: ${node.failureSummary}`));
}"""
# Two words without a space between them in one line, or two sentences: a template lost it. Text beside it in a cell of its
# own is no fault.
_RUN_TOGETHER = """(within) => {
  const lineOf = (text) => {
    let element = text.parentElement;
    while (getComputedStyle(element).display === "inline") element = element.parentElement;
    return element;
  };
  const boxes = (text) => {
    if (text.parentElement.closest("svg, script, style, option, textarea, template, pre, code, sup")) return [];
    if (getComputedStyle(text.parentElement).verticalAlign === "super") return [];  // the number of a source
    const range = document.createRange();
    range.selectNodeContents(text);
    return range.getClientRects();
  };
  const walker = document.createTreeWalker(document.querySelector(within), NodeFilter.SHOW_TEXT), found = [];
  let before, ends;
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const here = boxes(text);
    if (!here.length) continue;
    const sentences = /.{0,20}\\p{Ll}{2}\\.\\p{Lu}\\p{Ll}.{0,20}/u.exec(text.data);
    if (sentences) found.push(`runs together: ${sentences[0]}`);
    const meet = before && /[\\p{Script=Latin}\\p{N});,]$/u.test(before.data) && /^[\\p{Script=Latin}\\p{N}(]/u.test(text.data);
    if (meet && before.parentElement !== text.parentElement && lineOf(before) === lineOf(text)) {
      const level = Math.abs(ends.bottom - here[0].bottom) < 6 && Math.abs(here[0].left - ends.right) < 2;
      if (level) found.push(`runs together: ${before.data.slice(-30)}|${text.data.slice(0, 30)}`);
    }
    before = text;
    ends = here[here.length - 1];
  }
  return [...new Set(found)].slice(0, 5);
}"""
# What is wider than its cell lies over the next one; the ring at the end of a rail may stand out by half of it.
_WIDER_THAN_ITS_CELL = """(within) => {
  const root = document.querySelector(within), found = [];
  for (const cell of root.querySelectorAll("td, th")) {
    const over = cell.scrollWidth - cell.clientWidth;
    if (over < 8 || cell.clientWidth < 8 || getComputedStyle(cell).overflowX !== "visible") continue;
    if (getComputedStyle(cell.closest("thead, tbody, tfoot, table")).clipPath !== "none") continue;
    found.push(`${over} px over its cell: ${cell.textContent.trim().replace(/\\s+/g, " ").slice(0, 60)}`);
  }
  return found.slice(0, 5);
}"""
_remembered: list[list[object]] = []  # what each kind of text came to, on all pages that this process has looked at


def faults_of(
    page, *, within: str = "html", widths: tuple[int, ...] = WIDTHS, schemes: tuple[str, ...] = ("light", "dark")
) -> list[str]:
    """Every fault that axe finds, light and dark, what is too small to press at the narrowest of `widths` too; words that
    run together; and at every width what is too wide: a page that scrolls sideways, or text over the next cell of a table."""
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
    found += page.evaluate(_RUN_TOGETHER, within)
    size = page.viewport_size
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        if over := page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"):
            found.append(f"{width} px: scrolls sideways by {over} px")
        if width == min(WIDTHS):
            found += [f"{width} px: {fault}" for fault in page.evaluate(_RUN, [within, NARROW_RULES])]
        found += [f"{width} px: {fault}" for fault in page.evaluate(_WIDER_THAN_ITS_CELL, within)]
    page.set_viewport_size(size)
    return found
