# SPDX-License-Identifier: MPL-2.0
"""Looks around in a movie in the page of `gst-spatial view`, with the mouse and in a headset that this program
pretends to be, in a headless Chromium.

    view_around.py ADDRESS FOLDER PROJECTION

FOLDER has left-*.png and right-*.png, the pictures of the movie's frames. PROJECTION is half-equirectangular, or
rectilinear for a movie of 63.4 degrees. Prints what differs from what this program computes as a list in JSON.
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

address, folder, projection = sys.argv[1:]
wrong = []
# The eyes' viewports in the headset, of 240 by 160 pixels, and what each sees: not straight ahead.
SIZE = (240, 160)
ANGLES = {"left": (-0.7, 0.5, -0.45, 0.4), "right": (-0.5, 0.7, -0.45, 0.4)}  # tangents: left, right, down, up
HEADSET = """
const ANGLES = %s, SIZE = %s;
window.head = { x: 0, y: 0, z: 0, w: 1 };
const view = (eye) => {
  const [l, r, b, t] = ANGLES[eye];
  return { eye, transform: { orientation: window.head }, projectionMatrix: [
    2 / (r - l), 0, 0, 0, 0, 2 / (t - b), 0, 0, (r + l) / (r - l), (t + b) / (t - b), -1, -1, 0, 0, -0.1, 0] };
};
class Session extends EventTarget {
  updateRenderState() {}
  async requestReferenceSpace() { return {}; }
  requestAnimationFrame(callback) {
    requestAnimationFrame((time) => !this.over && callback(time, { getViewerPose: () => ({ views: [view("left"), view("right")] }) }));
  }
  end() { this.over = true; this.dispatchEvent(new Event("end")); }
}
window.XRWebGLLayer = class {
  framebuffer = null;
  getViewport({ eye }) { return { x: eye === "left" ? 0 : SIZE[0], y: 0, width: SIZE[0], height: SIZE[1] }; }
};
WebGL2RenderingContext.prototype.makeXRCompatible = async () => {};
Object.defineProperty(navigator, "xr", { value: {
  isSessionSupported: async (mode) => mode === "immersive-vr",
  requestSession: async () => window.session = new Session(),
} });
""" % (json.dumps(ANGLES), json.dumps(SIZE))


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
    if projection == "rectilinear":
        across = math.tan(math.radians(63.4) / 2)
        ahead = numpy.maximum(z, 1e-6)
        u, v = x / ahead / across / 2 + 0.5, y / ahead / across * source.shape[1] / source.shape[0] / 2 + 0.5
        u = numpy.where(z > 0, u, -1)
    else:
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
    page.add_init_script(HEADSET)
    page.on("console", lambda message: "GPU stall" in message.text
            or wrong.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.goto(address)
    page.locator('body[data-shown="0"]').wait_for(state="attached")
    page.keyboard.press("x")
    page.keyboard.press("1")
    page.wait_for_timeout(500)

    if projection != "rectilinear":
        def look(what, yaw, pitch):
            seen = canvas()
            height, width = seen.shape[:2]
            larger = max(width, height)
            tangents = width / larger, height / larger
            check(what, seen, eye("left"), turned(
                rays(width, height, -tangents[0], tangents[0], -tangents[1], tangents[1]), yaw, pitch))
        look("ahead", 0, 0)
        box = page.locator("#stage").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        degrees = 90 / max(box["width"], box["height"])
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 100, y + 60)
        page.mouse.up()
        look("dragged", 100 * degrees, 60 * degrees)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 100, y - 60)
        page.mouse.up()

    page.locator("#headset").wait_for()
    for name, yaw, pitch, head in (
            ("straight", 0, 0, (0, 0, 0, 1)),
            ("turned to the left", -30, 0, (0, math.sin(math.radians(15)), 0, math.cos(math.radians(15)))),
            ("turned up", 0, 20, (math.sin(math.radians(10)), 0, 0, math.cos(math.radians(10))))):
        page.evaluate("head => { window.head = head; }", dict(zip("xyzw", head)))
        if name == "straight":
            page.keyboard.press("h")
        page.wait_for_timeout(500)
        seen = canvas()[-SIZE[1]:]
        for index, side in enumerate(("left", "right")):
            check(f"headset, {name}, {side} eye", seen[:, index * SIZE[0]:(index + 1) * SIZE[0]], eye(side),
                  turned(rays(*SIZE, *ANGLES[side]), yaw, pitch))
    # The trigger plays; at the end the page is as it was.
    page.evaluate("window.session.dispatchEvent(new Event('select'))")
    page.locator('#play[aria-pressed="true"]').wait_for()
    page.locator('#play[aria-pressed="false"]').wait_for()
    page.keyboard.press("h")
    page.locator('#headset[aria-pressed="false"]').wait_for()
    browser.close()

print(json.dumps({"wrong": wrong}))
