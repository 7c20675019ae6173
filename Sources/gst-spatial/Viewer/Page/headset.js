// SPDX-License-Identifier: MPL-2.0

/** An immersive session of WebXR: a frame's pictures, each to its eye. Experimental. */
export class Headset {
  #session = null;

  /** @param {import("./stage.js").Stage} stage what draws the pictures */
  constructor(stage) { this.stage = stage; }

  /** Whether this browser has a headset; never where the page is neither local nor encrypted. */
  static async isThere() {
    return await navigator.xr?.isSessionSupported("immersive-vr").catch(() => false) ?? false;
  }

  get isOn() { return this.#session !== null; }

  /**
   * @param {() => void} select is called when the trigger of a controller is pulled
   * @param {() => void} end is called when the session is over
   */
  async start(select, end) {
    const session = await navigator.xr.requestSession("immersive-vr");
    this.#session = session;
    session.addEventListener("select", select);
    session.addEventListener("end", () => {
      this.#session = null;
      this.stage.draw();
      end();
    });
    const { gl } = this.stage;
    await gl.makeXRCompatible();
    const layer = new XRWebGLLayer(session, gl);
    session.updateRenderState({ baseLayer: layer });
    const space = await session.requestReferenceSpace("local");
    const draw = (_, frame) => {
      session.requestAnimationFrame(draw);
      const pose = frame.getViewerPose(space);
      if (!pose) return;
      this.stage.drawEyes(layer.framebuffer, pose.views.map((view) => ({
        eye: view.eye === "right" ? 1 : 0, viewport: layer.getViewport(view), ...frustum(view),
      })));
    };
    session.requestAnimationFrame(draw);
  }

  end() { this.#session?.end(); }

  /** Calls back before the next picture, as often as the headset or the screen shows one. */
  nextFrame(callback) { (this.#session ?? window).requestAnimationFrame(callback); }
}

/**
 * What an eye of a headset sees: the tangents of half its angles and of how far its middle is from straight
 * ahead, and the rows of the matrix that turns its directions. WebXR has y up and looks along -z; here y is
 * down, and z ahead.
 */
export function frustum({ projectionMatrix: p, transform }) {
  const { x, y, z, w } = transform.orientation;
  return {
    tangents: [1 / p[0], 1 / p[5]],
    aim: [p[8] / p[0], -p[9] / p[5]],
    turn: [
      1 - 2 * (y * y + z * z), -2 * (x * y - w * z), -2 * (x * z + w * y),
      -2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
      -2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ],
  };
}
