# SPDX-License-Identifier: MPL-2.0
"""What the programs that look at the page of `gst-spatial view` share: a headless Chromium, and a list of what is
wrong."""
import base64
import contextlib
import io
import json

import av
from playwright.sync_api import sync_playwright

wrong = []
WIDE = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def expect(what, seen, wanted=True):
    if seen != wanted:
        wrong.append(f"{what}: {seen!r}, not {wanted!r}")


@contextlib.contextmanager
def chromium():
    """A browser; in the end, what is wrong is printed."""
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell",
            args=["--no-sandbox", "--enable-unsafe-swiftshader"])
        yield browser
        browser.close()
    print(json.dumps({"wrong": wrong}))


def opened(browser, address, **options):
    """A page of a context of its own, with its first frame. What the browser complains about is wrong."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(20000)
    # What the page's own security policy stops is said on the console, too; and that reading the canvas is slow.
    page.on("console", lambda message: "GPU stall" in message.text
            or wrong.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.goto(address)
    wait(page, 1)
    return page


def wait(page, number):
    """Until a frame is shown; they count from 1."""
    page.locator(f'body[data-shown="{number - 1}"]').wait_for(state="attached")


def until(page, condition):
    """Until a condition in JavaScript is true. The page's policy lets only this program evaluate it."""
    for _ in range(400):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise TimeoutError(condition)


def number(page):
    """The frame that the page says it shows."""
    return int(page.locator("#position").inner_text().split()[1])


def is_playing(page):
    return page.locator("#play").get_attribute("aria-label") == "Pause"


def canvas(page):
    url = page.evaluate("document.getElementById('stage').toDataURL()")
    return picture(io.BytesIO(base64.b64decode(url.split(",")[1])))


def picture(file):
    with av.open(file) as container:
        return next(container.decode(video=0)).to_ndarray(format="rgb24").astype(int)
