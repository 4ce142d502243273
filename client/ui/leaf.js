// Owns: a date as the leaf of a calendar, and the time that is left of a day.

import { clockTime, monthName, startOf } from '../figures.js';
import { emblem } from './card.js';
import { h } from './dom.js';
import { renew } from './renew.js';

/** @typedef {import('../i18n.js').I18n} I18n */

/** A picture of a date; it is said in words beside it. @param {I18n} i18n @param {string} date */
export function leaf(i18n, date) {
  const day = i18n.number(new Date(startOf(date)).getUTCDate());
  return h('span', { class: 'leaf', 'aria-hidden': 'true' }, h('span', { class: 'leaf-month' }, monthName(i18n, date)), h('span', { class: 'leaf-day' }, day), emblem('hearts'));
}

/** Counts down to the end of a day, on the reader's clock. */
export class Countdown {
  #i18n;
  #endsAt = 0;
  #over;
  #left = h('span', { class: 'countdown-left', 'data-role': 'countdown' });
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  element = h('p', { class: 'next-deal', role: 'timer', 'aria-live': 'off' });
  isOver = false;

  /**
   * @param {I18n} i18n
   * @param {() => void} over called at the end
   */
  constructor(i18n, over) {
    this.#i18n = i18n;
    this.#over = over;
  }

  /** Counts down to then, from now on. @param {number} endsInMs */
  count(endsInMs) {
    this.destroy();
    this.isOver = false;
    this.#endsAt = performance.now() + endsInMs;
    const at = clockTime(this.#i18n, Date.now() + endsInMs);
    renew(this.element, this.#i18n.nodes('daily.next', { left: this.#left, at }));
    this.#timer = setInterval(() => this.#tick(), 1000);
    this.#tick();
  }

  #tick() {
    const leftMs = this.#endsAt - performance.now();
    const text = this.#i18n.time(leftMs + 999);
    if (this.#left.textContent !== text) this.#left.textContent = text;
    if (leftMs > 0) return;
    this.isOver = true;
    this.destroy();
    this.#over();
  }

  destroy() {
    clearInterval(this.#timer);
  }
}
