// Owns: how a seat at a table looks: who has it, what has become of them, whether it is their turn and how
// long still. Must not know: any game; what a game says about a seat is a line of its own.
//
// Hooks for tests: [data-seat], data-status = open | here | lost | away | bot, data-turn, data-own

import { h, nameTag, set, svg } from './dom.js';
import { icon } from './icons.js';
import { nameOf } from './people.js';

/** @typedef {import('../games.js').People} People */

/** What stands for a name: its first letter, or its number. @param {string} name */
export function initial(name) {
  return /\d+$/.exec(name)?.[0] ?? [...name][0] ?? '';
}

export class SeatPlate {
  #i18n;
  #seat;
  #ring = svg('circle', { class: 'ring-left', cx: 20, cy: 20, r: 18, pathLength: 100 });
  #face = h('span', { class: 'avatar-face', 'aria-hidden': 'true' });
  #name = h('span', { class: 'seat-name' });
  #status = h('span', { class: 'seat-status' });
  #seen = '';
  /** The game's own line. */
  line = h('span', { class: 'seat-line' });
  element;

  /** @param {import('../i18n.js').I18n} i18n @param {number} seat @param {boolean} own */
  constructor(i18n, seat, own) {
    this.#i18n = i18n;
    this.#seat = seat;
    this.element = h(
      'div',
      { class: 'seat', 'data-seat': seat, 'data-own': own },
      h('span', { class: 'avatar' }, svg('svg', { class: 'ring', viewBox: '0 0 40 40', 'aria-hidden': 'true' }, svg('circle', { class: 'ring-whole', cx: 20, cy: 20, r: 18 }), this.#ring), this.#face),
      h('span', { class: 'seat-text' }, this.#name, this.line, this.#status),
    );
  }

  /** @param {People} people */
  show(people) {
    const { t } = this.#i18n;
    const name = nameOf(this.#i18n, people, this.#seat);
    const status = people.chairs[this.#seat] ?? 'here';
    const seen = `${status} ${name}`;
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#name.replaceChildren(nameTag(name));
    const byBot = status === 'bot' || status === 'away';
    this.#face.replaceChildren(byBot ? icon('bot') : status === 'lost' ? icon('lost') : initial(name));
    this.#status.textContent = status === 'here' || status === 'bot' ? '' : t(`status.${status}`);
    set(this.element, { 'data-status': status });
    if (status === 'bot') this.#name.append(h('span', { class: 'visually-hidden' }, ` (${t('status.bot')})`));
  }

  /** @param {boolean} turn @param {number | null} left of the time, 1 … 0; null: no limit */
  turn(turn, left) {
    set(this.element, { 'data-turn': turn, 'data-hurry': turn && left !== null && left < 0.25 });
    set(this.#ring, { 'stroke-dashoffset': turn && left !== null ? (100 - left * 100).toFixed(1) : 0 });
  }
}
