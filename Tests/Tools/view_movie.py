# SPDX-License-Identifier: MPL-2.0
"""Steps through a movie in the page of `gst-spatial view`, as a person does, in a headless Chromium.

    view_movie.py ADDRESS FOLDER

FOLDER has the picture of each frame that `gst-spatial frames` wrote: left-*.png, right-*.png and
anaglyph-*.png. Prints what differs from them as a list in JSON, with how long a step took,
in milliseconds.
"""
import base64
import glob
import io
import json
import statistics
import sys
import time

import av
import numpy
from playwright.sync_api import sync_playwright

address, folder = sys.argv[1:]
wrong = []


def picture(file):
    with av.open(file) as container:
        return next(container.decode(video=0)).to_ndarray(format="rgb24").astype(int)


def expected(kind, index):
    return picture(sorted(glob.glob(f"{folder}/{kind}-*.png"))[index])


def wait(index):
    page.locator(f'body[data-shown="{index}"]').wait_for(state="attached", timeout=20000)


def seen(size):
    """The middle of the canvas, which shows the movie's pixels one to one."""
    url = page.evaluate("document.getElementById('stage').toDataURL()")
    whole = picture(io.BytesIO(base64.b64decode(url.split(",")[1])))
    top, left = (whole.shape[0] - size[0]) // 2, (whole.shape[1] - size[1]) // 2
    return whole[top:top + size[0], left:left + size[1]]


def check(what, kind, index, tolerance=0):
    wait(index)
    want = expected(kind, index)
    difference = numpy.abs(seen(want.shape) - want).max()
    if difference > tolerance:
        wrong.append(f"{what}: frame {index} differs by {difference}")


def press(key, times=1):
    for _ in range(times):
        page.keyboard.press(key)


with sync_playwright() as play:
    browser = play.chromium.launch(
        executable_path="/usr/bin/chromium-headless-shell",
        args=["--no-sandbox", "--enable-unsafe-swiftshader"])
    page = browser.new_page(viewport={"width": 1000, "height": 640})
    # What the page's own security policy stops is said on the console, too.
    # That this program reads the canvas is slow, is said there, too.
    page.on("console", lambda message: "GPU stall" in message.text
            or wrong.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.goto(address)
    wait(0)
    count = len(glob.glob(f"{folder}/left-*.png"))

    # As JPEG at first, as a person sees it; a step is timed so.
    steps = []
    for index in range(1, 21):
        begin = time.monotonic()
        press(".")
        wait(index)
        steps.append((time.monotonic() - begin) * 1000)
    press("Home")
    wait(0)

    # Without loss, a pixel for a pixel.
    press("1")
    press("x")
    press("z")
    page.wait_for_timeout(300)
    check("first", "left", 0)
    for index in range(1, 31):
        press("ArrowRight" if index % 2 else ".")
        check("forth", "left", index)
    for index in range(29, 19, -1):
        press("ArrowLeft" if index % 2 else ",")
        check("back", "left", index)
    press("2")
    check("other eye", "right", 20)
    press("s")
    check("swapped", "left", 20)
    press("s")
    for index in (count - 1, 3, 27, 0):
        page.evaluate("index => { const s = document.getElementById('slider'); s.value = index;"
                      " s.dispatchEvent(new Event('input')); }", index)
        check("jump", "right", index)
    press("ArrowRight", 50)
    check("fast", "right", min(50, count - 1))
    press("ArrowLeft", 20)
    press("Shift+ArrowRight")
    check("fast, and back", "right", min(50, count - 1) - 10)
    press("]")
    press("[")
    press("1")
    press("4")
    page.wait_for_timeout(300)
    check("anaglyph", "anaglyph", int(page.evaluate("document.body.dataset.shown")), 2)

    # The line that keeps a disparity, and its effect.
    before = page.evaluate("document.getElementById('stage').toDataURL()")
    press("+", 5)
    line = page.locator("#retag").inner_text()
    if not line.endswith("disparity=0.005"):
        wrong.append(f"retag: {line}")
    if page.evaluate("document.getElementById('stage').toDataURL()") == before:
        wrong.append("the disparity changes nothing")
    press("0")

    # It plays to the end and stops there.
    press("Space")
    page.locator('#play[aria-label="Pause"]').wait_for()
    wait(count - 1)
    page.locator('#play[aria-label="Play"]').wait_for()
    press("Home")
    check("after playing", "anaglyph", 0, 2)

    with page.expect_download() as download:
        press("Shift+S")
    kind = page.evaluate("document.body.dataset.shown")
    name = f"a-{int(kind) / 30:.3f}s-anaglyph.png"
    if download.value.suggested_filename != name:
        wrong.append(f"the saved frame is {download.value.suggested_filename}, not {name}")
    if (picture(download.value.path()) != expected("anaglyph", int(kind))).any():
        wrong.append("the saved frame differs")
    browser.close()

print(json.dumps({"wrong": wrong, "median_step": statistics.median(steps)}))
