# SPDX-License-Identifier: MPL-2.0
"""Looks around with keys and the mouse in a half-equirectangular movie in the page of `gst-spatial view`, in a headless
Chromium.

    view_around.py ADDRESS FOLDER

FOLDER has left-*.png and right-*.png, the pictures of the movie's frames. Prints what differs from what this program
computes as a list in JSON.
"""
import base64
import glob
import io
import json
import math
import sys

import av
import numpy
from playwright.sync_api import sync_playwright

address, folder = sys.argv[1:]
wrong = []


def picture(file):
    with av.open(file) as container:
        return next(container.decode(video=0)).to_ndarray(format="rgb24").astype(float)


def eye(name):
    return picture(sorted(glob.glob(f"{folder}/{name}-*.png"))[0])


def rays(width, height, left, right, down, up):
    """The directions of a view's pixels: x right, y down, z ahead."""
    x = left + (numpy.arange(width) + 0.5) / width * (right - left)
    y = -up + (numpy.arange(height) + 0.5) / height * (up - down)
    x, y = numpy.meshgrid(x, y)
    return numpy.stack([x, y, numpy.ones_like(x)])


def turned(directions, yaw, pitch):
    """By degrees, to the right and up."""
    yaw, pitch = math.radians(yaw), math.radians(pitch)
    up = numpy.array([[1, 0, 0], [0, math.cos(pitch), -math.sin(pitch)], [0, math.sin(pitch), math.cos(pitch)]])
    right = numpy.array([[math.cos(yaw), 0, math.sin(yaw)], [0, 1, 0], [-math.sin(yaw), 0, math.cos(yaw)]])
    return numpy.einsum("ij,jhw->ihw", right @ up, directions)


def expected(source, directions):
    """What is seen in some directions, and where that is a part of the picture, away from its edges."""
    x, y, z = directions / numpy.linalg.norm(directions, axis=0)
    u, v = numpy.arctan2(x, z) / math.pi + 0.5, numpy.arcsin(y) / math.pi + 0.5
    u, v = u * source.shape[1] - 0.5, v * source.shape[0] - 0.5
    isSeen = (u > 1) & (v > 1) & (u < source.shape[1] - 3) & (v < source.shape[0] - 3)
    isBlack = (u < -1.5) | (v < -1.5) | (u > source.shape[1] + 0.5) | (v > source.shape[0] + 0.5)
    u, v = numpy.clip(u, 0, source.shape[1] - 2), numpy.clip(v, 0, source.shape[0] - 2)
    i, j = u.astype(int), v.astype(int)
    a, b = (u - i)[..., None], (v - j)[..., None]
    seen = (source[j, i] * (1 - a) + source[j, i + 1] * a) * (1 - b) + (
        source[j + 1, i] * (1 - a) + source[j + 1, i + 1] * a) * b
    return numpy.where(isBlack[..., None], 0, seen), isSeen | isBlack


def canvas():
    url = page.evaluate("document.getElementById('stage').toDataURL()")
    return picture(io.BytesIO(base64.b64decode(url.split(",")[1])))


def check(what, seen, source, directions):
    want, mask = expected(source, directions)
    difference = numpy.abs(seen - want)[mask]
    # Textures are sampled with eight bits of fraction or so.
    if mask.mean() < 0.5 or numpy.percentile(difference, 99) > 4:
        wrong.append(f"{what}: {mask.mean():.2f} compared, 99 % within {numpy.percentile(difference, 99)}")


with sync_playwright() as play:
    browser = play.chromium.launch(
        executable_path="/usr/bin/chromium-headless-shell",
        args=["--no-sandbox", "--enable-unsafe-swiftshader"])
    page = browser.new_page(viewport={"width": 900, "height": 640})
    page.on("console", lambda message: "GPU stall" in message.text
            or wrong.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.goto(address)
    page.locator('body[data-shown="0"]').wait_for(state="attached")
    page.keyboard.press("x")
    page.keyboard.press("1")
    page.wait_for_timeout(500)

    def look(what, side, yaw, pitch, angle=90):
        seen = canvas()
        height, width = seen.shape[:2]
        larger, tangent = max(width, height), math.tan(math.radians(angle) / 2)
        tangents = tangent * width / larger, tangent * height / larger
        check(f"{what}, {side} eye", seen, eye(side), turned(
            rays(width, height, -tangents[0], tangents[0], -tangents[1], tangents[1]), yaw, pitch))

    look("ahead", "left", 0, 0)
    for key in ["ArrowRight", "ArrowRight", "ArrowUp"]:
        page.keyboard.press(key)
    look("turned with keys", "left", 20, 10)
    for key in ["ArrowLeft", "ArrowLeft", "ArrowDown"]:
        page.keyboard.press(key)
    look("turned back", "left", 0, 0)
    box = page.locator("#stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    degrees = 90 / max(box["width"], box["height"])
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 100, y + 60)
    page.mouse.up()
    look("dragged", "left", 100 * degrees, 60 * degrees)
    page.keyboard.press("2")
    page.wait_for_timeout(500)
    look("dragged", "right", 100 * degrees, 60 * degrees)
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(500)
    look("zoomed", "right", 100 * degrees, 60 * degrees, 90 * math.exp(-0.4))
    browser.close()

print(json.dumps({"wrong": wrong}))
