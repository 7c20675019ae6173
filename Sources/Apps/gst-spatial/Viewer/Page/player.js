// SPDX-License-Identifier: MPL-2.0

/** Maximum time to wait for the audio, in milliseconds. */
const PATIENCE = 2000;

/** The clock of playback: that of the audio, if the movie has any. */
export class Player {
  #base = null; // the time of the movie's start, in seconds of the browser's clock; null when stopped
  #sound = null;
  #held = null; // the movie time while waiting for the audio

  /**
   * @param {boolean} hasSound
   * @param {(problem: string) => void} tell called with the reason if the movie plays without audio
   */
  constructor(hasSound, tell) {
    if (!hasSound) return;
    this.#sound = new Audio();
    this.#sound.preload = "none";
    this.#sound.src = "sound.m4a";
    this.#sound.addEventListener("error", () => {
      this.#sound = null;
      tell("the audio cannot be played");
    });
  }

  get isPlaying() { return this.#base !== null; }

  /** @param {number} time the start position, in seconds */
  async start(time) {
    const begin = () => { this.#base = performance.now() / 1000 - time; };
    begin();
    const sound = this.#sound;
    if (!sound) return;
    this.#held = time;
    sound.currentTime = time;
    // Playback errors are reported by the event listener; stopping before the start is not an error.
    const begun = sound.play().then(() => true, () => false);
    const isInTime = await Promise.race([begun, new Promise((done) => setTimeout(done, PATIENCE, null))]);
    this.#held = null;
    if (!this.isPlaying) return sound.pause();
    begin();
    // Late audio joins at the current time.
    if (isInTime === null && await begun && this.isPlaying) sound.currentTime = this.#clock;
  }

  stop() {
    this.#base = null;
    this.#sound?.pause();
  }

  /** The current position, in seconds. */
  get time() {
    if (this.#held !== null) return this.#held;
    const sound = this.#sound;
    // The audio may end before the video does.
    if (sound && !sound.paused && !sound.ended && !sound.seeking && sound.readyState >= 3) {
      this.#base = performance.now() / 1000 - sound.currentTime;
    }
    return this.#clock;
  }

  get #clock() { return performance.now() / 1000 - this.#base; }
}
