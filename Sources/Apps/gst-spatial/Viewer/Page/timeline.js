// SPDX-License-Identifier: MPL-2.0

/** The strip above the slider: the size of each frame, with the keyframes marked. */
export class Timeline {
  /** @param {HTMLCanvasElement} canvas @param {object} movie the content of `movie.json` */
  constructor(canvas, movie) {
    this.canvas = canvas;
    this.bytes = movie.bytes;
    this.base = []; // the sizes of the base layer, once they are known
    this.keyframes = movie.keyframes;
    this.largest = movie.bytes.reduce((most, size) => Math.max(most, size), 1);
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  position = 0;

  draw() {
    const { canvas, bytes } = this;
    const width = canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
    const height = canvas.height = Math.round(canvas.clientHeight * devicePixelRatio);
    const context = canvas.getContext("2d");
    const column = (index) => index * width / bytes.length;
    // If a column covers several frames, it shows the largest one.
    const step = Math.max(1, width / bytes.length);
    const tall = (size) => Math.max(1, size / this.largest * (height - 6));
    let x = 0, most = 0;
    bytes.forEach((size, index) => {
      if (size > bytes[most]) most = index;
      if (column(index + 1) < x + step && index + 1 < bytes.length) return;
      const bar = (bytes, colour) => {
        context.fillStyle = colour;
        context.fillRect(x, height - tall(bytes), Math.max(1, step - (step > 3 ? 1 : 0)), tall(bytes));
      };
      bar(bytes[most], this.base.length ? "#5f7fa8" : "#4a5568");
      if (this.base.length) bar(this.base[most], "#3b4452");
      x = column(index + 1);
      most = index + 1;
    });
    context.fillStyle = "#e0b84f";
    for (const index of this.keyframes) context.fillRect(column(index), 0, Math.max(1, Math.min(step, 3)), 4);
    context.fillStyle = "#5ab0ff";
    context.fillRect(column(this.position), 0, Math.max(2, step), height);
  }

  /** Returns the frame at a position of the strip. */
  frame(x) {
    const box = this.canvas.getBoundingClientRect();
    return Math.floor((x - box.left) / box.width * this.bytes.length);
  }

  /** Returns the keyframe before or after a frame; the frame itself if there is none. */
  keyframe(index, direction) {
    const found = direction < 0
      ? this.keyframes.findLast((key) => key < index) : this.keyframes.find((key) => key > index);
    return found ?? index;
  }
}
