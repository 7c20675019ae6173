// SPDX-License-Identifier: MPL-2.0

/** So many frames are kept as pictures. */
const KEPT = 12;

/** Fetches the pictures of frames, and keeps those that were shown lately or come next. */
export class Frames {
  #kept = new Map(); // index → promises of the pictures by their positions, the one used last at the end
  #query = "";

  /** @param {{count: number, eyes: string[]}} movie which eyes have pictures of their own */
  constructor(movie) {
    this.count = movie.count;
    this.eyes = movie.eyes;
  }

  /** What is asked of the server: `f=png`, or `w=1280`. */
  set query(query) {
    if (query === this.#query) return;
    this.#query = query;
    for (const pictures of this.#kept.values()) release(pictures);
    this.#kept.clear();
  }

  get query() { return this.#query; }

  /**
   * @param {number[]} positions of the eyes that are wanted
   * @returns {Promise<(ImageBitmap | null)[]>} an eye each; one for both where the movie has one
   */
  load(index, positions) {
    const pictures = this.#kept.get(index) ?? this.eyes.map(() => null);
    this.#kept.delete(index);
    this.#kept.set(index, pictures);
    for (const position of positions) {
      pictures[position] ??= fetchPicture(`frame/${index}/${this.eyes[position]}?${this.#query}`);
    }
    const all = Promise.all(pictures);
    all.catch(() => { if (this.#kept.get(index) === pictures) this.#kept.delete(index); });
    for (const [old, unused] of this.#kept) {
      if (this.#kept.size <= KEPT) break;
      this.#kept.delete(old);
      release(unused);
    }
    return all;
  }

  /** Whether these eyes of a frame are there, or on their way. */
  has(index, positions) {
    const pictures = this.#kept.get(index) ?? [];
    return positions.every((position) => pictures[position]);
  }
}

/** Pictures are large; what the browser collects at its leisure would pile up. */
function release(pictures) {
  for (const picture of pictures) picture?.then((one) => setTimeout(() => one.close(), 1000), () => {});
}

async function fetchPicture(address) {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(address);
    if (response.ok) {
      return createImageBitmap(await response.blob(),
        { colorSpaceConversion: "none", premultiplyAlpha: "none" });
    }
    if (response.status !== 503 || attempt === 5) {
      throw new Error(await response.text() || `the server says ${response.status}`);
    }
    await new Promise((done) => setTimeout(done, 200));
  }
}
