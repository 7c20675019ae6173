// SPDX-License-Identifier: MPL-2.0

/** The keys that a range keeps. */
const RANGE = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];
/** Of these, those that do to the frame slider the same as to the page: they move the frame. */
const FRAME = ["ArrowLeft", "ArrowRight", "Home", "End"];

/**
 * Connects keys with actions, wherever the focus is; a focused control keeps the keys that operate it.
 *
 * @param {HTMLInputElement} slider the slider of frames
 * @param {Object<string, () => void>} keys actions by key; letters in lower case
 * @param {Object<string, () => void>} shifted actions by key with Shift, where they differ
 */
export function connectKeys(slider, keys, shifted) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (isOwn(event.target, event.key, slider)) return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = (event.shiftKey && shifted[name]) || keys[name];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** Whether a key operates the control that has the focus. */
function isOwn(control, key, slider) {
  if (control instanceof HTMLButtonElement) return key === " " || key === "Enter";
  if (!(control instanceof HTMLInputElement)) return false;
  return control === slider ? RANGE.includes(key) && !FRAME.includes(key) : RANGE.includes(key);
}
