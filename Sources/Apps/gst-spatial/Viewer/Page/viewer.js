// SPDX-License-Identifier: MPL-2.0

import { Frames, StoppedError, request } from "./frames.js";
import { Gestures } from "./gestures.js";
import { connectKeys } from "./keyboard.js";
import { Player } from "./player.js";
import { clock, findFrame, spoken } from "./positions.js";
import { MODES, Stage } from "./stage.js";
import { Timeline } from "./timeline.js";

const $ = (id) => document.getElementById(id);

function fail(error) {
  $("loading").hidden = true;
  $("message").textContent = error.message;
  throw error;
}

const movie = await request("movie.json").then((answer) => answer.json()).catch(fail);
movie.count = movie.times.length;
const frames = new Frames({ count: movie.count, eyes: movie.eyes === 2 ? ["left", "right"] : ["left"] });
const timeline = new Timeline($("strip"), movie);
const stage = await Promise.resolve().then(() => new Stage($("stage"), movie)).catch(fail);

let wanted = 0;
/** The frame whose pictures the display has; -1 if it needs other ones. */
let shown = -1;
/** The frame that can be seen; null before the first one. */
let seen = null;
let direction = 1;
let isBusy = false;
let lossless = false;
/** Moving average of the time from requesting a frame to showing it, in seconds. */
let delay = 0;

// ---- Frames

/** Shows a frame. If others are requested while one is being fetched, only the last of them is shown. */
async function go(index) {
  index = Math.max(0, Math.min(movie.count - 1, index));
  direction = index < wanted ? -1 : 1;
  wanted = index;
  describe();
  if (isBusy) return;
  isBusy = true;
  setLoading(shown !== wanted);
  while (shown !== wanted) {
    const target = wanted, query = frames.query, begin = performance.now();
    let pictures = [], problem = null;
    try {
      pictures = await frames.load(target, stage.needed(frames.eyes.length));
    } catch (error) {
      problem = error;
    }
    if (problem instanceof StoppedError) {
      keep(problem);
      break;
    }
    // The display needs other pictures by now.
    if (query !== frames.query) continue;
    if (!problem && !stage.needed(pictures.length).every((position) => pictures[position])) continue;
    $("message").textContent = problem?.message ?? "";
    stage.show(pictures);
    shown = seen = target;
    delay = 0.8 * delay + 0.2 * (performance.now() - begin) / 1000;
    document.body.dataset.shown = shown;
    setLoading(shown !== wanted);
  }
  isBusy = false;
  setLoading(false);
  fetchAhead();
}

/** Keeps what can be seen, with a reason. */
function keep(problem) {
  player.stop();
  wanted = seen ?? wanted;
  $("message").textContent = problem.message;
  describe();
}

/** The style sheet shows the sign only if loading takes long. */
function setLoading(isLoading) {
  $("loading").hidden = !isLoading;
  $("loading").classList.toggle("later", seen !== null);
  $("stage").setAttribute("aria-busy", String(isLoading));
}

const player = new Player(movie.sound, (problem) => { $("message").textContent = problem; });

function play() {
  if (player.isPlaying) {
    player.stop();
  } else {
    player.start(wanted === movie.count - 1 ? 0 : time(wanted));
    follow();
  }
  describe();
}

/** Requests the frame that will be due when it has been fetched; skips those for which there is no time. */
function follow() {
  if (!player.isPlaying) return;
  const now = (player.time + delay) * 1e6;
  const due = Math.max(0, movie.times.findLastIndex((begin) => begin <= now));
  if (due === movie.count - 1) player.stop();
  if (!player.isPlaying || due !== wanted && !isBusy) go(due);
  if (player.isPlaying) requestAnimationFrame(follow);
}

/** Prefetches the next two frames in the current direction, then the hidden eye of this frame. */
async function fetchAhead() {
  if (shown < 0) return;
  for (let step = 1; step <= 2; step++) {
    const index = shown + direction * step, eyes = stage.needed(frames.eyes.length);
    if (isBusy || index < 0 || index >= movie.count || frames.has(index, eyes)) continue;
    await frames.load(index, eyes).catch(() => {});
  }
  const index = shown, query = frames.query;
  if (isBusy || player.isPlaying || index < 0) return;
  const pictures = await frames.load(index, [...frames.eyes.keys()]).catch(() => null);
  if (pictures && index === shown && query === frames.query) stage.complete(pictures);
}

/** Redraws the frame, and fetches it again if the display needs other pictures. */
function refresh() {
  const query = lossless ? "f=png" : `w=${stage.neededWidth}`;
  if (query !== frames.query || !stage.isComplete) {
    frames.query = query;
    shown = -1;
    document.body.dataset.shown = shown;
    go(wanted);
  } else {
    stage.draw();
  }
  describe();
}

function step(count) {
  if (player.isPlaying) play();
  go(wanted + count);
}

/**
 * Turns the view by ten degrees to the right and up.
 *
 * @returns {boolean} false if the view cannot be turned, or the slider has the focus
 */
function look(right, up) {
  if (!stage.around || document.activeElement === $("slider")) return false;
  stage.look(10 * right, 10 * up);
  stage.draw();
  const [yaw, pitch] = [Math.round(stage.yaw), Math.round(stage.pitch)];
  say(`Looking ${Math.abs(yaw)} degrees to the ${yaw < 0 ? "left" : "right"}, ${Math.abs(pitch)} ${pitch < 0 ? "down" : "up"}`);
  return true;
}

function time(index) { return movie.times[index] / 1e6; }

// ---- Display

function setMode(mode) {
  if (!stage.hasTwoEyes) return;
  stage.mode = mode;
  refresh();
  wiggle();
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");
let turning;

function wiggle() {
  clearTimeout(turning);
  if (stage.mode !== "wiggle") return;
  turning = setTimeout(() => {
    stage.turn = 1 - stage.turn;
    stage.draw();
    document.body.dataset.turn = stage.turn;
    wiggle();
  }, calm.matches ? 1200 : 170);
}

function setShift(value) {
  stage.shift = Math.max(-0.1, Math.min(0.1, Math.round(value * 10000) / 10000));
  refresh();
}

const toggles = {
  around: () => { stage.around = stage.canLookAround && !stage.around; refresh(); },
  swap: () => { stage.swapped = !stage.swapped; refresh(); },
  lossless: () => { lossless = !lossless; refresh(); },
  zoom: () => { stage.scale = stage.isOneToOne ? null : [1, 1]; stage.centre = [0.5, 0.5]; refresh(); },
  about: () => { $("facts").hidden = !$("facts").hidden; describe(); },
};

/** Updates the texts and buttons of the page. */
function describe() {
  const base = timeline.base.length ? `base layer ${count(timeline.base[wanted])} bytes` : "";
  timeline.position = wanted;
  timeline.draw();
  $("slider").value = wanted;
  $("position").textContent = `frame ${wanted + 1} of ${movie.count} · ${clock(time(wanted))}`;
  $("size").textContent = `${count(movie.bytes[wanted])} bytes`;
  $("size").title = base;
  $("sizes").textContent = `frame ${wanted + 1}: ${[$("size").textContent, base].filter(Boolean).join(", ")}${
    movie.keyframes.includes(wanted) ? ", a keyframe" : ""}`;
  for (const button of document.querySelectorAll("[data-mode]")) {
    button.setAttribute("aria-pressed", String(button.dataset.mode === stage.mode));
  }
  const states = { around: stage.around, swap: stage.swapped, lossless, zoom: stage.isOneToOne };
  for (const [id, state] of Object.entries(states)) $(id).setAttribute("aria-pressed", String(state));
  $("about").setAttribute("aria-expanded", String(!$("facts").hidden));
  const shift = `${(stage.shift * 100).toFixed(2)} %`;
  $("disparity").value = stage.shift;
  $("disparity").setAttribute("aria-valuetext", `${shift} of the picture’s width`);
  $("shift").textContent = shift;
  $("keep").hidden = stage.shift === (movie.disparity ?? 0) || movie.retag === null;
  $("retag").textContent = `${movie.retag} disparity=${stage.shift}`;
  $("play").setAttribute("aria-label", player.isPlaying ? "Pause" : "Play");
  $("play").querySelector("use").setAttribute("href", player.isPlaying ? "#icon-pause" : "#icon-play");
  $("stage").setAttribute("aria-label", player.isPlaying ? `Playing${view()}`
    : `Frame ${wanted + 1} of ${movie.count} at ${spoken(time(wanted))}${view()}`);
  // A screen reader says each change of a slider that has the focus.
  if (!player.isPlaying) {
    $("slider").setAttribute("aria-valuetext", `${spoken(time(wanted))}, frame ${wanted + 1} of ${movie.count}`);
  }
  settle();
}

function view() {
  if (stage.around) return ", looking around";
  return stage.hasTwoEyes ? `, ${document.querySelector(`[data-mode="${stage.mode}"]`).textContent}` : "";
}

function count(bytes) { return bytes.toLocaleString("en"); }

let settling, told = 0;

/** Tells screen readers the frame, and keeps it in the address, once it no longer changes. */
function settle() {
  clearTimeout(settling);
  if (player.isPlaying) return;
  settling = setTimeout(() => {
    history.replaceState(null, "", `#f=${wanted + 1}&m=${stage.mode}${lossless ? "&x" : ""}`);
    if (told === wanted) return;
    told = wanted;
    // The slider tells it itself.
    if (document.activeElement !== $("slider")) say(`Frame ${wanted + 1} of ${movie.count}, ${spoken(time(wanted))}`);
  }, 300);
}

function say(text) { $("spoken").textContent = text; }

/** Saves the frame as PNG: lossless from the server if it provides such a picture, else the canvas. */
function save() {
  const link = document.createElement("a");
  const kind = stage.hasTwoEyes ? stage.mode : "left";
  // With the time that `gst-spatial frames --at` takes.
  link.download = `${movie.name.replace(/\.[^.]*$/, "")}-${time(wanted).toFixed(3)}s-${kind}.png`;
  const isPlain = !stage.around && !stage.swapped;
  if (isPlain && ["left", "right", "both", "anaglyph"].includes(kind)) {
    link.href = `frame/${wanted}/${kind}?f=png`;
    link.click();
    return;
  }
  stage.canvas.toBlob((blob) => {
    link.href = URL.createObjectURL(blob);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

/** Copies the command; where a page may not do that, selects it. */
async function copy() {
  let sign = "copied";
  try {
    await navigator.clipboard.writeText($("retag").textContent);
  } catch {
    getSelection().selectAllChildren($("retag"));
    sign = "Ctrl-C";
  }
  $("copy").textContent = sign;
  say(sign === "copied" ? "The command was copied." : "The command is selected. Press Ctrl-C to copy it.");
  setTimeout(() => { $("copy").textContent = "copy"; }, 2000);
}

// ---- Dialogs and full screen

function openGoTo() {
  if (player.isPlaying) play();
  $("goal").value = spoken(time(wanted));
  setWrong("");
  $("goto").showModal();
  $("goal").select();
}

function setWrong(reason) {
  $("wrong").textContent = reason;
  $("goal").setAttribute("aria-invalid", String(reason !== ""));
}

function toggleWhole() {
  if (document.fullscreenElement) document.exitFullscreen();
  else if (document.fullscreenEnabled) document.documentElement.requestFullscreen();
}

let resting;

/** Shows the controls in full screen, until nothing has moved for a while. */
function wake() {
  document.body.classList.add("active");
  clearTimeout(resting);
  resting = setTimeout(() => document.body.classList.remove("active"), 3000);
}

// ---- Keys, buttons and pointers

const keys = {
  " ": play, p: play,
  ArrowRight: () => look(1, 0) || step(1), ".": () => step(1),
  ArrowLeft: () => look(-1, 0) || step(-1), ",": () => step(-1),
  ArrowUp: () => look(0, 1), ArrowDown: () => look(0, -1),
  "[": () => go(timeline.keyframe(wanted, -1)), "]": () => go(timeline.keyframe(wanted, 1)),
  Home: () => go(0), End: () => go(movie.count - 1),
  g: openGoTo, w: () => setMode("wiggle"), d: () => setMode("difference"),
  s: toggles.swap, x: toggles.lossless, z: toggles.zoom, v: toggles.around, i: toggles.about,
  "+": () => setShift(stage.shift + 0.001), "=": () => setShift(stage.shift + 0.001),
  "-": () => setShift(stage.shift - 0.001), "0": () => setShift(movie.disparity ?? 0),
  f: toggleWhole, "?": () => $("keys").showModal(),
  Escape: () => { if (!$("facts").hidden) toggles.about(); },
};
MODES.forEach((mode, index) => { keys[index + 1] = () => setMode(mode); });
connectKeys($("slider"), keys, { ArrowRight: () => step(10), ArrowLeft: () => step(-10), s: save });

const buttons = {
  ...toggles, save, copy, play, help: keys["?"], position: openGoTo, whole: toggleWhole,
  previous: () => step(-1), next: () => step(1), leave: () => $("goto").close(),
};
for (const [id, action] of Object.entries(buttons)) $(id).addEventListener("click", action);
for (const button of document.querySelectorAll("[data-mode]")) {
  button.addEventListener("click", () => setMode(button.dataset.mode));
}
$("goto").querySelector("form").addEventListener("submit", (event) => {
  try {
    go(findFrame($("goal").value, movie.times));
  } catch (error) {
    event.preventDefault();
    setWrong(error.message);
    $("goal").select();
  }
});
$("slider").addEventListener("input", () => go(Number($("slider").value)));
$("disparity").addEventListener("input", () => setShift(Number($("disparity").value)));
for (const type of ["pointerdown", "pointermove"]) {
  $("strip").addEventListener(type, (event) => {
    if (!event.buttons) return;
    $("strip").setPointerCapture(event.pointerId);
    go(timeline.frame(event.clientX));
  });
}

let wasAwake = true;
new Gestures($("stage"), {
  hover(x, y) {
    const pixel = stage.pixel(x, y);
    $("pixel").textContent = pixel
      ? `${pixel.x}, ${pixel.y}: ${pixel.values.map((value, index) => `${"LR"[index]} ${value.join(" ")}`).join(" · ")}` : "";
  },
  down() { wasAwake = !document.fullscreenElement || document.body.classList.contains("active"); },
  // In full screen, the first tap of a finger brings the controls.
  tap() { if (wasAwake) play(); },
  drag(dx, dy) {
    if (!stage.around && !stage.scale) return;
    stage.drag(dx, dy);
    stage.draw();
  },
  swipe(direction) { if (!stage.around && !stage.scale) step(direction); },
  pinch(x, y, ratio) {
    stage.zoom(x, y, ratio);
    stage.draw();
    refresh();
  },
});
for (const type of ["pointermove", "pointerdown", "keydown"]) addEventListener(type, wake);
new ResizeObserver(() => refresh()).observe($("stage"));

// ---- Start

$("name").textContent = $("name").title = document.title = movie.name;
$("verdict").textContent = movie.spatial ? "spatial" : stage.hasTwoEyes ? "stereo, not spatial" : "one eye";
$("verdict").className = movie.spatial ? "spatial" : "";
for (const [title, value] of movie.facts) {
  const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
  term.textContent = title;
  // A number stays with its unit.
  detail.textContent = value.replace(/(\d) (?=[a-zA-Z%°])/g, "$1\u00a0");
  $("text").append(term, detail);
}
$("slider").max = movie.count - 1;
$("whole").hidden = !document.fullscreenEnabled;
$("around").hidden = !stage.canLookAround;
for (const id of ["modes", "swap", "adjust"]) $(id).hidden = !stage.hasTwoEyes;
stage.around = stage.canLookAround;
stage.shift = movie.disparity ?? 0;
const hash = new URLSearchParams(location.hash.slice(1));
if (MODES.includes(hash.get("m"))) stage.mode = hash.get("m");
lossless = hash.has("x");
wanted = told = Math.max(0, Math.min(movie.count - 1, (parseInt(hash.get("f"), 10) || 1) - 1));
refresh();
wiggle();
fetch("layers.json").then(async (answer) => {
  if (!answer.ok) return;
  timeline.base = await answer.json();
  describe();
}).catch(() => {});
