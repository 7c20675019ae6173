// SPDX-License-Identifier: MPL-2.0

const VERTEX = `#version 300 es
out vec2 place;
void main() {
  place = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(place.x * 2.0 - 1.0, 1.0 - place.y * 2.0, 0, 1);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec2 place;
out vec4 colour;
uniform sampler2D leftEye, rightEye;
uniform int mode;                   // index into MODES
uniform float shift;                // horizontal shift between the eyes, in picture widths
uniform vec2 centre, extent;        // the visible part of a flat picture
uniform int projection;             // 0 flat, 1 equirectangular, 2 half equirectangular, 3 fisheye
uniform mat3 turn;
uniform vec2 tangents;              // tangents of half the visible angles
uniform float circle;               // the field of view of a fisheye picture, in radians
uniform mat3 leftMix, rightMix;

const float PI = 3.141592653589793;

// The position in the picture for this pixel; there is no picture outside 0...1.
vec2 look() {
  if (projection == 0) return centre + (place - 0.5) * extent;
  vec3 ray = turn * normalize(vec3((place * 2.0 - 1.0) * tangents, 1.0));
  if (projection == 3) {
    float away = acos(clamp(ray.z, -1.0, 1.0)), across = length(ray.xy);
    vec2 direction = across > 0.0 ? ray.xy / across : vec2(0);
    return vec2(0.5) + direction * away / circle;
  }
  vec2 angles = vec2(atan(ray.x, ray.z), asin(clamp(ray.y, -1.0, 1.0)));
  return vec2(angles.x / (projection == 1 ? 2.0 * PI : PI), angles.y / PI) + 0.5;
}

vec3 eye(sampler2D picture, vec2 at) {
  if (any(lessThan(at, vec2(0))) || any(greaterThan(at, vec2(1)))) return vec3(0);
  return textureLod(picture, at, 0.0).rgb;
}

void main() {
  vec2 at = look(), half_ = vec2(shift / 2.0, 0);
  // A positive shift moves the scene away: the left picture to the left, the right one to the right.
  bool isRight = mode == 1 || (mode == 6 && (int(gl_FragCoord.y) & 1) == 0), mixes = mode == 3 || mode == 4;
  vec3 one = vec3(0), other = vec3(0);
  if (mixes || !isRight) one = eye(leftEye, at + half_);
  if (mixes || isRight) other = eye(rightEye, at - half_);
  vec3 seen = isRight ? other : one;
  if (mode == 3) seen = leftMix * one + rightMix * other;
  if (mode == 4) seen = abs(one - other) * 4.0;
  colour = vec4(clamp(seen, 0.0, 1.0), 1);
}`;

export const MODES = ["left", "right", "both", "anaglyph", "difference", "wiggle", "interlaced"];
/** Maximum size of a movie's pixel on the screen, in the screen's pixels. */
const LARGEST = 16;
const PROJECTIONS = { "equirectangular": 1, "half-equirectangular": 2, "fisheye": 3 };

/** The canvas that shows a frame's two pictures in one of the modes. */
export class Stage {
  mode = "both";
  swapped = false;
  /** In picture widths. */
  shift = 0;
  /** Whether to show a view of an immersive movie. */
  around = false;
  yaw = 0;
  pitch = 0;
  /** Field of view of the longer side, in degrees. */
  angle = 90;
  /** The size of the movie's pixels on the screen, [horizontal, vertical], in the screen's pixels; null to fit the picture. */
  scale = null;
  /** The position in the middle of a zoomed picture. */
  centre = [0.5, 0.5];
  /** The current eye in wiggle mode. */
  turn = 0;
  #pictures = [];
  /** The pictures that have been uploaded; those of eyes that are not visible are not. */
  #uploaded = new Set();

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {object} movie the content of `movie.json`
   */
  constructor(canvas, movie) {
    this.canvas = canvas;
    this.movie = movie;
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.gl = gl;
    this.limit = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    this.#program = link(gl);
    gl.useProgram(this.#program);
    for (let index = 0; index < 2; index++) {
      gl.activeTexture(gl.TEXTURE0 + index);
      gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
      for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    }
    gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
    gl.uniformMatrix3fv(this.#at("leftMix"), true, movie.anaglyph.left.flat());
    gl.uniformMatrix3fv(this.#at("rightMix"), true, movie.anaglyph.right.flat());
    gl.uniform1f(this.#at("circle"), radians(movie["field-of-view"] ?? 180));
    this.canLookAround = movie.projection in PROJECTIONS;
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  #program;
  #at(name) { return this.gl.getUniformLocation(this.#program, name); }

  /** The display aspect ratio of an eye, width divided by height. */
  get shape() {
    const { width, height } = this.movie;
    return width * this.movie["pixel-shape"] / height;
  }

  get hasTwoEyes() { return this.movie.eyes === 2; }

  /** Whether a pixel of the movie is a pixel of the screen. */
  get isOneToOne() { return this.scale !== null && this.scale.every((side) => side === 1); }

  /** Shows the pictures of a frame: one for each eye, or a single one; null for those not `needed`. */
  show(pictures) {
    this.#pictures = pictures;
    this.#uploaded.clear();
    this.draw();
  }

  /** Sets all pictures of the current frame, after those that were `needed`. */
  complete(pictures) { this.#pictures = pictures; }

  /** Returns the indices of the visible pictures of a frame that has `count` of them. */
  needed(count) {
    const all = [...Array(count).keys()];
    if (this.mode === "wiggle") return all;
    const eyes = this.views().flatMap(({ mode }) => eyesOf(mode));
    return all.filter((position) => eyes.some((eye) => this.#texture(eye, count) === position));
  }

  /** Whether all visible pictures are available. */
  get isComplete() { return this.needed(this.#pictures.length).every((position) => this.#pictures[position]); }

  /** Uploads a picture to its texture, unless that has been done. */
  #upload(index) {
    if (this.#uploaded.has(index)) return;
    this.#uploaded.add(index);
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + index);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, this.#pictures[index]);
  }

  draw() {
    if (!this.isComplete) return;
    const { gl, canvas } = this;
    const scale = devicePixelRatio;
    const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.disable(gl.SCISSOR_TEST);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (this.#pictures.length === 0 || width === 0 || height === 0) return;
    this.#describe(this.around ? PROJECTIONS[this.movie.projection] : 0, this.scale?.every((side) => side >= 1) ? gl.NEAREST : gl.LINEAR);
    gl.uniformMatrix3fv(this.#at("turn"), true, rotation(radians(this.yaw), radians(this.pitch)));
    for (const view of this.views()) {
      gl.uniform2fv(this.#at("centre"), this.scale ? this.centre : [0.5, 0.5]);
      gl.uniform2fv(this.#at("extent"), view.extent);
      this.#fill({ ...view, y: height - view.y - view.height });
    }
  }

  /** Sets the uniforms and filters that all views share. */
  #describe(projection, filter) {
    const { gl, movie } = this;
    gl.uniform1i(this.#at("leftEye"), this.#texture(0));
    gl.uniform1i(this.#at("rightEye"), this.#texture(1));
    gl.uniform1f(this.#at("shift"), this.shift);
    gl.uniform1i(this.#at("projection"), projection);
    for (let index = 0; index < 2; index++) {
      gl.activeTexture(gl.TEXTURE0 + index);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
    }
  }

  /** Returns the index of the picture for an eye, which is 0 for the left one. */
  #texture(eye, count = this.#pictures.length) { return Math.min(this.swapped ? 1 - eye : eye, count - 1); }

  /** Draws a rectangle; `y` is measured from the bottom. */
  #fill({ x, y, width, height, mode, tangents }) {
    const { gl } = this;
    for (const eye of eyesOf(mode)) this.#upload(this.#texture(eye));
    gl.enable(gl.SCISSOR_TEST);
    gl.viewport(x, y, width, height);
    gl.scissor(x, y, width, height);
    gl.uniform1i(this.#at("mode"), mode);
    gl.uniform2fv(this.#at("tangents"), tangents);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  /** Returns the rectangles to draw, in pixels of the canvas, from its top left corner. */
  views() {
    const { canvas } = this;
    const one = this.hasTwoEyes ? MODES.indexOf(this.mode) : 0;
    const modes = one === 2 ? [0, 1] : [one === 5 ? this.turn : one];
    const cell = Math.floor(canvas.width / modes.length);
    return modes.map((mode, index) => ({ mode, ...this.#view(cell * index, cell) }));
  }

  #view(left, cell) {
    const height = this.canvas.height;
    if (this.around || this.scale) {
      const larger = Math.max(cell, height), tangent = Math.tan(radians(this.angle) / 2);
      // With an odd margin, the movie's pixels would lie between those of the screen.
      const { width, height: tall } = this.movie, scale = this.scale ?? [1, 1];
      const size = [width * scale[0], tall * scale[1]], isExact = this.isOneToOne;
      const [wide, high] = [cell, height].map((side, index) => side - (isExact ? Math.abs(side - size[index]) % 2 : 0));
      return {
        x: left, y: 0, width: wide, height: high,
        extent: [wide / size[0], high / size[1]],
        tangents: [tangent * cell / larger, tangent * height / larger],
      };
    }
    const fit = Math.min(cell, height * this.shape);
    const size = [Math.max(1, Math.round(fit)), Math.max(1, Math.round(fit / this.shape))];
    return {
      x: left + Math.floor((cell - size[0]) / 2), y: Math.floor((height - size[1]) / 2),
      width: size[0], height: size[1], extent: [1, 1], tangents: [0, 0],
    };
  }

  /** The picture width that the current display needs, in pixels. */
  get neededWidth() {
    const { movie, canvas } = this;
    const whole = Math.min(movie.width, this.limit);
    if (this.scale || this.around) return whole;
    const shown = Math.min(canvas.clientWidth, canvas.clientHeight * this.shape) * devicePixelRatio
      / (this.mode === "both" ? 2 : 1);
    return Math.min(whole, Math.ceil(shown / 320) * 320);
  }

  /** Returns the view at a point of the page, and the point from its middle, in its widths and heights; null if there is none. */
  #find(x, y) {
    const box = this.canvas.getBoundingClientRect(), scale = devicePixelRatio;
    const [px, py] = [(x - box.left) * scale, (y - box.top) * scale];
    const view = this.views().find((one) => px >= one.x && px < one.x + one.width && py >= one.y && py < one.y + one.height);
    return view && { view, from: [(px - view.x) / view.width - 0.5, (py - view.y) / view.height - 0.5] };
  }

  /** Makes the picture larger by a ratio; the point of the page stays where it is. */
  zoom(x, y, ratio) {
    if (this.around) {
      this.angle = Math.max(30, Math.min(140, this.angle / ratio));
      return;
    }
    const { width, height } = this.movie, view = this.views()[0];
    const fit = this.scale ?? [view.width / width, view.height / height];
    const least = Math.min(this.canvas.width / (this.hasTwoEyes && this.mode === "both" ? 2 : 1), this.canvas.height * this.shape) / width;
    if (this.scale === null) {
      if (ratio <= 1) return;
      this.centre = [0.5, 0.5];
      this.scale = fit;
    }
    const found = this.#find(x, y);
    const larger = Math.min(ratio, LARGEST / Math.max(...fit));
    this.scale = fit.map((side) => side * larger);
    if (this.scale[0] <= least) {
      this.scale = null;
    } else if (found) {
      this.#setCentre(found.from.map((part, index) => this.centre[index] + part * found.view.extent[index] * (1 - 1 / larger)));
    }
  }

  /** Turns the view by degrees to the right and up. */
  look(right, up) {
    this.yaw = (this.yaw + right) % 360;
    this.pitch = Math.max(-90, Math.min(90, this.pitch + up));
  }

  /** Turns the view, or moves a zoomed picture, by a distance on the page. */
  drag(dx, dy) {
    const { canvas } = this;
    if (this.around) {
      const degrees = this.angle / Math.max(canvas.clientWidth, canvas.clientHeight);
      this.look(-dx * degrees, dy * degrees);
    } else if (this.scale) {
      const { extent, width, height } = this.views()[0];
      this.#setCentre([
        this.centre[0] - dx * devicePixelRatio / width * extent[0],
        this.centre[1] - dy * devicePixelRatio / height * extent[1],
      ]);
    }
  }

  #setCentre(centre) { this.centre = centre.map((part) => Math.max(0, Math.min(1, part))); }

  /** Returns the values of the pixel at a point of the page, in both eyes; null if there is none. */
  pixel(x, y) {
    const found = this.#find(x, y);
    if (!found || this.around || this.#pictures.length === 0) return null;
    const centre = this.scale ? this.centre : [0.5, 0.5];
    const at = found.from.map((part, index) => centre[index] + part * found.view.extent[index]);
    if (at.some((part) => part < 0 || part >= 1)) return null;
    const values = [0, 1].map((index) => {
      const picture = this.#pictures[Math.min(index, this.#pictures.length - 1)];
      return valueAt(picture, at[0], at[1]);
    });
    const { width, height } = this.movie;
    return { x: Math.floor(at[0] * width), y: Math.floor(at[1] * height), values };
  }
}

/** Returns the eyes that a mode shows, by its index. */
function eyesOf(mode) { return mode < 2 ? [mode] : [0, 1]; }

/** Returns the rows of the matrix that turns the front direction to the right and up; y points down. */
function rotation(yaw, pitch) {
  const [c, s, d, t] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  return [c, s * t, s * d, 0, d, -t, -s, c * t, c * d];
}

const probe = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });

function valueAt(picture, x, y) {
  // It has not been fetched, or has been closed in the meantime.
  if (!picture?.width) return [];
  probe.drawImage(picture, Math.floor(x * picture.width), Math.floor(y * picture.height), 1, 1, 0, 0, 1, 1);
  return [...probe.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

function radians(degrees) { return degrees * Math.PI / 180; }

function link(gl) {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}
