"""Embeds in a frame of another origin: a page of `localhost` that holds a frame of `127.0.0.1`."""

import http.server
import threading

import pytest

from stackviz.web.preview import frame_line

STACKS = "a=stack:nvidia-cuda&a=stack:apple-metal"


@pytest.fixture
def other_site():
    """Serve the code that a page offers to copy, from another origin -> the address of the page with it."""
    lines = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(f"<!doctype html><title>A blog</title>{lines[-1]}".encode())

        def log_message(self, *_args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def holding(line: str) -> str:
            lines.append(line)
            return f"http://localhost:{server.server_address[1]}/"

        yield holding
        server.shutdown()


def test_another_site_shows_what_the_page_offers(site, visit, other_site, browser_page, browser_context):
    page = visit(f"/compare/?{STACKS}")
    line = page.locator(".share-lines pre", has_text="<iframe").first.text_content()
    browser_page.goto(other_site(line), wait_until="load")
    frame = browser_page.frame_locator("iframe")
    assert "NVIDIA CUDA" in frame.locator("h1").first.inner_text()
    assert browser_context.cookies() == []
    assert browser_context.troubles == []


def test_another_site_shows_no_other_page(site, other_site, browser_page, browser_context):
    browser_page.goto(other_site(frame_line(f"{site.url}/compare/?{STACKS}", "x")), wait_until="load")
    assert browser_page.frame_locator("iframe").locator("h1").count() == 0
    assert any("frame" in trouble.lower() for trouble in browser_context.troubles)
