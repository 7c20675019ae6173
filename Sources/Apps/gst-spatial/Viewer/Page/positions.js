// SPDX-License-Identifier: MPL-2.0

/** Returns a time as text: `0:01.500`, `1:02:03.500`. */
export function clock(seconds) {
  const whole = Math.round(seconds * 1000);
  const [hours, minutes] = [Math.floor(whole / 3600000), Math.floor(whole / 60000) % 60];
  const rest = (whole % 60000 / 1000).toFixed(3).padStart(6, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Returns a time as it is spoken: without zeros at the end. */
export function spoken(seconds) { return clock(seconds).replace(/\.?0+$/, ""); }

/**
 * Finds the frame that a text names: by a time, `1:02.5` or `62.5`, or by its number from 1, `#46`.
 *
 * @param {string} text
 * @param {number[]} times the times of the frames, in microseconds
 * @returns {number} its index, which counts from 0
 * @throws {RangeError} with a sentence for the user
 */
export function findFrame(text, times) {
  const number = text.trim().match(/^#\s*(\d+)$/);
  if (number) {
    const index = Number(number[1]) - 1;
    if (index >= 0 && index < times.length) return index;
    throw new RangeError(`There is no frame ${number[1]}: they are #1 to #${times.length}.`);
  }
  const time = text.trim().replace(",", ".").match(/^(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d*)?|\.\d+)\s*s?$/);
  if (!time) throw new RangeError(`“${text.trim()}” is not a time. Write 1:02.5 or 62.5, or #46 for a frame.`);
  const [hours, minutes, seconds] = time.slice(1).map((part) => Number(part ?? 0));
  const wanted = Math.round(((hours * 60 + minutes) * 60 + seconds) * 1e6);
  // A shown time is rounded to milliseconds, and is that of its frame nevertheless.
  const index = Math.max(0, times.findLastIndex((start) => start <= wanted + 500));
  const last = times.at(-1), length = times.length > 1 ? (last - times[0]) / (times.length - 1) : 0;
  if (wanted <= last + Math.max(length, 1000)) return index;
  throw new RangeError(`The last frame is at ${spoken(last / 1e6)}.`);
}
