// SPDX-License-Identifier: MPL-2.0

import { Frames } from "./frames.js";
import { Player } from "./player.js";
import { MODES, Stage } from "./stage.js";
import { Timeline } from "./timeline.js";

const $ = (id) => document.getElementById(id);
const movie = await (await fetch("movie.json")).json();
movie.count = movie.times.length;
const frames = new Frames({ count: movie.count, eyes: movie.eyes === 2 ? ["left", "right"] : ["left"] });
const timeline = new Timeline($("strip"), movie);
let stage;
try {
  stage = new Stage($("stage"), movie);
} catch (error) {
  $("message").textContent = error.message;
  throw error;
}

let wanted = 0;
let shown = -1;
let direction = 1;
let isBusy = false;
let exact = false;
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
  while (shown !== wanted) {
    const target = wanted, query = frames.query, begin = performance.now();
    let pictures = [], problem = "";
    try {
      pictures = await frames.load(target, stage.needed(frames.eyes.length));
    } catch (error) {
      problem = error.message;
    }
    // The display needs other pictures by now.
    if (query !== frames.query) continue;
    if (problem === "" && !stage.needed(pictures.length).every((position) => pictures[position])) continue;
    $("message").textContent = problem;
    stage.show(pictures);
    shown = target;
    delay = 0.8 * delay + 0.2 * (performance.now() - begin) / 1000;
    document.body.dataset.shown = shown;
  }
  isBusy = false;
  fetchAhead();
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
  if (due !== wanted && !isBusy) go(due);
  if (due === movie.count - 1) {
    player.stop();
    go(due);
  } else {
    requestAnimationFrame(follow);
  }
}

/** Prefetches the next two frames in the current direction, then the hidden eye of this frame. */
async function fetchAhead() {
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
  const query = exact ? "f=png" : `w=${stage.neededWidth}`;
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

function time(index) { return movie.times[index] / 1e6; }

function clock(seconds) {
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds - minutes * 60).toFixed(3).padStart(6, "0")}`;
}

function goToTime() {
  const text = prompt("Go to a time or #frame:", clock(time(wanted)));
  if (text === null) return;
  if (text.startsWith("#")) {
    const index = parseInt(text.slice(1), 10);
    if (!Number.isNaN(index)) go(index);
    return;
  }
  const seconds = text.split(":").reduce((sum, part) => sum * 60 + parseFloat(part), 0);
  if (!Number.isFinite(seconds)) return;
  const index = movie.times.findLastIndex((start) => start <= seconds * 1e6 + 1);
  go(Math.max(0, index));
}

// ---- Display

function setMode(mode) {
  if (!stage.hasTwoEyes) return;
  stage.mode = mode;
  refresh();
}

setInterval(() => {
  if (stage.mode !== "wiggle" || !stage.hasTwoEyes) return;
  stage.turn = 1 - stage.turn;
  stage.draw();
}, 170);

function setShift(value) {
  stage.shift = Math.max(-0.1, Math.min(0.1, Math.round(value * 10000) / 10000));
  $("disparity").value = stage.shift;
  refresh();
}

const toggles = {
  around: () => { stage.around = stage.canLookAround && !stage.around; refresh(); },
  swap: () => { stage.swapped = !stage.swapped; refresh(); },
  exact: () => { exact = !exact; refresh(); },
  zoom: () => { stage.zoomed = !stage.zoomed; refresh(); },
  about: () => { $("facts").hidden = !$("facts").hidden; describe(); },
};

/** Updates the texts and buttons of the page, and its address. */
function describe() {
  timeline.position = wanted;
  timeline.draw();
  $("slider").value = wanted;
  $("position").textContent = `frame ${wanted} of ${movie.count} · ${clock(time(wanted))} · ${movie.bytes[wanted].toLocaleString("en")} bytes${timeline.base.length ? `, base layer ${timeline.base[wanted].toLocaleString("en")}` : ""}`;
  for (const button of document.querySelectorAll("[data-mode]")) {
    button.setAttribute("aria-pressed", String(button.dataset.mode === stage.mode && stage.hasTwoEyes));
    button.disabled = !stage.hasTwoEyes;
  }
  $("play").setAttribute("aria-pressed", String(player.isPlaying));
  const states = { around: stage.around, swap: stage.swapped, exact, zoom: stage.zoomed, about: !$("facts").hidden };
  for (const [id, state] of Object.entries(states)) $(id).setAttribute("aria-pressed", String(state));
  $("around").hidden = !stage.canLookAround;
  $("swap").disabled = $("adjust").hidden = !stage.hasTwoEyes;
  const original = movie.disparity ?? 0;
  $("shift").textContent = `${(stage.shift * 100).toFixed(2)} %`;
  $("retag").hidden = stage.shift === original || movie.retag === null;
  $("retag").textContent = `${movie.retag} disparity=${stage.shift}`;
  history.replaceState(null, "", `#f=${wanted}&m=${stage.mode}${exact ? "&x" : ""}`);
}

/** Saves the frame as PNG: lossless from the server if it provides such a picture, else the canvas. */
function save() {
  const link = document.createElement("a");
  const kind = stage.hasTwoEyes ? stage.mode : "left";
  link.download = `${movie.name.replace(/\.[^.]*$/, "")}-${String(wanted).padStart(4, "0")}-${kind}.png`;
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

// ---- Keys and pointers

const keys = {
  " ": () => step(1), ArrowRight: () => step(1), ".": () => step(1),
  ArrowLeft: () => step(-1), ",": () => step(-1),
  "[": () => go(timeline.keyframe(wanted, -1)), "]": () => go(timeline.keyframe(wanted, 1)),
  Home: () => go(0), End: () => go(movie.count - 1),
  g: goToTime, w: () => setMode("wiggle"), d: () => setMode("difference"),
  s: toggles.swap, x: toggles.exact, z: toggles.zoom, v: toggles.around, i: toggles.about,
  "+": () => setShift(stage.shift + 0.001), "=": () => setShift(stage.shift + 0.001),
  "-": () => setShift(stage.shift - 0.001), "0": () => setShift(movie.disparity ?? 0),
  p: play,
  f: () => document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen(),
  "?": () => $("keys").showModal(),
};
const shifted = { " ": () => step(10), ArrowRight: () => step(10), ArrowLeft: () => step(-10), s: save };
MODES.forEach((mode, index) => { keys[index + 1] = () => setMode(mode); });

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const action = (event.shiftKey && shifted[name]) || keys[name];
  if (!action) return;
  event.preventDefault();
  action();
});

for (const button of document.querySelectorAll("button")) {
  // Space steps to the next frame and must not press the last button again.
  button.addEventListener("click", () => button.blur());
}
for (const button of document.querySelectorAll("[data-mode]")) {
  button.addEventListener("click", () => setMode(button.dataset.mode));
}
for (const [id, toggle] of Object.entries(toggles)) $(id).addEventListener("click", toggle);
$("play").addEventListener("click", play);
$("save").addEventListener("click", save);
$("help").addEventListener("click", keys["?"]);
$("slider").addEventListener("input", () => go(Number($("slider").value)));
$("disparity").addEventListener("input", () => setShift(Number($("disparity").value)));
$("retag").addEventListener("click", () => navigator.clipboard.writeText($("retag").textContent));
$("strip").addEventListener("pointerdown", (event) => go(timeline.frame(event.clientX)));

const canvas = $("stage");
canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
canvas.addEventListener("pointermove", (event) => {
  const pixel = stage.pixel(event.clientX, event.clientY);
  $("pixel").textContent = pixel
    ? `${pixel.x}, ${pixel.y}: ${pixel.values.map((value, index) => `${"LR"[index]} ${value.join(" ")}`).join(" · ")}` : "";
  if (!event.buttons || !(stage.around || stage.zoomed)) return;
  const [x, y] = [event.movementX, event.movementY];
  if (stage.around) {
    const degrees = stage.angle / Math.max(canvas.clientWidth, canvas.clientHeight);
    stage.yaw = (stage.yaw - x * degrees) % 360;
    stage.pitch = Math.max(-90, Math.min(90, stage.pitch + y * degrees));
  } else {
    const extent = stage.views()[0].extent;
    stage.centre = [
      Math.max(0, Math.min(1, stage.centre[0] - x / canvas.clientWidth * extent[0])),
      Math.max(0, Math.min(1, stage.centre[1] - y / canvas.clientHeight * extent[1])),
    ];
  }
  stage.draw();
});
canvas.addEventListener("wheel", (event) => {
  if (!stage.around) return;
  event.preventDefault();
  stage.angle = Math.max(30, Math.min(140, stage.angle * Math.exp(event.deltaY * 0.001)));
  stage.draw();
}, { passive: false });
new ResizeObserver(() => refresh()).observe(canvas);

// ---- Start

$("name").textContent = document.title = movie.name;
$("verdict").textContent = movie.spatial ? "spatial" : stage.hasTwoEyes ? "stereo, not spatial" : "one eye";
$("verdict").className = movie.spatial ? "spatial" : "";
$("text").textContent = movie.facts;
$("slider").max = movie.count - 1;
stage.around = stage.canLookAround;
stage.shift = movie.disparity ?? 0;
$("disparity").value = stage.shift;
const hash = new URLSearchParams(location.hash.slice(1));
if (MODES.includes(hash.get("m"))) stage.mode = hash.get("m");
exact = hash.has("x");
wanted = Math.max(0, Math.min(movie.count - 1, parseInt(hash.get("f"), 10) || 0));
refresh();
fetch("layers.json").then(async (answer) => {
  if (!answer.ok) return;
  timeline.base = await answer.json();
  describe();
});
