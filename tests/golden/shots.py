"""Every kind of page as a browser draws it, three widths, light and dark; and two such sets held against each other."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops

from tests.golden.visits import ADMIN, COMPARISONS, H100, M3_MAX, MI300X, PAGES, T4, TPU

ADDRESS = "http://127.0.0.1:8000"
ARGUMENTS = ("--disable-gpu", "--font-render-hinting=none")
WIDTHS = (360, 768, 1440)
SCHEMES = ("light", "dark")
TALLEST = 16_000  # pixels; what is below is the same table going on
VISIBLE = 12  # of 255: less is not seen, and antialiasing may differ by it
PAGE_NAMES = (
    "home", "learn", "login", "list", "list-filters", "list-refused", "claims", "changes", "stacks", "stacks-chosen", "support",
    "operators", "ladder", "explore", "timeline", "benchmarks", "benchmark", "cited-result", "machines", "machines-add", "lab", "life-old-driver", "machine-waiting",
    "coverage", "diagnose", "plan-t4", "plan-mac", "plan-refused", "data", "data-schema", "404",
)  # fmt: skip
COMPARISON_NAMES = ("empty", "sheets-3", "sheets-at", "stacks", "machines", "mixed", "refused")
ADMIN_NAMES = (
    "index",
    "proposals",
    "proposal-3",
    "import",
    "import-2",
    "completeness",
    "names",
    "name",
    "machine",
    "keys",
)
CHINESE = ("home", "plan-t4", "diagnose")


def shown(made: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(name, address, who is signed in or the language)."""
    pages = {name: PAGES[name] for name in PAGE_NAMES} | {
        f"compare-{name}": COMPARISONS[name] for name in COMPARISON_NAMES
    }
    pages |= {f"sheet-{slug}": f"/accelerators/{slug}/" for slug in (H100, M3_MAX, MI300X, TPU)}
    pages |= {
        f"machine-{slug}": f"/machines/north/{slug}/"
        for slug in ("h100-linux", "m3-max-macos", "mixed-box", "old-driver")
    }
    pages |= {
        "sheet-at": f"/accelerators/{T4}/?at=2026-11-18T12:00",
        "stack": "/stacks/nvidia-cuda/",
        "component": "/components/pytorch/",
        "operator": "/operators/attention/",
        "series": "/machines/north/h100-linux/series/1/",
        "receipt": f"/receipts/{made['reports'][0]}/",
        "diagnosis": made["saved"],
    }
    yield from ((name, path, "") for name, path in pages.items())
    yield from ((f"zh-{name}", PAGES[name], "zh-hans") for name in CHINESE)
    yield ("zh-sheet", f"/accelerators/{H100}/", "zh-hans")
    yield ("zh-compare", COMPARISONS["sheets-3"], "zh-hans")
    yield from ((f"admin-{name}", ADMIN[name], "root") for name in ADMIN_NAMES)


def shoot(port: int, made: dict[str, Any], folder: Path, only: str = "") -> None:
    """Full-page pictures of the site at `port` into `folder`/<scheme>-<width>/<name>.png.

    Needs Chromium: $CHROMIUM, or one on PATH. To it the site is at ADDRESS, which pages show.
    """
    from playwright.sync_api import sync_playwright

    executable = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=[*ARGUMENTS, f"--host-resolver-rules=MAP {ADDRESS.partition('//')[2]} 127.0.0.1:{port}"],
            chromium_sandbox=False,
        )
        for scheme in SCHEMES:
            for width in WIDTHS:
                target = folder / f"{scheme}-{width}"
                target.mkdir(parents=True, exist_ok=True)
                with visitors(browser, ADDRESS, scheme, width) as page_of:
                    for name, path, visitor in shown(made):
                        if re.search(only, name):
                            picture(page_of(visitor), ADDRESS + path, target / f"{name}.png", width)
        browser.close()


@contextmanager
def visitors(browser: Any, url: str, scheme: str, width: int) -> Iterator[Any]:
    """A function that gives the page of a visitor: "" or a language, or "root", who is signed in."""
    pages: dict[str, Any] = {}

    def page_of(visitor: str) -> Any:
        if visitor not in pages:
            locale = "zh-CN" if visitor == "zh-hans" else "en-GB"
            context = browser.new_context(
                viewport={"width": width, "height": 900},
                color_scheme=scheme,
                reduced_motion="reduce",
                locale=locale,
                timezone_id="UTC",
            )
            pages[visitor] = page = context.new_page()
            page.clock.set_fixed_time("2026-11-22T12:00:00Z")
            if visitor == "root":
                page.goto(f"{url}/admin/login/")
                page.fill("input[name=username]", "root")
                page.fill("input[name=password]", "root")
                page.click("form.login button")
                page.wait_for_url(lambda address: "login" not in address)
        return pages[visitor]

    yield page_of
    for page in pages.values():
        page.context.close()


def picture(page: Any, address: str, file: Path, width: int) -> None:
    page.goto(address, wait_until="load")
    page.wait_for_load_state("networkidle")
    height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    page.screenshot(path=file, full_page=True, clip=clip, animations="disabled", caret="hide")


# --- two sets ---


def print_picture_differences(before: Path, after: Path, out: Path) -> int:
    """Names pages whose pixels differ, the most different first, and writes a picture of each difference to `out`."""
    names = sorted({str(path.relative_to(folder)) for folder in (before, after) for path in folder.rglob("*.png")})
    lines: list[tuple[float, str]] = []
    for name in names:
        if not (before / name).exists() or not (after / name).exists():
            lines.append((2.0, f"{name}: only {'before' if (before / name).exists() else 'after'}"))
            continue
        with Image.open(before / name) as old, Image.open(after / name) as new:
            difference = changed_pixels(old.convert("RGB"), new.convert("RGB"))
            share = difference.histogram()[255] / (difference.width * difference.height)
            if not share and old.size == new.size:
                continue
            sizes = "" if old.size == new.size else f", height {old.height} -> {new.height}"
            lines.append(
                (share, f"{name}: {share:.3%} of the pixels, first at y={(difference.getbbox() or (0, 0))[1]}{sizes}")
            )
            write_difference(new.convert("RGB"), difference, out / name)
    for _share, line in sorted(lines, reverse=True):
        print(line)
    print(f"\n{len(lines)} of {len(names)} pictures differ" + (f"; see {out}" if lines else ""))
    return 1 if lines else 0


def changed_pixels(old: Image.Image, new: Image.Image) -> Image.Image:
    """White where a pixel differs visibly; where one picture is taller, all of the rest."""
    size = (max(old.width, new.width), max(old.height, new.height))
    difference = Image.new("L", size, 255)
    common = (0, 0, min(old.width, new.width), min(old.height, new.height))
    bands = ImageChops.difference(old.crop(common), new.crop(common)).split()
    brightest = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2])
    difference.paste(brightest.point(lambda value: 255 if value > VISIBLE else 0), common)
    return difference


def write_difference(new: Image.Image, difference: Image.Image, file: Path) -> None:
    """The page after, pale, with what differs in red."""
    pale = Image.new("RGB", difference.size, "white")
    pale.paste(Image.blend(new, Image.new("RGB", new.size, "white"), 0.6))
    pale.paste(Image.new("RGB", difference.size, (220, 0, 40)), mask=difference)
    file.parent.mkdir(parents=True, exist_ok=True)
    pale.save(file)
