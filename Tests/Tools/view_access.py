# SPDX-License-Identifier: MPL-2.0
"""Judges the page of `gst-spatial view` by axe-core, in a headless Chromium.

    view_access.py ADDRESS FOLDER

Prints the violations as a list in JSON.
"""
import sys
from importlib import resources

from viewing import PHONE, WIDE, chromium, expect, opened, wrong

address = sys.argv[1]
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()


def judge(page, state):
    result = page.evaluate("axe.run()")
    expect(f"{state}: rules that apply", len(result["passes"]) > 15)
    for violation in result["violations"]:
        places = [node["target"] for node in violation["nodes"]]
        wrong.append(f"{state}: {violation['id']}: {violation['help']}: {places}")


with chromium() as browser:
    for name, screen in [("wide", WIDE), ("phone", PHONE), ("phone on its side", PHONE | {
            "viewport": {"width": 844, "height": 390}})]:
        # The page's policy admits no script but its own.
        page = opened(browser, address, bypass_csp=True, **screen)
        page.evaluate(AXE)
        judge(page, f"{name}, movie")
        page.keyboard.press("Space")
        judge(page, f"{name}, playing")
        page.keyboard.press("Space")
        page.keyboard.press("+")
        page.keyboard.press("i")
        judge(page, f"{name}, info")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        judge(page, f"{name}, keys")
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.type("abc")
        page.keyboard.press("Enter")
        judge(page, f"{name}, wrong time")
        page.keyboard.press("Escape")
        page.locator("#message").evaluate("(message) => { message.textContent = 'The viewer was stopped.'; }")
        judge(page, f"{name}, stopped")
        page.context.close()
