// SPDX-License-Identifier: MPL-2.0

/** Movement up to which a press is a tap, and from which on a finger's movement is a swipe, in CSS pixels. */
const TAP = 8, SWIPE = 36;

/** Recognizes what mouse, pen and fingers do on the picture. */
export class Gestures {
  #pointers = new Map(); // those that are down: their latest positions, by id
  #start = null; // where the first of them went down; null after a second one has
  #handlers;

  /**
   * @param {HTMLElement} element
   * @param {object} handlers
   *   `hover(x, y)`; `down()`; `tap()`;
   *   `drag(dx, dy)`, movement with one pointer down;
   *   `swipe(direction)`, 1 if a finger moved to the left, else -1;
   *   `pinch(x, y, ratio)`, by fingers or a wheel, about a point of the page.
   */
  constructor(element, handlers) {
    this.#handlers = handlers;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      handlers.down();
      this.#start = this.#pointers.size === 0 ? { x: event.clientX, y: event.clientY } : null;
      this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    element.addEventListener("pointermove", (event) => this.#move(event));
    element.addEventListener("pointerup", (event) => this.#up(event));
    element.addEventListener("pointercancel", (event) => {
      this.#pointers.delete(event.pointerId);
      this.#start = null;
    });
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      // A pinch on a touch pad is a wheel with Ctrl, and has smaller steps.
      handlers.pinch(event.clientX, event.clientY, Math.exp(event.deltaY * (event.ctrlKey ? -0.01 : -0.001)));
    }, { passive: false });
  }

  #move(event) {
    const { clientX: x, clientY: y } = event, before = this.#pointers.get(event.pointerId);
    this.#handlers.hover(x, y);
    if (!before) return;
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.#pointers.set(event.pointerId, { x, y });
    if (other) {
      const ratio = distance({ x, y }, other) / Math.max(1, distance(before, other));
      this.#handlers.pinch((x + other.x) / 2, (y + other.y) / 2, ratio);
      this.#handlers.drag((x - before.x) / 2, (y - before.y) / 2);
    } else {
      this.#handlers.drag(x - before.x, y - before.y);
    }
  }

  #up(event) {
    const start = this.#start;
    if (!this.#pointers.delete(event.pointerId) || !start) return;
    this.#start = null;
    const [across, along] = [event.clientX - start.x, event.clientY - start.y];
    if (Math.hypot(across, along) <= TAP) {
      this.#handlers.tap();
    } else if (event.pointerType !== "mouse" && Math.abs(across) >= SWIPE && Math.abs(across) > 2 * Math.abs(along)) {
      this.#handlers.swipe(across < 0 ? 1 : -1);
    }
  }
}

function distance(one, other) { return Math.hypot(one.x - other.x, one.y - other.y); }
