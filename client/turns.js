// Owns: since when each seat of a table is to act, and how much of its time is left.
// Must not know: any game, the page. The server's clock decides; this one is for the eyes.

/** @typedef {import('./games.js').Waiting} Waiting */
/** @typedef {import('./wire.js').Chair} Chair */

export class Turns {
  /** @type {Map<number, number>} by seat: when its time began, as `performance.now()` */
  #since = new Map();
  /** @type {readonly Chair[]} */
  #chairs = [];
  #moment = '';
  #allowedMs = 0;

  /**
   * The game waits for somebody, else or still.
   * @param {Waiting} waiting
   * @param {readonly Chair[]} chairs
   * @param {number} pace seconds a turn, 0 for no limit
   * @param {number} now
   */
  see({ seats, moment, patience }, chairs, pace, now) {
    const kept = moment === this.#moment ? this.#since : new Map();
    const same = (/** @type {number} */ seat) => (chairs[seat] === 'away') === (this.#chairs[seat] === 'away');
    this.#since = new Map(seats.map((seat) => [seat, same(seat) ? (kept.get(seat) ?? now) : now]));
    this.#moment = moment;
    this.#chairs = chairs;
    this.#allowedMs = pace * patience * 1000;
  }

  /**
   * The server has said how long it has been waiting.
   * @param {number} waitingMs
   * @param {number} at when that was
   */
  told(waitingMs, at) {
    for (const seat of this.#since.keys()) this.#since.set(seat, at - waitingMs);
  }

  /**
   * How much of the time of `seat` is left, 1 … 0; null if it is not to act, or may take any time.
   * @param {number} seat
   * @param {number} now
   */
  left(seat, now) {
    const since = this.#since.get(seat);
    const chair = this.#chairs[seat];
    if (since === undefined || !this.#allowedMs || chair === 'bot' || chair === 'away') return null;
    return Math.min(1, Math.max(0, 1 - (now - since) / this.#allowedMs));
  }
}
