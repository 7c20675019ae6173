// SPDX-License-Identifier: MPL-2.0

/** Maximum number of frames whose pictures are cached. */
const KEPT = 12;

/** Fetches the pictures of frames and caches those that were used last. */
export class Frames {
  #kept = new Map(); // index → promises of the pictures, by eye; the least recently used one first
  #query = "";

  /** @param {{count: number, eyes: string[]}} movie the number of frames, and the eyes that have separate pictures */
  constructor(movie) {
    this.count = movie.count;
    this.eyes = movie.eyes;
  }

  /** The query for pictures: `f=png`, or `w=1280`. Changing it clears the cache. */
  set query(query) {
    if (query === this.#query) return;
    this.#query = query;
    for (const pictures of this.#kept.values()) release(pictures);
    this.#kept.clear();
  }

  get query() { return this.#query; }

  /**
   * @param {number[]} positions the indices of the requested eyes
   * @returns {Promise<(ImageBitmap | null)[]>} one picture for each eye, or a single one for a mono movie
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

  /** Whether these eyes of a frame are cached or being fetched. */
  has(index, positions) {
    const pictures = this.#kept.get(index) ?? [];
    return positions.every((position) => pictures[position]);
  }
}

/** Frees pictures, which are too large to wait for garbage collection. */
function release(pictures) {
  for (const picture of pictures) picture?.then((one) => setTimeout(() => one.close(), 1000), () => {});
}

/** The error of a viewer that no longer answers. */
export class StoppedError extends Error {
  constructor() { super("The viewer was stopped. Start it again and open the address that it prints."); }
}

/** Fetches from the viewer. @throws {StoppedError} */
export async function request(address) {
  try {
    return await fetch(address);
  } catch {
    throw new StoppedError();
  }
}

async function fetchPicture(address) {
  for (let attempt = 0; ; attempt++) {
    const response = await request(address);
    if (response.ok) {
      const file = await response.blob().catch(() => { throw new StoppedError(); });
      return createImageBitmap(file, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
    }
    // Another viewer has this port now.
    if (response.status === 404) throw new StoppedError();
    if (response.status !== 503 || attempt === 5) {
      throw new Error(await response.text() || `the server responded with status ${response.status}`);
    }
    await new Promise((done) => setTimeout(done, 200));
  }
}
