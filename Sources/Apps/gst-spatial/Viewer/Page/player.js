// SPDX-License-Identifier: MPL-2.0

/** So long is waited for the sound, in milliseconds. */
const PATIENCE = 2000;

/** The clock by which frames are shown while the movie plays: that of its sound, where it has one. */
export class Player {
  #base = null; // when the movie's beginning was, in seconds of the browser's clock; null at rest
  #sound = null;
  #held = null; // the time at which it stands while it waits for the sound

  /**
   * @param {boolean} hasSound
   * @param {(problem: string) => void} tell is told why it goes on without sound
   */
  constructor(hasSound, tell) {
    if (!hasSound) return;
    this.#sound = new Audio();
    this.#sound.preload = "none";
    this.#sound.src = "sound.m4a";
    this.#sound.addEventListener("error", () => {
      this.#sound = null;
      tell("the sound cannot be played");
    });
  }

  get isPlaying() { return this.#base !== null; }

  /** @param {number} time where to begin, in seconds */
  async start(time) {
    const begin = () => { this.#base = performance.now() / 1000 - time; };
    begin();
    const sound = this.#sound;
    if (!sound) return;
    this.#held = time;
    sound.currentTime = time;
    // What cannot be played says so by itself; what is stopped before it begins is no mistake.
    const begun = sound.play().then(() => true, () => false);
    const isInTime = await Promise.race([begun, new Promise((done) => setTimeout(done, PATIENCE, null))]);
    this.#held = null;
    if (!this.isPlaying) return sound.pause();
    begin();
    // Sound that is late joins in.
    if (isInTime === null && await begun && this.isPlaying) sound.currentTime = this.#clock;
  }

  stop() {
    this.#base = null;
    this.#sound?.pause();
  }

  /** Where the movie is, in seconds. */
  get time() {
    if (this.#held !== null) return this.#held;
    const sound = this.#sound;
    // It may end before the pictures do.
    if (sound && !sound.paused && !sound.ended && !sound.seeking && sound.readyState >= 3) {
      this.#base = performance.now() / 1000 - sound.currentTime;
    }
    return this.#clock;
  }

  get #clock() { return performance.now() / 1000 - this.#base; }
}
