"""Headless Chromium for tests and pictures: it speaks the DevTools protocol over two pipes.

Needs `chromium` (the Debian package of that name) and fails without it: a page that nobody has
rendered is not tested.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

WIDTH, HEIGHT = 1280, 800
_LIMIT_S = 60
_COLUMNS, _ROWS = 6, 4  # the parts of a picture that are compared
_LEAST_INK = 1 / 3  # of the mean of all parts: a part with less is blank
_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
)  # fmt: skip
_KEYS = {"Tab": 9, "Enter": 13, "ArrowDown": 40, "ArrowUp": 38}
_EVENTS = ("Page", "Runtime", "Log", "Network")
# The page's charts, those in folded parts too, are drawn.
DRAWN = "[...document.querySelectorAll('.vega')].every(chart => chart.querySelector('svg'))"
# What a reader would notice of a page's layout. What scrolls on its own may be wider.
_LAYOUT = """(function () {
  var view = document.documentElement.clientWidth;
  var all = name => [...document.querySelectorAll(name)];
  var shown = element => element.tagName + " " + element.textContent.trim().slice(0, 80);
  return {
    page: document.documentElement.scrollWidth,
    wide: all("main *, nav *").filter(function (element) {
      var box = element.getBoundingClientRect();
      var outside = box.right > view + 0.5 || box.left < -0.5;
      return box.width && outside && !element.closest(".scroll, pre, svg *");
    }).map(shown),
    clipped: all(".scroll").filter(box => box.scrollWidth > box.clientWidth + 1).map(shown),
    blank: all(".vega svg").filter(svg => svg.getBoundingClientRect().height < 20).length
  };
})()"""
# Both pictures as the ink in their parts, 0 for white, row by row.
_INK = """Promise.all(PICTURES.map(async function (data) {
  var image = new Image(), canvas = document.createElement("canvas"), sums = [];
  image.src = "data:image/png;base64," + data;
  await image.decode();
  canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
  var pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  var width = Math.floor(canvas.width / COLUMNS), height = Math.floor(canvas.height / ROWS);
  for (var row = 0; row < ROWS; row++) for (var column = 0; column < COLUMNS; column++) {
    var data = pen.getImageData(column * width, row * height, width, height).data, sum = 0;
    for (var n = 0; n < data.length; n += 4) sum += 765 - data[n] - data[n + 1] - data[n + 2];
    sums.push(sum);
  }
  return sums;
}))"""


class Browser:
    """A browser with one page. `noise` is what a silent page without a network does not cause:
    messages of the console, errors, requests.
    """

    def __init__(self, write: int, read: int) -> None:
        self.noise: list[str] = []
        self._write, self._read = write, read
        self._count, self._pending, self._session = 0, b"", ""
        self._page = ""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in _EVENTS:
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What the browser answers to a command; events on the way to it are heard."""
        self._count += 1
        command = {"id": self._count, "method": method, "params": parameters}
        session = {"sessionId": self._session} if self._session else {}
        os.write(self._write, json.dumps(command | session).encode() + b"\0")
        while (message := self._next()).get("id") != self._count:
            self._hear(message)
        assert "error" not in message, (method, message)
        return dict(message["result"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            assert select.select([self._read], [], [], _LIMIT_S)[0], "the browser does not answer"
            self._pending += os.read(self._read, 1 << 20)
        message, _, self._pending = self._pending.partition(b"\0")
        return dict(json.loads(message))

    def _hear(self, event: dict[str, Any]) -> None:
        told = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled" | "Log.entryAdded" | "Runtime.exceptionThrown":
                self.noise.append(json.dumps(told)[:2000])
            case "Network.requestWillBeSent":
                url = told["request"]["url"]
                if not url.startswith((self._page, "data:", "blob:")):
                    self.noise.append(url)

    def open(self, page: Path, width: int = WIDTH, height: int = HEIGHT, theme: str = "") -> None:
        """A page in a window of this size; it is there when it was loaded."""
        self._page = page.resolve().as_uri()
        self.noise.clear()
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        self.send("Page.navigate", url=f"{self._page}?theme={theme}")
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def tell(self, expression: str) -> Any:
        """The value of an expression in the page."""
        told = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, expression: str) -> None:
        """Until an expression is true."""
        end = time.monotonic() + _LIMIT_S
        while not self.tell(expression):
            assert time.monotonic() < end, expression
            time.sleep(0.02)

    def press(self, name: str) -> None:
        key = {"key": name, "code": name, "windowsVirtualKeyCode": _KEYS[name]}
        text = {"text": "\r"} if name == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", **key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **key)

    def layout(self) -> dict[str, Any]:
        """The layout of the page with everything unfolded and drawn."""
        self.tell("document.querySelectorAll('details').forEach(part => part.open = true)")
        self.wait(DRAWN)
        return dict(self.tell(_LAYOUT))


@contextmanager
def started() -> Iterator[Browser]:
    """A browser, which ends with the block."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        # Clear of 3 and 4, which the browser reads and writes.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]
        pipes = f'exec "$@" 3<&{ends[0]} 4>&{ends[1]} 2>/dev/null'
        command = ["bash", "-c", pipes, "bash", chromium(), *_OPTIONS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(command, pass_fds=ends)
        for end in (*ends, theirs_in, theirs_out):
            os.close(end)
        try:
            browser = Browser(ours_out, ours_in)
            yield browser
            browser.send("Browser.close")
        finally:
            os.close(ours_out)
            os.close(ours_in)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    pytest.fail("no chromium; next: apt-get install chromium")


def screenshot(browser: Browser, page: Path, picture: Path) -> None:
    """The first screen of a page as a PNG, its charts drawn."""
    browser.open(page, theme="light")
    browser.wait(DRAWN)
    taken = browser.send("Page.captureScreenshot", format="png")
    picture.write_bytes(base64.b64decode(taken["data"]))


def likeness(browser: Browser, one: Path, other: Path) -> float:
    """How much of the ink in a part of one picture the other has there, in the part that is least
    alike: 1 for equal pictures, 0 if something is missing. Fonts move ink by less than a part.
    """
    pictures = [base64.b64encode(picture.read_bytes()).decode() for picture in (one, other)]
    text = _INK.replace("COLUMNS", str(_COLUMNS)).replace("ROWS", str(_ROWS))
    first, second = browser.tell(text.replace("PICTURES", json.dumps(pictures)))
    blank = sum(first) / len(first) * _LEAST_INK
    return min(
        min(pair) / max(pair) for pair in zip(first, second, strict=True) if max(pair) > blank
    )
