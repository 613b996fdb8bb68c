"""Scripts come from installed packages or from this repository; pages run no inline script."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders

from stackviz.web.static_storage import QuickCompressedStorage, QuickCompressor, without_comments

BASE = Path(settings.BASE_DIR)
TEMPLATES = sorted((BASE / "templates").rglob("*.html"))
STYLES = sorted((BASE / "static/css").glob("*.css"))
SCRIPTS = sorted((BASE / "static/js").glob("*.js"))
DATA_BLOCK = r"""<script[^>]*type=["']application/(?:ld\+)?json["'][^>]*>"""


def test_plotly_and_htmx_are_served_from_their_packages():
    found = finders.find("vendor/plotly/plotly.min.js")
    assert found
    assert "site-packages" in found
    assert Path(found).stat().st_size > 1_000_000
    assert not list((BASE / "static").rglob("plotly*"))
    # and nothing else of that package
    assert not finders.find("vendor/plotly/../plotly.min.js")
    assert not finders.find("vendor/plotly/widgetbundle.js")
    assert finders.find("django_htmx/htmx-2.min.js")


def found_in(files: list[Path], pattern: str, without: str = "(?!)") -> dict[str, list[str]]:
    """File -> what there is of the pattern in it, of those that have any."""
    texts = {str(path.relative_to(BASE)): re.sub(without, "", path.read_text(), flags=re.DOTALL) for path in files}
    return {name: places for name, text in texts.items() if (places := re.findall(pattern, text))}


def test_a_template_has_no_inline_script_and_no_inline_handler():
    inline = r"<script(?![^>]*\ssrc=)[^>]*>|\s(?:on\w+|hx-on[\w:-]*)\s*=|javascript:|hx-vals='js:"
    assert len(TEMPLATES) > 100
    assert found_in(TEMPLATES, inline, without=rf"{{%.*?%}}|{DATA_BLOCK}") == {}


def test_a_script_evaluates_no_text():
    evaluating = r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write"
    assert found_in(SCRIPTS, evaluating) == {}


def test_the_dark_has_other_colours_and_nothing_else():
    """What holds of a page in the light holds in the dark, colours left out: tests/browser/faults.py relies on it."""
    text = "\n".join(path.read_text() for path in STYLES)
    chosen = re.findall(r"data-theme=[^{}]*{([^{}]*)}", text)
    by_system = re.findall(r"prefers-color-scheme[^{}]*{[^{}]*{([^{}]*)}\s*}", text)  # with one rule in it
    assert len(by_system) == text.count("prefers-color-scheme")
    assert len(chosen) == 5
    assert {rule.partition(":")[0].strip() for rule in chosen + by_system} == {"color-scheme"}


def test_style_sheets_and_scripts_stay_small():
    sizes = {path.name: path.stat().st_size for path in [*SCRIPTS, *STYLES]}
    assert {name: size for name, size in sizes.items() if size > 32_000} == {}


def test_equal_files_are_compressed_once(tmp_path, monkeypatch):
    compress, compressed = QuickCompressor.compress, []
    monkeypatch.setattr(QuickCompressor, "compress", lambda self, path: compressed.append(path) or compress(self, path))
    for name, text in (("a.js", "let a;" * 500), ("a.0123456789ab.js", "let a;" * 500), ("b.js", "let b;" * 500)):
        (tmp_path / name).write_text(text)
    storage = QuickCompressedStorage(tmp_path)
    found = set(storage.compress_files(["a.js", "a.0123456789ab.js", "b.js"]))
    assert found == {(n, n + end) for n in ("a.js", "a.0123456789ab.js", "b.js") for end in (".br", ".gz")}
    assert len(compressed) == 2
    for end in (".br", ".gz"):
        first, second, other = ((tmp_path / (n + end)).read_bytes() for n in ("a.js", "a.0123456789ab.js", "b.js"))
        assert first == second != other
        assert (tmp_path / f"a.js{end}").stat().st_mtime_ns == (tmp_path / f"a.0123456789ab.js{end}").stat().st_mtime_ns


def test_an_address_is_put_together_once_and_names_the_content(tmp_path, monkeypatch):
    (tmp_path / "staticfiles.json").write_text('{"version": "1.1", "paths": {"css/a.css": "css/a.0123456789ab.css"}}')
    storage = QuickCompressedStorage(location=tmp_path, base_url="/static/")
    lookups = []
    stored_name = storage.stored_name
    monkeypatch.setattr(storage, "stored_name", lambda name: lookups.append(name) or stored_name(name))
    assert [storage.url("css/a.css") for _ in range(3)] == ["/static/css/a.0123456789ab.css"] * 3
    with pytest.raises(ValueError, match=r"b\.css"):
        storage.url("css/b.css")
    assert lookups.count("css/a.css") == 1


@pytest.mark.parametrize("path", [*SCRIPTS, *STYLES], ids=lambda path: path.name)
def test_what_is_sent_lacks_comments_and_nothing_else(path):
    text = path.read_text()
    sent = without_comments(f"{path.parent.name}/{path.name}", text.encode()).decode()
    assert without_comments(f"vendor/{path.name}", text.encode()).decode() == text
    if path.suffix == ".css":
        assert "/*" not in sent
        assert not re.search(r"""["'(][^"'()\n]*/\*""", text), "a text or an address with the sign of a comment"
        assert sent.count("{") == sent.count("}")
        return
    lines = iter(text.splitlines())
    assert all(line in lines for line in sent.splitlines()), "a line of the script is not the file's own"
    left_out = re.findall(r"^[ \t]*/\*.*?\*/[ \t]*\n", text, re.DOTALL | re.MULTILINE)
    assert sent.count("\n") == text.count("\n") - sum(part.count("\n") for part in left_out)
