// Owns: showing something of the server's as it is now: asks, and asks again whenever it has changed.
// Must not know: what it is.

import { ApiError } from './api.js';

/**
 * @template T
 * @typedef {object} Subject
 * @property {string} topic as in *watch*; the page watches it
 * @property {(signal: AbortSignal) => Promise<T>} load rejects with `ApiError`
 * @property {(value: T) => void} show called only where it is another value than the last
 * @property {(code: string) => void} fail what was shown is still the last that is known
 */

/** @template T */
export class Fresh {
  #subject;
  #asked = new AbortController();
  #asking = false;
  #again = false;
  #last = '';
  #off;

  /** @param {import('./wire.js').Wire} wire @param {Subject<T>} subject */
  constructor(wire, subject) {
    this.#subject = subject;
    this.#off = wire.on('changed', (topic) => topic === subject.topic && void this.reload());
    void this.reload();
  }

  /** Asks again, once a question under way is answered. */
  async reload() {
    if (this.#asking) {
      this.#again = true;
      return;
    }
    const { load, show, fail } = this.#subject;
    const { signal } = this.#asked;
    this.#asking = true;
    this.#again = false;
    try {
      const value = await load(signal);
      if (signal.aborted) return;
      const text = JSON.stringify(value);
      if (text !== this.#last) show(value);
      this.#last = text;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      this.#last = '';
      fail(error.message);
    } finally {
      if (!signal.aborted) this.#asking = false;
    }
    if (this.#again) void this.reload();
  }

  /** Something else is to be asked from now on: what is under way no longer matters. */
  renew() {
    this.#asked.abort();
    this.#asked = new AbortController();
    this.#asking = false;
    this.#last = '';
    void this.reload();
  }

  destroy() {
    this.#off();
    this.#asked.abort();
  }
}
