# SPDX-License-Identifier: MPL-2.0
"""Works the page of `gst-spatial view` with fingers on the screen of a phone, in a headless Chromium.

    view_touch.py ADDRESS FOLDER

The movie is so long that it does not end between two taps. Prints what is wrong as a list in JSON.
"""
import re
import sys

from viewing import PHONE, canvas, chromium, expect, is_playing, number, opened, until, wait

address = sys.argv[1]


def touches(page, *paths):
    """Fingers that move along lines, each from a point to another one, in eight steps."""
    devices = page.context.new_cdp_session(page)

    def send(kind, part):
        points = [{"id": index, "x": a[0] + (b[0] - a[0]) * part, "y": a[1] + (b[1] - a[1]) * part}
                  for index, (a, b) in enumerate(paths)]
        devices.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points if kind != "touchEnd" else []})

    send("touchStart", 0)
    for part in range(1, 9):
        send("touchMove", part / 8)
    send("touchEnd", 1)
    page.wait_for_timeout(300)


def tap(page, selector):
    box = page.locator(selector).bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def rows():
    """The rows of the display that have something of the picture."""
    return int((canvas(page).max(axis=(1, 2)) > 40).sum())


with chromium() as browser:
    page = opened(browser, address, **PHONE)
    page.keyboard.press("+")
    for control in page.locator("button:visible, input:visible").all():
        box = control.bounding_box()
        name = control.get_attribute("id") or control.inner_text()
        expect(f"size of {name}: {box}", box["height"] >= 44 and box["width"] >= 44)
        expect(f"{name} is on the screen", box["x"] >= 0 and box["x"] + box["width"] <= 390)
    for name in ["previous", "play", "next"]:
        box = page.locator(f"#{name}").bounding_box()
        expect(f"size of {name}", box["height"] >= 52 and box["width"] >= 64)
    expect("nothing is wider than the screen", page.evaluate("document.scrollingElement.scrollWidth"), 390)
    page.keyboard.press("0")

    tap(page, "#next")
    wait(page, 2)
    tap(page, "#previous")
    wait(page, 1)
    tap(page, "#play")
    expect("play", is_playing(page))
    tap(page, "#play")
    expect("pause", is_playing(page), False)
    tap(page, '[data-mode="left"]')
    page.wait_for_timeout(500)

    tap(page, "#stage")
    expect("a tap on the picture plays", is_playing(page))
    tap(page, "#stage")
    expect("a tap on the picture pauses", is_playing(page), False)
    page.keyboard.press("Home")
    wait(page, 1)

    box = page.locator("#stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for _ in range(2):
        touches(page, ((x + 60, y), (x - 60, y)))
    wait(page, 3)
    touches(page, ((x - 60, y), (x + 60, y)))
    wait(page, 2)
    touches(page, ((x, y - 60), (x, y + 60)))
    expect("frame after a movement down", number(page), 2)

    fit = rows()
    touches(page, ((x - 30, y), (x - 60, y)), ((x + 30, y), (x + 60, y)))
    page.wait_for_timeout(500)
    zoomed = rows()
    before = canvas(page)
    twice = min(2 * fit, before.shape[0])
    expect(f"twice as large by a pinch: {fit}, {zoomed}, not {twice}", fit < zoomed and abs(zoomed - twice) < 0.15 * fit)
    touches(page, ((x + 60, y), (x - 60, y)))
    expect("a finger moves a zoomed picture", bool((canvas(page) != before).any()))
    expect("frame after pinch and movement", (number(page), is_playing(page)), (2, False))
    touches(page, ((x - 90, y), (x - 20, y)), ((x + 90, y), (x + 20, y)))
    page.wait_for_timeout(500)
    expect("the whole picture again", rows(), fit)

    tap(page, "#about")
    text = page.locator("#text").inner_text()
    broken = re.findall(r"\d [a-zA-Z%°]+", text)
    expect(f"numbers that can lose their units in {text!r}", broken, [])
    expect("numbers with units", len(re.findall("\\d\u00a0[a-zA-Z%°]", text)) > 5)
    expect("info is not wider than the screen", page.evaluate(
        "(() => { const facts = document.getElementById('facts'); return facts.scrollWidth <= facts.clientWidth; })()"))
    tap(page, "#about")

    # In full screen, the controls leave; the first tap brings them, the second one plays.
    tap(page, "#whole")
    until(page, "document.fullscreenElement")
    resting = "getComputedStyle(document.querySelector('footer')).opacity === "
    until(page, resting + "'0'")
    tap(page, "#stage")
    until(page, resting + "'1'")
    expect("the first tap plays nothing", is_playing(page), False)
    tap(page, "#stage")
    expect("the second tap plays", is_playing(page))
