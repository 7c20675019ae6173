# SPDX-License-Identifier: MPL-2.0
"""Works the page of `gst-spatial view` with keys and a mouse, as hands and screen readers do, in a headless Chromium.

    view_keys.py ADDRESS FOLDER

The movie has 240 frames, 30 a second, so that it does not end between two keys. Prints what is wrong as a list in JSON.
"""
import re
import sys

from viewing import WIDE, chromium, expect, is_playing, number, opened, until, wait, wrong

address = sys.argv[1]
COUNT = 240
LAST = "0:07.967"


def focused(page):
    return page.evaluate("document.activeElement.id || document.activeElement.dataset.mode")


def go(page, text):
    page.keyboard.press("g")
    page.locator("#goto[open]").wait_for()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def load(browser):
    """The sign of loading: after a while, until the first picture is there."""
    page = browser.new_context(**WIDE).new_page()
    held = []
    page.route("**/frame/**", lambda route: held.append(route))
    page.goto(address)
    page.locator("#loading").wait_for(state="visible")
    seen = page.evaluate("""() => [100, 199, 201].map((time) => {
      const sign = document.getElementById("loading");
      const begin = sign.getAnimations()[0];
      begin.pause();
      begin.currentTime = time;
      return getComputedStyle(sign).visibility;
    })""")
    expect("the sign of loading after 100, 199 and 201 ms", seen, ["hidden", "hidden", "visible"])
    expect("busy", page.locator("#stage").get_attribute("aria-busy"), "true")
    for route in held:
        route.continue_()
    page.unroute("**/frame/**")
    wait(page, 1)
    page.locator("#loading").wait_for(state="hidden")
    expect("busy", page.locator("#stage").get_attribute("aria-busy"), "false")
    page.context.close()


def step(page):
    for key, wanted in [
            (".", 2), ("ArrowRight", 3), (",", 2), ("ArrowLeft", 1), ("Shift+ArrowRight", 11), ("]", 16), ("[", 1),
            ("End", COUNT), ("Home", 1)]:
        page.keyboard.press(key)
        wait(page, wanted)
        expect(f"frame after {key}", number(page), wanted)
    for key in ["Space", "p"]:
        page.keyboard.press(key)
        expect(f"{key} plays", is_playing(page))
        page.keyboard.press("Space")
        expect("Space pauses", is_playing(page), False)
    page.locator("#stage").click()
    expect("a click on the picture plays", is_playing(page))
    page.locator("#stage").click()
    expect("a click on the picture pauses", is_playing(page), False)
    for button, change in [("#next", 1), ("#previous", -1)]:
        before = number(page)
        page.locator(button).click()
        wait(page, before + change)
    page.keyboard.press("Home")
    wait(page, 1)


def focus(page):
    """Controls that have the focus keep it, and their keys."""
    page.locator('[data-mode="anaglyph"]').click()
    expect("focus after a click", focused(page), "anaglyph")
    page.keyboard.press("Tab")
    expect("the next control", focused(page), "difference")
    for key, wanted in [("Space", "true"), ("Enter", "false")]:
        page.locator("#swap").focus()
        page.keyboard.press(key)
        expect(f"swap after {key}", page.locator("#swap").get_attribute("aria-pressed"), wanted)
        expect(f"focus after {key}", focused(page), "swap")
        expect(f"{key} on a button plays nothing", (is_playing(page), number(page)), (False, 1))
    page.locator("#next").focus()
    page.keyboard.press("Space")
    wait(page, 2)
    page.keyboard.press("ArrowRight")
    wait(page, 3)

    page.locator("#disparity").focus()
    for key, wanted in [("ArrowRight", "0.0005"), ("ArrowLeft", "0"), ("End", "0.1"), ("Home", "-0.1")]:
        page.keyboard.press(key)
        expect(f"disparity after {key}", page.locator("#disparity").input_value(), wanted)
        expect(f"frame after {key} on the disparity", number(page), 3)
    expect("disparity as text", page.locator("#disparity").get_attribute("aria-valuetext"),
           "-10.00 % of the picture’s width")
    page.keyboard.press("0")
    expect("the movie's own disparity", page.locator("#disparity").input_value(), "0")

    slider = page.locator("#slider")
    slider.focus()
    for key, wanted in [
            ("ArrowRight", 4), ("Shift+ArrowRight", 14), ("ArrowLeft", 13), ("ArrowUp", 14), ("End", COUNT), ("Home", 1)]:
        page.keyboard.press(key)
        wait(page, wanted)
        expect(f"focus after {key}", focused(page), "slider")
    page.keyboard.press("PageUp")
    expect("PageUp moves by more than a frame", number(page) > 2)
    page.keyboard.press("Space")
    expect("Space on the slider plays", is_playing(page))
    page.keyboard.press("Space")


def tell(page):
    """What a screen reader finds and hears."""
    page.evaluate("""() => {
      window.heard = [];
      for (const region of document.querySelectorAll("output, [role=status], [role=alert], [aria-live]")) {
        new MutationObserver(() => heard.push(region.textContent))
          .observe(region, { childList: true, characterData: true, subtree: true });
      }
    }""")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Home")
    page.keyboard.press(".")
    until(page, "heard.length > 0")
    expect("heard after a step", page.evaluate("heard.at(-1)"), f"Frame 2 of {COUNT}, 0:00.033")
    go(page, f"#{COUNT - 40}")
    until(page, f"heard.at(-1).startsWith('Frame {COUNT - 40} ')")
    page.evaluate("heard.length = 0")
    page.keyboard.press("Space")
    slider = page.locator("#slider")
    texts = set()
    while is_playing(page):
        if page.evaluate("heard.length"):
            expect("heard while playing", page.evaluate("heard"), [])
            break
        texts.add(slider.get_attribute("aria-valuetext"))
    expect("texts of the slider while playing", len(texts) <= 2)
    until(page, "heard.length > 0")
    expect("heard after playing", page.evaluate("heard"), [f"Frame {COUNT} of {COUNT}, {LAST}"])
    expect("slider", slider.get_attribute("aria-valuetext"), f"{LAST}, frame {COUNT} of {COUNT}")
    page.keyboard.press("1")
    page.get_by_role("img", name=f"Frame {COUNT} of {COUNT} at {LAST}, left", exact=True).wait_for()
    expect("groups", [
        (group.get_attribute("aria-label"), [button.inner_text() for button in group.get_by_role("button").all()])
        for group in page.get_by_role("group").all()
    ], [("View", ["left", "right", "side by side", "anaglyph", "difference", "wiggle", "interlaced"]),
        ("Tools", ["swap eyes", "lossless", "1:1"]), ("Movie", ["save", "info", "?"]), ("Playback", ["", "", ""])])
    for name in ["Previous frame", "Play", "Next frame", "Full screen"]:
        button = page.get_by_role("button", name=name, exact=True)
        expect(f"icon of {name}", button.locator("svg use").count(), 1)
    icon = page.locator('link[rel="icon"]').get_attribute("href")
    answer = page.request.get(address + icon)
    expect("icon", (answer.status, answer.headers["content-type"]), (200, "image/svg+xml"))


def count(page):
    """Frames count from 1 wherever a number is."""
    page.keyboard.press("Home")
    wait(page, 1)
    expect("position", page.locator("#position").inner_text(), f"frame 1 of {COUNT} · 0:00.000")
    expect("bytes", bool(re.fullmatch(r"[\d,]+ bytes", page.locator("#size").inner_text())))
    until(page, "document.getElementById('size').title")
    title = page.locator("#size").get_attribute("title")
    expect(f"tooltip {title}", bool(re.fullmatch(r"base layer [\d,]+ bytes", title)))

    for text, wanted in [
            ("1.5", 46), ("#1", 1), ("#60", 60), ("0:00.5", 16), ("0,033", 2), ("0:00:01", 31), ("1.9667s", 60), ("#46", 46)]:
        go(page, text)
        page.locator("#goto").wait_for(state="hidden")
        wait(page, wanted)
    expect("slider", page.locator("#slider").get_attribute("aria-valuetext"), f"0:01.5, frame 46 of {COUNT}")
    until(page, "location.hash.startsWith('#f=46&')")
    for text, reason in [
            ("abc", "“abc” is not a time. Write 1:02.5 or 62.5, or #46 for a frame."),
            ("", "“” is not a time. Write 1:02.5 or 62.5, or #46 for a frame."),
            ("1:2:3:4", "“1:2:3:4” is not a time. Write 1:02.5 or 62.5, or #46 for a frame."),
            ("-1", "“-1” is not a time. Write 1:02.5 or 62.5, or #46 for a frame."),
            ("#0", f"There is no frame 0: they are #1 to #{COUNT}."),
            (f"#{COUNT + 1}", f"There is no frame {COUNT + 1}: they are #1 to #{COUNT}."), ("100", f"The last frame is at {LAST}.")]:
        go(page, text or " ")
        expect(f"'{text}'", page.get_by_role("alert").inner_text(), reason)
        expect("the dialog stays", page.locator("#goto").is_visible())
        page.keyboard.press("Escape")
        page.locator("#goto").wait_for(state="hidden")
    expect("frame after wrong times", number(page), 46)
    page.locator("#position").click()
    page.locator("#leave").click()
    expect("focus after the dialog", focused(page), "position")
    # An address leads to its frame.
    page.goto(page.url)
    page.reload()
    wait(page, 46)

    page.keyboard.press("f")
    until(page, "document.fullscreenElement")
    go(page, "#7")
    wait(page, 7)
    expect("G leaves full screen", page.evaluate("document.fullscreenElement !== null"))
    page.keyboard.press("f")
    until(page, "!document.fullscreenElement")
    page.locator("#whole").click()
    until(page, "document.fullscreenElement")
    page.keyboard.press("f")
    until(page, "!document.fullscreenElement")


def read(page):
    """Positions in a movie of two and a half hours, a frame a second."""
    seen = page.evaluate("""async (texts) => {
      const { clock, spoken, findFrame } = await import("./positions.js");
      const times = Array.from({ length: 9000 }, (_, index) => index * 1000000);
      const found = (text) => { try { return findFrame(text, times); } catch (error) { return error.message; } };
      return [[59.9996, 3723.5].map(clock), [0, 10, 600, 3600, 3723.5].map(spoken), texts.map(found)];
    }""", ["1:02:03.5", " 75:00 ", "3723", ".5", "9000", "2:30:00", "9001", "2:30:01", "#9000", "# 1", "#9001", "1e3", "1:-2"])
    expect("clocks", seen[0], ["1:00.000", "1:02:03.500"])
    expect("spoken times", seen[1], ["0:00", "0:10", "10:00", "1:00:00", "1:02:03.5"])
    expect("positions", seen[2][:10], [
        3723, 4500, 3723, 0, 8999, 8999, "The last frame is at 2:29:59.", "The last frame is at 2:29:59.", 8999, 0])
    expect("no positions", seen[2][10:], [
        "There is no frame 9001: they are #1 to #9000.",
        *(f"“{text}” is not a time. Write 1:02.5 or 62.5, or #46 for a frame." for text in ["1e3", "1:-2"])])


def copy(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.keyboard.press("+")
    page.locator("#copy").click()
    page.locator("#copy", has_text="copied").wait_for()
    expect("copied", page.evaluate("navigator.clipboard.readText()"), page.locator("#retag").inner_text())
    page.locator("#copy", has_text="copy").wait_for()
    # By another machine's plain address, a page has no clipboard.
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.locator("#copy").click()
    page.locator("#copy", has_text="Ctrl-C").wait_for()
    expect("selected", page.evaluate("getSelection().toString()"), page.locator("#retag").inner_text())
    page.keyboard.press("0")


def inform(page):
    page.keyboard.press("i")
    expect("info", page.locator("#facts").is_visible())
    expect("info is expanded", page.locator("#about").get_attribute("aria-expanded"), "true")
    expect("sizes", page.locator("#sizes").inner_text().startswith(f"frame {number(page)}: "))
    page.keyboard.press("Escape")
    expect("info after Escape", page.locator("#facts").is_visible(), False)
    page.keyboard.press("?")
    page.locator("#keys[open]").wait_for()
    page.keyboard.press("Space")
    page.locator("#keys").wait_for(state="hidden")
    expect("Space closes the keys and plays nothing", is_playing(page), False)


def wiggle(browser, motion):
    """The shortest time between two turns, in milliseconds."""
    page = opened(browser, address, reduced_motion=motion, **WIDE)
    page.evaluate("""() => {
      window.turns = [];
      new MutationObserver(() => turns.push(performance.now()))
        .observe(document.body, { attributeFilter: ["data-turn"] });
    }""")
    page.keyboard.press("w")
    until(page, "turns.length > 4")
    turns = page.evaluate("turns")
    page.context.close()
    return min(b - a for a, b in zip(turns, turns[1:]))


with chromium() as browser:
    load(browser)
    page = opened(browser, address, **WIDE)
    for part in [step, focus, tell, count, read, copy, inform]:
        try:
            part(page)
        except Exception as error:
            wrong.append(f"{part.__name__}: {error}")
    page.context.close()
    expect("wiggle is fast", wiggle(browser, "no-preference") < 900)
    expect("wiggle is slow if less motion is wanted", wiggle(browser, "reduce") > 1000)
