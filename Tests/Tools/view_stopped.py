# SPDX-License-Identifier: MPL-2.0
"""Uses the page of `gst-spatial view` after the command has ended, in a headless Chromium.

    view_stopped.py ADDRESS FOLDER

Prints "ready" when the command may be ended, and continues to step. FOLDER has the pictures of the frames, left-*.png.
Prints what is wrong as a list in JSON.
"""
import glob
import sys

import numpy

from viewing import WIDE, canvas, chromium, expect, number, opened, picture, wait, wrong

address, folder = sys.argv[1:]

with chromium() as browser:
    page = opened(browser, address, **WIDE)
    for key in "1xz":
        page.keyboard.press(key)
    wait(page, 1)
    print("ready", flush=True)
    for _ in range(600):
        page.keyboard.press("ArrowRight" if number(page) < 60 else "Home")
        page.wait_for_timeout(50)
        if page.locator("#message").inner_text():
            break
    page.wait_for_timeout(500)
    expect("message", page.locator("#message").inner_text(),
           "The viewer was stopped. Start it again and open the address that it prints.")
    expect("the slider is where the picture is", page.locator("#slider").input_value(), str(number(page) - 1))
    expect("the sign of loading", page.locator("#loading").is_visible(), False)
    want = picture(sorted(glob.glob(f"{folder}/left-*.png"))[number(page) - 1])
    whole = canvas(page)
    top, left = (whole.shape[0] - want.shape[0]) // 2, (whole.shape[1] - want.shape[1]) // 2
    seen = whole[top:top + want.shape[0], left:left + want.shape[1]]
    expect("the picture stays", int(numpy.abs(seen - want).max()), 0)
    # Nothing else was complained about.
    wrong[:] = [line for line in wrong if "net::ERR" not in line]
